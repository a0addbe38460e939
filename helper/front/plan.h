
/*
 * An execution of several rounds, in one sandbox: code that was given, or that
 * a model writes, told what became of the code before.
 */

#ifndef FRONT_PLAN_H
#define FRONT_PLAN_H

#include "exec.h"
#include "job.h"


/*
 * By the thread that answered for it; x->memo says what is asked.  When it
 * returns, x->res and x->memo are as final as they get: exec_over() is the
 * caller's.
 */

void plan_run(exec_t *x, const request_t *req, job_t *job);


#endif /* FRONT_PLAN_H */
