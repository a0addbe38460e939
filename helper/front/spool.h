
/*
 * The whole text of a run whose streams were cut, on its way into the artifact
 * store: written as it comes, never held in memory, and named when the run is
 * over.
 */

#ifndef FRONT_SPOOL_H
#define FRONT_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "output.h"
#include "request.h"
#include "store.h"


typedef struct {
    const request_t  *req;
    int               begun;
    int               fd;
    void             *digest;
    uint64_t          size;             /* bytes that came */
    uint64_t          charged;          /* bytes of the owner's quota */
    char              owner[STORE_OWNER + 1];
    char              part[STORE_PART_NAME];
    char              why[96];          /* "" while all is well */
} spool_t;


void spool_init(spool_t *s, const request_t *req);

/* for outputs_t.spill: "spool" is the spool */

void spool_write(void *spool, const char *p, size_t n);

/*
 * Names what came, once, and fills "a"; "why", if it is not NULL, is why it
 * may not be named.  Nothing if nothing came.
 */

void spool_end(spool_t *s, out_artifact_t *a, const char *why);


#endif /* FRONT_SPOOL_H */
