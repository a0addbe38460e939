
/*
 * In retort-front, as its own uid without any capability.  The bytes come from
 * a sandbox: they are never decoded, only digested and stored.  The public name
 * is made here; nothing that a tenant chose is in it.
 */

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "artifact.h"
#include "flog.h"
#include "secret.h"
#include "store.h"
#include "usage.h"


#define ARTIFACT_SHA    32
#define ARTIFACT_REST   22


typedef struct {
    const char       *mime;
    const char       *ext;
    artifact_kind_t   kind;
    const char       *magic;    /* how such a file begins; NULL: any way */
} artifact_form_t;


/* in the order in which one form is preferred to another */

static const artifact_form_t  artifact_forms[] = {
    { "image/png", "png", ARTIFACT_PICTURE, "\x89PNG\r\n\x1a\n" },
    { "image/jpeg", "jpg", ARTIFACT_PICTURE, "\xff\xd8\xff" },
    { "image/gif", "gif", ARTIFACT_PICTURE, "GIF8" },
    { "image/webp", "webp", ARTIFACT_PICTURE, "RIFF" },
    { "image/svg+xml", "svg", ARTIFACT_DOCUMENT, NULL },
    { "application/pdf", "pdf", ARTIFACT_DOCUMENT, "%PDF-" },
    { "text/html", "html", ARTIFACT_DOCUMENT, NULL },
    { "text/markdown", "md", ARTIFACT_DOCUMENT, NULL },
    { "text/latex", "tex", ARTIFACT_DOCUMENT, NULL },
    { "application/json", "json", ARTIFACT_DOCUMENT, NULL },
    { "text/csv", "csv", ARTIFACT_FILE, NULL },
    { "text/plain", "txt", ARTIFACT_FILE, NULL },
    { "application/octet-stream", "bin", ARTIFACT_FILE, NULL }
};

#define ARTIFACT_FORMS  (sizeof(artifact_forms) / sizeof(artifact_forms[0]))


static char      artifact_prefix[OUT_ID];     /* of an id */
static uint64_t  artifact_quota;


int
artifact_rank(const char *mime)
{
    size_t  i;

    for (i = 0; i < ARTIFACT_FORMS; i++) {
        if (strcmp(artifact_forms[i].mime, mime) == 0) {
            return (int) i;
        }
    }

    return -1;
}


artifact_kind_t
artifact_kind(const char *mime)
{
    int  i;

    i = artifact_rank(mime);

    return i == -1 ? ARTIFACT_NONE : artifact_forms[i].kind;
}


const char *
artifact_mime(const char *name)
{
    size_t       i;
    const char  *ext;

    ext = strrchr(name, '.');

    if (ext != NULL && strcasecmp(ext, ".jpeg") == 0) {
        ext = ".jpg";
    }

    for (i = 0; i < ARTIFACT_FORMS - 1; i++) {
        if (ext != NULL && strcasecmp(ext + 1, artifact_forms[i].ext) == 0) {
            break;
        }
    }

    /* the last one is for whatever is no other */

    return artifact_forms[i].mime;
}


static int
artifact_digest(const void *data, size_t len, char hex[65])
{
    size_t         i;
    unsigned       n;
    unsigned char  sha[EVP_MAX_MD_SIZE];

    if (EVP_Digest(data, len, sha, &n, EVP_sha256(), NULL) != 1
        || n != ARTIFACT_SHA)
    {
        return -1;
    }

    for (i = 0; i < n; i++) {
        (void) snprintf(hex + 2 * i, 3, "%02x", sha[i]);
    }

    return 0;
}


int
artifact_init(int dir, const retort_settings_t *s)
{
    int   n;
    char  hex[65];

    n = snprintf(artifact_prefix, sizeof(artifact_prefix), "file_%s_",
                 s->node);

    if (n < 0 || (size_t) n >= sizeof(artifact_prefix)
        || artifact_digest("", 0, hex) == -1)
    {
        flog(RLOG_ERROR, "artifact store: no SHA-256");
        return -1;
    }

    artifact_quota = s->artifacts_quota;

    return secret_init(dir) == 0 ? store_init(dir, s) : -1;
}


static int
artifact_fail(out_artifact_t *a, const char *why)
{
    a->file[0] = '\0';
    a->id[0] = '\0';
    (void) snprintf(a->why, sizeof(a->why), "%s", why);

    return -1;
}


