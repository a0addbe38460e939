
/*
 * Part of retort-fetch: what retortd has dropped is verified here, and the
 * rest given up.  Each step that fails ends the process.
 */

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fetch.h"
#include "log.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SEAL_SANITIZER  1
#else
#define SEAL_SANITIZER  0
#endif

#define SEAL_MEMORY    (1024UL * 1024 * 1024)   /* of addresses, in a child */
#define SEAL_CPU       120                      /* seconds, in a child */
#define SEAL_GRACE     10000                    /* msec */
#define SEAL_FILES     512


/* with any arguments; libcurl resolves names in threads of its own */

static const int  seal_any[] = {
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(close),
    SCMP_SYS(lseek), SCMP_SYS(pread64), SCMP_SYS(newfstatat), SCMP_SYS(fstat),
    SCMP_SYS(stat), SCMP_SYS(access), SCMP_SYS(getdents64),
    SCMP_SYS(connect), SCMP_SYS(sendto), SCMP_SYS(recvfrom),
    SCMP_SYS(sendmsg), SCMP_SYS(recvmsg), SCMP_SYS(sendmmsg),
    SCMP_SYS(shutdown), SCMP_SYS(getsockopt), SCMP_SYS(setsockopt),
    SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(socketpair),
    SCMP_SYS(pipe2), SCMP_SYS(eventfd2), SCMP_SYS(fcntl), SCMP_SYS(poll),
    SCMP_SYS(ppoll), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap),
    SCMP_SYS(mprotect), SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(futex),
    SCMP_SYS(clone), SCMP_SYS(clone3), SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq), SCMP_SYS(set_tid_address), SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity), SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(time),
    SCMP_SYS(getrandom), SCMP_SYS(uname), SCMP_SYS(sysinfo),
    SCMP_SYS(getpid), SCMP_SYS(getppid), SCMP_SYS(gettid), SCMP_SYS(getuid),
    SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall), SCMP_SYS(alarm),
    SCMP_SYS(setitimer), SCMP_SYS(prlimit64), SCMP_SYS(wait4),
    SCMP_SYS(tgkill), SCMP_SYS(exit), SCMP_SYS(exit_group)
};


/* with one argument that has to be this */

static const struct {
    int       call;
    unsigned  arg;
    uint64_t  mask;
    uint64_t  value;
} seal_some[] = {
    { SCMP_SYS(socket), 0, ~0ULL, AF_INET },
    { SCMP_SYS(socket), 0, ~0ULL, AF_INET6 },
    { SCMP_SYS(openat), 2, O_ACCMODE|O_CREAT|O_TRUNC, O_RDONLY },
    { SCMP_SYS(ioctl), 1, ~0ULL, FIONREAD },
    { SCMP_SYS(ioctl), 1, ~0ULL, FIONBIO },
    { SCMP_SYS(prctl), 0, ~0ULL, PR_SET_PDEATHSIG }
};


static int
seal_fail(const char *step)
{
    rlog_errno(RLOG_ERROR, errno, "seal: %s", step);

    return -1;
}


static int
seal_limit(__rlimit_resource_t which, rlim_t value)
{
    struct rlimit  l;

    l.rlim_cur = value;
    l.rlim_max = value;

    return setrlimit(which, &l);
}


static int
seal_filter(scmp_filter_ctx ctx)
{
    int     rc;
    size_t  i;

    rc = 0;

    for (i = 0; rc == 0 && i < sizeof(seal_any) / sizeof(seal_any[0]); i++) {
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, seal_any[i], 0);
    }

    for (i = 0; rc == 0 && i < sizeof(seal_some) / sizeof(seal_some[0]); i++)
    {
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, seal_some[i].call, 1,
                              SCMP_CMP(seal_some[i].arg, SCMP_CMP_MASKED_EQ,
                                       seal_some[i].mask,
                                       seal_some[i].value));
    }

    return rc == 0 ? seccomp_load(ctx) : rc;
}


int
seal_process(void)
{
    int              rc;
    scmp_filter_ctx  ctx;

    if (getuid() == 0 || geteuid() == 0 || getgid() == 0
        || capng_get_caps_process() != 0
        || capng_have_capabilities(CAPNG_SELECT_CAPS) != CAPNG_NONE
        || capng_have_capabilities(CAPNG_SELECT_AMBIENT) != CAPNG_NONE)
    {
        rlog(RLOG_ERROR, "refuses to run as root or with a capability");
        return -1;
    }

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1
        || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1
        || seal_limit(RLIMIT_NOFILE, SEAL_FILES) == -1
        || seal_limit(RLIMIT_CORE, 0) == -1)
    {
        return seal_fail("limits");
    }

    if (SEAL_SANITIZER) {
        rlog(RLOG_WARN, "seal: a sanitizer's build runs without the filter");
        return 0;
    }

    ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    rc = ctx != NULL ? seal_filter(ctx) : -ENOMEM;
    seccomp_release(ctx);
    errno = rc < 0 ? -rc : rc;

    return rc == 0 ? 0 : seal_fail("filter");
}


int
seal_child(uint64_t msec)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1
        || (!SEAL_SANITIZER && seal_limit(RLIMIT_AS, SEAL_MEMORY) == -1)
        || seal_limit(RLIMIT_CPU, SEAL_CPU) == -1)
    {
        return seal_fail("limits of a request");
    }

    (void) alarm((unsigned) ((msec + SEAL_GRACE) / 1000));

    return 0;
}
