
/*
 * Links to artifacts: signed by the rules of ngx_module/README.md, whose
 * sample this is.
 *
 * links: helper/front/link.c helper/front/buf.c helper/front/text.c
 * links: helper/front/err.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "front/bounds.h"
#include "front/link.h"


#define TAG   "0377243c8f79b7b6"
#define KEY   "aab50ff1c479fc1a5ecf37048bdc65721a28636009dc5042af326ca4f7d201d4"
#define FILE  "00112233445566778899aabbccddeeff.png"


static link_t    l;
static err_t     e;
static uint64_t  kept = 86400;


static int
parse(const char *tag, const char *key, const char *life)
{
    memset(&l, 0, sizeof(l));
    memset(&e, 0, sizeof(e));
    memcpy(l.base, "/s", 3);

    return link_parse(&l, tag, key, life, &e);
}


static const char *
url(uint64_t issued)
{
    out_artifact_t  a;
    static char     text[LINK_URL];

    memset(&a, 0, sizeof(a));
    memcpy(a.file, FILE, sizeof(FILE));
    a.issued = issued;
    a.kept = kept;
    link_url(&l, &a, text);

    return text;
}


static void
the_sample_of_the_reference_is_what_we_sign(void **state)
{
    (void) state;
    assert_int_equal(parse(TAG, KEY, "86400"), 0);
    assert_string_equal(url(2000000000 - 86400),
                        "/s/" FILE "?e=2000000000&w=" TAG
                        "&s=c0706e5a40511f9c0e693c19ffb463f8");
}


static void
no_link_is_good_for_longer_than_its_file(void **state)
{
    (void) state;
    assert_int_equal(parse(TAG, KEY, "86400"), 0);
    kept = 400;
    assert_non_null(strstr(url(1000), "?e=1400&"));
    kept = 86400;
    assert_non_null(strstr(url(1000), "?e=87400&"));
}


static void
without_the_params_links_are_plain(void **state)
{
    (void) state;
    assert_int_equal(parse(NULL, NULL, NULL), 0);
    assert_string_equal(url(1), "/s/" FILE);
}


static void
half_of_the_params_is_an_error(void **state)
{
    (void) state;
    assert_int_equal(parse(TAG, NULL, "1"), -1);
    assert_int_equal(parse(TAG, KEY, NULL), -1);
    assert_int_equal(parse(NULL, KEY, "1"), -1);
    assert_int_equal(parse(NULL, NULL, "1"), -1);
}


static void
other_forms_are_refused(void **state)
{
    (void) state;
    assert_int_equal(parse("0377243c8f79b7b", KEY, "1"), -1);
    assert_int_equal(parse(TAG "0", KEY, "1"), -1);
    assert_int_equal(parse("0377243C8F79B7B6", KEY, "1"), -1);
    assert_int_equal(parse(TAG, KEY "0", "1"), -1);
    assert_int_equal(parse(TAG, KEY + 1, "1"), -1);
    assert_int_equal(parse(TAG, KEY, "0"), -1);
    assert_int_equal(parse(TAG, KEY, "-1"), -1);
    assert_int_equal(parse(TAG, KEY, "31622401"), -1);
    assert_int_equal(parse(TAG, KEY, ""), -1);
    assert_int_equal(parse(TAG, "", "1"), -1);
}


static void
no_error_tells_a_key(void **state)
{
    (void) state;
    assert_int_equal(parse(TAG, KEY, "x"), -1);
    assert_null(strstr(e.text, KEY));
    assert_int_equal(parse("x", KEY, "1"), -1);
    assert_null(strstr(e.text, KEY));
    assert_int_equal(e.status, 500);
}


static void
a_key_is_forgotten(void **state)
{
    unsigned char  none[LINK_KEY];

    (void) state;
    assert_int_equal(parse(TAG, KEY, "1"), 0);
    link_wipe(&l);
    memset(none, 0, sizeof(none));
    assert_memory_equal(l.key, none, sizeof(none));
    assert_string_equal(url(1), "/s/" FILE);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(the_sample_of_the_reference_is_what_we_sign),
        cmocka_unit_test(no_link_is_good_for_longer_than_its_file),
        cmocka_unit_test(without_the_params_links_are_plain),
        cmocka_unit_test(half_of_the_params_is_an_error),
        cmocka_unit_test(other_forms_are_refused),
        cmocka_unit_test(no_error_tells_a_key),
        cmocka_unit_test(a_key_is_forgotten)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
