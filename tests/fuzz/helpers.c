
/*
 * A broker that has been taken over, against the map writer and a launcher: any
 * messages, with a descriptor or without.  What they ask of the kernel is
 * looked at, and not done.  The first byte says which of the two.
 *
 * links: helper/lib/log.c
 */

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fdpass.h"
#include "fuzz.h"
#include "lock.h"
#include "protocol/init.h"


#define HELPERS_PID    4242     /* a process that there is */
#define HELPERS_FD     1000     /* its pidfd's number; "+ 1": it has ended */
#define HELPERS_SLOTS  4
#define HELPERS_BASE   100000

enum { HELPERS_INFO = 2000, HELPERS_DIR, HELPERS_UIDS, HELPERS_GIDS };


static const uint8_t  *bytes;
static size_t         nbytes;
static map_req_t      asked;
static int            may_start;
static int            living;           /* what a launcher started */
static int            mapped;           /* files written, of this message */
static bool           taken[HELPERS_SLOTS];
static bool           over;             /* the holders of slots have ended */


/* ---- in the place of the kernel ---- */

static int
helpers_openat(int dir, const char *path, int flags)
{
    if (dir == HELPERS_DIR) {
        FUZZ_CHECK(flags == (O_WRONLY|O_CLOEXEC));
        FUZZ_CHECK(strcmp(path, mapped == 0 ? "uid_map" : "gid_map") == 0);
        return mapped == 0 ? HELPERS_UIDS : HELPERS_GIDS;
    }

    FUZZ_CHECK(dir == 4 && strchr(path, '.') == NULL && path[0] != '/');

    if (strncmp(path, "self/fdinfo/", 12) == 0) {
        return HELPERS_INFO;
    }

    FUZZ_CHECK(strcmp(path, "4242") == 0);
    FUZZ_CHECK(flags == (O_PATH|O_DIRECTORY|O_CLOEXEC));

    return HELPERS_DIR;
}


static ssize_t
helpers_read(int fd, void *p, size_t n)
{
    FUZZ_CHECK(fd == HELPERS_INFO);

    return snprintf(p, n, "pos:\t0\nflags:\t02\nPid:\t%d\nNSpid:\t1\n",
                    HELPERS_PID);
}


/* one id of ours, of a slot that nobody has */

static ssize_t
helpers_write(int fd, const void *p, size_t n)
{
    char  text[64];

    (void) snprintf(text, sizeof(text), "1000 %u 1\n",
                    HELPERS_BASE + 8 * asked.slot);
    FUZZ_CHECK(fd == (mapped == 0 ? HELPERS_UIDS : HELPERS_GIDS));
    FUZZ_CHECK(asked.slot < HELPERS_SLOTS && !taken[asked.slot]);
    FUZZ_CHECK(asked.pid == HELPERS_PID);
    FUZZ_CHECK(strlen(text) == n && memcmp(text, p, n) == 0);
    mapped++;

    return (ssize_t) n;
}


static int
helpers_close(int fd)
{
    FUZZ_CHECK(fd >= HELPERS_FD);

    return 0;
}


static int
helpers_poll(struct pollfd *p, nfds_t n, int timeout)
{
    FUZZ_CHECK(n == 1 && p->fd >= HELPERS_FD);
    FUZZ_CHECK(timeout == 0 || living == 0);

    return timeout != 0 || p->fd == HELPERS_FD + 1
           || (p->fd > HELPERS_FD + 1 && over) ? 1 : 0;
}


/* the map writer's copy of a pidfd, a launcher's mark of its program */

static int
helpers_fcntl(int fd, int command, int value)
{
    if (command == F_DUPFD_CLOEXEC) {
        FUZZ_CHECK(value == 0 && fd == HELPERS_FD);
        return HELPERS_FD + 2;
    }

    return 0;
}


static long
helpers_syscall(long nr, ...)
{
    va_list            args;
    struct clone_args  *clone;

    va_start(args, nr);

    if (nr == SYS_clone3) {
        clone = va_arg(args, struct clone_args *);
        FUZZ_CHECK(clone->flags == (CLONE_PARENT|CLONE_PIDFD));
        FUZZ_CHECK(living == 0 && may_start);
        living = 1;
        *(int *) (uintptr_t) clone->pidfd = HELPERS_FD;

    } else {
        FUZZ_CHECK(nr == SYS_pidfd_send_signal && living == 1);
        living = 0;
    }

    va_end(args);

    return 1;
}


/* ---- in the place of helper/lib ---- */

int
lock_calls(const int *calls, size_t n)
{
    (void) calls;
    (void) n;

    return 0;
}


/* the next message: how long it is, with what descriptor, its bytes */

ssize_t
fd_recv(int sock, void *msg, size_t size, int *fds, int *nfd, int flags)
{
    size_t   n;
    uint8_t  how;

    (void) sock;
    (void) flags;

    if (nbytes == 0) {
        return 0;
    }

    how = fuzz_byte(&bytes, &nbytes);
    n = how & 0x80 ? 1 + fuzz_byte(&bytes, &nbytes) % size : size;
    memset(msg, 0, size);
    memcpy(msg, bytes, n < nbytes ? n : nbytes);
    bytes += n < nbytes ? n : nbytes;
    nbytes -= n < nbytes ? n : nbytes;

    *nfd = (how & 3) != 0;
    fds[0] = how & 2 ? HELPERS_FD : HELPERS_FD + 1;
    may_start = *nfd;
    over = (how & 4) != 0;
    mapped = 0;
    memcpy(&asked, msg, size < sizeof(asked) ? size : sizeof(asked));

    for (size = 0; size < HELPERS_SLOTS; size++) {
        taken[size] = taken[size] && !over;
    }

    return (ssize_t) n;
}


int
fd_send(int sock, const void *msg, size_t len, const int *fds, int nfd)
{
    const map_ans_t  *ans = msg;

    (void) sock;
    (void) fds;
    FUZZ_CHECK(len == sizeof(*ans) && nfd == 0 && ans->id == asked.id);
    FUZZ_CHECK(mapped == (ans->error == 0 ? 2 : 0));

    if (ans->error == 0) {
        taken[asked.slot] = true;
    }

    return 0;
}


#define openat   helpers_openat
#define read     helpers_read
#define write    helpers_write
#define close    helpers_close
#define poll     helpers_poll
#define fcntl    helpers_fcntl
#define syscall  helpers_syscall

/* the rights that root gives to the map writer */
#define capng_get_caps_process()         0
#define capng_have_capability(set, cap)  ((cap) != CAP_SYS_ADMIN)
#define prctl(...)                       0
#define getuid()                         1

#define main     mapd_main
#include "mapd/mapd.c"
#undef main
#define main     launch_main
#include "launch/launch.c"
#undef main


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;

    return 0;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char  base[] = "100000", slots[] = "4", program[] = "3";
    static char  *mapd[] = { base, base, slots, NULL };
    static char  *launch[] = { base, program, base, NULL };

    bytes = data;
    nbytes = size;
    living = 0;
    memset(taken, 0, sizeof(taken));

    if (fuzz_byte(&bytes, &nbytes) == 'm') {
        (void) mapd_main(3, mapd);
        free(mapd_pidfd);
        return 0;
    }

    (void) launch_main(3, launch);
    FUZZ_CHECK(living == 0);

    return 0;
}
