
/*
 * A client that follows an execution while it runs: events, rendered by its
 * dialect, as FastCGI records on its connection.
 *
 * Nothing in here blocks but follow_all(): what does not fit into the socket
 * waits, and no more is rendered before it is gone.  So a slow client holds
 * neither the run nor memory; the outputs themselves are bounded.
 */

#ifndef FRONT_FOLLOW_H
#define FRONT_FOLLOW_H

#include "dialect/dialect.h"
#include "exec.h"


typedef struct {
    exec_t           *x;
    const request_t  *req;
    const dialect_t  *dialect;
    call_t           *call;         /* the message that it answers, or NULL */
    int               lasting;      /* the run goes on without the client */
    int               form;
    int               fd;           /* -1: the client is gone */
    unsigned          id;           /* of the FastCGI request */
    uint64_t          at;           /* the last event's id */
    int               begun;        /* the head was said */
    int               ended;        /* the last event was rendered */
    buf_t             piece;        /* one event */
    buf_t             out;          /* records */
    size_t            sent;         /* bytes of "out" */
    uint64_t          beat;         /* mono usec of the next sign of life */
} follow_t;


/* says the head of the answer; events behind "after" follow */

void follow_begin(follow_t *f, exec_t *x, uint64_t after);

/* what there is, as far as the client takes it; 0, or -1 if it is gone */

int follow_some(follow_t *f);

/* not 0 while something waits for the client to take it */

int follow_waits(const follow_t *f);

/* until the last event is taken; 0, or -1 if the client is gone or stalls */

int follow_all(follow_t *f);

/*
 * Without an execution: the head, and bytes behind it, until they are taken.
 * 0, or -1 if the client is gone or stalls.
 */

void follow_open(follow_t *f);
int follow_tell(follow_t *f, const buf_t *b);

void follow_free(follow_t *f);


#endif /* FRONT_FOLLOW_H */
