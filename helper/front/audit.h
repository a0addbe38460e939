
/*
 * The log of runs: one line as a run begins, one with all that is known of it
 * when it is over (chain.h says how they are kept).  What a run was given to
 * keep to itself is never in it: no value of its environment, no standard
 * input, no byte of a file, no link; its code only if the settings say so.
 */

#ifndef FRONT_AUDIT_H
#define FRONT_AUDIT_H

#include "run.h"


/*
 * Before the process is locked.  "dir" is a directory; if it is anything else
 * there is no log, and all that is below does nothing.  0 or -1 (logged).
 */

int audit_init(int dir, const retort_settings_t *s);

/*
 * It has its sandbox and is about to begin.  -1 and "e": it may not, because
 * the log cannot be written.
 */

int audit_begin(run_t *r, err_t *e);

/* its result is final */

void audit_run(const run_t *r);

/* it was begun, but nothing ran */

void audit_none(const run_t *r);

/* an earlier front began it and died */

void audit_lost(const char *id, const char *workspace, const char *sandbox);

/* this front ends as it should */

void audit_stop(void);


#endif /* FRONT_AUDIT_H */
