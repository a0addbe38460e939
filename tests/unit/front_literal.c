
/*
 * Plain data that Python shows becomes the same in JSON; anything else is
 * refused, however it is cut or nested.
 *
 * links: helper/front/literal.c helper/front/buf.c helper/front/utf8.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "front/literal.h"


static void
check(const char *text, const char *want)
{
    int           rc;
    char         *copy;
    size_t        n;
    const char   *got;
    json_object  *v;

    /* exactly as long as it is, so that a sanitizer sees a byte too many */
    n = strlen(text);
    copy = malloc(n);
    assert_true(n == 0 || copy != NULL);
    memcpy(copy, text, n);
    rc = literal_json(copy, n, &v);
    free(copy);

    got = rc == -1 ? "-"
          : v == NULL ? "null"
          : json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN
                                              |JSON_C_TO_STRING_NOSLASHESCAPE);
    assert_string_equal(got, want);
    json_object_put(v);
}


static void
numbers_keep_their_digits(void **state)
{
    (void) state;
    check("2", "2");
    check("-0.5", "-0.5");
    check("1e-05", "1e-05");
    check("1.5e+300", "1.5e+300");
    check("123456789012345678901234567890", "123456789012345678901234567890");
    check("nan", "\"nan\"");
    check("-inf", "\"-inf\"");
}


static void
constants_are_those_of_json(void **state)
{
    (void) state;
    check("None", "null");
    check("True", "true");
    check("False", "false");
}


static void
strings_lose_their_quotes_and_escapes(void **state)
{
    (void) state;
    check("'abc'", "\"abc\"");
    check("''", "\"\"");
    check("\"it's\"", "\"it's\"");
    check("'a\\nb\\\\c\\''", "\"a\\nb\\\\c'\"");
    check("'\\xe9\\u20ac\\U0001f600'",
          "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    check("'\\ud800'", "\"\xef\xbf\xbd\"");
    check("'\xff'", "\"\xef\xbf\xbd\"");
}


static void
lists_tuples_and_dicts_nest(void **state)
{
    (void) state;
    check("[]", "[]");
    check("[1, 'a', None]", "[1,\"a\",null]");
    check("[1,\n 2]", "[1,2]");
    check("()", "[]");
    check("(1,)", "[1]");
    check("(1, (2, 3))", "[1,[2,3]]");
    check("{}", "{}");
    check("{'a': [True], 2: {'b': ()}}", "{\"a\":[true],\"2\":{\"b\":[]}}");
}


static void
what_is_no_plain_data_is_refused(void **state)
{
    size_t             i;
    static const char *const  bad[] = {
        "", " ", "1 2", "01", "1.", "1e", "--1", "+1", "(1)", "1+2j", "0x10",
        "[1", "[1 2]", "[1, 2", "{1}", "{'a' 1}", "{'a': }", "{[1]: 2}",
        "'a", "'a\\", "'a\\x4", "'a\\xgg'", "'a\\q'", "b'a'", "nana", "Nones",
        "<object object at 0x7f>", "array([1])", "[1, ...]", "x", "\"", "[",
        "{", "(", ",", "]", "...", "1_000"
    };

    (void) state;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        check(bad[i], "-");
    }
}


static void
depth_is_bounded(void **state)
{
    char  deep[100001];

    (void) state;
    memset(deep, '[', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    check(deep, "-");
    check("[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]",
          "[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(numbers_keep_their_digits),
        cmocka_unit_test(constants_are_those_of_json),
        cmocka_unit_test(strings_lose_their_quotes_and_escapes),
        cmocka_unit_test(lists_tuples_and_dicts_nest),
        cmocka_unit_test(what_is_no_plain_data_is_refused),
        cmocka_unit_test(depth_is_bounded)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
