
/*
 * Pictures and documents that a run displayed, as files that nginx serves.
 */

#ifndef FRONT_ARTIFACT_H
#define FRONT_ARTIFACT_H

#include <stddef.h>
#include <stdint.h>

#include "output.h"


typedef enum {
    ARTIFACT_NONE,              /* a form that is not stored */
    ARTIFACT_PICTURE,
    ARTIFACT_DOCUMENT
} artifact_kind_t;


/*
 * Before the process is locked: keeps the directory's descriptor, removes what
 * a dead front left half-written, loads the digest.  0, or -1 (logged).
 */

int artifact_init(int dir);

artifact_kind_t artifact_kind(const char *mime);

/* lower is better, for choosing a display's picture; 0 is the best */

int artifact_rank(const char *mime);

/*
 * Writes a new file <32 hex>.<ext>, complete or not at all, and fills "a": its
 * file, size, sha256.  0; or -1 and a->why, and the store is as it was.
 * a->mime is set and is of a kind that is stored; "number" goes into a->name.
 */

int artifact_store(out_artifact_t *a, const void *data, size_t len,
    unsigned number);

/* names the artifact without storing it */

void artifact_name(out_artifact_t *a, unsigned number);


#endif /* FRONT_ARTIFACT_H */
