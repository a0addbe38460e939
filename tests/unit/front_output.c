
/*
 * What a sandbox says is bounded, and cut only between characters.
 *
 * links: helper/front/output.c helper/front/buf.c helper/front/utf8.c
 * links: helper/front/tail.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>

#include "front/bounds.h"
#include "front/output.h"
#include "front/utf8.h"


static void
text_is(const buf_t *b, const char *want)
{
    assert_int_equal(b->len, strlen(want));
    assert_memory_equal(b->data, want, b->len);
}


static void
both_streams_share_one_bound(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 8);
    outputs_stream(&o, OUT_STDOUT, "12345", 5, 5, 0);
    outputs_stream(&o, OUT_STDERR, "67890", 5, 5, 0);
    outputs_stream(&o, OUT_STDOUT, "more", 4, 4, 0);
    outputs_finish(&o);
    text_is(&o.first->text, "12345");
    text_is(&o.last->text, "678\n[output truncated: 8 of 14 bytes]\n");
    outputs_free(&o);
}


static void
exactly_the_bound_is_not_cut(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 5);
    outputs_stream(&o, OUT_STDOUT, "12345", 5, 5, 0);
    outputs_finish(&o);
    text_is(&o.first->text, "12345");
    outputs_free(&o);
}


static void
a_character_is_never_cut_in_two(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 6);
    outputs_stream(&o, OUT_STDOUT, "abcd\xe2\x82\xac!", 8, 8, 0);
    outputs_finish(&o);
    text_is(&o.first->text, "abcd\n[output truncated: 4 of 8 bytes]\n");
    outputs_free(&o);
}


static void
what_was_dropped_on_the_way_counts(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 100);
    outputs_stream(&o, OUT_STDOUT, "abc", 3, 5000000000, 0);
    outputs_finish(&o);
    text_is(&o.first->text,
            "abc\n[output truncated: 3 of 5000000000 bytes]\n");
    outputs_free(&o);
}


static void
results_are_bounded_together(void **state)
{
    outputs_t    o;
    out_item_t  *a, *b;

    (void) state;
    outputs_init(&o, 6);
    a = outputs_add(&o, OUT_RESULT);
    outputs_text(&o, &a->text, "1234", 4, 4);
    b = outputs_add(&o, OUT_RESULT);
    outputs_text(&o, &b->text, "5678", 4, 4);
    text_is(&a->text, "1234");
    text_is(&b->text, "56\n[\xe2\x80\xa6 2 of 4 bytes cut \xe2\x80\xa6]\n");
    outputs_free(&o);
}


static void
a_text_keeps_its_ends(void **state)
{
    outputs_t    o;
    out_item_t  *a;

    (void) state;
    outputs_init(&o, 16);
    a = outputs_add(&o, OUT_RESULT);
    assert_int_equal(outputs_text(&o, &a->text, "0123456789abcdef", 16, 16),
                     0);
    text_is(&a->text, "0123456789abcdef");
    outputs_free(&o);

    outputs_init(&o, 16);
    a = outputs_add(&o, OUT_RESULT);
    assert_int_equal(outputs_text(&o, &a->text, "0123456789\nab\xc3\xa4"
                                  "cdefgh\xc3\xa4z", 24, 24), 1);
    text_is(&a->text, "0123456789\n[\xe2\x80\xa6 9 of 24 bytes cut "
            "\xe2\x80\xa6]\nh\xc3\xa4z");
    outputs_free(&o);
}


static void
the_number_of_outputs_is_bounded(void **state)
{
    int        i;
    outputs_t  o;

    (void) state;
    outputs_init(&o, 1000);

    for (i = 0; i < BOUND_ITEMS; i++) {
        assert_non_null(outputs_add(&o, OUT_DISPLAY));
    }

    assert_null(outputs_add(&o, OUT_DISPLAY));
    outputs_finish(&o);
    text_is(&o.last->text, "\n[1 further outputs dropped]\n");
    outputs_free(&o);
}


static void
streams_are_joined_in_order(void **state)
{
    buf_t      all;
    outputs_t  o;

    (void) state;
    memset(&all, 0, sizeof(all));
    outputs_init(&o, 1000);
    outputs_stream(&o, OUT_STDOUT, "a", 1, 1, 0);
    outputs_stream(&o, OUT_STDERR, "x", 1, 1, 0);
    outputs_stream(&o, OUT_STDOUT, "b", 1, 1, 0);
    outputs_join(&o, OUT_STDOUT, &all);
    text_is(&all, "ab");
    assert_int_equal(o.nitems, 3);
    buf_free(&all);
    outputs_free(&o);
}


static void
only_utf8_is_valid(void **state)
{
    size_t              i;
    static const char  *good[] = { "a", "\xc3\xa9", "\xe2\x82\xac",
                                   "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf" };
    static const char  *bad[] = { "\x80", "\xc0\x80", "\xc1\xbf", "\xe2\x82",
                                  "\xe0\x9f\xbf", "\xed\xa0\x80",
                                  "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                                  "\xf5\x80\x80\x80", "\xff" };

    (void) state;

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(utf8_valid(good[i], strlen(good[i])));
    }

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(utf8_valid(bad[i], strlen(bad[i])));
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(both_streams_share_one_bound),
        cmocka_unit_test(exactly_the_bound_is_not_cut),
        cmocka_unit_test(a_character_is_never_cut_in_two),
        cmocka_unit_test(what_was_dropped_on_the_way_counts),
        cmocka_unit_test(results_are_bounded_together),
        cmocka_unit_test(a_text_keeps_its_ends),
        cmocka_unit_test(the_number_of_outputs_is_bounded),
        cmocka_unit_test(streams_are_joined_in_order),
        cmocka_unit_test(only_utf8_is_valid)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
