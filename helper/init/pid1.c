
/*
 * pid 1 of a sandbox, sealed: it forks the kernel, reaps what dies and does
 * what the broker says.  It reads nothing that a tenant wrote.
 *
 * It is itself a fork of the template in which no tenant byte was ever read,
 * so a new kernel can be had from it at any time.  When the broker is gone it
 * exits, and everything in its pid namespace with it.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../protocol/kernel.h"
#include "fdpass.h"
#include "seal.h"


#define PID1_ENDS   64          /* of kernels in one second; then each waits */
#define PID1_PAUSE  20          /* msec */


init_page_t  *init_page;
int           init_carried;


static void
pid1_tell(uint16_t op, uint16_t step, int32_t arg)
{
    init_msg_t  msg = { op, step, arg };

    if (fd_send(PID1_SOCK, &msg, sizeof(msg), NULL, 0) == -1) {
        _exit(1);
    }
}


static int
pid1_oom(const char *score)
{
    return write(PID1_OOM, score, strlen(score)) == -1 ? -1 : 0;
}


/*
 * The names of sockets belong to where the channel was made, and not to this
 * sandbox.  A socket has one name and for good: this one has it from here, and
 * it is taken away again before anybody could use it.
 */

static int
pid1_name(void)
{
    static const struct sockaddr_un  name = { AF_UNIX, "/dev/shm/.channel" };

    return bind(PID1_CHANNEL, (const struct sockaddr *) &name, sizeof(name))
           == -1 ? -1 : unlink(name.sun_path);
}


static void
pid1_kernel(const init_hooks_t *hooks)
{
    sigset_t  none;

    sigemptyset(&none);

    if (dup2(PID1_OUT, 1) == -1
        || dup2(PID1_ERR, 2) == -1
        || dup3(PID1_CHANNEL, KRN_FD, O_CLOEXEC) == -1
        || close_range(PID1_SOCK, ~0U, 0) == -1
        || sigprocmask(SIG_SETMASK, &none, NULL) == -1)
    {
        _exit(1);
    }

    hooks->kernel();
    _exit(1);
}


static pid_t
pid1_start(const init_hooks_t *hooks)
{
    pid_t  pid;

    if (pid1_name() == -1) {
        seal_fail(STEP_CHANNEL);
    }

    if (pid1_oom(INIT_OOM_KERNEL) == -1) {
        seal_fail(STEP_KERNEL);
    }

    pid = fork();

    if (pid == 0) {
        pid1_kernel(hooks);
    }

    if (pid == -1 || pid1_oom(INIT_OOM_PID1) == -1
        || close_range(PID1_CHANNEL, PID1_ERR, 0) == -1)
    {
        seal_fail(STEP_KERNEL);
    }

    pid1_tell(INIT_READY, 0, 0);

    return pid;
}


/* what the page names counts if it is a living child of ours; asked once */

static pid_t
pid1_snapshot(void)
{
    pid_t      pid;
    siginfo_t  info;

    memset(&info, 0, sizeof(info));
    pid = atomic_exchange(&init_page->snapshot, 0);

    return pid > 1
           && waitid(P_PID, (id_t) pid, &info, WEXITED|WNOHANG|WNOWAIT) == 0
           && info.si_pid == 0 ? pid : -1;
}


/* an end that is told of costs the broker more than it costs a tenant */

static void
pid1_pace(void)
{
    struct timespec        now;
    static unsigned        ends;
    static time_t          second;
    const struct timespec  pause = { 0, PID1_PAUSE * 1000000 };

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    ends = (now.tv_sec == second) ? ends + 1 : 0;
    second = now.tv_sec;

    if (ends > PID1_ENDS) {
        (void) nanosleep(&pause, NULL);
    }
}


/*
 * The snapshot ends all others, which it can do at once and pid 1 cannot; the
 * front sees to it that it comes up in time.  Without one there is nothing to
 * go on with.
 */

static pid_t
pid1_succeed(int status)
{
    pid_t  next;

    pid1_pace();
    next = pid1_snapshot();

    if (next == -1) {
        (void) kill(-1, SIGKILL);

    } else {
        (void) kill(next, SIGCONT);
        (void) kill(next, INIT_TAKE_OVER);
    }

    pid1_tell(INIT_KERNEL_EXIT, next != -1, status);

    return next;
}


