
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
    struct cmsghdr  *c;
    struct iovec    iov = { (void *) msg, len };
    struct msghdr   mh = { .msg_iov = &iov, .msg_iovlen = 1 };

    if (nfd < 0 || nfd > FDPASS_MAX) {
        errno = EINVAL;
        return -1;
    }

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


/*
 * The kernel installs no descriptor for which there is no room, and tells so
 * by MSG_CTRUNC.  Nothing but descriptors can come: no socket asks for more.
 */

ssize_t
fd_recv(int sock, void *msg, size_t size, int *fds, int *nfd, int flags)
{
    int             got;
    ssize_t         n;
    fd_control_t    control;
    struct cmsghdr  *c;
    struct iovec    iov = { msg, size };
    struct msghdr   mh = { .msg_iov = &iov, .msg_iovlen = 1 };

    got = (nfd != NULL && *nfd <= FDPASS_MAX) ? *nfd : 0;
    mh.msg_control = control.room;
    mh.msg_controllen = CMSG_LEN((size_t) got * sizeof(int));

    do {
        n = recvmsg(sock, &mh, flags | MSG_CMSG_CLOEXEC);
    } while (n == -1 && errno == EINTR);

    if (n == -1) {
        return -1;
    }

    c = CMSG_FIRSTHDR(&mh);
    got = (c != NULL) ? (int) ((c->cmsg_len - CMSG_LEN(0)) / sizeof(int)) : 0;

    if (got != 0) {
        memcpy(fds, CMSG_DATA(c), (size_t) got * sizeof(int));
    }

    if (mh.msg_flags & (MSG_TRUNC|MSG_CTRUNC)) {
        for ( /* void */ ; got > 0; got--) {
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
