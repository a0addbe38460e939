
/*
 * From a request to an answer.
 */

#ifndef FRONT_ROUTES_H
#define FRONT_ROUTES_H

#include "answer.h"
#include "err.h"
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
};


/* fills "a", always; the caller frees it */

void routes_serve(const request_t *req, routes_body_t *body, answer_t *a);

/* the answer to a request whose params were refused */

void routes_refuse(const err_t *e, answer_t *a);


#endif /* FRONT_ROUTES_H */
