
/*
 * The steps between the clone and the first byte of a tenant.  Runs as pid 1
 * of new namespaces; believes the broker's numbers.
 *
 * The order matters, and each arrow is there because the reverse fails or
 * leaks: cgroup attach (helper/lib/go.c) -> cgroup namespace -> ids ->
 * private mounts -> namespace limits -> mounts -> host name -> rlimits ->
 * bounding set -> capabilities -> no_new_privs -> Landlock -> descriptors ->
 * seccomp -> fork.
 */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fdpass.h"
#include "seal.h"
#include "seccomp_filter.h"


#define SEAL_CAP_END  64        /* kernels know 41; asking for more is EINVAL */


typedef struct {
    int     resource;
    rlim_t  value;
} seal_rlimit_t;


const tpl_req_t  *seal_req;


void
seal_fail(init_step_t step)
{
    init_msg_t  msg = { INIT_FAILED, (uint16_t) step, errno };

    /* what carries it may be a thread of this process: wait to be ended */
    if (fd_send(PID1_SOCK, &msg, sizeof(msg), NULL, 0) == 0) {
        (void) fd_recv(PID1_SOCK, &msg, sizeof(msg), NULL, NULL, 0);
    }

    _exit(1);
}


/* opened now, while /proc/self is ours */

int
seal_oom(void)
{
    int  fd;

    fd = open("/proc/self/oom_score_adj", O_WRONLY|O_CLOEXEC);

    if (fd == -1 || dup3(fd, PID1_OOM, O_CLOEXEC) == -1) {
        return -1;
    }

    return close(fd);
}


/* after the broker's attach, or the path of the cgroup would show */

static int
seal_cgroupns(void)
{
    return seal_oom() == -1 ? -1 : unshare(CLONE_NEWCGROUP);
}


static int
seal_ids(void)
{
    uid_t  r, e, s;
    gid_t  gr, ge, gs;

    if (setresgid(SEAL_GID, SEAL_GID, SEAL_GID) == -1
        || setgroups(0, NULL) == -1
        || setresuid(SEAL_UID, SEAL_UID, SEAL_UID) == -1
        || getresuid(&r, &e, &s) == -1
        || getresgid(&gr, &ge, &gs) == -1)
    {
        return -1;
    }

    if (r != SEAL_UID || e != SEAL_UID || s != SEAL_UID
        || gr != SEAL_GID || ge != SEAL_GID || gs != SEAL_GID)
    {
        errno = EPERM;
        return -1;
    }

    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}


/*
 * No user namespace below this one, even if the filter had a hole; all others
 * take a capability, and only a user namespace would have one.  The limit is
 * our own namespace's.  A /proc that many share keeps a name of it for each of
 * their namespaces, and goes through them all: this one is new, and goes with
 * the old root.
 */

static int
seal_nslimits(void)
{
    int  fd, rc;

    if (mount("proc", "/proc", "proc", MS_NOSUID|MS_NODEV|MS_NOEXEC, NULL)
        == -1)
    {
        return -1;
    }

    fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY|O_CLOEXEC);

    if (fd == -1) {
        return -1;
    }

    rc = (write(fd, "0", 1) == 1) ? 0 : -1;
    (void) close(fd);

    return rc;
}


static int
seal_hostname(void)
{
    return sethostname("sandbox", 7);
}


/* no terminal is shared with anything outside */

static int
seal_session(void)
{
    (void) umask(022);

    return setsid() == -1 ? -1 : 0;
}


int
seal_rlimits(void)
{
    size_t         i;
    struct rlimit  r;
    seal_rlimit_t  limits[] = {
        /* 0 is none, but for a program of the host's that is handed cores */
        { RLIMIT_CORE, 1 },
        { RLIMIT_NOFILE, seal_req->limits.files },
        { RLIMIT_FSIZE, seal_req->limits.fsize },
        { RLIMIT_NPROC, seal_req->limits.processes },
        { RLIMIT_STACK, 8 << 20 },
        { RLIMIT_MEMLOCK, 64 << 10 },
        { RLIMIT_MSGQUEUE, 0 },
        { RLIMIT_SIGPENDING, 256 },
        { RLIMIT_RTPRIO, 0 },
        { RLIMIT_NICE, 0 }
    };

    for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        r.rlim_cur = r.rlim_max = limits[i].value;

        /* counted by a host's uid, which containers share */
        if (init_carried && limits[i].resource == RLIMIT_NPROC) {
            continue;
        }

        if (setrlimit((__rlimit_resource_t) limits[i].resource, &r) == -1) {
            return -1;
        }
    }

    return 0;
}


