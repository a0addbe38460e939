
/*
 * Build-time program: prints the sandbox's seccomp filter as a C array.
 * Building it with libseccomp takes milliseconds, loading the array a tenth of
 * one, so it is built once, here.
 *
 * The rules are a table by groups, each with its reason.  Only positive rules
 * are used for arguments: a deny rule can be passed by junk in the upper half
 * of a 64-bit argument.  What is not named answers EPERM; what a C library
 * probes for and must find missing answers ENOSYS, and so does everything
 * newer than this list; foreign architectures and x32 are killed.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <linux/seccomp.h>
#include <unistd.h>


#define GEN_NEWEST    450       /* set_mempolicy_home_node */
#define GEN_X32_BIT   0x40000000u
#define GEN_MAX       4096

#define GEN_NS_FLAGS  (CLONE_NEWNS|CLONE_NEWCGROUP|CLONE_NEWUTS|CLONE_NEWIPC  \
                       |CLONE_NEWUSER|CLONE_NEWPID|CLONE_NEWNET)


typedef struct {
    const char        *reason;
    const char *const *calls;
} gen_group_t;


#define GROUP(...)  (const char *const []) { __VA_ARGS__, NULL }

static const gen_group_t  gen_allow[] = {

    { "files: the mount namespace decides what there is to open",
      GROUP("read", "write", "readv", "writev", "pread64", "pwrite64",
            "preadv", "pwritev", "pwritev2", "open", "openat",
            "creat", "close", "close_range", "lseek", "stat", "fstat", "lstat",
            "newfstatat", "statx", "access", "faccessat", "faccessat2",
            "getdents", "getdents64", "getcwd", "chdir", "fchdir", "mkdir",
            "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat",
            "renameat2", "link", "linkat", "symlink", "symlinkat", "readlink",
            "readlinkat", "chmod", "fchmod", "fchmodat", "chown", "fchown",
            "lchown", "fchownat", "umask", "truncate", "ftruncate",
            "fallocate", "fsync", "fdatasync", "sync_file_range", "utime",
            "utimes", "utimensat", "futimesat", "statfs", "fstatfs", "flock",
            "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr",
            "flistxattr") },

    { "descriptors: pipes, duplicates, waiting",
      GROUP("dup", "dup2", "dup3", "pipe", "pipe2", "poll", "ppoll", "select",
            "pselect6", "epoll_create", "epoll_create1", "epoll_ctl",
            "epoll_wait", "epoll_pwait", "eventfd", "eventfd2",
            "timerfd_create", "timerfd_settime", "timerfd_gettime",
            "signalfd", "signalfd4") },

    { "memory of the own process; RLIMIT_MEMLOCK bounds what is locked",
      GROUP("munmap", "mprotect", "mremap", "brk", "msync", "mlock", "munlock",
            "mlock2") },

    { "processes and threads, inside the pid namespace and its limits",
      GROUP("fork", "vfork", "execve", "execveat", "exit", "exit_group",
            "wait4", "waitid", "getpid", "getppid", "gettid", "getpgid",
            "setpgid", "getpgrp", "getsid", "setsid", "kill", "tkill",
            "tgkill", "set_tid_address", "set_robust_list", "get_robust_list",
            "futex", "rseq", "arch_prctl", "sched_yield", "sched_getaffinity",
            "sched_getparam", "sched_getscheduler",
            "sched_get_priority_max", "sched_get_priority_min",
            "getpriority", "setpriority",
            "getrlimit", "getrusage", "times") },

    { "signals and timers",
      GROUP("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending",
            "rt_sigsuspend", "rt_sigtimedwait", "rt_sigqueueinfo",
            "rt_tgsigqueueinfo", "sigaltstack", "pause", "alarm", "setitimer",
            "getitimer", "nanosleep", "clock_nanosleep", "clock_gettime",
            "clock_getres", "gettimeofday", "timer_create", "timer_settime",
            "timer_gettime", "timer_getoverrun", "timer_delete",
            "restart_syscall") },

    { "who am I; changing it to what one is already",
      GROUP("getuid", "geteuid", "getgid", "getegid", "getgroups",
            "getresuid", "getresgid", "capget", "uname", "sysinfo",
            "getrandom", "setuid", "setgid", "setreuid", "setregid",
            "setresuid", "setresgid", "setfsuid", "setfsgid") },

    { "local sockets: socket() itself is checked for its family below",
      GROUP("connect", "bind", "listen", "accept", "accept4", "getsockname",
            "getpeername", "shutdown", "getsockopt") },
};


