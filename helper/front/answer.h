
/*
 * What goes back to the web server.
 */

#ifndef FRONT_ANSWER_H
#define FRONT_ANSWER_H

#include "buf.h"
#include "picture.h"
#include "request.h"
#include "result.h"


#define ANSWER_OPEN  UINT64_MAX    /* a length that nobody knows yet */


typedef struct {
    int           status;       /* HTTP */
    const char   *type;         /* Content-Type; NULL: no body */
    const char   *form;         /* X-Retort-Form; NULL: none */
    int           retry_after;  /* seconds; 0: no such line */
    buf_t         lines;        /* more header lines, each ended by CRLF */
    buf_t         body;

    /* what a dialect writes into it as base64; routes_exec.c's */
    picture_t    *pictures;
    size_t        npictures;

    /* an answer in pieces */
    uint64_t      length;       /* of its body, if "type" is set */
    int           streamed;     /* the body is not in "body" */
    int           sent;         /* routes_body_t.write() had it all */
    int           cut;          /* it cannot be finished */
    int           end;          /* what END_REQUEST says: 1 + verdict, or 0 */
    const char   *asked;        /* the id in the request's path, or NULL */
} answer_t;


void answer_free(answer_t *a);

/* the whole CGI response, or its head, appended; -1 if memory ran out */

int answer_write(const answer_t *a, buf_t *to);
int answer_head(const answer_t *a, buf_t *to);

/* the X-Retort- lines about a run */

void answer_run(answer_t *a, const char *execution, const result_t *res);


#endif /* FRONT_ANSWER_H */
