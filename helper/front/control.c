
/*
 * In retort-front, as its own uid without any capability.  The file mode of
 * the socket says who may connect, and SO_PEERCRED says it again before a byte
 * is read: uid 0, or the control group as any of the peer's groups.
 */

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bounds.h"
#include "control.h"
#include "flog.h"
#include "seal.h"
#include "serve.h"


#define CONTROL_GROUPS  256     /* of a peer; one with more is only root */
#define CONTROL_PAUSE   1000    /* msec after accept() failed */


static gid_t        control_gid;
static atomic_uint  control_runs;


void
control_init(gid_t gid)
{
    control_gid = gid;
}


static int
control_group(int fd, const struct ucred *who)
{
    size_t     i;
    gid_t      groups[CONTROL_GROUPS];
    socklen_t  len;

    if (who->gid == control_gid) {
        return 0;
    }

    len = sizeof(groups);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) == -1) {
        return -1;
    }

    for (i = 0; i < len / sizeof(gid_t); i++) {
        if (groups[i] == control_gid) {
            return 0;
        }
    }

    return -1;
}


static int
control_peer(int fd)
{
    socklen_t     len;
    struct ucred  who;

    len = sizeof(who);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == -1) {
        return -1;
    }

    if (who.uid == 0 || control_group(fd, &who) == 0) {
        return 0;
    }

    flog(RLOG_WARN, "control: uid %u (pid %d) may not connect",
         (unsigned) who.uid, (int) who.pid);

    return -1;
}


static int
control_stalls(int fd)
{
    struct timeval  tv;

    tv.tv_sec = BOUND_BODY_STALL / 1000;
    tv.tv_usec = 0;

    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) == -1) {
        return -1;
    }

    tv.tv_sec = BOUND_SEND_STALL / 1000;

    return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}


void *
control_thread(void *settings)
{
    int  fd;

    for ( ;; ) {
        fd = accept4(FRONT_FD_CONTROL, NULL, NULL, SOCK_CLOEXEC);

        if (fd == -1) {
            if (errno != EINTR && errno != ECONNABORTED) {
                flog(RLOG_ERROR, "control: accept: %s", strerror(errno));
                (void) poll(NULL, 0, CONTROL_PAUSE);
            }

        } else if (control_peer(fd) == 0 && control_stalls(fd) == 0) {
            serve_control(fd, settings);

        } else {
            (void) close(fd);
        }
    }

    return NULL;
}


int
control_run_begin(void)
{
    if (atomic_fetch_add(&control_runs, 1) < CONTROL_RUNS) {
        return 0;
    }

    control_run_end();

    return -1;
}


void
control_run_end(void)
{
    (void) atomic_fetch_sub(&control_runs, 1);
}
