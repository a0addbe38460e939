
/*
 * What a relay does with the stream of a container that is not believed: what
 * of it reaches the broker and the front, and how it ends.
 *
 * links: helper/docker/link.c helper/docker/carry.c helper/lib/fdpass.c
 * links: helper/lib/log.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "docker/carry.h"
#include "docker/docker.h"
#include "fdpass.h"


#define LINK_FAILED  42
#define LINK_MANY    600        /* more than a relay passes on */


typedef struct {
    pid_t  pid;
    int    link;
    int    init;
    int    channel;
    int    out;
} bed_t;


static bed_t  bed;


/* in the relay's place of relay.c: what it would tell the broker is its end */

void
relay_fail(int init, uint16_t step, int error)
{
    _exit(step == STEP_ENGINE ? LINK_FAILED : 1);
}


/* pairs: ours and the relay's */

static void
bed_pairs(int (*pair)[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair[0]), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair[1]), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair[2]), 0);
    assert_int_equal(pipe(pair[3]), 0);
}


static int
bed_setup(void **state)
{
    int         i, pair[4][2];
    link_fds_t  fds;

    bed_pairs(pair);
    bed.pid = fork();

    for (i = 0; i < 4; i++) {
        (void) close(pair[i][bed.pid == 0 ? 0 : 1]);
    }

    if (bed.pid == 0) {
        fds.link = pair[0][1];
        fds.init = pair[1][1];
        fds.channel = pair[2][1];
        fds.out = fds.err = pair[3][1];

        for (i = 0; i < CG_DIRS; i++) {
            fds.usage[i] = open("/", O_RDONLY|O_DIRECTORY);
        }

        link_run(&fds);
    }

    bed.link = pair[0][0];
    bed.init = pair[1][0];
    bed.channel = pair[2][0];
    bed.out = pair[3][0];
    return 0;
}


/* the relay's exit status, or -1 */

static int
bed_end(void)
{
    int  status;

    assert_int_equal(waitpid(bed.pid, &status, 0), bed.pid);
    bed.pid = 0;

    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}


static int
bed_teardown(void **state)
{
    if (bed.pid != 0) {
        (void) kill(bed.pid, SIGKILL);
        (void) waitpid(bed.pid, NULL, 0);
    }

    (void) close(bed.link);
    (void) close(bed.init);
    (void) close(bed.channel);
    (void) close(bed.out);

    return 0;
}


/* a frame, with the engine's head before it; -1 if the relay is gone */

static int
bed_frame(carry_type_t type, const void *data, uint16_t len)
{
    char          bytes[1024] = { 1 };
    carry_head_t  head = { len, (uint8_t) type, 0 };

    bytes[6] = (char) ((sizeof(head) + len) >> 8);
    bytes[7] = (char) (sizeof(head) + len);
    memcpy(bytes + 8, &head, sizeof(head));
    memcpy(bytes + 8 + sizeof(head), data, len);
    len = (uint16_t) (8 + sizeof(head) + len);

    return send(bed.link, bytes, len, MSG_NOSIGNAL) == len ? 0 : -1;
}


static int
bed_tell(uint16_t op)
{
    init_msg_t  msg = { op, 0, 0 };

    return bed_frame(CARRY_INIT, &msg, sizeof(msg));
}


/* how many descriptors came with the next word to the broker; -1: none came */

static int
bed_heard(uint16_t op)
{
    int         i, n, fds[FDPASS_MAX];
    init_msg_t  msg;

    n = FDPASS_MAX;

    if (fd_recv(bed.init, &msg, sizeof(msg), fds, &n, 0)
        != (ssize_t) sizeof(msg) || msg.op != op)
    {
        return -1;
    }

    for (i = 0; i < n; i++) {
        (void) close(fds[i]);
    }

    return n;
}


static void
test_gone_before_ready(void **state)
{
    (void) shutdown(bed.link, SHUT_WR);
    assert_int_equal(bed_end(), LINK_FAILED);
}


/* its counters are handed over once */

static void
test_gone_after_ready(void **state)
{
    assert_int_equal(bed_tell(INIT_READY), 0);
    assert_int_equal(bed_heard(INIT_READY), CG_DIRS);
    assert_int_equal(bed_tell(INIT_READY), 0);
    assert_int_equal(bed_heard(INIT_READY), 0);
    (void) shutdown(bed.link, SHUT_WR);
    assert_int_equal(bed_end(), 1);
}


static void
test_printed_before_packet(void **state)
{
    char  bytes[64];

    assert_int_equal(bed_frame(CARRY_OUT, "before", 6), 0);
    assert_int_equal(bed_frame(CARRY_CHANNEL, "packet", 6), 0);
    assert_int_equal(recv(bed.channel, bytes, sizeof(bytes), 0), 6);
    assert_int_equal(fcntl(bed.out, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(read(bed.out, bytes, sizeof(bytes)), 6);
    assert_memory_equal(bytes, "before", 6);
}


/* what is asked for is passed on for ever, what is not ends the container */

static void
test_tells_without_end(void **state)
{
    int  i;

    for (i = 0; i < LINK_MANY; i++) {
        assert_int_equal(send(bed.channel, "asked", 5, 0), 5);
        assert_int_equal(bed_tell(INIT_READY), 0);
        assert_true(bed_heard(INIT_READY) >= 0);
    }

    for (i = 0; i < LINK_MANY && bed_tell(INIT_KERNEL_EXIT) == 0
                && bed_heard(INIT_KERNEL_EXIT) == 0; i++) { /* void */ }

    assert_true(i < LINK_MANY);
    assert_int_equal(bed_end(), 1);
}


int
main(void)
{
#define BED(test)                                                             \
    cmocka_unit_test_setup_teardown(test, bed_setup, bed_teardown)

    const struct CMUnitTest  tests[] = {
        BED(test_gone_before_ready), BED(test_gone_after_ready),
        BED(test_printed_before_packet), BED(test_tells_without_end)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
