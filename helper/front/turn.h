
/*
 * Turns: runs in one sandbox, one after the other, that one request asks for.
 *
 * A turn has a thread of its own.  The request waits for it as long as it
 * likes; then it is answered with what there is so far, and the turn goes on.
 * Who asks the same again gets what became of it.  A turn whose last client
 * leaves before any was answered is cancelled.
 */

#ifndef FRONT_TURN_H
#define FRONT_TURN_H

#include "err.h"
#include "exec.h"
#include "job.h"
#include "request.h"


#define TURN_KEY  65


typedef struct turn_work_s  turn_work_t;

typedef struct {
    char      key[TURN_KEY];    /* equal questions of a workspace have one */
    job_t     job;              /* turn_begin() takes it */

    int       done;
    exec_t   *x;                /* of a step that is done: its run, over */
    err_t     e;                /* if there is no "x": why */
} turn_step_t;

typedef struct {
    const request_t  *req;
    char              sandbox[JOB_SANDBOX];     /* "": a fresh one; then it */
    turn_step_t      *steps;
    size_t            nsteps;                   /* at least one */
    int               later;    /* the request had a turn before this one */
    int             (*beat)(void *own);         /* if there was silence; -1: */
    void             *beats;                    /* the client is gone */
    turn_work_t      *work;
    int               whole;                    /* all steps are done */
} turn_t;


/* is there one already that turn_begin() would find?  1 or 0 */

int turn_known(const turn_t *t);


/* begins a turn, or finds the one that was begun; 0, or -1 and "e" */

int turn_begin(turn_t *t, err_t *e);

/*
 * Waits until it is over or until "until" (mono usec), and tells what there
 * is.  0; or -1 and "e": the client is gone.
 */

int turn_wait(turn_t *t, int client, uint64_t until, err_t *e);

/* behind turn_begin(): runs and results are not the caller's any more */

void turn_end(turn_t *t);

/* one of the threads that turns run in */

void *turn_thread(void *unused);


#endif /* FRONT_TURN_H */
