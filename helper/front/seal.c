
/*
 * In retort-front, as its own uid without any capability: checks that, and
 * gives up what is left.  Each step that fails ends the process.
 */

#include <cap-ng.h>
#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chain_file.h"
#include "flog.h"
#include "seal.h"
#include "store.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SEAL_SANITIZER  1
#else
#define SEAL_SANITIZER  0
#endif


typedef struct {
    int           call;
    int           arg;          /* -1: any arguments; else this one ... */
    uint64_t      value;        /* ... has to be this */
    const char   *why;
} seal_call_t;


/*
 * What a front whose threads run and whose files are open still needs.  There
 * is no socket, connect, bind, clone, execve, open by a path of one's own, no
 * ioctl, no kill.
 */

static const seal_call_t  seal_calls[] = {
    { SCMP_SYS(read), -1, 0, "FastCGI, pipes, eventfds" },
    { SCMP_SYS(pread64), -1, 0, "its own memory, for /metrics" },
    { SCMP_SYS(write), -1, 0, "FastCGI, log, artifacts, eventfds" },
    { SCMP_SYS(recvmsg), -1, 0, "broker" },
    { SCMP_SYS(sendmsg), -1, 0, "broker, kernels, streams" },
    { SCMP_SYS(recvfrom), -1, 0, "kernels; heads of requests" },
    { SCMP_SYS(accept4), 0, FRONT_FD_LISTENER, "the web server" },
    { SCMP_SYS(accept4), 0, FRONT_FD_CONTROL, "who runs the service" },
    { SCMP_SYS(socketpair), 0, 1, "AF_UNIX: one end is for retort-fetch" },
    { SCMP_SYS(getsockopt), -1, 0, "who connected" },
    { SCMP_SYS(setsockopt), -1, 0, "how long a peer may stall" },
    { SCMP_SYS(shutdown), -1, 0, "the end of a connection" },
    { SCMP_SYS(close), -1, 0, "connections, sandboxes" },
    { SCMP_SYS(poll), -1, 0, "runs" },
    { SCMP_SYS(ppoll), -1, 0, "runs" },
    { SCMP_SYS(epoll_wait), -1, 0, "the gate" },
    { SCMP_SYS(epoll_pwait), -1, 0, "the same, where there is no other" },
    { SCMP_SYS(epoll_ctl), -1, 0, "the gate" },
    { SCMP_SYS(fcntl), 1, 2, "F_SETFD" },
    { SCMP_SYS(fcntl), 1, 3, "F_GETFL" },
    { SCMP_SYS(fcntl), 1, 4, "F_SETFL" },
    { SCMP_SYS(fcntl), 1, 1032, "F_GETPIPE_SZ" },
    { SCMP_SYS(renameat), 0, FRONT_FD_STORE, "an artifact's publication" },
    { SCMP_SYS(unlinkat), 0, FRONT_FD_STORE, "one that failed, or is old" },
    { SCMP_SYS(utimensat), 0, FRONT_FD_STORE, "how long it is kept" },
    { SCMP_SYS(newfstatat), 0, FRONT_FD_STORE, "how old it is" },
    { SCMP_SYS(newfstatat), 3, 0x1000, "the same by descriptor: fstat()" },
    { SCMP_SYS(getdents64), -1, 0, "the sweep of the store" },
    { SCMP_SYS(fchmod), -1, 0, "an artifact's mode" },
    { SCMP_SYS(getrandom), -1, 0, "ids" },
    { SCMP_SYS(futex), -1, 0, "threads" },
    { SCMP_SYS(clock_gettime), -1, 0, "where the vdso has no clock" },
    { SCMP_SYS(sched_yield), -1, 0, "glibc's locks" },
    { SCMP_SYS(mmap), -1, 0, "memory" },
    { SCMP_SYS(munmap), -1, 0, "memory" },
    { SCMP_SYS(mremap), -1, 0, "memory" },
    { SCMP_SYS(mprotect), -1, 0, "a new heap of a thread" },
    { SCMP_SYS(madvise), -1, 0, "memory; the end of a thread" },
    { SCMP_SYS(brk), -1, 0, "memory" },
    { SCMP_SYS(rt_sigprocmask), -1, 0, "the end of a thread" },
    { SCMP_SYS(rt_sigreturn), -1, 0, "signal handlers" },
    { SCMP_SYS(restart_syscall), -1, 0, "after a stop" },
    { SCMP_SYS(getpid), -1, 0, "log" },
    { SCMP_SYS(exit), -1, 0, "the end of a thread" },
    { SCMP_SYS(exit_group), -1, 0, "the end" }
};


