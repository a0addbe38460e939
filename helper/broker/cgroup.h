
/*
 * One small interface over cgroup v1 and v2.  The delegated directories were
 * made by root at service start and belong to the broker's uid, but for the
 * files that limit the whole.
 */

#ifndef RETORT_CGROUP_H
#define RETORT_CGROUP_H

#include "../protocol/broker.h"


/* v1: a directory in each hierarchy; v2: all four are the same directory */

enum { CG_MEMORY, CG_PIDS, CG_CPU, CG_CPUACCT, CG_DIRS };

typedef struct {
    uint32_t  version;          /* 0: none to be had, told so by the operator */
    int       dir[CG_DIRS];
} cg_t;


/* makes the box's groups and sets its limits: 0, or -1 with errno */

int cg_create(const cg_t *cg, const char *box, const retort_box_limits_t *l);
int cg_limit(const cg_t *cg, const char *box, const retort_box_limits_t *l);

/*
 * Opens a file in each of them, by which whoever has it enters alone.  Their
 * number, or -1 with errno; what is open then belongs to the caller as well.
 */

int cg_enter(const cg_t *cg, const char *box, int *fds);

/* opens BRK_COUNTERS files, which belong to the caller; -1: none is free */

void cg_counters(const cg_t *cg, const char *box, int *fds);

/* 1: others have its cores as soon as they want them; since Linux 5.15 */

void cg_yield(const cg_t *cg, const char *box, int yields);

/* v2 kills the whole group at once; v1 leaves that to the pid namespace */

void cg_kill(const cg_t *cg, const char *box);

/* 0 when all are gone, -1 while a process is still in one */

int cg_remove(const cg_t *cg, const char *box);


#endif /* RETORT_CGROUP_H */
