
/*
 * The head of a FastCGI request: complete, bounded, adding up, or refused.
 *
 * links: helper/front/head.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "front/bounds.h"
#include "front/head.h"


static unsigned char  bytes[BOUND_HEAD];
static size_t         nbytes;


static void
put(unsigned type, unsigned id, const void *content, size_t len, unsigned pad)
{
    unsigned char  h[8];

    h[0] = 1;
    h[1] = (unsigned char) type;
    h[2] = (unsigned char) (id >> 8);
    h[3] = (unsigned char) (id & 0xff);
    h[4] = (unsigned char) (len >> 8);
    h[5] = (unsigned char) (len & 0xff);
    h[6] = (unsigned char) pad;
    h[7] = 0;

    memcpy(bytes + nbytes, h, sizeof(h));
    memcpy(bytes + nbytes + sizeof(h), content, len);
    memset(bytes + nbytes + sizeof(h) + len, 0, pad);
    nbytes += sizeof(h) + len + pad;
}


static int
begin(void **state)
{
    (void) state;
    nbytes = 0;
    put(1, 1, "\0\1\1\0\0\0\0\0", 8, 0);

    return 0;
}


static void
a_whole_head_is_whole(void **state)
{
    (void) state;
    put(4, 1, "\1\2ABC\0\0", 7, 1);
    put(4, 1, "\4\0NAME", 6, 0);
    put(4, 1, "", 0, 0);
    assert_int_equal(head_check(bytes, nbytes), HEAD_WHOLE);
}


static void
each_beginning_of_it_waits_for_more(void **state)
{
    size_t  n;

    (void) state;
    put(4, 1, "\1\2ABC\0\0", 7, 1);
    put(4, 1, "", 0, 0);

    for (n = 0; n < nbytes; n++) {
        assert_int_equal(head_check(bytes, n), HEAD_MORE);
    }
}


static void
a_pair_may_span_records(void **state)
{
    (void) state;
    put(4, 1, "\1", 1, 0);
    put(4, 1, "\x80\0\0", 3, 0);
    put(4, 1, "\2A", 2, 0);
    put(4, 1, "BC", 2, 0);
    put(4, 1, "", 0, 0);
    assert_int_equal(head_check(bytes, nbytes), HEAD_WHOLE);
}


static void
a_pair_that_does_not_end_is_refused(void **state)
{
    (void) state;
    put(4, 1, "\1\3ABC", 5, 0);
    put(4, 1, "", 0, 0);
    assert_int_equal(head_check(bytes, nbytes), HEAD_BAD);
    (void) begin(NULL);
    put(4, 1, "\1", 1, 0);
    put(4, 1, "", 0, 0);
    assert_int_equal(head_check(bytes, nbytes), HEAD_BAD);
}


static void
huge_lengths_are_refused_before_anything_is_allocated(void **state)
{
    (void) state;
    put(4, 1, "\xff\xff\xff\xff\x01", 5, 0);
    assert_int_equal(head_check(bytes, nbytes), HEAD_BAD);
    (void) begin(NULL);
    put(4, 1, "\x01\x80\x01\x00\x00", 5, 0);
    assert_int_equal(head_check(bytes, nbytes), HEAD_BAD);
}


static void
what_is_no_request_is_refused(void **state)
{
    (void) state;
    bytes[0] = 2;
    assert_int_equal(head_check(bytes, nbytes), HEAD_BAD);
    (void) begin(NULL);
    bytes[1] = 9;
    assert_int_equal(head_check(bytes, nbytes), HEAD_BAD);
    (void) begin(NULL);
    bytes[3] = 0;
    assert_int_equal(head_check(bytes, nbytes), HEAD_BAD);
    (void) begin(NULL);
    bytes[9] = 3;
    assert_int_equal(head_check(bytes, nbytes), HEAD_BAD);
    assert_int_equal(head_check((const unsigned char *) "GET / HTTP/1.0", 14),
                     HEAD_BAD);
}


static void
another_type_or_id_before_the_end_is_refused(void **state)
{
    (void) state;
    put(5, 1, "body", 4, 0);
    assert_int_equal(head_check(bytes, nbytes), HEAD_BAD);
    (void) begin(NULL);
    put(4, 2, "", 0, 0);
    assert_int_equal(head_check(bytes, nbytes), HEAD_BAD);
}


static void
params_without_an_end_are_refused_at_the_bound(void **state)
{
    static unsigned char  zero[60000];

    (void) state;
    put(4, 1, zero, sizeof(zero), 0);
    assert_int_equal(head_check(bytes, nbytes), HEAD_MORE);
    put(4, 1, zero, BOUND_HEAD - nbytes - 8, 0);
    assert_int_equal(head_check(bytes, nbytes), HEAD_BAD);
}


#define TEST(f)  cmocka_unit_test_setup(f, begin)

int
main(void)
{
    const struct CMUnitTest  tests[] = {
        TEST(a_whole_head_is_whole),
        TEST(each_beginning_of_it_waits_for_more),
        TEST(a_pair_may_span_records),
        TEST(a_pair_that_does_not_end_is_refused),
        TEST(huge_lengths_are_refused_before_anything_is_allocated),
        TEST(what_is_no_request_is_refused),
        TEST(another_type_or_id_before_the_end_is_refused),
        TEST(params_without_an_end_are_refused_at_the_bound)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
