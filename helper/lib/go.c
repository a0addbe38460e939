
/*
 * Linked into the template and into retort-docker: how a new sandbox begins.
 */

#include <errno.h>
#include <unistd.h>

#include "../protocol/init.h"
#include "fdpass.h"
#include "go.h"


/*
 * A thread that moves itself waits for nobody.  To move another one, the kernel
 * has all processors pass a point of rest first (RCU), which takes longer than
 * all else that a sandbox needs.
 */

int
go_wait(int sock)
{
    int         nfd, fds[INIT_GO_FDS];
    ssize_t     n;
    init_msg_t  msg;

    nfd = INIT_GO_FDS;
    n = fd_recv(sock, &msg, sizeof(msg), fds, &nfd, 0);

    if (n != (ssize_t) sizeof(msg) || msg.op != INIT_GO) {
        _exit(1);
    }

    while (nfd-- > 0) {
        if (write(fds[nfd], "0", 1) != 1 || close(fds[nfd]) == -1) {
            return errno;
        }
    }

    return 0;
}
