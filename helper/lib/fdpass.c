
/*
 * Linked into every program of the helper and into the kernel.  What comes in
 * is hostile: sizes and counts are checked before anything is used.
 */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fdpass.h"


typedef union {
    struct cmsghdr  head;
    char            room[CMSG_SPACE(FDPASS_MAX * sizeof(int))];
} fd_control_t;


int
fd_send(int sock, const void *msg, size_t len, const int *fds, int nfd)
{
    ssize_t         n;
    fd_control_t    control;
    struct iovec    iov;
    struct msghdr   mh;
    struct cmsghdr  *c;

    if (nfd < 0 || nfd > FDPASS_MAX) {
        errno = EINVAL;
        return -1;
    }

    memset(&mh, 0, sizeof(mh));
    iov.iov_base = (void *) msg;
    iov.iov_len = len;
    mh.msg_iov = &iov;
    mh.msg_iovlen = 1;

    if (nfd != 0) {
        memset(&control, 0, sizeof(control));
        mh.msg_control = control.room;
        mh.msg_controllen = CMSG_SPACE((size_t) nfd * sizeof(int));
        c = CMSG_FIRSTHDR(&mh);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t) nfd * sizeof(int));
        memcpy(CMSG_DATA(c), fds, (size_t) nfd * sizeof(int));
    }

    do {
        n = sendmsg(sock, &mh, MSG_NOSIGNAL);
    } while (n == -1 && errno == EINTR);

    return n == (ssize_t) len ? 0 : -1;
}


/* takes what came, at most "room", and closes the rest; how many came */

static int
fd_take(struct msghdr *mh, int *fds, int room)
{
    int             n, fd, got;
    unsigned char   *p;
    struct cmsghdr  *c;

    got = 0;

    for (c = CMSG_FIRSTHDR(mh); c != NULL; c = CMSG_NXTHDR(mh, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
            continue;
        }

        p = CMSG_DATA(c);

        for (n = (int) ((c->cmsg_len - CMSG_LEN(0)) / sizeof(int)); n > 0; n--)
        {
            memcpy(got < room ? &fds[got] : &fd, p, sizeof(int));
            p += sizeof(int);

            if (got++ >= room) {
                (void) close(fd);
            }
        }
    }

    return got;
}


ssize_t
fd_recv(int sock, void *msg, size_t size, int *fds, int *nfd, int flags)
{
    int            room, got;
    ssize_t        n;
    fd_control_t   control;
    struct iovec   iov;
    struct msghdr  mh;

    room = (nfd != NULL) ? *nfd : 0;

    memset(&mh, 0, sizeof(mh));
    iov.iov_base = msg;
    iov.iov_len = size;
    mh.msg_iov = &iov;
    mh.msg_iovlen = 1;
    mh.msg_control = control.room;
    mh.msg_controllen = sizeof(control.room);

    do {
        n = recvmsg(sock, &mh, flags | MSG_CMSG_CLOEXEC);
    } while (n == -1 && errno == EINTR);

    if (n == -1) {
        return -1;
    }

    got = fd_take(&mh, fds, room);

    if (got > room || (mh.msg_flags & (MSG_TRUNC|MSG_CTRUNC))) {
        for (got = got < room ? got : room; got > 0; got--) {
            (void) close(fds[got - 1]);
            fds[got - 1] = -1;
        }

        errno = EMSGSIZE;
        return -1;
    }

    if (nfd != NULL) {
        *nfd = got;
    }

    return n;
}
