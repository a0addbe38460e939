
/*
 * The frames between a container and its relay: what is put comes out as it
 * was, in its order, however the stream is cut; and what is none, or more than
 * there is room for, is refused.
 *
 * links: helper/docker/carry.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "docker/carry.h"


static carry_t  carry_a, carry_b;
static char     carry_data[CARRY_PACKET];


static int
carry_setup(void **state)
{
    (void) state;
    carry_init(&carry_a);
    carry_init(&carry_b);
    memset(carry_data, 'x', sizeof(carry_data));

    return 0;
}


/* moves what is to be sent, at most "piece" bytes at once; the last result */

static int
carry_move(carry_t *from, carry_t *to, size_t piece)
{
    int          rc;
    size_t       len, n;
    const char  *bytes;

    rc = 0;

    while ((len = carry_out(from, &bytes)) != 0 && rc != -1) {
        n = len = len < piece ? len : piece;

        while ((rc = carry_feed(to, &bytes, &n)) == 1) {
            if (carry_keep(to) == -1) {
                return -1;
            }
        }

        carry_gone(from, len);
    }

    return rc;
}


static void
carry_is(carry_t *c, int type, const char *text)
{
    const char    *data;
    carry_head_t  head;

    assert_int_equal(carry_first(c, &head, &data), 1);
    assert_int_equal(head.type, type);
    assert_int_equal(head.len, strlen(text));
    assert_memory_equal(data, text, strlen(text));
    carry_next(c);
}


static void
frames_arrive_in_their_order_however_the_stream_is_cut(void **state)
{
    size_t  piece;

    (void) state;

    for (piece = 1; piece < 40; piece++) {
        carry_put(&carry_a, CARRY_OUT, "printed", 7);
        carry_put(&carry_a, CARRY_ERR, "", 0);
        carry_put(&carry_a, CARRY_CHANNEL, "packet", 6);
        assert_int_equal(carry_move(&carry_a, &carry_b, piece), 0);
        carry_is(&carry_b, CARRY_OUT, "printed");
        carry_is(&carry_b, CARRY_ERR, "");
        carry_is(&carry_b, CARRY_CHANNEL, "packet");
    }
}


static void
nobody_sends_more_than_there_is_room_for(void **state)
{
    size_t        n;
    const char    *data;
    carry_head_t  head;

    (void) state;

    for (n = 0; carry_may(&carry_a, CARRY_PACKET); n++) {
        carry_put(&carry_a, CARRY_OUT, carry_data, CARRY_PACKET);
        assert_int_equal(carry_move(&carry_a, &carry_b, 7000), 0);
    }

    assert_int_equal(n, CARRY_WINDOW / (CARRY_PACKET + sizeof(head)));

    while (carry_first(&carry_b, &head, &data)) {
        carry_next(&carry_b);
        carry_settle(&carry_b);
        assert_int_equal(carry_move(&carry_b, &carry_a, 7000), 0);
    }

    assert_int_equal(carry_may(&carry_a, CARRY_PACKET), 1);
}


static void
who_sends_more_all_the_same_is_refused(void **state)
{
    int  i, rc;

    (void) state;

    for (i = rc = 0; i < 20 && rc == 0; i++) {
        carry_a.credit = CARRY_WINDOW;
        carry_put(&carry_a, CARRY_OUT, carry_data, CARRY_PACKET);
        rc = carry_move(&carry_a, &carry_b, 7000);
    }

    assert_int_equal(rc, -1);
    assert_true(carry_b.queue.len <= CARRY_WINDOW);
}


static void
what_is_no_frame_is_refused(void **state)
{
    size_t                     i, len;
    carry_frame_t              f;
    const char                *p;
    static const carry_head_t  bad[] = {
        { 0, 0, 0 }, { 1, CARRY_TYPES, 0 }, { 1, 255, 0 },
        { 65535, CARRY_OUT, 0 }, { CARRY_PACKET + 1, CARRY_CHANNEL, 0 },
        { 0, CARRY_INIT, 0 }, { 9, CARRY_INIT, 0 }, { 3, CARRY_CREDIT, 0 }
    };

    (void) state;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        carry_init(&carry_b);
        memset(&f, 0, sizeof(f));
        f.head = bad[i];
        p = (const char *) &f;
        len = sizeof(f);
        assert_int_equal(carry_feed(&carry_b, &p, &len), -1);
    }
}


static void
more_room_than_there_can_be_is_refused(void **state)
{
    size_t         len;
    uint32_t       n;
    const char    *p;
    carry_frame_t  f;

    (void) state;
    memset(&f, 0, sizeof(f));
    f.head.len = sizeof(n);
    f.head.type = CARRY_CREDIT;
    n = 1;
    memcpy(f.data, &n, sizeof(n));
    p = (const char *) &f;
    len = sizeof(f.head) + sizeof(n);
    assert_int_equal(carry_feed(&carry_b, &p, &len), -1);
}


static void
what_an_old_kernel_said_is_void_and_gives_its_room_back(void **state)
{
    const char    *data;
    carry_head_t  head;

    (void) state;
    carry_put(&carry_a, CARRY_OUT, carry_data, CARRY_PACKET);
    carry_put(&carry_a, CARRY_OUT, carry_data, CARRY_PACKET);
    assert_int_equal(carry_move(&carry_a, &carry_b, 40000), 0);
    carry_turn(&carry_b, 1);
    assert_int_equal(carry_first(&carry_b, &head, &data), 0);
    carry_put(&carry_a, CARRY_OUT, "late", 4);
    assert_int_equal(carry_move(&carry_a, &carry_b, 3), 0);
    assert_int_equal(carry_first(&carry_b, &head, &data), 0);
    carry_turn(&carry_a, 1);
    carry_put(&carry_a, CARRY_OUT, "new", 3);
    assert_int_equal(carry_move(&carry_a, &carry_b, 3), 0);
    carry_is(&carry_b, CARRY_OUT, "new");
    carry_settle(&carry_b);
    assert_int_equal(carry_move(&carry_b, &carry_a, 3), 0);
    assert_int_equal(carry_a.credit, CARRY_WINDOW);
}


static void
what_is_urgent_needs_no_room(void **state)
{
    init_msg_t  msg = { INIT_SIGNAL, 2, 0 };

    (void) state;

    while (carry_may(&carry_a, CARRY_PACKET)) {
        carry_put(&carry_a, CARRY_CHANNEL, carry_data, CARRY_PACKET);
    }

    assert_int_equal(carry_may_urgent(&carry_a), 1);
    carry_urgent(&carry_a, &msg);
    assert_true(carry_a.out_len <= CARRY_ROOM);
}


#define CARRY_TEST(f)  cmocka_unit_test_setup(f, carry_setup)

int
main(void)
{
    static const struct CMUnitTest  tests[] = {
        CARRY_TEST(frames_arrive_in_their_order_however_the_stream_is_cut),
        CARRY_TEST(nobody_sends_more_than_there_is_room_for),
        CARRY_TEST(who_sends_more_all_the_same_is_refused),
        CARRY_TEST(what_is_no_frame_is_refused),
        CARRY_TEST(more_room_than_there_can_be_is_refused),
        CARRY_TEST(what_an_old_kernel_said_is_void_and_gives_its_room_back),
        CARRY_TEST(what_is_urgent_needs_no_room)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
