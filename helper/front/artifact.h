
/*
 * Pictures and documents that a run displayed, as files that nginx serves.
 */

#ifndef FRONT_ARTIFACT_H
#define FRONT_ARTIFACT_H

#include <stddef.h>
#include <stdint.h>

#include "output.h"
#include "request.h"


/* what the digits of an owner are made from, by secret_hex() */

#define ARTIFACT_OWNER  "artifact-owner %s"


typedef enum {
    ARTIFACT_NONE,              /* a form that is not stored */
    ARTIFACT_PICTURE,
    ARTIFACT_DOCUMENT,
    ARTIFACT_FILE               /* never a display, only a file of a run */
} artifact_kind_t;


/*
 * Before the process is locked: the store's secret and its files, the digest.
 * 0, or -1 (logged).
 */

int artifact_init(int dir, const retort_settings_t *s);

artifact_kind_t artifact_kind(const char *mime);

/* what a file of this name is stored as; it need not be that */

const char *artifact_mime(const char *name);

/* lower is better, for choosing a display's picture; 0 is the best */

int artifact_rank(const char *mime);

/*
 * Stores the bytes for the request's workspace, complete or not at all, and
 * fills "a": its file, id, size, sha256, and from when on its link counts.  0;
 * or -1 and a->why, and the store is as it was.  a->mime is set and is of a
 * kind that is stored; "number" goes into a->name.
 */

int artifact_store(out_artifact_t *a, const request_t *req, const void *data,
    size_t len, unsigned number);

/*
 * The same for a file that was written in pieces: its owner's digits for the
 * store; and its name, by a->mime and a->sha256.
 */

int artifact_owner(char *owner, const request_t *req);
int artifact_part(out_artifact_t *a, const request_t *req, const char *part,
    size_t len);

/*
 * An artifact of this workspace by its id (or its file), opened for reading:
 * a descriptor that the caller closes, and its size.  -1: there is none.
 */

int artifact_open(const char *id, const char *workspace, uint64_t *size);

/* names the artifact without storing it */

void artifact_name(out_artifact_t *a, unsigned number);


#endif /* FRONT_ARTIFACT_H */
