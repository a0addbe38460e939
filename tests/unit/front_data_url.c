/*
 * data: URLs become their bytes, and nothing that is malformed does.
 *
 * links: helper/front/data_url.c helper/front/text.c helper/front/file_type.c
 * links: helper/front/buf.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "front/data_url.h"
#include "front/file_type.h"


static char        text[600];
static data_url_t  u;


static int
take(const char *url, size_t len)
{
    memset(text, 'Z', sizeof(text));
    memcpy(text, url, len);

    return data_url(text, len, &u);
}


static void
what_is_well_formed_is_decoded(void **state)
{
    static const char *const  good[][3] = {
        { "data:,a%20b%2C", "text/plain", "a b," },
        { "data:text/csv,a,b", "text/csv", "a,b" },
        { "DATA:text/csv;charset=utf-8,x+y", "text/csv", "x+y" },
        { "data:;base64,aGk=", "text/plain", "hi" },
        { "data:image/svg+xml;x=y;Base64,aGkh", "image/svg+xml", "hi!" },
        { "data:text/plain;base64,aGk%3D", "text/plain", "hi" },
        { "data:text/plain;base64,", "text/plain", "" },
        { "data:,", "text/plain", "" },
        { "data:a/b;base64x,aGk=", "a/b", "aGk=" }
    };

    size_t  i;

    (void) state;

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(take(good[i][0], strlen(good[i][0])), 0);
        assert_string_equal(u.type, good[i][1]);
        assert_int_equal(u.len, strlen(good[i][2]));
        assert_memory_equal(text, good[i][2], u.len);
    }
}


static void
a_nul_may_be_content_only(void **state)
{
    (void) state;
    assert_int_equal(take("data:,a\0b", 9), 0);
    assert_int_equal(u.len, 3);
    assert_int_equal(take("data:,a%00b", 11), 0);
    assert_int_equal(u.len, 3);
    assert_int_equal(take("data:text/\0x,a", 14), -1);
}


static void
what_is_malformed_is_refused(void **state)
{
    static const char *const  bad[] = {
        "", "data", "data:", "data:x", "data:text/plain", "date:,x",
        "http://x/,y", "data:,%", "data:,%4", "data:,%4g", "data:text,x",
        "data:/x,y", "data:x/,y", "data:te xt/x,y", "data:a/b/c,y",
        "data:text/x\r\nA: b,y", "data:;base64,aGk", "data:;base64,a=k=",
        "data:;base64,aG k", "data:;base64,aGk=aGk="
    };

    char    url[600];
    size_t  i;

    (void) state;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(take(bad[i], strlen(bad[i])), -1);
    }

    memset(url, 'a', sizeof(url));
    memcpy(url, "data:a/", 7);
    url[7 + DATA_URL_TYPE] = ',';
    assert_int_equal(take(url, 200), -1);
}


static void
every_beginning_of_one_is_safe(void **state)
{
    size_t             n;
    static const char  url[] = "data:text/plain;charset=x;base64,aGVsbG8%3D";

    (void) state;

    for (n = 0; n < sizeof(url) - 1; n++) {
        (void) take(url, n);
        assert_int_equal(text[n], 'Z');
    }
}


static void
types_have_extensions_and_back(void **state)
{
    (void) state;
    assert_string_equal(file_type("a/b.PNG"), "image/png");
    assert_string_equal(file_type("a.csv"), "text/csv; charset=utf-8");
    assert_string_equal(file_type("a.csv/b"), "application/octet-stream");
    assert_string_equal(file_type("x.html"), "application/octet-stream");
    assert_string_equal(file_type("png"), "application/octet-stream");
    assert_string_equal(file_type("x."), "application/octet-stream");
    assert_string_equal(file_extension("text/csv"), ".csv");
    assert_string_equal(file_extension("IMAGE/PNG"), ".png");
    assert_null(file_extension("image/pn"));
    assert_null(file_extension("text/html"));
}


static void
a_query_is_decoded_or_refused(void **state)
{
    char  to[8];

    (void) state;
    assert_int_equal(file_query("a=1&path=x%2fy+z&b", "path", to, 8), 0);
    assert_string_equal(to, "x/y z");
    assert_int_equal(file_query("xpath=1", "path", to, 8), 0);
    assert_string_equal(to, "");
    assert_int_equal(file_query("path=", "path", to, 8), 0);
    assert_string_equal(to, "");
    assert_int_equal(file_query("path=1234567", "path", to, 8), 0);
    assert_int_equal(file_query("path=12345678", "path", to, 8), -1);
    assert_int_equal(file_query("path=%0", "path", to, 8), -1);
    assert_int_equal(file_query("path=%00", "path", to, 8), -1);
    assert_int_equal(file_query("path=%zz", "path", to, 8), -1);
    assert_int_equal(file_query("path=a%4&1", "path", to, 8), -1);
}


int
main(void)
{
    static const struct CMUnitTest  tests[] = {
        cmocka_unit_test(what_is_well_formed_is_decoded),
        cmocka_unit_test(a_nul_may_be_content_only),
        cmocka_unit_test(what_is_malformed_is_refused),
        cmocka_unit_test(every_beginning_of_one_is_safe),
        cmocka_unit_test(types_have_extensions_and_back),
        cmocka_unit_test(a_query_is_decoded_or_refused)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
