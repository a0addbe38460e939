
/*
 * One packet, whole or not at all, and no descriptor lost or left open.
 *
 * links: helper/lib/fdpass.c
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fdpass.h"


#define RAW_FDS  (FDPASS_MAX + 4)

#define TEST(f)                                                               \
    cmocka_unit_test_setup_teardown(f, fdpass_setup, fdpass_teardown)


static int  pair[2];
static int  fds_before;


static int
count_fds(void)
{
    int  n;
    DIR  *dir;

    dir = opendir("/proc/self/fd");
    assert_non_null(dir);

    for (n = 0; readdir(dir) != NULL; n++) { /* void */ }

    (void) closedir(dir);

    return n;
}


static int
fdpass_setup(void **state)
{
    (void) state;

    fds_before = count_fds();

    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
}


/* every test ends here: what came was closed by the test, the rest by us */

static int
fdpass_teardown(void **state)
{
    (void) state;

    (void) close(pair[0]);
    (void) close(pair[1]);

    return count_fds() == fds_before ? 0 : -1;
}


static void
open_nulls(int *fds, int n)
{
    int  i;

    for (i = 0; i < n; i++) {
        fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        assert_int_not_equal(fds[i], -1);
    }
}


static void
close_all(const int *fds, int n)
{
    while (n > 0) {
        assert_int_equal(close(fds[--n]), 0);
    }
}


/* sends more descriptors than fd_send() agrees to */

static void
send_raw(const int *fds, int nfd)
{
    char           byte = 'x';
    size_t         len = (size_t) nfd * sizeof(int);
    struct iovec   iov = { &byte, 1 };
    struct msghdr  mh = { .msg_iov = &iov, .msg_iovlen = 1 };

    union {
        struct cmsghdr  head;
        char            room[CMSG_SPACE(RAW_FDS * sizeof(int))];
    } control = { { CMSG_LEN(len), SOL_SOCKET, SCM_RIGHTS } };

    mh.msg_control = control.room;
    mh.msg_controllen = CMSG_SPACE(len);
    memcpy(CMSG_DATA(&control.head), fds, len);

    assert_int_equal(sendmsg(pair[0], &mh, MSG_NOSIGNAL), 1);
}


static void
a_packet_arrives_with_its_descriptors(void **state)
{
    int   i, n, sent[FDPASS_MAX], got[FDPASS_MAX];
    char  text[16];

    (void) state;

    open_nulls(sent, FDPASS_MAX);
    assert_int_equal(fd_send(pair[0], "retort", 6, sent, FDPASS_MAX), 0);

    n = FDPASS_MAX;
    assert_int_equal(fd_recv(pair[1], text, sizeof(text), got, &n, 0), 6);
    assert_memory_equal(text, "retort", 6);
    assert_int_equal(n, FDPASS_MAX);

    for (i = 0; i < n; i++) {
        assert_int_equal(fcntl(got[i], F_GETFD), FD_CLOEXEC);
        assert_int_equal(read(got[i], text, sizeof(text)), 0);
    }

    close_all(sent, FDPASS_MAX);
    close_all(got, n);
}


static void
a_packet_without_descriptors_brings_none(void **state)
{
    int   n, got[2];
    char  text[16];

    (void) state;

    assert_int_equal(fd_send(pair[0], "a", 1, NULL, 0), 0);
    assert_int_equal(fd_send(pair[0], "bc", 2, NULL, 0), 0);

    n = 2;
    assert_int_equal(fd_recv(pair[1], text, sizeof(text), got, &n, 0), 1);
    assert_int_equal(n, 0);
    assert_int_equal(fd_recv(pair[1], text, sizeof(text), NULL, NULL, 0), 2);
}


static void
a_packet_that_is_too_long_is_refused_and_its_descriptors_closed(void **state)
{
    int   n, sent[2], got[2];
    char  text[4];

    (void) state;

    open_nulls(sent, 2);
    assert_int_equal(fd_send(pair[0], "12345", 5, sent, 2), 0);
    close_all(sent, 2);

    n = 2;
    assert_int_equal(fd_recv(pair[1], text, sizeof(text), got, &n, 0), -1);
    assert_int_equal(errno, EMSGSIZE);
}


static void
more_descriptors_than_asked_for_are_refused_and_closed(void **state)
{
    int   i, n, sent[RAW_FDS], got[FDPASS_MAX];
    char  text[4];

    (void) state;

    open_nulls(sent, RAW_FDS);

    for (i = 1; i <= RAW_FDS; i++) {
        send_raw(sent, i);
        n = i > FDPASS_MAX ? FDPASS_MAX : i - 1;
        assert_int_equal(fd_recv(pair[1], text, sizeof(text), got, &n, 0), -1);
        assert_int_equal(errno, EMSGSIZE);

        send_raw(sent, i);
        assert_int_equal(fd_recv(pair[1], text, sizeof(text), NULL, NULL, 0),
                         -1);
        assert_int_equal(errno, EMSGSIZE);
    }

    close_all(sent, RAW_FDS);
}


static void
a_number_of_descriptors_out_of_range_is_never_sent(void **state)
{
    int  fds[FDPASS_MAX + 1] = { 0 };

    (void) state;

    assert_int_equal(fd_send(pair[0], "x", 1, fds, FDPASS_MAX + 1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(fd_send(pair[0], "x", 1, fds, -1), -1);
    assert_int_equal(errno, EINVAL);
}


static void
a_peer_that_is_gone_is_an_end_of_file_and_no_signal(void **state)
{
    char  text[4];

    (void) state;

    assert_int_equal(shutdown(pair[0], SHUT_RDWR), 0);
    assert_int_equal(fd_recv(pair[1], text, sizeof(text), NULL, NULL, 0), 0);
    assert_int_equal(fd_send(pair[1], "x", 1, NULL, 0), -1);
    assert_int_equal(errno, EPIPE);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        TEST(a_packet_arrives_with_its_descriptors),
        TEST(a_packet_without_descriptors_brings_none),
        TEST(a_packet_that_is_too_long_is_refused_and_its_descriptors_closed),
        TEST(more_descriptors_than_asked_for_are_refused_and_closed),
        TEST(a_number_of_descriptors_out_of_range_is_never_sent),
        TEST(a_peer_that_is_gone_is_an_end_of_file_and_no_signal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
