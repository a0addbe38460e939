
/*
 * Part of retort-broker.  Works on directory descriptors and on names that the
 * broker made itself.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"


#define CG_PERIOD  100000       /* usec of a scheduling period */


static int
cg_open(const cg_t *cg, int which, const char *box, const char *file, int how)
{
    char  path[128];

    (void) snprintf(path, sizeof(path), "%s/%s", box, file);

    return openat(cg->dir[which], path, how|O_CLOEXEC);
}


static int
cg_put(const cg_t *cg, int which, const char *box, const char *file,
    const char *fmt, ...)
{
    int      fd, len;
    char     text[64];
    va_list  args;
    ssize_t  n;

    va_start(args, fmt);
    len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    fd = cg_open(cg, which, box, file, O_WRONLY);

    if (fd == -1) {
        return -1;
    }

    n = write(fd, text, (size_t) len);
    (void) close(fd);

    return n == -1 ? -1 : 0;
}


/* memory includes swap; a kernel without swap accounting has no such file */

int
cg_limit(const cg_t *cg, const char *box, const retort_box_limits_t *l)
{
    unsigned long long  memory, quota;

    memory = l->memory;
    quota = (unsigned long long) l->cpu * (CG_PERIOD / 1000);

    if (cg->version == 0) {
        return 0;
    }

    if (cg_put(cg, CG_PIDS, box, "pids.max", "%u", l->processes) == -1) {
        return -1;
    }

    if (cg->version == 2) {
        return (cg_put(cg, CG_MEMORY, box, "memory.swap.max", "0")
                && errno != ENOENT)
               || cg_put(cg, CG_MEMORY, box, "memory.max", "%llu", memory)
               || cg_put(cg, CG_CPU, box, "cpu.max", "%llu %d", quota,
                         CG_PERIOD) ? -1 : 0;
    }

    return cg_put(cg, CG_MEMORY, box, "memory.limit_in_bytes", "%llu", memory)
           || cg_put(cg, CG_CPU, box, "cpu.cfs_quota_us", "%llu", quota)
           || (cg_put(cg, CG_MEMORY, box, "memory.memsw.limit_in_bytes",
                      "%llu", memory)
               && errno != ENOENT) ? -1 : 0;
}


static int
cg_dirs(const cg_t *cg)
{
    return cg->version == 1 ? CG_DIRS : (int) (cg->version / 2);
}


int
cg_create(const cg_t *cg, const char *box, const retort_box_limits_t *limits)
{
    int  i, err;

    for (i = 0; i < cg_dirs(cg); i++) {
        /* CG_CPU may have made it: "cpu,cpuacct" is often one hierarchy */
        if (mkdirat(cg->dir[i], box, 0755) == -1
            && (errno != EEXIST || i != CG_CPUACCT))
        {
            break;
        }
    }

    if (i == cg_dirs(cg) && cg_limit(cg, box, limits) == 0) {
        return 0;
    }

    err = errno;
    (void) cg_remove(cg, box);
    errno = err;

    return -1;
}


/* v2 has no file for a single thread, outside of threaded groups */

int
cg_enter(const cg_t *cg, const char *box, int *fds)
{
    int  i;

    for (i = 0; i < cg_dirs(cg); i++) {
        fds[i] = cg_open(cg, i, box, cg->version == 1 ? "tasks"
                                                      : "cgroup.procs",
                         O_WRONLY);

        if (fds[i] == -1) {
            return -1;
        }
    }

    return i;
}


/*
 * What this kernel does not count is read as nothing.  v1 starts a new peak
 * when that file is written to; v2 does since Linux 6.12, and before that has
 * none to write to.
 */

void
cg_counters(const cg_t *cg, const char *box, int *fds)
{
    int                       i;
    const char                *file;
    static const int          dir[BRK_COUNTERS] = {     /* v2 has but one */
        CG_CPUACCT, CG_CPUACCT, CG_MEMORY, CG_MEMORY, CG_MEMORY, CG_PIDS
    };
    static const char *const  files[2][BRK_COUNTERS] = {
        { "cpuacct.usage", "cpuacct.usage_sys", "memory.usage_in_bytes",
          "memory.max_usage_in_bytes", "memory.oom_control", "pids.current" },
        { "cpu.stat", "cpu.stat", "memory.current", "memory.peak",
          "memory.events", "pids.current" }
    };

    for (i = 0; i < BRK_COUNTERS; i++) {
        file = files[cg->version == 2][i];
        fds[i] = cg_open(cg, dir[i], box, file,
                         i == BRK_PEAK ? O_RDWR : O_RDONLY);

        if (fds[i] == -1) {
            fds[i] = cg_open(cg, dir[i], box, file, O_RDONLY);
        }

        if (fds[i] == -1) {
            fds[i] = open("/dev/null", O_RDONLY|O_CLOEXEC);
        }
    }
}


void
cg_yield(const cg_t *cg, const char *box, int yields)
{
    (void) cg_put(cg, CG_CPU, box, "cpu.idle", "%d", yields);
}


void
cg_kill(const cg_t *cg, const char *box)
{
    if (cg->version == 2) {
        (void) cg_put(cg, CG_MEMORY, box, "cgroup.kill", "1");
    }
}


int
cg_remove(const cg_t *cg, const char *box)
{
    int  i, rc;

    rc = 0;

    for (i = 0; i < cg_dirs(cg); i++) {
        if (unlinkat(cg->dir[i], box, AT_REMOVEDIR) == -1 && errno != ENOENT) {
            rc = -1;
        }
    }

    return rc;
}