/*
 * Left out on purpose, though a program may miss them (EPERM, or ENOSYS
 * below), because they reach beyond the sandbox:
 *
 *   fadvise64, readahead   what files of the image are in the page cache, which
 *                          all sandboxes share; both are hints
 *   sched_setaffinity      choosing a core is choosing a neighbour
 *   membarrier             interrupts cores that run others
 *   mlockall               later memory is locked, too: nobody's need
 *
 * sysinfo tells load and free memory of the whole host and should be here; but
 * glibc's sysconf() takes what it left on the stack for an answer when it is
 * refused, and sort(1) fails.
 *
 * And what is compared by argument below: preadv2 without RWF_NOWAIT (asks the
 * page cache), mmap and memfd_create without huge pages of the host's reserve
 * (no memory limit counts them), madvise without merging of pages (tells what
 * others have in memory) and without collapsing them (also those of a file that
 * others have), fcntl without F_SETPIPE_SZ (the pipes that a sandbox is given
 * count for the broker's user: made large, they leave small ones for all
 * others), prlimit64 of oneself, setsockopt without filters, setrlimit and
 * prlimit64 without RLIMIT_CORE (1, which is what a sandbox has, is the only
 * one with which the kernel does not start the host's program for cores, as
 * root), what sends and receives without MSG_OOB (nobody needs it on a local
 * socket, and the kernel's code for it was a way out more than once).
 */


/* probed for by libc and others, which go another way on ENOSYS only */

static const char *const  gen_enosys[] = {
    "clone3", "openat2", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "landlock_create_ruleset", "landlock_add_rule",
    "landlock_restrict_self", "pidfd_open", "pidfd_getfd", "pidfd_send_signal",
    "epoll_pwait2", "copy_file_range", "futex_waitv", "process_madvise",
    "memfd_secret", "mount_setattr", "quotactl_fd", "process_mrelease",
    "membarrier",
    "fsopen", "fsconfig", "fsmount", "fspick", "open_tree", "move_mount",
    NULL
};


static const unsigned long  gen_prctl[] = {
    PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_SET_DUMPABLE,
    PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_SET_NO_NEW_PRIVS,
    PR_GET_NO_NEW_PRIVS, PR_GET_SECCOMP, PR_CAPBSET_READ, PR_GET_KEEPCAPS,
    PR_GET_TIMERSLACK, PR_SET_TIMERSLACK
};

/* to give way, and back */

static const unsigned long  gen_policy[] = {
    SCHED_OTHER, SCHED_BATCH
};

static const unsigned long  gen_ioctl[] = {
    TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX,
    FIOASYNC
};

static const unsigned long  gen_fcntl[] = {
    F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK,
    F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_GETPIPE_SZ,
    F_ADD_SEALS, F_GET_SEALS, F_GETOWN, F_SETOWN
};

/* 102 and 103 are guard pages, which Debian 12 has no names for */

static const unsigned long  gen_madvise[] = {
    MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED,
    MADV_FREE, MADV_REMOVE, MADV_DONTFORK, MADV_DOFORK, MADV_HUGEPAGE,
    MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP, MADV_WIPEONFORK,
    MADV_KEEPONFORK, MADV_POPULATE_READ, MADV_POPULATE_WRITE, 102, 103
};

/* all but RLIMIT_CORE */

static const unsigned long  gen_rlimit[] = {
    RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_RSS,
    RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_AS, RLIMIT_LOCKS,
    RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE, RLIMIT_NICE, RLIMIT_RTPRIO,
    RLIMIT_RTTIME
};