/* the bounding set first: dropping it takes a capability */

static int
seal_caps(void)
{
    int                              cap;
    struct __user_cap_header_struct  head;
    struct __user_cap_data_struct    data[2];

    for (cap = 0; cap < SEAL_CAP_END; cap++) {
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == -1) {
            if (errno == EINVAL && cap > CAP_AUDIT_READ) {
                break;
            }

            return -1;
        }
    }

    if (prctl(PR_SET_SECUREBITS,
              SECBIT_NOROOT|SECBIT_NOROOT_LOCKED
              |SECBIT_NO_SETUID_FIXUP|SECBIT_NO_SETUID_FIXUP_LOCKED
              |SECBIT_KEEP_CAPS_LOCKED
              |SECBIT_NO_CAP_AMBIENT_RAISE|SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
              0, 0, 0)
        == -1
        || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == -1)
    {
        return -1;
    }

    memset(&head, 0, sizeof(head));
    memset(data, 0, sizeof(data));
    head.version = _LINUX_CAPABILITY_VERSION_3;

    return (int) syscall(SYS_capset, &head, data);
}


int
seal_nnp(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}


/*
 * 0 to 3 are the sandbox's own /dev/null from here on; the kernel puts its
 * pipes and its channel there.  Nothing is open above pid 1's own.
 */

int
seal_fds(void)
{
    int  fd, i;

    fd = open("/dev/null", O_RDWR|O_CLOEXEC);

    if (fd == -1) {
        return -1;
    }

    for (i = 0; i < PID1_SOCK; i++) {
        if (i != fd && dup2(fd, i) == -1) {
            return -1;
        }
    }

    return close_range(PID1_FD_END, ~0U, 0);
}


/*
 * For all threads: there may be the one that carries.  A number above 0 is a
 * thread that could not be filtered, and then none is.
 */

int
seal_seccomp(void)
{
    long               rc;
    struct sock_fprog  program;

    program.len = sizeof(seccomp_filter) / sizeof(seccomp_filter[0]);
    program.filter = (struct sock_filter *) seccomp_filter;

    rc = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                 SECCOMP_FILTER_FLAG_TSYNC, &program);

    if (rc > 0) {
        errno = ESRCH;
    }

    return rc == 0 ? 0 : -1;
}


void
seal_run(const tpl_req_t *req, const seal_step_t *steps, size_t n)
{
    size_t  i;

    seal_req = req;

    for (i = 0; i < n; i++) {
        if (steps[i].run() == -1) {
            seal_fail(steps[i].step);
        }
    }
}


void
seal(const tpl_req_t *req)
{
    static const seal_step_t  steps[] = {
        { STEP_CGROUPNS, seal_cgroupns },
        { STEP_IDS, seal_ids },
        { STEP_PRIVATE, mounts_private },
        { STEP_NSLIMITS, seal_nslimits },
        { STEP_ROOT, mounts_root },
        { STEP_PROC, mounts_proc },
        { STEP_DEV, mounts_dev },
        { STEP_WORKSPACE, mounts_workspace },
        { STEP_TMP, mounts_tmp },
        { STEP_SHM, mounts_shm },
        { STEP_PIVOT, mounts_pivot },
        { STEP_HOSTNAME, seal_hostname },
        { STEP_SESSION, seal_session },
        { STEP_RLIMITS, seal_rlimits },
        { STEP_CAPS, seal_caps },
        { STEP_NNP, seal_nnp },
        { STEP_LANDLOCK, landlock_seal },
        { STEP_FDS, seal_fds },
        { STEP_SECCOMP, seal_seccomp }
    };

    seal_run(req, steps, sizeof(steps) / sizeof(steps[0]));
}
