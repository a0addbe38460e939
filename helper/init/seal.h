
/*
 * Sealing a sandbox: everything that pid 1 does between its clone and the
 * first byte of a tenant.
 */

#ifndef RETORT_SEAL_H
#define RETORT_SEAL_H

#include <stddef.h>

#include "init.h"
#include "../protocol/init.h"


/* ids inside every sandbox */

#define SEAL_UID  1000
#define SEAL_GID  1000

/* descriptors of pid 1 from the clone on; the kernel sees 0 to 3 only */

enum {
    PID1_SOCK = 4,              /* the broker; end of file is death */
    PID1_CHANNEL,               /* handed to the kernel, then closed here */
    PID1_OUT,
    PID1_ERR,
    PID1_OOM,                   /* own oom_score_adj */
    PID1_FD_END
};


/*
 * Runs every step in order.  Does not return if one fails: the broker is told
 * the step and errno, and the process exits.
 */

typedef struct {
    init_step_t   step;
    int         (*run)(void);
} seal_step_t;

void seal(const tpl_req_t *req);
void seal_run(const tpl_req_t *req, const seal_step_t *steps, size_t n);


/* tells the broker which step failed, with errno, and ends when it is gone */

void seal_fail(init_step_t step);


/* what this process is to become; set by seal() */

extern const tpl_req_t  *seal_req;


/* one step each: 0, or -1 with errno */

int mounts_private(void);
int mounts_root(void);
int mounts_proc(void);
int mounts_dev(void);
int mounts_workspace(void);
int mounts_tmp(void);
int mounts_shm(void);
int mounts_pivot(void);
int landlock_seal(void);
int seal_oom(void);
int seal_rlimits(void);
int seal_nnp(void);
int seal_fds(void);
int seal_seccomp(void);


/* pid 1's descriptors to their numbers; all others above 3 are closed */

int template_place(int sock, const int *fds);


/* pid 1 after sealing: starts the kernel, reaps, obeys the broker */

void pid1_run(const tpl_req_t *req, const init_hooks_t *hooks);


#endif /* RETORT_SEAL_H */