static const unsigned long  gen_sockopt[] = {
    SO_REUSEADDR, SO_TYPE, SO_ERROR, SO_SNDBUF, SO_RCVBUF, SO_KEEPALIVE,
    SO_LINGER, SO_REUSEPORT, SO_PASSCRED, SO_RCVLOWAT, SO_RCVTIMEO,
    SO_SNDTIMEO, SO_PEEK_OFF
};


static void
gen_die(const char *what, int rc)
{
    (void) fprintf(stderr, "seccomp_gen: %s: %d\n", what, rc);
    exit(1);
}


/* a name that this architecture does not have is passed over */

static void
gen_rule(scmp_filter_ctx ctx, uint32_t action, const char *name)
{
    int  rc, nr;

    nr = seccomp_syscall_resolve_name(name);

    if (nr == __NR_SCMP_ERROR) {
        gen_die(name, nr);
    }

    if (nr < 0) {
        return;
    }

    rc = seccomp_rule_add(ctx, action, nr, 0);

    if (rc != 0) {
        gen_die(name, rc);
    }
}


static void
gen_arg(scmp_filter_ctx ctx, int nr, struct scmp_arg_cmp cmp)
{
    int  rc;

    rc = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, nr, 1, &cmp);

    if (rc != 0) {
        gen_die("argument rule", rc);
    }
}


/* the kernel looks at the lower 32 bits of these arguments only */

static void
gen_values(scmp_filter_ctx ctx, int nr, unsigned arg,
    const unsigned long *value, size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        gen_arg(ctx, nr, SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, 0xffffffff,
                                  value[i]));
    }
}


/* none of these bits may be set */

static void
gen_without(scmp_filter_ctx ctx, int nr, unsigned arg, unsigned long bits)
{
    gen_arg(ctx, nr, SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, bits, 0));
}


#define GEN_VALUES(ctx, name, arg, list)                                      \
    gen_values(ctx, SCMP_SYS(name), arg, list, sizeof(list) / sizeof(list[0]))


/* prlimit64: the own limits, pid 1 has others; to ask for one, or to set it */

static void
gen_limits(scmp_filter_ctx ctx)
{
    int                  rc;
    size_t               i, n;
    struct scmp_arg_cmp  cmp[2];

    n = sizeof(gen_rlimit) / sizeof(gen_rlimit[0]);
    cmp[0] = SCMP_A0(SCMP_CMP_EQ, 0);
    cmp[1] = SCMP_A2(SCMP_CMP_EQ, 0);

    for (i = 0; i <= n; i++) {
        rc = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64),
                                    2, cmp);

        if (rc != 0) {
            gen_die("limit rule", rc);
        }

        if (i < n) {
            cmp[1] = SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, gen_rlimit[i]);
        }
    }
}


static void
gen_arguments(scmp_filter_ctx ctx)
{
    size_t  i;

    /* threads and forks, but no new namespace */
    gen_without(ctx, SCMP_SYS(clone), 0, GEN_NS_FLAGS);

    gen_without(ctx, SCMP_SYS(mmap), 3, MAP_HUGETLB);
    gen_without(ctx, SCMP_SYS(memfd_create), 1, MFD_HUGETLB);
    gen_without(ctx, SCMP_SYS(preadv2), 5, RWF_NOWAIT);

    gen_without(ctx, SCMP_SYS(sendto), 3, MSG_OOB);
    gen_without(ctx, SCMP_SYS(recvfrom), 3, MSG_OOB);
    gen_without(ctx, SCMP_SYS(sendmsg), 2, MSG_OOB);
    gen_without(ctx, SCMP_SYS(recvmsg), 2, MSG_OOB);
    gen_without(ctx, SCMP_SYS(sendmmsg), 3, MSG_OOB);
    gen_without(ctx, SCMP_SYS(recvmmsg), 3, MSG_OOB);

    /* the query, in the full 64 bits */
    gen_arg(ctx, SCMP_SYS(personality), SCMP_A0(SCMP_CMP_EQ, 0xffffffff));

    for (i = 0; i < sizeof(gen_prctl) / sizeof(gen_prctl[0]); i++) {
        gen_arg(ctx, SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, gen_prctl[i]));
    }

    GEN_VALUES(ctx, ioctl, 1, gen_ioctl);
    GEN_VALUES(ctx, fcntl, 1, gen_fcntl);
    GEN_VALUES(ctx, madvise, 2, gen_madvise);
    GEN_VALUES(ctx, setsockopt, 2, gen_sockopt);
    GEN_VALUES(ctx, sched_setscheduler, 1, gen_policy);
    GEN_VALUES(ctx, setrlimit, 0, gen_rlimit);
    gen_limits(ctx);
}


