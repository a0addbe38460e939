
/*
 * retort-mapd: writes the id maps of new sandboxes, and nothing else.
 *
 * Runs as the helper's uid H with CAP_SETUID and CAP_SETGID, which the kernel
 * asks for when an id other than the writer's own is mapped.  They would also
 * let their holder become any user, so seccomp leaves no call for that.
 *
 * It believes the broker's slot number, within the range that root gave it at
 * start, for a child of which the broker holds a pidfd.  It takes no id, no
 * path and no count from anyone.
 */

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../protocol/init.h"
#include "fdpass.h"
#include "lock.h"
#include "log.h"


#define MAPD_SOCK    3
#define MAPD_PROC    4          /* the host's /proc */
#define MAPD_INSIDE  1000       /* SEAL_UID, SEAL_GID */
#define MAPD_STRIDE  8

static unsigned long  mapd_base;
static unsigned long  mapd_nslots;
static int           *mapd_pidfd;       /* who holds each slot, or -1 */


/* a pidfd is readable when its process has ended: 1, 0, or -1 for unknown */

static int
mapd_ended(int pidfd)
{
    struct pollfd  pfd = { pidfd, POLLIN, 0 };

    return poll(&pfd, 1, 0);
}


/* the number of the process behind a pidfd, as the kernel tells it */

static long
mapd_pid(int pidfd)
{
    int      fd;
    char     path[64], text[512], *p;
    ssize_t  len;

    (void) snprintf(path, sizeof(path), "self/fdinfo/%d", pidfd);
    fd = openat(MAPD_PROC, path, O_RDONLY|O_CLOEXEC);

    if (fd == -1) {
        return -1;
    }

    len = read(fd, text, sizeof(text) - 1);
    (void) close(fd);

    if (len <= 0) {
        return -1;
    }

    text[len] = '\0';
    p = strstr(text, "\nPid:");

    return p != NULL ? strtol(p + 5, NULL, 10) : -1;
}


static int
mapd_write(int dir, const char *file, unsigned long slot)
{
    int      fd, n, err;
    char     text[64];
    ssize_t  len;

    n = snprintf(text, sizeof(text), "%d %lu 1\n", MAPD_INSIDE,
                 mapd_base + MAPD_STRIDE * slot);
    fd = openat(dir, file, O_WRONLY|O_CLOEXEC);

    if (fd == -1) {
        return errno;
    }

    len = write(fd, text, (size_t) n);
    err = errno;
    (void) close(fd);

    return len == n ? 0 : err;
}


/*
 * The directory is opened by number and the process asked to be alive after
 * that: then the number still was its own, and the directory is its.
 */

static int
mapd_map(const map_req_t *req, int pidfd)
{
    int   dir, err;
    char  path[32];

    if (req->pid <= 1 || mapd_pid(pidfd) != req->pid) {
        return ESRCH;
    }

    (void) snprintf(path, sizeof(path), "%d", req->pid);
    dir = openat(MAPD_PROC, path, O_PATH|O_DIRECTORY|O_CLOEXEC);

    if (dir == -1) {
        return errno;
    }

    err = mapd_ended(pidfd) ? ESRCH : mapd_write(dir, "uid_map", req->slot);

    if (err == 0) {
        err = mapd_write(dir, "gid_map", req->slot);
    }

    (void) close(dir);

    return err;
}


/* a slot is free again when the pid 1 that had it has ended */

static int
mapd_take(const map_req_t *req, int pidfd)
{
    int  err, *held;

    if (req->slot >= mapd_nslots) {
        return ERANGE;
    }

    held = &mapd_pidfd[req->slot];

    if (*held != -1) {
        if (mapd_ended(*held) != 1) {
            return EBUSY;
        }

        (void) close(*held);
        *held = -1;
    }

    err = mapd_map(req, pidfd);

    if (err == 0) {
        *held = fcntl(pidfd, F_DUPFD_CLOEXEC, 0);

        if (*held == -1) {
            err = errno;
        }
    }

    return err;
}


static int
mapd_lock(void)
{
    static const int calls[] = {
        SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(poll), SCMP_SYS(ppoll),
        SCMP_SYS(openat), SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(close),
        SCMP_SYS(fcntl), SCMP_SYS(getpid), SCMP_SYS(rt_sigreturn),
        SCMP_SYS(exit_group), SCMP_SYS(restart_syscall)
    };

    if (capng_get_caps_process() != 0
        || !capng_have_capability(CAPNG_EFFECTIVE, CAP_SETUID)
        || !capng_have_capability(CAPNG_EFFECTIVE, CAP_SETGID)
        || capng_have_capability(CAPNG_PERMITTED, CAP_SYS_ADMIN)
        || getuid() == 0
        || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == -1)
    {
        errno = EPERM;
        return -1;
    }

    return lock_calls(calls, sizeof(calls) / sizeof(calls[0]));
}


static int
mapd_start(int argc, char **argv)
{
    if (argc == 3) {
        mapd_base = strtoul(argv[1], NULL, 10);
        mapd_nslots = strtoul(argv[2], NULL, 10);
        mapd_pidfd = calloc(mapd_nslots, sizeof(int));
    }

    /* host uid 0 is not mapped whatever the arguments are */
    if (mapd_base < 65536 || mapd_nslots == 0 || mapd_pidfd == NULL) {
        errno = EINVAL;
        return -1;
    }

    memset(mapd_pidfd, -1, mapd_nslots * sizeof(int));

    return mapd_lock();
}


int
main(int argc, char **argv)
{
    int        nfd, pidfd;
    ssize_t    n;
    map_ans_t  ans;
    map_req_t  req;

    rlog_init("retort-mapd");

    if (mapd_start(argc, argv) == -1) {
        rlog_errno(RLOG_ERROR, errno, "start: only retortd starts this");
        return 1;
    }

    for ( ;; ) {
        nfd = 1;
        n = fd_recv(MAPD_SOCK, &req, sizeof(req), &pidfd, &nfd, 0);

        if (n != (ssize_t) sizeof(req) || nfd != 1) {
            return n == 0 ? 0 : 1;
        }

        memset(&ans, 0, sizeof(ans));
        ans.id = req.id;
        ans.error = mapd_take(&req, pidfd);
        (void) close(pidfd);

        if (fd_send(MAPD_SOCK, &ans, sizeof(ans), NULL, 0) == -1) {
            return 1;
        }
    }
}
