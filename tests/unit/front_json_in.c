
/*
 * Requests are JSON as RFC 8259 has it, whatever json-c takes besides.
 *
 * links: helper/front/json_in.c helper/front/utf8.c helper/front/err.c
 * links: helper/front/buf.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "front/json_in.h"


/* whether {"v": text} is taken */

static int
taken(const char *text)
{
    int           n;
    char          body[256];
    err_t         e;
    json_object  *o;

    memset(&e, 0, sizeof(e));
    n = snprintf(body, sizeof(body), "{\"v\":%s}", text);
    o = json_in(body, (size_t) n, &e);

    if (o != NULL) {
        json_object_put(o);
        return 1;
    }

    assert_int_equal(e.status, 400);
    assert_string_equal(e.code, "bad_json");

    return 0;
}


static void
what_json_has_is_taken(void **state)
{
    size_t              i;
    static const char  *text[] = {
        "0", "-0", "12", "-1.5", "1e5", "1E+5", "0.5e-7", "10.010", "true",
        "false", "null", "\"NaN\"", "\"'\"", "[]", "[1,\t2 ,\r\n3]", "{}",
        "[true,false,null,-1]", "\"\\\"Infinity\\\"\"", "{\"NaN\":1}", "1e-0"
    };

    (void) state;

    for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        if (!taken(text[i])) {
            fail_msg("refused: %s", text[i]);
        }
    }
}


static void
what_it_has_not_is_refused(void **state)
{
    size_t              i;
    static const char  *text[] = {
        "NaN", "nan", "-NaN", "Infinity", "-Infinity", "infinity", "+1", "01",
        "-01", "1.", ".5", "1e", "1e+", "1.e5", "-", "--1", "0x10", "1_0",
        "True", "TRUE", "None", "undefined", "nul", "'a'", "[\"a\",'b']",
        "{'a':1}", "{a:1}", "[1,]", "[,1]", "\"a\" 'b'", "1 2", "/**/1", "1//",
        "\f1", "\v1", "[NaN]", "{\"a\":Infinity}", "truefalse", "`1`", "#1",
        "\xc2\xa0" "1"
    };

    (void) state;

    for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        if (taken(text[i])) {
            fail_msg("taken: %s", text[i]);
        }
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(what_json_has_is_taken),
        cmocka_unit_test(what_it_has_not_is_refused)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