/*
 * AF_UNIX with its only protocol; other families look as they do on a kernel
 * without them
 */

static void
gen_families(scmp_filter_ctx ctx)
{
    int                  rc, nr;
    size_t               i;
    struct scmp_arg_cmp  only[2], other;
    static const int     calls[] = { SCMP_SYS(socket), SCMP_SYS(socketpair) };

    only[0] = SCMP_A0(SCMP_CMP_EQ, AF_UNIX);
    only[1] = SCMP_A2(SCMP_CMP_EQ, 0);
    other = SCMP_A0(SCMP_CMP_NE, AF_UNIX);

    for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        nr = calls[i];
        rc = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, nr, 2, only);

        if (rc == 0) {
            rc = seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO(EAFNOSUPPORT), nr,
                                        1, &other);
        }

        if (rc != 0) {
            gen_die("family rule", rc);
        }
    }
}


/*
 * The same for a container engine, which loads it before our pid 1 runs: what
 * that needs to seal itself is open, and it loads the exact filter later.
 */

static const char *const  gen_sealing[] = {
    "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
    "seccomp", "prctl", "prlimit64", "mmap", "madvise", "ioctl", "fcntl",
    "personality", "memfd_create", "preadv2", "setsockopt", "setgroups",
    "capset", "sched_setscheduler", "setrlimit", "sendto", "recvfrom",
    "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", NULL
};


static void
gen_names(const char *const *names, const char *comma)
{
    for ( /* void */ ; *names != NULL; names++) {
        (void) printf("%s\\\"%s\\\"", comma, *names);
        comma = ",";
    }
}


/* "index" of an argument, whose value masked with "mask" is "value" */

static void
gen_entry(const char *name, unsigned index, unsigned long mask,
    unsigned long value)
{
    (void) printf("    \",{\\\"names\\\":[\\\"%s\\\"],\\\"action\\\":"
                  "\\\"SCMP_ACT_ALLOW\\\",\\\"args\\\":[{\\\"index\\\":%u,"
                  "\\\"value\\\":%lu,\\\"valueTwo\\\":%lu,"
                  "\\\"op\\\":\\\"SCMP_CMP_MASKED_EQ\\\"}]}\"\n", name, index,
                  mask, value);
}


static void
gen_json(void)
{
    size_t  i;

    (void) printf("\n/* made by seccomp_gen.c */\n\n"
                  "static const char  seccomp_profile[] =\n"
                  "    \"{\\\"defaultAction\\\":\\\"SCMP_ACT_ERRNO\\\","
                  "\\\"syscalls\\\":[{\\\"names\\\":[\"\n    \"");
    gen_names(gen_sealing, "");

    for (i = 0; i < sizeof(gen_allow) / sizeof(gen_allow[0]); i++) {
        (void) printf("\"\n    \"");
        gen_names(gen_allow[i].calls, ",");
    }

    (void) printf("\"\n    \"],\\\"action\\\":\\\"SCMP_ACT_ALLOW\\\"}\"\n"
                  "    \",{\\\"names\\\":[\\\"clone3\\\"],\\\"action\\\":"
                  "\\\"SCMP_ACT_ERRNO\\\",\\\"errnoRet\\\":%d}\"\n", ENOSYS);

    /* a descriptor table of one's own, and no namespace */
    gen_entry("unshare", 0, ~(unsigned long) CLONE_FILES, 0);
    gen_entry("clone", 0, GEN_NS_FLAGS, 0);
    gen_entry("socket", 0, 0xffffffff, AF_UNIX);
    gen_entry("socketpair", 0, 0xffffffff, AF_UNIX);
    (void) printf("    \"]}\";\n");
}


