
/*
 * Lines of Prometheus' text format, version 0.0.4.  Pure functions.
 */

#ifndef FRONT_PROM_H
#define FRONT_PROM_H

#include <stdint.h>

#include "buf.h"


#define PROM_BUCKETS  20
#define PROM_SECONDS  32        /* room for a number of prom_seconds() */


/* upper bounds in usec, from 100 us to 300 s, increasing */

extern const uint64_t  prom_bounds[PROM_BUCKETS];


/* "bucket" counts by its own bound alone; the last is what is above all */

typedef struct {
    uint64_t  bucket[PROM_BUCKETS + 1];
    uint64_t  sum;              /* usec */
} prom_histogram_t;


/* the bucket that a time belongs to */

unsigned prom_bucket(uint64_t us);

/* usec as seconds, exact and without needless zeros: 1500 is "0.0015" */

void prom_seconds(uint64_t us, char text[PROM_SECONDS]);

/* HELP and TYPE, before all lines of "name" */

void prom_head(buf_t *to, const char *name, const char *type,
    const char *help);

/* one label, its value escaped; "labels" collects them, empty at first */

void prom_label(buf_t *labels, const char *name, const char *value);

/* one line; "labels" may be NULL, "value" is a number's text */

void prom_line(buf_t *to, const char *name, const buf_t *labels,
    const char *value);
void prom_count(buf_t *to, const char *name, const buf_t *labels,
    uint64_t value);

/* buckets, sum and count */

void prom_histogram(buf_t *to, const char *name, const buf_t *labels,
    const prom_histogram_t *h);


#endif /* FRONT_PROM_H */
