
/*
 * Executions: every run from its acceptance until its result is forgotten.
 *
 * A thread runs it and owns "res" till then; whoever else follows it reads the
 * outputs with the lock held.  Once it is over nothing in it changes, and all
 * who hold a reference may read all of it.
 */

#ifndef FRONT_EXEC_H
#define FRONT_EXEC_H

#include <pthread.h>
#include <stdint.h>

#include "err.h"
#include "request.h"
#include "result.h"


typedef enum {
    EXEC_WAITING,               /* for a sandbox */
    EXEC_RUNNING,
    EXEC_OVER
} exec_state_t;


typedef struct exec_s        exec_t;
typedef struct exec_space_s  exec_space_t;      /* a workspace's */
typedef struct exec_reader_s exec_reader_t;

struct exec_reader_s {
    int             wake;
    exec_reader_t  *next;
};

/* what a client answers: a text, and if file.name is not NULL a file */

typedef struct {
    char        *text;
    job_file_t   file;
} exec_input_t;

/* (l) with its lock held, (t) exec.c's own */

struct exec_s {
    char             id[REQ_EXECUTION];
    char             workspace[REQ_WORKSPACE];
    uint64_t         begun;         /* wall msec */
    char             called[JOB_SESSION];   /* the client's name for it */
    char             session[JOB_SESSION];  /* and for where it runs */
    uint64_t         note;          /* the job's */
    result_t         res;

    pthread_mutex_t  lock;
    exec_state_t     state;         /* (l) */
    char             sandbox[JOB_SANDBOX];      /* (l) "" if not kept */
    char            *memo;          /* (l) its dialect's, or NULL */
    int              asks;          /* (l) its runner waits for input */
    exec_input_t    *input;         /* (l) that came, or NULL */
    int              wake;          /* (l) the runner's, or -1 */
    exec_reader_t   *readers;       /* (l) */

    unsigned         refs;          /* (t) */
    int              listed;        /* (t) */
    size_t           bytes;         /* (t) that its outputs hold */
    uint64_t         ended;         /* (t) mono usec */
    exec_space_t    *space;         /* (t) */
    exec_t          *chain;         /* (t) of its hash */
    exec_t          *later;         /* (t) over after it, same workspace */
};


/* before threads; 0 or -1 */

int exec_init(void);

/*
 * A new one under the request's id, or the one that the job's name for it
 * stands for, run by this thread, with two references: the caller's and the
 * table's.  NULL and "e": 409 if there is one of this name.
 */

exec_t *exec_begin(const request_t *req, const job_t *job, err_t *e);

/* it has a sandbox now; an empty name if that is not kept */

void exec_placed(exec_t *x, const char *sandbox);

/* "res" is final; it is kept for BOUND_EXEC_KEEP, memory permitting */

void exec_over(exec_t *x);

/* one of an earlier front that went on behind its answer, and ended with it */

void exec_lost(const char *id, const char *workspace, const char *sandbox);

/* it did not become a run, and is forgotten */

void exec_forget(exec_t *x);

/* with a reference; NULL and "e" if this workspace has none by that id */

exec_t *exec_find(const char *id, const char *workspace, err_t *e);

void exec_release(exec_t *x);

/*
 * By its runner: what its client answers, which is the caller's; NULL if
 * nothing came until "until" (mono usec), or it shall end.
 */

exec_input_t *exec_ask(exec_t *x, uint64_t until);

/* for a runner that asks, whose "input" is then; 0, or -1 if it does not */

int exec_answer(exec_t *x, exec_input_t *input);
void exec_input_free(exec_input_t *input);

/* the runner ends it soon; nothing if it is over */

void exec_cancel(exec_t *x);

/* sleeps until it is over or "until" (mono usec); the state then */

exec_state_t exec_wait(exec_t *x, uint64_t until);

/* "r" is woken by each exec_tell() and by the end */

void exec_follow(exec_t *x, exec_reader_t *r);
void exec_unfollow(exec_t *x, exec_reader_t *r);

/* there is something new; with the lock held */

void exec_tell(const exec_t *x);

/* waits until all are over, or until "until" (mono usec); how many are not */

unsigned exec_busy_wait(uint64_t until);


#endif /* FRONT_EXEC_H */