static pid_t
pid1_reap(pid_t kernel)
{
    int    status;
    pid_t  pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == kernel) {
            kernel = pid1_succeed(status);

        } else {
            (void) atomic_compare_exchange_strong(&init_page->snapshot, &pid,
                                                  0);
        }
    }

    return kernel;
}


/* by a child: pid 1 reads not even the name of a tenant's file */

static void
pid1_empty(const init_hooks_t *hooks)
{
    int    status;
    pid_t  pid;

    pid = fork();

    if (pid == 0) {
        _exit(hooks->empty == NULL || hooks->empty() == -1);
    }

    if (pid == -1 || waitpid(pid, &status, 0) != pid || status != 0) {
        errno = EUCLEAN;
        seal_fail(STEP_WORKSPACE);
    }
}


/*
 * pid 1 opens nothing by itself, so what comes takes the numbers that the
 * last kernel's descriptors left free.
 */

static pid_t
pid1_restart(const int *fds, int empty, const init_hooks_t *hooks)
{
    int  i;

    (void) kill(-1, SIGKILL);

    while (waitpid(-1, NULL, 0) != -1 || errno == EINTR) {
        /* everything but pid 1 goes */
    }

    memset(init_page, 0, sizeof(*init_page));

    if (empty) {
        pid1_empty(hooks);
    }

    for (i = 0; i < INIT_RESTART_FDS; i++) {
        if (fds[i] != PID1_CHANNEL + i) {
            errno = EBADF;
            seal_fail(STEP_CHANNEL);
        }
    }

    return pid1_start(hooks);
}


static pid_t
pid1_command(pid_t kernel, const init_hooks_t *hooks)
{
    int         nfd, fds[INIT_RESTART_FDS];
    ssize_t     n;
    init_msg_t  msg;

    nfd = INIT_RESTART_FDS;
    n = fd_recv(PID1_SOCK, &msg, sizeof(msg), fds, &nfd, 0);

    if (n != (ssize_t) sizeof(msg)) {
        _exit(0);
    }

    if (msg.op == INIT_RESTART && nfd == INIT_RESTART_FDS) {
        return pid1_restart(fds, msg.arg != 0, hooks);
    }

    if (msg.op != INIT_SIGNAL || nfd != 0) {
        _exit(1);
    }

    if (kernel > 0) {
        atomic_store(&init_page->interrupt, (uint32_t) msg.arg);
        (void) kill(kernel, msg.step);
    }

    return kernel;
}


static void
pid1_environ(const tpl_req_t *req)
{
    char  cpus[16];

    (void) snprintf(cpus, sizeof(cpus), "%u", (req->limits.cpu + 999) / 1000);

    if (setenv("RETORT_CPUS", cpus, 1) == -1) {
        seal_fail(STEP_KERNEL);
    }
}


void
pid1_run(const tpl_req_t *req, const init_hooks_t *hooks)
{
    pid_t                    kernel;
    sigset_t                 set;
    struct pollfd            pfd[2] = {
        { PID1_SOCK, POLLIN, 0 }, { -1, POLLIN, 0 }
    };
    struct signalfd_siginfo  info;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    pfd[1].fd = signalfd(-1, &set, SFD_CLOEXEC|SFD_NONBLOCK);
    init_page = mmap(NULL, sizeof(*init_page), PROT_READ|PROT_WRITE,
                     MAP_SHARED|MAP_ANONYMOUS, -1, 0);

    if (pfd[1].fd == -1 || init_page == MAP_FAILED
        || sigprocmask(SIG_SETMASK, &set, NULL) == -1)
    {
        seal_fail(STEP_KERNEL);
    }

    pid1_environ(req);
    kernel = pid1_start(hooks);

    for ( ;; ) {
        if (poll(pfd, 2, -1) == -1 && errno != EINTR) {
            _exit(1);
        }

        if (pfd[1].revents != 0
            && read(pfd[1].fd, &info, sizeof(info)) == (ssize_t) sizeof(info))
        {
            kernel = pid1_reap(kernel);
        }

        if (pfd[0].revents != 0) {
            kernel = pid1_command(kernel, hooks);
        }
    }
}
