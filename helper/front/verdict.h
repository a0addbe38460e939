
/*
 * Inside of a run: the loop, and what its end means.
 */

#ifndef FRONT_VERDICT_H
#define FRONT_VERDICT_H

#include "run.h"


/* runs r->job in r->box until it is over, one way or another */

void run_cell(run_t *r);

/* after it: verdict, usage, and what becomes of the box (which stays owned) */

void verdict_reach(run_t *r);


#endif /* FRONT_VERDICT_H */
