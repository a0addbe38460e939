
/*
 * In retort-front, as its own uid without any capability.  The bytes come from
 * a sandbox: they are counted, charged, digested and written.
 */

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "artifact.h"
#include "spool.h"
#include "usage.h"


#define SPOOL_NAME  "output.txt"
#define SPOOL_MIME  "text/plain"


void
spool_init(spool_t *s, const request_t *req)
{
    memset(s, 0, sizeof(spool_t));
    s->req = req;
    s->fd = -1;
}


/* the file and what it took are given back */

static void
spool_drop(spool_t *s, const char *why)
{
    if (s->fd != -1) {
        (void) close(s->fd);
        store_part_drop(s->part, s->owner, s->charged);
        s->fd = -1;
    }

    EVP_MD_CTX_free(s->digest);
    s->digest = NULL;

    if (s->why[0] == '\0') {
        (void) snprintf(s->why, sizeof(s->why), "%s", why);
    }
}


static void
spool_begin(spool_t *s)
{
    s->begun = 1;
    s->digest = EVP_MD_CTX_new();

    if (s->digest == NULL || EVP_DigestInit(s->digest, EVP_sha256()) != 1
        || artifact_owner(s->owner, s->req) == -1)
    {
        spool_drop(s, "it could not be named");
        return;
    }

    s->fd = store_part(s->part);

    if (s->fd == -1) {
        spool_drop(s, "the artifact store failed");
    }
}


void
spool_write(void *spool, const char *p, size_t n)
{
    char       why[96];
    spool_t   *s;
    uint64_t   more;

    s = spool;

    if (!s->begun) {
        spool_begin(s);
    }

    s->size += n;

    if (s->fd == -1) {
        return;
    }

    if (s->size > s->req->run.image) {
        (void) snprintf(why, sizeof(why), "it has more than %" PRIu64
                        " bytes", s->req->run.image);
        spool_drop(s, why);
        return;
    }

    more = usage_of(s->size) - s->charged;

    if (more != 0 && store_charge(s->owner, more) == -1) {
        spool_drop(s, "the workspace's store is full");
        return;
    }

    s->charged += more;

    if (store_bytes(s->fd, p, n) == -1) {
        spool_drop(s, "the artifact store is full or failed");

    } else if (EVP_DigestUpdate(s->digest, p, n) != 1) {
        spool_drop(s, "it could not be named");
    }
}


static void
spool_name(spool_t *s, out_artifact_t *a)
{
    unsigned       i, n;
    unsigned char  sha[EVP_MAX_MD_SIZE];

    n = 0;

    if (EVP_DigestFinal(s->digest, sha, &n) != 1) {
        spool_drop(s, "it could not be named");
        return;
    }

    for (i = 0; i < n && i < sizeof(a->sha256) / 2; i++) {
        (void) snprintf(a->sha256 + 2 * i, 3, "%02x", sha[i]);
    }

    /* from here on the store has it, or has removed it */
    (void) close(s->fd);
    s->fd = -1;

    if (artifact_part(a, s->req, s->part, s->size) == -1) {
        spool_drop(s, a->why);
    }
}


void
spool_end(spool_t *s, out_artifact_t *a, const char *why)
{
    if (!s->begun) {
        return;
    }

    (void) snprintf(a->name, sizeof(a->name), SPOOL_NAME);
    (void) snprintf(a->mime, sizeof(a->mime), SPOOL_MIME);
    a->size = s->size;

    if (s->fd != -1 && why != NULL) {
        spool_drop(s, why);
    }

    if (s->fd != -1) {
        spool_name(s, a);
    }

    spool_drop(s, "");
    (void) snprintf(a->why, sizeof(a->why), "%s", s->why);
    s->begun = 0;
}
