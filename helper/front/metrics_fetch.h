
/*
 * What the front counts about what it had fetched and called, and its lines
 * for Prometheus.  Atomic counters; they begin at zero with each front.
 */

#ifndef FRONT_METRICS_FETCH_H
#define FRONT_METRICS_FETCH_H

#include "buf.h"
#include "err.h"
#include "protocol/fetch.h"


typedef enum {
    METRICS_FILES,              /* that clients name by URL */
    METRICS_CALLS,              /* of the operator's endpoints */
    METRICS_FETCHES
} metrics_fetch_t;

/* how it ended, where retort-fetch did not say it; above its own codes */

typedef enum {
    METRICS_CACHED = FETCH_ENAME + 1,
    METRICS_DROPPED,            /* nobody wanted the rest */
    METRICS_LOST,               /* retort-fetch is away, or lost it */
    METRICS_FETCH_CODES
} metrics_fetch_code_t;


/* "code" is a fetch_code_t of retort-fetch, or one of the above */

void metrics_fetch(metrics_fetch_t what, unsigned code);
void metrics_fetch_bytes(metrics_fetch_t what, uint64_t n);

/* which of the above an error is that ends the wait for retort-fetch */

unsigned metrics_fetch_why(const err_t *e);

void metrics_fetch_print(buf_t *to);


#endif /* FRONT_METRICS_FETCH_H */
