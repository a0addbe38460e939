
/*
 * Part of retort-broker: what it keeps for itself after start.  retortd has
 * changed the ids and dropped every capability before it executed this
 * program; here that is verified, not believed.
 */

#include <cap-ng.h>
#include <errno.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "broker_main.h"
#include "log.h"


static const int  lock_calls[] = {
    /* the loop */
    SCMP_SYS(epoll_wait), SCMP_SYS(epoll_ctl), SCMP_SYS(clock_gettime),
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(recvmsg), SCMP_SYS(sendmsg),
    SCMP_SYS(sendto), SCMP_SYS(close), SCMP_SYS(restart_syscall),
    SCMP_SYS(getpid), SCMP_SYS(gettid),
    /* a box: its channel, its cgroup, its end */
    SCMP_SYS(socketpair), SCMP_SYS(setsockopt), SCMP_SYS(pipe2),
    SCMP_SYS(fcntl), SCMP_SYS(openat), SCMP_SYS(mkdirat),
    SCMP_SYS(unlinkat), SCMP_SYS(pidfd_send_signal), SCMP_SYS(wait4),
    /* libc */
    SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(exit_group),
    SCMP_SYS(exit), SCMP_SYS(newfstatat), SCMP_SYS(fstat)
};


static int
lock_verify(void)
{
    if (getuid() == 0 || geteuid() == 0 || getgid() == 0) {
        rlog(RLOG_ERROR, "refuses to run as root");
        return -1;
    }

    if (capng_get_caps_process() != 0
        || capng_have_capabilities(CAPNG_SELECT_BOTH) != CAPNG_NONE)
    {
        rlog(RLOG_ERROR, "refuses to run with a capability");
        return -1;
    }

    return 0;
}


/*
 * Not to be traced, and no privilege by executing.  Anything outside the list
 * ends the process: there is no reason for it but a bug or an attack.
 */

int
lock_down(void)
{
    int              rc;
    size_t           i;
    scmp_filter_ctx  ctx;

    if (lock_verify() == -1
        || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1
        || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
    {
        return -1;
    }

    ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);

    if (ctx == NULL) {
        errno = ENOMEM;
        return -1;
    }

    rc = 0;

    for (i = 0; i < sizeof(lock_calls) / sizeof(lock_calls[0]) && rc == 0; i++)
    {
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, lock_calls[i], 0);
    }

    if (rc == 0) {
        rc = seccomp_load(ctx);
    }

    seccomp_release(ctx);
    errno = -rc;

    return rc == 0 ? 0 : -1;
}