void
artifact_name(out_artifact_t *a, unsigned number)
{
    const artifact_form_t  *f;

    f = &artifact_forms[artifact_rank(a->mime)];

    (void) snprintf(a->name, sizeof(a->name), "%s-%03u.%s",
                    f->kind == ARTIFACT_PICTURE ? "fig" : "display",
                    number, f->ext);
}


/*
 * Who knows the name may read the file: 88 bits of it are a digest that only
 * we can make.  The rest stands for the owner, who can so be told without a
 * table.  Equal bytes of one workspace have one name.
 */

static int
artifact_file(out_artifact_t *a, const char *workspace, const char *ext)
{
    int   n;
    char  owner[STORE_OWNER + 1], rest[ARTIFACT_REST + 1];

    if (secret_hex(owner, STORE_OWNER, ARTIFACT_OWNER, workspace) == -1
        || secret_hex(rest, ARTIFACT_REST, "artifact-name %s %s %s", workspace,
                      a->sha256, ext)
           == -1)
    {
        return -1;
    }

    (void) snprintf(a->file, sizeof(a->file), "%s%s.%s", owner, rest, ext);
    n = snprintf(a->id, sizeof(a->id), "%s%s", artifact_prefix, a->file);

    return n > 0 && (size_t) n < sizeof(a->id) ? 0 : -1;
}


static int
artifact_put(out_artifact_t *a, const void *data, size_t len)
{
    char      why[96];
    uint64_t  used;

    switch (store_put(a->file, data, len, &a->kept, &a->issued, &used)) {

    case STORE_OK:
        return 0;

    case STORE_QUOTA:
        (void) snprintf(why, sizeof(why), "the workspace's store is full: %"
                        PRIu64 " of %" PRIu64 " bytes are taken", used,
                        artifact_quota);
        return artifact_fail(a, why);

    case STORE_FULL:
        return artifact_fail(a, "the artifact store is full");

    default:
        return artifact_fail(a, "the artifact store failed");
    }
}


int
artifact_store(out_artifact_t *a, const request_t *req, const void *data,
    size_t len, unsigned number)
{
    const artifact_form_t  *f;

    f = &artifact_forms[artifact_rank(a->mime)];
    artifact_name(a, number);
    a->size = len;

    if (f->magic != NULL
        && (len < strlen(f->magic)
            || memcmp(data, f->magic, strlen(f->magic)) != 0))
    {
        return artifact_fail(a, "it is not what its type says");
    }

    if (artifact_digest(data, len, a->sha256) == -1
        || artifact_file(a, req->workspace, f->ext) == -1)
    {
        return artifact_fail(a, "it could not be named");
    }

    a->kept = req->link.life;

    return artifact_put(a, data, len);
}


int
artifact_owner(char *owner, const request_t *req)
{
    return secret_hex(owner, STORE_OWNER, ARTIFACT_OWNER, req->workspace);
}


int
artifact_part(out_artifact_t *a, const request_t *req, const char *part,
    size_t len)
{
    char  owner[STORE_OWNER + 1];

    if (artifact_file(a, req->workspace,
                      artifact_forms[artifact_rank(a->mime)].ext) == -1)
    {
        if (artifact_owner(owner, req) == 0) {
            store_part_drop(part, owner, usage_of(len));
        }

        return artifact_fail(a, "it could not be named");
    }

    a->size = len;
    a->kept = req->link.life;

    return store_part_keep(part, a->file, len, &a->kept, &a->issued)
           == STORE_OK ? 0 : artifact_fail(a, "the artifact store failed");
}


int
artifact_open(const char *id, const char *workspace, uint64_t *size)
{
    char    owner[STORE_OWNER + 1], file[OUT_FILE];
    size_t  n;

    n = strlen(artifact_prefix);

    if (strncmp(id, artifact_prefix, n) == 0) {
        id += n;
    }

    /* out of a link, behind which its signature stands */
    n = strcspn(id, "?");

    if (n >= sizeof(file)) {
        return -1;
    }

    memcpy(file, id, n);
    file[n] = '\0';

    if (secret_hex(owner, STORE_OWNER, ARTIFACT_OWNER, workspace) == -1
        || strncmp(file, owner, STORE_OWNER) != 0)
    {
        return -1;
    }

    return store_open(file, size);
}
