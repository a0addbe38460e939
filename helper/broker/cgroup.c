
/*
 * Part of retort-broker.  Works on directory descriptors and on names that the
 * broker made itself; what it reads comes from the kernel.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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


/* the number after "key", or the first one if there is no key; 0 if none */

static uint64_t
cg_get(const cg_t *cg, int which, const char *box, const char *file,
    const char *key)
{
    int      fd;
    char     text[1024], *p;
    ssize_t  n;

    fd = cg_open(cg, which, box, file, O_RDONLY);

    if (fd == -1) {
        return 0;
    }

    n = read(fd, text, sizeof(text) - 1);
    (void) close(fd);
    text[n > 0 ? n : 0] = '\0';
    p = (key != NULL) ? strstr(text, key) : text;

    if (p == NULL) {
        return 0;
    }

    return strtoull(p + (key != NULL ? strlen(key) : 0), NULL, 10);
}


/* memory includes swap; a kernel without swap accounting has no such file */

int
cg_limit(const cg_t *cg, const char *box, const retort_box_limits_t *l)
{
    int                 rc;
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
        rc = cg_put(cg, CG_MEMORY, box, "memory.swap.max", "0");

        return (rc == -1 && errno != ENOENT)
               || cg_put(cg, CG_MEMORY, box, "memory.max", "%llu", memory)
               || cg_put(cg, CG_CPU, box, "cpu.max", "%llu %d", quota,
                         CG_PERIOD) ? -1 : 0;
    }

    if (cg_put(cg, CG_MEMORY, box, "memory.limit_in_bytes", "%llu", memory)
        || cg_put(cg, CG_CPU, box, "cpu.cfs_period_us", "%d", CG_PERIOD)
        || cg_put(cg, CG_CPU, box, "cpu.cfs_quota_us", "%llu", quota))
    {
        return -1;
    }

    rc = cg_put(cg, CG_MEMORY, box, "memory.memsw.limit_in_bytes", "%llu",
                memory);

    return (rc == -1 && errno != ENOENT) ? -1 : 0;
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
        if (mkdirat(cg->dir[i], box, 0755) == -1) {
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


int
cg_attach(const cg_t *cg, const char *box, pid_t pid)
{
    int  i;

    for (i = 0; i < cg_dirs(cg); i++) {
        if (cg_put(cg, i, box, "cgroup.procs", "%d", (int) pid) == -1) {
            return -1;
        }
    }

    return 0;
}


typedef struct {
    int         which;
    const char  *file;
    const char  *key;           /* NULL: the file is one number */
} cg_counter_t;

enum { CG_CPU_TIME, CG_SYSTEM, CG_NOW, CG_PEAK, CG_OOM, CG_COUNTERS };

static const cg_counter_t  cg_counters[2][CG_COUNTERS] = {
    {
        { CG_CPUACCT, "cpuacct.usage", NULL },
        { CG_CPUACCT, "cpuacct.usage_sys", NULL },
        { CG_MEMORY, "memory.usage_in_bytes", NULL },
        { CG_MEMORY, "memory.max_usage_in_bytes", NULL },
        { CG_MEMORY, "memory.oom_control", "oom_kill " }
    },
    {
        { CG_CPU, "cpu.stat", "usage_usec " },
        { CG_CPU, "cpu.stat", "system_usec " },
        { CG_MEMORY, "memory.current", NULL },
        { CG_MEMORY, "memory.peak", NULL },
        { CG_MEMORY, "memory.events", "oom_kill " }
    }
};


void
cg_stat(const cg_t *cg, const char *box, brk_stat_t *st)
{
    int                 i;
    uint64_t            n[CG_COUNTERS], unit;
    const cg_counter_t  *c;

    if (cg->version == 0) {
        return;
    }

    for (i = 0; i < CG_COUNTERS; i++) {
        c = &cg_counters[cg->version - 1][i];
        n[i] = cg_get(cg, c->which, box, c->file, c->key);
    }

    if (n[CG_CPU_TIME] == 0) {
        return;
    }

    unit = (cg->version == 1) ? 1000 : 1;       /* nsec or usec */
    st->cpu_us = n[CG_CPU_TIME] / unit;
    st->cpu_system_us = n[CG_SYSTEM] / unit;
    st->memory_now = n[CG_NOW];
    st->memory_peak = n[CG_PEAK];
    st->oom_kills = (uint32_t) n[CG_OOM];
    st->processes = (uint32_t) cg_get(cg, CG_PIDS, box, "pids.current", NULL);
}


/*
 * v2 resets the peak of a descriptor only, and only since Linux 6.12: there
 * the peak is that of the box's life.
 */

void
cg_reset_peak(const cg_t *cg, const char *box)
{
    if (cg->version == 1) {
        (void) cg_put(cg, CG_MEMORY, box, "memory.max_usage_in_bytes", "0");
    }
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
