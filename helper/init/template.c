
/*
 * The template's loop.  Runs as the helper's uid H without a capability, in
 * the profile's prepared mount namespace and an empty network namespace, with
 * the profile's imports loaded.  It believes the broker's fixed-size messages
 * and never reads a byte of a tenant.
 *
 * H owns the user namespace of every child, and so may the broker, which has
 * the same uid, map and kill it.  CLONE_PARENT makes the broker the parent:
 * a template may die or be replaced without its children noticing.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fdpass.h"
#include "go.h"
#include "seal.h"


#define TEMPLATE_FLAGS  (CLONE_NEWUSER|CLONE_NEWNS|CLONE_NEWPID|CLONE_NEWNET  \
                         |CLONE_NEWIPC|CLONE_NEWUTS|CLONE_PARENT|CLONE_PIDFD)


static void
template_child(int sock, const tpl_req_t *req, const int *fds,
    const init_hooks_t *hooks)
{
    if (template_place(sock, fds) == -1) {
        _exit(1);
    }

    errno = go_wait(PID1_SOCK);

    if (errno != 0) {
        seal_fail(STEP_ATTACH);
    }

    seal(req);
    pid1_run(req, hooks);
    _exit(1);
}


static int
template_clone(int sock, const tpl_req_t *req, const int *fds,
    const init_hooks_t *hooks)
{
    int                pidfd, i, rc;
    long               pid;
    tpl_ans_t          ans;
    struct clone_args  args = {
        .flags = TEMPLATE_FLAGS, .pidfd = (uintptr_t) &pidfd
    };

    pidfd = -1;
    hooks->before_fork();
    pid = syscall(SYS_clone3, &args, sizeof(args));

    if (pid == 0) {
        template_child(sock, req, fds, hooks);
    }

    ans.id = req->id;
    ans.pid = (int32_t) pid;
    ans.error = (pid == -1) ? errno : 0;
    hooks->after_fork_parent();

    for (i = 0; i < TPL_FDS; i++) {
        (void) close(fds[i]);
    }

    rc = fd_send(sock, &ans, sizeof(ans), &pidfd, pidfd == -1 ? 0 : 1);

    if (pidfd != -1) {
        (void) close(pidfd);
    }

    return rc;
}


int
template_serve(int sock, const init_hooks_t *hooks)
{
    int        nfd;
    int        fds[TPL_FDS];
    ssize_t    n;
    tpl_req_t  req;
    tpl_ans_t  warm = { 0, 0, 0 };

    if (fd_send(sock, &warm, sizeof(warm), NULL, 0) == -1) {
        return 1;
    }

    for ( ;; ) {
        hooks->before_wait(sock);
        nfd = TPL_FDS;
        n = fd_recv(sock, &req, sizeof(req), fds, &nfd, 0);

        if (n != (ssize_t) sizeof(req) || nfd != TPL_FDS) {
            return n != 0;
        }

        if (template_clone(sock, &req, fds, hooks) == -1) {
            return 1;
        }
    }
}


/*
 * Moves the four descriptors to their numbers and closes all others.  They
 * go up first, so that none is overwritten while it is still needed.
 */

int
template_place(int sock, const int *fds)
{
    int  i, high[TPL_FDS];

    (void) close(sock);

    for (i = 0; i < TPL_FDS; i++) {
        high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, PID1_FD_END);

        if (high[i] == -1) {
            return -1;
        }
    }

    for (i = 0; i < TPL_FDS; i++) {
        if (dup3(high[i], PID1_SOCK + i, O_CLOEXEC) == -1) {
            return -1;
        }
    }

    return close_range(PID1_SOCK + TPL_FDS, ~0U, 0);
}
