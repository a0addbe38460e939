
/*
 * In retort-front, as its own uid without any capability.  Reads what the
 * store has of a run's pictures, as base64, and not more than is allowed.
 */

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "artifact.h"
#include "bounds.h"
#include "picture.h"


/* what every client can show */

static int
picture_is_plain(const out_artifact_t *a)
{
    return strcmp(a->mime, "image/png") == 0
           || strcmp(a->mime, "image/jpeg") == 0
           || strcmp(a->mime, "image/gif") == 0
           || strcmp(a->mime, "image/webp") == 0;
}


static unsigned char *
picture_read(int fd, size_t size)
{
    size_t          at;
    ssize_t         n;
    unsigned char  *p;

    p = malloc(size + 1);

    for (at = 0; p != NULL && at < size; at += (size_t) n) {
        n = read(fd, p + at, size - at);

        if (n == -1 && errno == EINTR) {
            n = 0;
            continue;
        }

        if (n <= 0) {
            free(p);
            return NULL;
        }
    }

    return p;
}


/* its bytes, that the caller frees, if there is room for them; or NULL */

static unsigned char *
picture_load(const picture_t *p, const request_t *req, uint64_t left,
    uint64_t *size)
{
    int             fd;
    unsigned char  *bytes;

    fd = artifact_open(p->artifact->file, req->workspace, size);

    if (fd == -1) {
        return NULL;
    }

    bytes = *size != 0 && *size <= left ? picture_read(fd, (size_t) *size)
                                        : NULL;
    (void) close(fd);

    return bytes;
}


static void
picture_bytes(picture_t *p, const request_t *req, uint64_t *left)
{
    size_t          n;
    uint64_t        size;
    unsigned char  *bytes;

    bytes = picture_load(p, req, *left, &size);

    if (bytes == NULL) {
        return;
    }

    n = ((size_t) size + 2) / 3 * 4;
    p->base64.data = malloc(n + 1);

    if (p->base64.data != NULL) {
        p->base64.len = (size_t) EVP_EncodeBlock(
                            (unsigned char *) p->base64.data, bytes,
                            (int) size);
        p->base64.size = n + 1;
        *left -= size;
    }

    free(bytes);
}


/* a display's, or the value of the last expression */

static int
picture_is(const out_item_t *item)
{
    return item->nartifacts != 0 && item->artifacts[0].file[0] != '\0'
           && (item->type == OUT_IMAGE
               || (item->type == OUT_RESULT
                   && strncmp(item->artifacts[0].mime, "image/", 6) == 0));
}


picture_t *
pictures_load(const request_t *req, const outputs_t *out, size_t *n)
{
    uint64_t           left;
    picture_t         *list;
    const out_item_t  *item;

    *n = 0;
    left = BOUND_PICTURES;
    list = calloc(out->nitems + 1, sizeof(picture_t));

    if (list == NULL) {
        return NULL;
    }

    for (item = out->first; item != NULL; item = item->next) {
        if (!picture_is(item)) {
            continue;
        }

        list[*n].artifact = &item->artifacts[0];

        if (picture_is_plain(&item->artifacts[0])) {
            picture_bytes(&list[*n], req, &left);
        }

        (*n)++;
    }

    return list;
}


static int
picture_is_text(const out_artifact_t *a)
{
    return strncmp(a->mime, "text/", 5) == 0
           || strcmp(a->mime, "image/svg+xml") == 0
           || strcmp(a->mime, "application/json") == 0;
}


static void
picture_text(picture_t *p, const request_t *req, uint64_t *left)
{
    uint64_t        size;
    unsigned char  *bytes;

    bytes = picture_load(p, req, *left, &size);

    if (bytes != NULL) {
        p->text.data = (char *) bytes;
        p->text.len = (size_t) size;
        p->text.size = (size_t) size + 1;
        *left -= size;
    }
}


picture_t *
pictures_forms(const request_t *req, const out_item_t *item, size_t *n)
{
    size_t      i;
    uint64_t    left;
    picture_t  *list;

    *n = 0;
    left = BOUND_PICTURES;
    list = calloc(item->nartifacts + 1, sizeof(picture_t));

    if (list == NULL) {
        return NULL;
    }

    for (i = 0; i < item->nartifacts; i++) {
        list[i].artifact = &item->artifacts[i];

        if (item->artifacts[i].file[0] == '\0') {
            continue;
        }

        if (picture_is_text(list[i].artifact)) {
            picture_text(&list[i], req, &left);

        } else {
            picture_bytes(&list[i], req, &left);
        }
    }

    *n = i;

    return list;
}


void
pictures_free(picture_t *list, size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        buf_free(&list[i].base64);
        buf_free(&list[i].text);
    }

    free(list);
}