static void
gen_print(const struct sock_filter *f, size_t n)
{
    size_t                    i;
    const struct sock_filter  prelude[] = {
        /* newer than the list, but not x32: missing, so that libc falls back */
        BPF_STMT(BPF_LD|BPF_W|BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP|BPF_JGE|BPF_K, GEN_X32_BIT, 2, 0),
        BPF_JUMP(BPF_JMP|BPF_JGT|BPF_K, GEN_NEWEST, 0, 1),
        BPF_STMT(BPF_RET|BPF_K, SECCOMP_RET_ERRNO|ENOSYS)
    };

    (void) printf("\n/* made by seccomp_gen.c */\n\n"
                  "#include <linux/filter.h>\n\n\n"
                  "static const struct sock_filter  seccomp_filter[] = {\n");

    for (i = 0; i < sizeof(prelude) / sizeof(prelude[0]); i++) {
        (void) printf("    { 0x%x, %u, %u, 0x%x },\n", prelude[i].code,
                      prelude[i].jt, prelude[i].jf, prelude[i].k);
    }

    for (i = 0; i < n; i++) {
        (void) printf("    { 0x%x, %u, %u, 0x%x },\n", f[i].code, f[i].jt,
                      f[i].jf, f[i].k);
    }

    (void) printf("};\n");
}


/* numbers and names of another machine's calls, for a test of its filter */

static int
gen_numbers(uint32_t arch)
{
    int   nr;
    char  *name;

    for (nr = 0; nr <= GEN_NEWEST; nr++) {
        name = seccomp_syscall_resolve_num_arch(arch, nr);

        if (name != NULL) {
            (void) printf("%d %s\n", nr, name);
            free(name);
        }
    }

    return 0;
}


static void
gen_filter(scmp_filter_ctx ctx)
{
    int                 rc, fds[2];
    size_t              i, j;
    ssize_t             n;
    struct sock_filter  filter[GEN_MAX];

    for (i = 0; i < sizeof(gen_allow) / sizeof(gen_allow[0]); i++) {
        for (j = 0; gen_allow[i].calls[j] != NULL; j++) {
            gen_rule(ctx, SCMP_ACT_ALLOW, gen_allow[i].calls[j]);
        }
    }

    for (j = 0; gen_enosys[j] != NULL; j++) {
        gen_rule(ctx, SCMP_ACT_ERRNO(ENOSYS), gen_enosys[j]);
    }

    gen_arguments(ctx);
    gen_families(ctx);

    if (pipe(fds) == -1 || fcntl(fds[1], F_SETPIPE_SZ, sizeof(filter)) == -1) {
        gen_die("pipe", errno);
    }

    rc = seccomp_export_bpf(ctx, fds[1]);
    n = read(fds[0], filter, sizeof(filter));

    if (rc != 0 || n <= 0 || (size_t) n % sizeof(filter[0]) != 0) {
        gen_die("seccomp_export_bpf", rc);
    }

    gen_print(filter, (size_t) n / sizeof(filter[0]));
}


/*
 * "json" asks for the engine's; the name of an architecture for its filter,
 * and with a word more for its calls.
 */

int
main(int argc, char **argv)
{
    int              rc;
    uint32_t         arch;
    scmp_filter_ctx  ctx;

    if (argc > 1 && strcmp(argv[1], "json") == 0) {
        gen_json();
        return 0;
    }

    arch = argc > 1 ? seccomp_arch_resolve_name(argv[1]) : SCMP_ARCH_NATIVE;

    if (argc > 2) {
        return gen_numbers(arch);
    }

    ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));

    if (ctx == NULL) {
        gen_die("seccomp_init", 0);
    }

    rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

    if (rc == 0) {
        rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    }

    if (rc == 0 && arch != SCMP_ARCH_NATIVE && arch != seccomp_arch_native()) {
        rc = seccomp_arch_add(ctx, arch);

        if (rc == 0) {
            rc = seccomp_arch_remove(ctx, SCMP_ARCH_NATIVE);
        }
    }

    if (rc != 0) {
        gen_die("seccomp_attr_set", rc);
    }

    gen_filter(ctx);
    seccomp_release(ctx);

    return 0;
}