/* each way of opening a file: no other flags, so none is emptied or changed */

static const struct {
    int           dir;
    uint64_t      flags;
    const char   *why;
} seal_opens[] = {
    { FRONT_FD_STORE, STORE_CREATE, "an artifact" },
    { FRONT_FD_STORE, STORE_READ, "to be read again" },
    { FRONT_FD_STORE, STORE_LIST, "what the sweep looks through" },
    { FRONT_FD_AUDIT, CHAIN_CREATE, "a new day of the log of runs" }
};


static int
seal_fail(const char *step)
{
    flog(RLOG_ERROR, "seal: %s: %s", step, strerror(errno));
    return -1;
}


static int
seal_who(void)
{
    uid_t  r, e, s;
    gid_t  gr, ge, gs;

    if (getresuid(&r, &e, &s) == -1 || getresgid(&gr, &ge, &gs) == -1) {
        return seal_fail("ids");
    }

    if (r == 0 || e == 0 || s == 0 || gr == 0 || ge == 0 || gs == 0) {
        flog(RLOG_ERROR, "seal: the front never runs as root");
        return -1;
    }

    if (capng_get_caps_process() == -1) {
        return seal_fail("capabilities");
    }

    if (capng_have_capabilities(CAPNG_SELECT_CAPS) != CAPNG_NONE
        || capng_have_capabilities(CAPNG_SELECT_AMBIENT) != CAPNG_NONE)
    {
        flog(RLOG_ERROR, "seal: the front never holds a capability");
        return -1;
    }

    return 0;
}


static int
seal_limit(int which, const char *name, rlim_t value)
{
    struct rlimit  l;

    l.rlim_cur = value;
    l.rlim_max = value;

    return setrlimit((__rlimit_resource_t) which, &l) == -1 ? seal_fail(name)
                                                            : 0;
}


static int
seal_files(uint64_t need)
{
    struct rlimit  l;

    if (getrlimit(RLIMIT_NOFILE, &l) == -1) {
        return seal_fail("limit of files");
    }

    if (l.rlim_max < need) {
        flog(RLOG_ERROR, "seal: %llu descriptors are needed, %llu allowed",
             (unsigned long long) need, (unsigned long long) l.rlim_max);
        return -1;
    }

    return seal_limit(RLIMIT_NOFILE, "limit of files", need);
}


int
seal_start(uint64_t nfiles, uint64_t fsize)
{
    (void) umask(0027);

    if (seal_who() == -1) {
        return -1;
    }

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1) {
        return seal_fail("no_new_privs");
    }

    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1) {
        return seal_fail("not dumpable");
    }

    if (seal_files(nfiles) == -1
        || seal_limit(RLIMIT_CORE, "limit of cores", 0) == -1
        || seal_limit(RLIMIT_FSIZE, "limit of file sizes", fsize) == -1)
    {
        return -1;
    }

    return 0;
}


static int
seal_filter(scmp_filter_ctx ctx)
{
    int                  rc;
    size_t               i;
    const seal_call_t   *c;

    rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1);

    for (i = 0; rc == 0 && i < sizeof(seal_calls) / sizeof(seal_calls[0]);
         i++)
    {
        c = &seal_calls[i];

        if (c->arg == -1) {
            rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, c->call, 0);

        } else {
            rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, c->call, 1,
                                  SCMP_CMP((unsigned) c->arg, SCMP_CMP_EQ,
                                           c->value));
        }
    }

    for (i = 0; rc == 0 && i < sizeof(seal_opens) / sizeof(seal_opens[0]);
         i++)
    {
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(openat), 2,
                              SCMP_A0(SCMP_CMP_EQ,
                                      (scmp_datum_t) seal_opens[i].dir),
                              SCMP_A2(SCMP_CMP_EQ, seal_opens[i].flags));
    }

    return rc == 0 ? seccomp_load(ctx) : rc;
}


int
seal_finish(void)
{
    int              rc;
    scmp_filter_ctx  ctx;

    if (SEAL_SANITIZER) {
        flog(RLOG_WARN, "seal: a sanitizer's build runs without the filter");
        return 0;
    }

    ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));

    if (ctx == NULL) {
        return seal_fail("filter");
    }

    rc = seal_filter(ctx);
    seccomp_release(ctx);

    if (rc != 0) {
        errno = rc < 0 ? -rc : rc;
        return seal_fail("filter");
    }

    return 0;
}
