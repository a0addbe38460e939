
/*
 * JSON5 as a model writes it, and bytes that nobody wrote.
 *
 * links: helper/front/json5.c helper/front/buf.c helper/front/utf8.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "front/json5.h"
#include "front/utf8.h"


static void
json5_is(const char *text, json5_kind_t kind, const char *code)
{
    json5_t  v;

    json5_read(&v, text, strlen(text));
    assert_int_equal(v.kind, kind);

    if (code != NULL) {
        assert_int_equal(v.code, JSON5_STRING);
        assert_int_equal(v.text.len, strlen(code));
        assert_memory_equal(v.text.data, code, v.text.len);
    }

    buf_free(&v.text);
}


static void
what_json5_allows_is_read(void **state)
{
    (void) state;
    json5_is("{code: 'a',}", JSON5_OBJECT, "a");
    json5_is("/* */ {'code': \"\\u00e9\\x41\\\n\\ud83d\\ude00\"} // x",
             JSON5_OBJECT, "\xc3\xa9" "A\xf0\x9f\x98\x80");
    json5_is("{code: 'a', x: [+1, .5, 0x1F, -Infinity, NaN,], code: 'b'}",
             JSON5_OBJECT, "b");
    json5_is("{x: {code: 1}, code: '\\ud800'}", JSON5_OBJECT, "\xef\xbf\xbd");
}


static void
what_it_does_not_allow_is_refused(void **state)
{
    size_t  i;

    static const char *const  bad[] = {
        "", " ", "{code: 'a\nb'}", "{code: `a`}", "{} x", "[1 2]", "01",
        "{code: 'a'", "'\xe2\x80\xa8'", "'\\1'", "/* x", "{,}", "'\\"
    };

    (void) state;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        json5_is(bad[i], JSON5_NONE, NULL);
    }
}


static void
depth_is_bounded(void **state)
{
    char  text[100000];

    (void) state;
    memset(text, '[', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    json5_is(text, JSON5_NONE, NULL);
}


/* each text is a block of its own, so that a step beyond it is seen */

static void
random_pieces_are_read_within_their_bounds(void **state)
{
    char      *text;
    int        round;
    size_t     i, n, len;
    json5_t    v;

    static const char *const  pieces[] = {
        "{", "}", "[", "]", ",", ":", "code", "'", "\"", "\\", "\\u", "d83d",
        "0", "1e", ".", "-", "/*", "*/", "//", "\n", "\xe2\x80\xa8", "\xff",
        " ", "null", "true", "\\x4", "\xc3\xa9", "Infinity"
    };

    (void) state;
    srandom(5);

    for (round = 0; round < 100000; round++) {
        text = malloc(256);
        assert_non_null(text);
        n = (size_t) random() % 20;

        for (i = 0, len = 0; i < n; i++) {
            strcpy(text + len, pieces[(size_t) random() % 28]);
            len += strlen(text + len);
        }

        text = realloc(text, len + (len == 0));
        assert_non_null(text);
        json5_read(&v, text, len);

        if (v.text.len != 0 && utf8_valid(text, len)) {
            assert_true(utf8_valid(v.text.data, v.text.len));
        }

        buf_free(&v.text);
        free(text);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(what_json5_allows_is_read),
        cmocka_unit_test(what_it_does_not_allow_is_refused),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(random_pieces_are_read_within_their_bounds)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
