
/*
 * What is written as it comes is what json-c writes of the same tree, and
 * reads again.
 *
 * links: helper/front/json_out.c helper/front/json_in.c helper/front/utf8.c
 * links: helper/front/err.c helper/front/buf.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "front/json_in.h"
#include "front/json_out.h"


static void
is_as(const buf_t *b, json_object *o)
{
    const char  *s;

    s = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN
                                       |JSON_C_TO_STRING_NOSLASHESCAPE);
    assert_int_equal(b->len, strlen(s));
    assert_memory_equal(b->data, s, b->len);
    (void) json_object_put(o);
}


static void
each_byte_that_utf8_has(void **state)
{
    int           ch;
    char          text[3] = { 'a', 0, 'z' };
    buf_t         b;
    err_t         e;
    json_object  *o;

    (void) state;

    for (ch = 0; ch < 128; ch++) {
        memset(&b, 0, sizeof(b));
        text[1] = (char) ch;
        json_out_open(&b, NULL, '{');
        json_out_text(&b, "v", text, sizeof(text));
        json_out_close(&b, '}');

        o = json_in(b.data, b.len, &e);
        assert_non_null(o);
        assert_int_equal(json_object_get_string_len(
                             json_object_object_get(o, "v")), sizeof(text));
        assert_memory_equal(json_object_get_string(
                                json_object_object_get(o, "v")), text,
                            sizeof(text));
        is_as(&b, o);
        buf_free(&b);
    }
}


/* blocks are looked at as a whole: each place in and between them */

static void
each_place_of_a_long_text(void **state)
{
    int           ch;
    char          text[100];
    buf_t         b;
    size_t        at;
    json_object  *o;

    (void) state;

    for (ch = 1; ch < 128; ch++) {
        for (at = 0; at < sizeof(text); at++) {
            memset(text, 'x', sizeof(text));
            text[at] = (char) ch;
            memset(&b, 0, sizeof(b));
            json_out_text(&b, NULL, text, sizeof(text));
            o = json_object_new_string_len(text, sizeof(text));
            is_as(&b, o);
            buf_free(&b);
        }
    }
}


static void
a_tree(void **state)
{
    buf_t         b;
    json_object  *o, *list, *one;
    static const char  text[] = "\xc3\xa9 \"\\/\b\f\n\r\t\x01\x1f\x7f [{";

    (void) state;

    memset(&b, 0, sizeof(b));
    json_out_open(&b, NULL, '{');
    json_out_text(&b, "text", text, sizeof(text) - 1);
    json_out_number(&b, "zero", 0);
    json_out_number(&b, "most", UINT64_MAX);
    json_out_open(&b, "none", '[');
    json_out_close(&b, ']');
    json_out_open(&b, "list", '[');
    json_out_text(&b, NULL, "", 0);
    json_out_open(&b, NULL, '{');
    json_out_close(&b, '}');
    json_out_open(&b, NULL, '{');
    json_out_word(&b, "a", "null");
    json_out_word(&b, "b", "true");
    json_out_close(&b, '}');
    json_out_number(&b, NULL, 10);
    json_out_close(&b, ']');
    json_out_close(&b, '}');

    o = json_object_new_object();
    json_object_object_add(o, "text", json_object_new_string(text));
    json_object_object_add(o, "zero", json_object_new_uint64(0));
    json_object_object_add(o, "most", json_object_new_uint64(UINT64_MAX));
    json_object_object_add(o, "none", json_object_new_array());
    list = json_object_new_array();
    json_object_array_add(list, json_object_new_string(""));
    json_object_array_add(list, json_object_new_object());
    one = json_object_new_object();
    json_object_object_add(one, "a", NULL);
    json_object_object_add(one, "b", json_object_new_boolean(1));
    json_object_array_add(list, one);
    json_object_array_add(list, json_object_new_uint64(10));
    json_object_object_add(o, "list", list);

    assert_int_equal(b.failed, 0);
    is_as(&b, o);
    buf_free(&b);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(each_byte_that_utf8_has),
        cmocka_unit_test(each_place_of_a_long_text),
        cmocka_unit_test(a_tree)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
