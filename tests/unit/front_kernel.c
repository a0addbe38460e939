
/*
 * Packets of a hostile kernel are put together within bounds, or refused.
 *
 * links: helper/front/kernel_io.c helper/front/buf.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "front/kernel_io.h"


static const krn_keep_t  some = { 100, 50, 20, 30 };

static char      packet[KRN_PACKET + 16];
static krn_in_t  in;


static krn_feed_t
feed(uint8_t type, size_t len, uint32_t first, uint32_t second)
{
    krn_head_t  h;

    memset(&h, 0, sizeof(h));
    h.version = KRN_VERSION;
    h.type = type;
    h.len = (uint16_t) len;
    h.part[0] = first;
    h.part[1] = second;
    memcpy(packet, &h, sizeof(h));
    memset(packet + sizeof(h), 'x', len);

    return krn_in_feed(&in, packet, sizeof(h) + len, &some);
}


static int
fresh(void **state)
{
    (void) state;
    buf_free(&in.body);
    memset(&in, 0, sizeof(in));

    return 0;
}


static void
a_message_in_one_packet_is_whole(void **state)
{
    size_t       n;
    uint64_t     size;
    const char  *p;

    (void) state;
    assert_int_equal(feed(KRN_MIME, 9, 4, 5), KRN_WHOLE);
    p = krn_in_part(&in, 1, &n, &size);
    assert_int_equal(n, 5);
    assert_int_equal(size, 5);
    assert_memory_equal(p, "xxxxx", 5);
}


static void
a_message_in_three_packets_is_whole_at_the_third(void **state)
{
    (void) state;
    assert_int_equal(feed(KRN_OUT, 10, 30, 0), KRN_MORE_TO_COME);
    assert_int_equal(feed(KRN_MORE, 10, 0, 0), KRN_MORE_TO_COME);
    assert_int_equal(feed(KRN_MORE, 10, 0, 0), KRN_WHOLE);
    assert_int_equal(in.body.len, 30);
}


static void
no_more_is_kept_than_is_worth_it(void **state)
{
    int       i;
    size_t    n;
    uint64_t  size;

    (void) state;
    assert_int_equal(feed(KRN_OUT, 1000, 4000000000u, 4000000000u),
                     KRN_MORE_TO_COME);

    for (i = 0; i < 1000; i++) {
        assert_int_equal(feed(KRN_MORE, KRN_PAYLOAD, 0, 0), KRN_MORE_TO_COME);
    }

    assert_int_equal(in.body.len, 100);
    assert_true(in.body.size <= 256);
    (void) krn_in_part(&in, 0, &n, &size);
    assert_int_equal(n, 100);
    assert_int_equal(size, 4000000000u);
    (void) krn_in_part(&in, 1, &n, &size);
    assert_int_equal(n, 0);
}


static void
more_without_a_head_or_bytes_is_refused(void **state)
{
    (void) state;
    assert_int_equal(feed(KRN_MORE, 10, 0, 0), KRN_BAD);
    assert_int_equal(feed(KRN_OUT, 10, 30, 0), KRN_MORE_TO_COME);
    assert_int_equal(feed(KRN_MORE, 0, 0, 0), KRN_BAD);
}


static void
a_head_inside_a_message_is_refused(void **state)
{
    (void) state;
    assert_int_equal(feed(KRN_OUT, 10, 30, 0), KRN_MORE_TO_COME);
    assert_int_equal(feed(KRN_DONE, 0, 0, 0), KRN_BAD);
}


static void
more_bytes_than_the_head_said_are_refused(void **state)
{
    (void) state;
    assert_int_equal(feed(KRN_OUT, 11, 10, 0), KRN_BAD);
    (void) fresh(NULL);
    assert_int_equal(feed(KRN_OUT, 10, 11, 0), KRN_MORE_TO_COME);
    assert_int_equal(feed(KRN_MORE, 2, 0, 0), KRN_BAD);
}


static void
lengths_that_do_not_fit_the_packet_are_refused(void **state)
{
    size_t  n;

    (void) state;
    (void) feed(KRN_OUT, 10, 10, 0);

    for (n = 0; n < sizeof(krn_head_t) + 16; n++) {
        if (n != sizeof(krn_head_t) + 10) {
            (void) fresh(NULL);
            assert_int_equal(krn_in_feed(&in, packet, n, &some), KRN_BAD);
        }
    }
}


static void
types_and_versions_that_do_not_exist_are_refused(void **state)
{
    int  type;

    (void) state;

    for (type = 0; type < 256; type++) {
        (void) fresh(NULL);

        if (type == KRN_RESET
            || (type % 2 && type > 100 && type <= KRN_CHANGE))
        {
            assert_int_equal(feed((uint8_t) type, 0, 0, 0), KRN_WHOLE);

        } else {
            assert_int_equal(feed((uint8_t) type, 0, 0, 0), KRN_BAD);
        }
    }

    (void) feed(KRN_DONE, 0, 0, 0);
    packet[0] = KRN_VERSION + 1;
    assert_int_equal(krn_in_feed(&in, packet, sizeof(krn_head_t), &some),
                     KRN_BAD);
}


/* what goes out comes back as it was */

static void
a_long_message_survives_its_packets(void **state)
{
    int               fd[2];
    char             *code;
    size_t            n, len;
    ssize_t           got;
    uint64_t          size;
    krn_out_t         out;
    krn_feed_t        fed;
    const krn_keep_t  all = { 1 << 20, 1 << 20, 1 << 20, 1 << 20 };

    (void) state;
    len = 100000;
    code = malloc(len);
    assert_non_null(code);
    memset(code, 'c', len);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd), 0);

    krn_out(&out, KRN_MIME, 7, 1);
    assert_int_equal(krn_out_part(&out, 0, "", 0), 0);
    assert_int_equal(krn_out_part(&out, 1, code, len), 0);
    assert_int_equal(krn_out_part(&out, 3, "end", 3), 0);

    for (fed = KRN_MORE_TO_COME; fed == KRN_MORE_TO_COME; /* void */ ) {
        assert_true(krn_out_push(&out, fd[0]) >= 0);
        got = recv(fd[1], packet, sizeof(packet), MSG_DONTWAIT);
        assert_true(got > 0);
        fed = krn_in_feed(&in, packet, (size_t) got, &all);
    }

    assert_int_equal(fed, KRN_WHOLE);
    assert_int_equal(in.head.run, 7);
    (void) krn_in_part(&in, 1, &n, &size);
    assert_int_equal(n, len);
    assert_memory_equal(krn_in_part(&in, 3, &n, &size), "end", 3);
    free(code);
    (void) close(fd[0]);
    (void) close(fd[1]);
}


#define TEST(f)  cmocka_unit_test_setup_teardown(f, fresh, fresh)

int
main(void)
{
    const struct CMUnitTest  tests[] = {
        TEST(a_message_in_one_packet_is_whole),
        TEST(a_message_in_three_packets_is_whole_at_the_third),
        TEST(no_more_is_kept_than_is_worth_it),
        TEST(more_without_a_head_or_bytes_is_refused),
        TEST(a_head_inside_a_message_is_refused),
        TEST(more_bytes_than_the_head_said_are_refused),
        TEST(lengths_that_do_not_fit_the_packet_are_refused),
        TEST(types_and_versions_that_do_not_exist_are_refused),
        TEST(a_long_message_survives_its_packets)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
