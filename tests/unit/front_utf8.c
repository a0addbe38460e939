
/*
 * What is UTF-8 and what is not, at each place in and between the blocks that
 * are looked at as a whole.
 *
 * links: helper/front/utf8.c helper/front/buf.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "front/utf8.h"


#define TEXT  100


static void
cleaned(const char *text, size_t n, const char *expect, size_t len)
{
    buf_t  b;

    memset(&b, 0, sizeof(b));
    utf8_clean(&b, text, n);
    assert_int_equal(b.failed, 0);
    assert_int_equal(b.len, len);
    assert_memory_equal(b.data, expect, len);
    buf_free(&b);
}


static void
each_byte_alone_at_each_place(void **state)
{
    int     ch;
    char    text[TEXT], expect[TEXT + 2];
    size_t  at;

    (void) state;

    for (ch = 0; ch < 256; ch++) {
        for (at = 0; at < TEXT; at++) {
            memset(text, 'x', sizeof(text));
            memset(expect, 'x', sizeof(expect));
            text[at] = (char) ch;
            assert_int_equal(utf8_valid(text, TEXT) != 0, ch < 128);

            if (ch != 0 && ch < 128) {
                expect[at] = (char) ch;
                cleaned(text, TEXT, expect, TEXT);

            } else {
                memcpy(expect + at, "\xef\xbf\xbd", 3);
                cleaned(text, TEXT, expect, TEXT + 2);
            }
        }
    }
}


static void
each_character_at_each_place(void **state)
{
    char               text[TEXT];
    size_t             i, at, n;
    static const char  *const  all[] = {
        "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xe2\x82\xac",
        "\xed\x9f\xbf", "\xef\xbf\xbf", "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf"
    };

    (void) state;

    for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        n = strlen(all[i]);

        for (at = 0; at + n <= TEXT; at++) {
            memset(text, 'x', sizeof(text));
            memcpy(text + at, all[i], n);
            assert_int_not_equal(utf8_valid(text, TEXT), 0);
            assert_int_equal(utf8_valid(text, at + n - 1), 0);
            cleaned(text, TEXT, text, TEXT);
        }
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(each_byte_alone_at_each_place),
        cmocka_unit_test(each_character_at_each_place)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
