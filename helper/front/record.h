
/*
 * What the front leaves with the broker for its successor: BRK_RECORD_SIZE
 * bytes per sandbox, only for those that are kept.  A sandbox whose record is
 * not a good one is of no use to a later front and is killed.
 */

#ifndef FRONT_RECORD_H
#define FRONT_RECORD_H

#include <stdint.h>

#include "job.h"
#include "protocol/broker.h"
#include "request.h"


typedef struct {
    char      sandbox[JOB_SANDBOX];
    char      workspace[REQ_WORKSPACE];
    uint64_t  created;          /* wall msec */
    uint64_t  ttl;              /* msec */
} record_t;


void record_write(const record_t *r, uint8_t out[BRK_RECORD_SIZE]);

/* 0, or -1 if it is of another version, damaged, or none */

int record_read(record_t *r, const uint8_t in[BRK_RECORD_SIZE]);


#endif /* FRONT_RECORD_H */
