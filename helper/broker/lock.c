
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
#include "lock.h"
#include "log.h"


static const int  lock_list[] = {
    /* the loop */
    SCMP_SYS(epoll_wait), SCMP_SYS(epoll_ctl), SCMP_SYS(clock_gettime),
    SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg), SCMP_SYS(sendto), SCMP_SYS(close), SCMP_SYS(getpid),
    SCMP_SYS(gettid), SCMP_SYS(epoll_pwait),    /* arm64 has no other */
    /* a box: its channel, its cgroup, its end */
    SCMP_SYS(socketpair), SCMP_SYS(setsockopt), SCMP_SYS(pipe2),
    SCMP_SYS(fcntl), SCMP_SYS(openat), SCMP_SYS(mkdirat), SCMP_SYS(unlinkat),
    SCMP_SYS(pidfd_send_signal), SCMP_SYS(wait4),
    /* libc */
    SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(exit_group),
    SCMP_SYS(restart_syscall), SCMP_SYS(newfstatat), SCMP_SYS(fstat)
};


int
lock_down(void)
{
    if (getuid() == 0 || geteuid() == 0 || getgid() == 0
        || capng_get_caps_process() != 0
        || capng_have_capabilities(CAPNG_SELECT_BOTH) != CAPNG_NONE)
    {
        rlog(RLOG_ERROR, "refuses to run as root or with a capability");
        errno = EPERM;
        return -1;
    }

    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ? -1
           : lock_calls(lock_list, sizeof(lock_list) / sizeof(lock_list[0]));
}
