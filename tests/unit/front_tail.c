
/*
 * Long streams: a head at once, a tail at the end, all of it for the spool.
 *
 * links: helper/front/tail.c helper/front/output.c helper/front/buf.c
 * links: helper/front/utf8.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "front/output.h"
#include "front/tail.h"


static void
text_is(const buf_t *b, const char *want)
{
    assert_int_equal(b->len, strlen(want));
    assert_memory_equal(b->data, want, b->len);
}


static void
say(outputs_t *o, out_type_t type, const char *text)
{
    outputs_stream(o, type, text, strlen(text), strlen(text), 0);
}


static void
spill(void *to, const char *p, size_t n)
{
    (void) buf_add(to, p, n);
}


static void
head_and_tail_share_the_bound_and_all_is_spilled(void **state)
{
    buf_t      all;
    outputs_t  o;

    (void) state;
    memset(&all, 0, sizeof(all));
    outputs_init(&o, 16);
    tail_init(&o, spill, &all);
    say(&o, OUT_STDOUT, "one\ntwo\n");
    say(&o, OUT_STDERR, "three\n");
    assert_int_equal(all.len, 0);
    say(&o, OUT_STDOUT, "four\nfive\nsix\n");
    outputs_finish(&o);
    text_is(&all, "one\ntwo\nthree\nfour\nfive\nsix\n");
    text_is(&o.first->text, "one\ntwo\n");
    text_is(&o.last->text, "[\xe2\x80\xa6 12 of 28 bytes cut \xe2\x80\xa6]\n"
            "six\n");
    assert_int_equal(o.stream_kept, 16);
    buf_free(&all);
    outputs_free(&o);
}


static void
a_tail_is_read_last_and_stands_in_its_place(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 16);
    tail_init(&o, NULL, NULL);
    say(&o, OUT_STDOUT, "0123456789ab");
    say(&o, OUT_STDOUT, "xy");
    assert_non_null(outputs_add(&o, OUT_DISPLAY));
    outputs_finish(&o);
    assert_false(outputs_cut(&o));
    assert_int_equal(o.first->next->type, OUT_STDOUT);
    assert_int_equal(o.last->type, OUT_DISPLAY);
    assert_ptr_equal(outputs_at(&o, 0), o.first);
    assert_ptr_equal(outputs_at(&o, 12), o.last);
    assert_ptr_equal(outputs_at(&o, 13), o.first->next);
    assert_null(outputs_at(&o, 15));
    outputs_free(&o);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(head_and_tail_share_the_bound_and_all_is_spilled),
        cmocka_unit_test(a_tail_is_read_last_and_stands_in_its_place)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
