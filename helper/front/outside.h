
/*
 * What the front asks of retort-fetch, which alone has the network.  A
 * conversation is a socket of its own; one thread has it.
 */

#ifndef FRONT_OUTSIDE_H
#define FRONT_OUTSIDE_H

#include "err.h"
#include "protocol/fetch.h"


typedef struct {
    int        fd;
    int        client;          /* who waits for it, -1: nobody */
    uint64_t   until;           /* mono usec */
} outside_t;

typedef struct {
    fetch_ans_t   head;         /* its texts are ended by NUL */
    char          data[FETCH_PAYLOAD];      /* head.len bytes */
} outside_msg_t;


/* once, before threads start; without it nothing can be asked */

int outside_init(int channel);

/*
 * Asks.  Behind the request are req->head bytes of "head" and req->len of
 * "body".  0, or -1 and "e"; outside_end() is for the caller if it was 0.
 */

int outside_ask(outside_t *o, const fetch_req_t *req, const char *head,
    const char *body, int client, err_t *e);

/*
 * Waits for the next packet.  0; or -1 and "e": retort-fetch or its child is
 * gone, the client is, the service stops, or it took longer than anything may.
 */

int outside_hear(outside_t *o, outside_msg_t *m, err_t *e);

void outside_end(outside_t *o);


#endif /* FRONT_OUTSIDE_H */
