
/*
 * In retort-front, as its own uid without any capability.  Files that a
 * request names by URL: retort-fetch fetches them, all at once.
 */

#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "fetch_cache.h"
#include "files.h"
#include "flog.h"
#include "metrics_fetch.h"
#include "outside.h"


typedef struct {
    job_file_t  *file;
    buf_t        data;
    uint32_t     keep;          /* seconds */
    int          headed;
    int          ended;
} files_url_t;

typedef struct {
    const request_t  *req;
    files_url_t      *url;
    size_t            n;
    size_t            open;     /* that have not ended */
    uint64_t          left;
    int               lenient;
    err_t             first;    /* what failed, status -1: nothing */
} files_fetch_t;


/* -1 and "e", unless the others are wanted all the same */

static int
files_fetch_fail(files_fetch_t *f, files_url_t *u, int status,
    const char *code, const char *why)
{
    err_t  e;

    (void) err_set(&e, status, code, "file \"%.64s\": %s", u->file->name, why);
    flog(RLOG_INFO, "%s", e.text);
    buf_free(&u->data);

    if (f->first.status == -1) {
        f->first = e;
    }

    return f->lenient ? 0 : -1;
}


static int
files_fetch_end(files_fetch_t *f, files_url_t *u, const fetch_ans_t *a)
{
    u->ended = 1;
    f->open--;
    metrics_fetch(METRICS_FILES, a->code <= FETCH_ENAME ? a->code
                                                        : FETCH_EFAILED);

    if (a->code == FETCH_EBUSY) {
        return files_fetch_fail(f, u, 503, "fetch_busy", a->text);
    }

    if (a->code == FETCH_OK && u->headed && buf_add(&u->data, "", 1) == 0) {
        u->file->data = u->data.data;
        u->file->len = u->data.len - 1;
        fetch_cache_put(f->req->workspace, u->file->url, u->file->data,
                        u->file->len, u->keep);
        return 0;
    }

    return files_fetch_fail(f, u, a->code == FETCH_ESIZE ? 413 : 422,
                            "file_not_fetched", a->code != FETCH_OK
                            ? a->text : "it could not be taken");
}


/* one packet; -1 and "e" if it makes no sense, or is the end of it all */

static int
files_fetch_take(files_fetch_t *f, const outside_msg_t *m, err_t *e)
{
    files_url_t  *u;

    u = m->head.index < f->n ? &f->url[m->head.index] : NULL;

    if (u == NULL || u->ended) {
        return err_set(e, 502, "fetch_lost", "retort-fetch broke the protocol");
    }

    if (m->head.op == FETCH_END) {
        return files_fetch_end(f, u, &m->head);
    }

    if (m->head.op == FETCH_HEAD && !u->headed) {
        u->headed = 1;
        u->keep = m->head.keep;
        return 0;
    }

    if (m->head.op == FETCH_DATA && u->headed && m->head.len <= f->left) {
        f->left -= m->head.len;
        metrics_fetch_bytes(METRICS_FILES, m->head.len);
        (void) buf_add(&u->data, m->data, m->head.len);
        return 0;
    }

    return err_set(e, 502, "fetch_lost", "retort-fetch broke the protocol");
}


/* what is known already is taken, the rest of the URLs is one text */

static int
files_fetch_collect(files_fetch_t *f, job_file_t *files, size_t n, buf_t *urls)
{
    size_t       i;
    job_file_t  *to;

    for (i = 0; i < n; i++) {
        to = &files[i];

        if (to->url == NULL) {
            continue;
        }

        to->data = fetch_cache_get(f->req->workspace, to->url, &to->len);

        if (to->data != NULL && to->len <= f->left) {
            f->left -= to->len;
            metrics_fetch(METRICS_FILES, METRICS_CACHED);
            continue;
        }

        free(to->data);
        to->data = NULL;
        f->url[f->n++].file = to;
        (void) buf_add(urls, to->url, strlen(to->url) + 1);
    }

    f->open = f->n;

    return urls->failed ? -1 : 0;
}


/* none of what is open has an end of its own */

static void
files_fetch_left(const files_fetch_t *f, const err_t *e)
{
    size_t  i;

    for (i = 0; i < f->open; i++) {
        metrics_fetch(METRICS_FILES, f->first.status != -1
                                     ? METRICS_DROPPED
                                     : metrics_fetch_why(e));
    }
}


static int
files_fetch_talk(files_fetch_t *f, int client, const buf_t *urls, err_t *e)
{
    int             rc;
    outside_t       o;
    fetch_req_t     req;
    outside_msg_t   m;

    memset(&req, 0, sizeof(req));
    req.op = FETCH_GET;
    req.count = (uint32_t) f->n;
    req.len = (uint32_t) urls->len;
    req.limit = f->left;

    if (outside_ask(&o, &req, NULL, urls->data, client, e) == -1) {
        files_fetch_left(f, e);
        return -1;
    }

    for (rc = 0; rc == 0 && f->open != 0; ) {
        rc = outside_hear(&o, &m, e);

        if (rc == 0) {
            memset(e, 0, sizeof(err_t));
            rc = files_fetch_take(f, &m, e);
        }
    }

    outside_end(&o);
    files_fetch_left(f, e);

    return rc;
}


static int
files_fetch_all(files_fetch_t *f, job_file_t *files, size_t n, int client,
    err_t *e)
{
    int     rc;
    size_t  i;
    buf_t   urls;

    memset(&urls, 0, sizeof(urls));
    rc = files_fetch_collect(f, files, n, &urls);

    if (rc == -1 || urls.len > FETCH_BODY || f->n > FETCH_URLS
        || (f->n != 0 && f->left == 0))
    {
        rc = err_set(e, 413, "too_large", "too much is named by URL or id");

    } else if (f->n != 0) {
        rc = files_fetch_talk(f, client, &urls, e);
    }

    if (f->first.status != -1 && (rc == 0 || !f->lenient)) {
        rc = -1;
        *e = f->first;
    }

    for (i = 0; i < f->n; i++) {
        if (f->url[i].file->data == NULL) {
            buf_free(&f->url[i].data);
        }
    }

    buf_free(&urls);

    return rc;
}


int
files_fetch(const request_t *req, int client, job_file_t *files, size_t n,
    uint64_t left, int lenient, err_t *e)
{
    int             rc;
    size_t          i;
    files_fetch_t   f;

    for (i = 0; i < n && files[i].url == NULL; i++) { /* void */ }

    if (i == n) {
        return 0;
    }

    memset(&f, 0, sizeof(f));
    f.req = req;
    f.left = left;
    f.lenient = lenient;
    f.first.status = -1;
    f.url = calloc(n, sizeof(files_url_t));

    if (f.url == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    rc = files_fetch_all(&f, files, n, client, e);
    free(f.url);

    return rc;
}
