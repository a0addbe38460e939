
/*
 * What the front leaves with the broker for its successor: BRK_RECORD_SIZE
 * bytes per sandbox, for those that are kept, and for those in which something
 * runs whose client was answered: it may ask later what became of it.  A
 * sandbox whose record is not a good one is of no use to a later front and is
 * killed.
 */

#ifndef FRONT_RECORD_H
#define FRONT_RECORD_H

#include <stdint.h>

#include "job.h"
#include "protocol/broker.h"
#include "request.h"


typedef struct {
    char      sandbox[JOB_SANDBOX];     /* "" if it is not kept */
    char      execution[REQ_EXECUTION]; /* "" if none goes on */
    char      workspace[REQ_WORKSPACE];
    char      name[JOB_SESSION];        /* its workspace's own, or "" */
    uint64_t  created;          /* wall msec */
    uint64_t  ttl;              /* msec */
    uint64_t  end;              /* wall msec; 0: none that was said */
    uint32_t  marks[JOB_MARKS]; /* of steps that were begun, job.h */
} record_t;


void record_write(const record_t *r, uint8_t out[BRK_RECORD_SIZE]);

/* 0, or -1 if it is of another version, damaged, or none */

int record_read(record_t *r, const uint8_t in[BRK_RECORD_SIZE]);


#endif /* FRONT_RECORD_H */
