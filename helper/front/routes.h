
/*
 * From a request to an answer.
 */

#ifndef FRONT_ROUTES_H
#define FRONT_ROUTES_H

#include "answer.h"
#include "dialect/dialect.h"
#include "err.h"
#include "exec.h"
#include "follow.h"
#include "job.h"
#include "readers.h"
#include "request.h"


/* both bodies of a request, once somebody wants them */

typedef struct routes_body_s  routes_body_t;

struct routes_body_s {
    /* fills "body", which "max" bounds; 0, or -1 and "e" */
    int       (*read)(routes_body_t *b, uint64_t max, buf_t *body, err_t *e);

    /* the same in pieces: bytes, 0 at the end, or -1 if it does not come */
    int       (*some)(routes_body_t *b, char *p, size_t size);

    /* an answer in pieces, its head first; 0, or -1 if nobody takes it */
    int       (*write)(routes_body_t *b, const void *p, size_t n);

    uint64_t   length;          /* that it is said to have, 0 if it is not */
    int        client;          /* the connection, for noticing its end */
    unsigned   id;              /* FastCGI's number of the request */
};


/* what is to be done when the answer is out and the connection given back */

typedef struct {
    exec_t      *x;             /* NULL: nothing */
    int          plan;          /* it has rounds */
    request_t    req;           /* without its views */
    job_t        job;
    reader_t     place;         /* among all such runs */
} routes_later_t;


/*
 * Fills "a", always; the caller frees it.  If "later" has something in it,
 * the caller calls routes_later() whatever became of the answer.
 */

void routes_serve(const request_t *req, routes_body_t *body, answer_t *a,
    routes_later_t *later);

void routes_later(routes_later_t *later);

/*
 * The answer to a request that is no dialect's; and to one whose params were
 * refused, in the words of its dialect if that is known.
 */

void routes_refuse(const err_t *e, answer_t *a);
void routes_unread(const request_t *req, const err_t *e, answer_t *a);


/* inside of routes.c and the files beside it */

typedef struct {
    const request_t         *req;
    const dialect_t         *dialect;
    const dialect_route_t   *route;
    routes_body_t           *body;
    answer_t                *a;
    routes_later_t          *later;
    char                     id[JOB_SANDBOX];   /* the "*" of the path */
    const char              *rest;              /* its "**" */
    char                     allow[64];
} routes_t;

/* 0, or -1 and "e" */

int routes_execute(routes_t *r, err_t *e);
int routes_exec_show(routes_t *r, err_t *e);
int routes_exec_events(routes_t *r, err_t *e);
int routes_exec_cancel(routes_t *r, err_t *e);
int routes_files(routes_t *r, err_t *e);
int routes_shelf(routes_t *r, err_t *e);
int routes_turn(routes_t *r, err_t *e);
int routes_dialogue(routes_t *r, err_t *e);
int routes_asset(routes_t *r, err_t *e);
int routes_call(routes_t *r, err_t *e);
int routes_call_end(routes_t *r, err_t *e);
void routes_call_files(routes_t *r, call_t *c);
void routes_talk(routes_t *r, call_t *c);
int routes_call_resume(routes_t *r, err_t *e);

/* the job will run behind the answer, and is taken; 0, or -1 and "e" */

int routes_detach(routes_t *r, exec_t *x, job_t *job, err_t *e);

/* a client that follows what runs; the second ends its answer */

void routes_follow(routes_t *r, follow_t *f, int form);
void routes_follow_all(routes_t *r, follow_t *f);

/*
 * In routes_turn.c, for those who run turns: until when a request waits (mono
 * usec), as its location says; all of a turn, behind whose -1 and 0 the second
 * takes back what it holds.
 */

int routes_turn_until(const request_t *req, uint64_t *until, err_t *e);
int routes_turn_go(routes_t *r, turn_call_t *c, uint64_t until, err_t *e);
void routes_turn_end(turn_call_t *c);


#endif /* FRONT_ROUTES_H */
