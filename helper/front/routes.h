
/*
 * From a request to an answer.
 */

#ifndef FRONT_ROUTES_H
#define FRONT_ROUTES_H

#include "answer.h"
#include "err.h"
#include "request.h"


/*
 * How the body is read, once somebody wants it: fills "body"; 0, or -1 and
 * "e".  "max" bounds it.
 */

typedef struct routes_body_s  routes_body_t;

struct routes_body_s {
    int   (*read)(routes_body_t *b, uint64_t max, buf_t *body, err_t *e);
    int    client;              /* the connection, for noticing its end */
};


/* fills "a", always; the caller frees it */

void routes_serve(const request_t *req, routes_body_t *body, answer_t *a);

/* the answer to a request whose params were refused */

void routes_refuse(const err_t *e, answer_t *a);


#endif /* FRONT_ROUTES_H */
