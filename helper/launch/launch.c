
/*
 * retort-launch: executes one program again and again when the broker says
 * so; the broker itself never executes anything.
 *
 * One runs as the front's uid for the front, and one as the helper's uid H in
 * each profile's mount and network namespace for its template.  It holds no
 * capability.  What it executes, with which arguments and descriptors, was
 * fixed by root at service start; the broker adds the one that becomes 3.
 *
 *   retort-launch DESCRIPTOR-OF-PROGRAM NAME [ARGUMENT...]
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../protocol/init.h"
#include "fdpass.h"


#define LAUNCH_SOCK  3


static void
launch_kill(int *pidfd)
{
    struct pollfd  pfd = { *pidfd, POLLIN, 0 };

    if (*pidfd == -1) {
        return;
    }

    (void) syscall(SYS_pidfd_send_signal, *pidfd, SIGKILL, NULL, 0);

    while (poll(&pfd, 1, -1) == -1 && errno == EINTR) {
        /* its end */
    }

    (void) close(*pidfd);
    *pidfd = -1;
}


static void
launch_exec(int sock, int program, char **argv)
{
    sigset_t     none;
    char *const  env[] = { NULL };

    sigemptyset(&none);

    if (dup2(sock, LAUNCH_SOCK) == -1
        || sigprocmask(SIG_SETMASK, &none, NULL) == -1)
    {
        _exit(126);
    }

    (void) fexecve(program, argv, env);
    _exit(127);
}


/* the broker becomes the parent, and reaps */

static void
launch_start(int sock, int program, int *pidfd, char **argv)
{
    long               pid;
    struct clone_args  args = {
        .flags = CLONE_PARENT|CLONE_PIDFD, .pidfd = (uintptr_t) pidfd
    };

    pid = syscall(SYS_clone3, &args, sizeof(args));

    if (pid == 0) {
        launch_exec(sock, program, argv);
    }

    if (pid == -1) {
        *pidfd = -1;
    }

    (void) close(sock);
}


int
main(int argc, char **argv)
{
    int           nfd, sock, program, pidfd;
    ssize_t       n;
    launch_req_t  req;

    pidfd = -1;
    program = (argc < 3) ? -1 : (int) strtol(argv[1], NULL, 10);

    if (fcntl(program, F_SETFD, FD_CLOEXEC) == -1) {
        return 1;
    }

    for ( ;; ) {
        nfd = 1;
        n = fd_recv(LAUNCH_SOCK, &req, sizeof(req), &sock, &nfd, 0);

        launch_kill(&pidfd);

        if (n != (ssize_t) sizeof(req)) {
            return n == 0 ? 0 : 1;
        }

        if (req.op == LAUNCH_START && nfd == 1) {
            launch_start(sock, program, &pidfd, argv + 2);
        }
    }
}
