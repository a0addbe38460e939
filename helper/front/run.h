
/*
 * One cell, from a job to its result.
 */

#ifndef FRONT_RUN_H
#define FRONT_RUN_H

#include "box.h"
#include "exec.h"
#include "follow.h"
#include "kernel_io.h"
#include "request.h"
#include "result.h"
#include "spool.h"


/*
 * Finds or makes the job's sandbox, runs the job in it, and lets the sandbox
 * go or live on.  "client" is watched (-1: nobody waits): if it goes away the
 * run is cancelled.  "f" follows it from there on, if it is not NULL.
 *
 * 0, and x->res is final; or -1 and "e" if nothing ran.
 */

int run_job(exec_t *x, const request_t *req, const job_t *job, int client,
    follow_t *f, err_t *e);

/* makes a result of "e", for a client that was answered before */

void run_refused(exec_t *x, const err_t *e);


/* inside of run.c and run_event.c */

typedef enum { RUN_FILES, RUN_CELL, RUN_OVER } run_phase_t;

typedef enum {
    STOP_NONE,
    STOP_TIMEOUT,
    STOP_CANCEL,
    STOP_BROKEN                 /* the kernel's side broke the protocol */
} run_stop_t;

typedef struct {
    const request_t  *req;
    const job_t      *job;
    box_t            *box;
    exec_t           *x;
    result_t         *res;      /* of it */
    follow_t         *follow;   /* the client's, or NULL */
    err_t            *err;      /* a file that could not be written */
    int               client;
    int               wake;
    int               fresh;    /* this request made the box */
    int               unread;   /* who would read the answer has gone */

    run_phase_t       phase;
    size_t            file;     /* the next to send */
    int               waiting;  /* for KRN_FILED */
    krn_out_t         out;
    krn_out_t         ack;
    krn_in_t          in;
    krn_keep_t        keep;
    buf_t             env;      /* the job's, and the location's */
    krn_want_t        want;
    out_item_t       *display;  /* takes KRN_MIME */
    uint32_t          forms;    /* of it that are to come */
    uint64_t          told;     /* position that readers know of */
    int               closed[BRK_BOX_FDS];

    run_stop_t        stop;
    const char       *why;      /* STOP_CANCEL */
    int               stage;    /* signals sent: 1 INT, 2 KILL, 3 box ended */
    uint64_t          alarm;    /* mono usec of what comes next */
    uint64_t          begun;    /* mono usec of KRN_RUN */
    uint64_t          first;    /* of the first output */

    box_t             news;     /* what the broker told */
    int               done;     /* KRN_DONE came */
    uint32_t          done_a;
    spool_t           spool;    /* all of its streams, if they are cut */
    char              code[65]; /* its SHA-256, if runs are logged */
} run_t;


/* a whole message of the kernel is in r->in */

void run_message(run_t *r);

/* a part of one is, and the rest is still to come */

void run_piece(run_t *r);

/* in run_file.c: KRN_CHANGE, and a file that comes as KRN_MIME */

void run_change(run_t *r);
void run_saved(run_t *r);

/* in run_text.c: KRN_ERROR; the whole of a text that was cut, as a form */

void run_error(run_t *r);
void run_whole(run_t *r, out_item_t *item, const char *p, size_t n,
    uint64_t size);

/* the first output of the run */

void run_first(run_t *r, uint64_t now);

/* the bytes go where the job's go: 0; or -1 and a->why */

int run_keep(run_t *r, out_artifact_t *a, const void *p, size_t n,
    unsigned number);

/* one more artifact of a display; NULL if there are too many, or no memory */

out_artifact_t *run_form(out_item_t *item, const char *mime);

/* may it be stored, "have" bytes of it being here?  If not, a->why */

int run_allowed(const run_t *r, out_artifact_t *a, size_t have);

/* reads what a pipe holds, at most what fits into it */

void run_drain(run_t *r, box_fd_t which);

/* the same, by one read */

void run_some(run_t *r, box_fd_t which);

/* begins to end the cell */

void run_stop(run_t *r, run_stop_t stop);

/* the same, with the reason that the answer gives */

void run_cancel(run_t *r, const char *why);


#endif /* FRONT_RUN_H */
