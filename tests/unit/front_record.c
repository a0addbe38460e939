
/*
 * What a front leaves for its successor is read back whole, or not at all.
 *
 * links: helper/front/record.c helper/front/text.c helper/front/job.c
 * links: helper/front/utf8.c helper/front/buf.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "front/record.h"
#include "front/text.h"


static record_t
sample(void)
{
    record_t  r;

    memset(&r, 0, sizeof(r));
    strncpy(r.sandbox, "sbx_n1_0123456789abcdef0123456789abcdef",
            sizeof(r.sandbox) - 1);
    strncpy(r.workspace, "demo", sizeof(r.workspace) - 1);
    strncpy(r.name, "user-42 {a}", sizeof(r.name) - 1);
    r.created = 1700000000123;
    r.ttl = 60000;
    r.end = 1700000900123;
    r.marks[0] = 7;
    r.marks[JOB_MARKS - 1] = 0xfffffffe;

    return r;
}


static void
a_record_comes_back_as_it_was(void **state)
{
    uint8_t   raw[BRK_RECORD_SIZE];
    record_t  in, out;

    (void) state;
    in = sample();
    memset(&out, 0, sizeof(out));
    record_write(&in, raw);
    assert_int_equal(record_read(&out, raw), 0);
    assert_memory_equal(&in, &out, sizeof(in));
}


static void
no_record_is_no_record(void **state)
{
    uint8_t   raw[BRK_RECORD_SIZE];
    record_t  out;

    (void) state;
    memset(raw, 0, sizeof(raw));
    assert_int_equal(record_read(&out, raw), -1);
    memset(raw, 0xff, sizeof(raw));
    assert_int_equal(record_read(&out, raw), -1);
}


static void
any_damaged_byte_is_noticed(void **state)
{
    size_t    i;
    uint8_t   raw[BRK_RECORD_SIZE];
    record_t  in, out;

    (void) state;
    in = sample();

    for (i = 0; i < 336; i++) {
        record_write(&in, raw);
        raw[i] ^= 1;
        assert_int_equal(record_read(&out, raw), -1);
    }
}


static void
a_record_with_a_bad_id_or_workspace_is_refused(void **state)
{
    uint8_t   raw[BRK_RECORD_SIZE];
    record_t  in, out;

    (void) state;
    in = sample();
    in.sandbox[8] = '/';
    record_write(&in, raw);
    assert_int_equal(record_read(&out, raw), -1);
    in = sample();
    in.workspace[0] = '\0';
    record_write(&in, raw);
    assert_int_equal(record_read(&out, raw), -1);
    in = sample();
    in.ttl = 0;
    record_write(&in, raw);
    assert_int_equal(record_read(&out, raw), -1);
}


static void
ids_are_made_as_they_are_checked(void **state)
{
    char  a[56], b[56], small[20];

    (void) state;
    assert_int_equal(text_id(a, sizeof(a), "sbx", "node-1"), 0);
    assert_int_equal(text_id(b, sizeof(b), "sbx", "node-1"), 0);
    assert_true(text_is_id(a, "sbx"));
    assert_false(text_is_id(a, "exec"));
    assert_string_not_equal(a, b);
    assert_int_equal(text_id(small, sizeof(small), "sbx", "n"), -1);
    assert_false(text_is_id("sbx_n_0123456789ABCDEF0123456789abcdef", "sbx"));
    assert_false(text_is_id("sbx_n_0123456789abcdef0123456789abcde", "sbx"));
    assert_false(text_is_id("sbx_0123456789abcdef0123456789abcdef", "sbx"));
    assert_false(text_is_id("sbx", "sbx"));
}


static void
numbers_are_decimal_and_fit(void **state)
{
    uint64_t  v;

    (void) state;
    assert_int_equal(text_number("18446744073709551615", &v), 0);
    assert_true(v == UINT64_MAX);
    assert_int_equal(text_number("18446744073709551616", &v), -1);
    assert_int_equal(text_number("", &v), -1);
    assert_int_equal(text_number("-1", &v), -1);
    assert_int_equal(text_number("1e3", &v), -1);
    assert_int_equal(text_number(" 1", &v), -1);
}


static void
base64_is_strict(void **state)
{
    size_t              i, n;
    unsigned char       out[16];
    static const char  *bad[] = { "A", "AA", "AAA", "====", "A===", "AA=A",
                                  "AAA=AAAA", "AA A", "AA-_", "\nAAA" };

    (void) state;
    assert_int_equal(text_base64("aGVsbG8=", 8, out, &n), 0);
    assert_int_equal(n, 5);
    assert_memory_equal(out, "hello", 5);
    assert_int_equal(text_base64("/+8=", 4, out, &n), 0);
    assert_memory_equal(out, "\xff\xef", 2);
    assert_int_equal(text_base64("", 0, out, &n), 0);
    assert_int_equal(n, 0);

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(text_base64(bad[i], strlen(bad[i]), out, &n), -1);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(a_record_comes_back_as_it_was),
        cmocka_unit_test(no_record_is_no_record),
        cmocka_unit_test(any_damaged_byte_is_noticed),
        cmocka_unit_test(a_record_with_a_bad_id_or_workspace_is_refused),
        cmocka_unit_test(ids_are_made_as_they_are_checked),
        cmocka_unit_test(numbers_are_decimal_and_fit),
        cmocka_unit_test(base64_is_strict)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
