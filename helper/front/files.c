
/*
 * In retort-front, as its own uid without any capability.  What a session's
 * kernel says about its files is a tenant's word: names are checked again,
 * numbers bounded, and a file that is not as long as was said ends in a
 * connection that is cut.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bounds.h"
#include "clock.h"
#include "file_op.h"
#include "file_type.h"
#include "files.h"
#include "job.h"
#include "routes.h"


/* with every download: it was made by code that nobody has read */

#define FILES_LINES                                                           \
    "X-Content-Type-Options: nosniff\r\n"                                     \
    "Content-Security-Policy: sandbox; default-src 'none'\r\n"                \
    "Cache-Control: no-store\r\n"


typedef struct {
    const files_ask_t  *ask;
    file_op_t           op;
    const char         *name;
    krn_entry_t         entry;
    uint64_t            sent;
    uint64_t            until;
    buf_t              *into;       /* NULL: to the client */
    int                 folders;    /* are as good as files */
} files_get_t;


void
files_free(file_infos_t *list)
{
    size_t  i;

    for (i = 0; i < list->n; i++) {
        free(list->file[i].name);
    }

    free(list->file);
    memset(list, 0, sizeof(file_infos_t));
}


file_info_t *
files_add(file_infos_t *list, const char *name, err_t *e)
{
    file_info_t  *f;

    f = realloc(list->file, (list->n + 1) * sizeof(file_info_t));

    if (f != NULL) {
        list->file = f;
        f += list->n;
        memset(f, 0, sizeof(file_info_t));
        f->name = strdup(name);
    }

    if (f == NULL || f->name == NULL) {
        (void) err_set(e, 500, "no_memory", "out of memory");
        return NULL;
    }

    list->n++;

    return f;
}


const char *
files_name(const files_ask_t *ask, err_t *e)
{
    if (ask->name == NULL || !job_file_name(ask->name, strlen(ask->name))) {
        (void) err_set(e, 400, "bad_name", "a file's name is a relative path "
                       "without \".\" and \"..\"");
        return NULL;
    }

    return ask->name;
}


static int
files_yes(const char *query, const char *key, int *yes, err_t *e)
{
    char  text[8];

    if (file_query(query, key, text, sizeof(text)) == 0) {
        *yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;

        if (*yes || text[0] == '\0' || strcmp(text, "false") == 0
            || strcmp(text, "0") == 0)
        {
            return 0;
        }
    }

    return err_set(e, 400, "bad_value", "\"%s\" must be true or false", key);
}


int
files_folder(const files_ask_t *ask, char *path, size_t size, err_t *e)
{
    int     rc;
    size_t  n;

    if (ask->folder != NULL) {
        rc = snprintf(path, size, "%s", ask->folder);
        rc = rc >= 0 && (size_t) rc < size ? 0 : -1;

    } else {
        rc = file_query(ask->req->query, "path", path, size);
    }

    if (rc == 0) {
        n = strlen(path);

        if (n != 0 && path[n - 1] == '/') {
            path[--n] = '\0';
        }

        if (n == 0 || job_file_name(path, n)) {
            return 0;
        }
    }

    return err_set(e, 400, "bad_name", "\"path\" is a relative path of a "
                   "folder, without \".\" and \"..\"");
}


/* what a KRN_ENTRY says; -1 if it is nothing that a client may be told */

static int
files_entry(const krn_in_t *in, const char *folder, char *name, size_t room,
    krn_entry_t *entry)
{
    int          n;
    size_t       len;
    uint64_t     size;
    const char  *p;

    p = krn_in_part(in, 1, &len, &size);

    if (len != sizeof(krn_entry_t) || size != len) {
        return -1;
    }

    memcpy(entry, p, sizeof(krn_entry_t));
    p = krn_in_part(in, 0, &len, &size);

    if (size > BOUND_FILE_NAME || len != size) {
        return -1;
    }

    n = snprintf(name, room, "%s%s%.*s", folder, *folder != '\0' ? "/" : "",
                 (int) len, p);

    return n >= 0 && (size_t) n < room && strnlen(p, len) == len
           && job_file_name(name, (size_t) n) ? 0 : -1;
}


static int
files_list_one(file_op_t *op, const char *folder, file_infos_t *list, err_t *e)
{
    char          name[2 * BOUND_FILE_NAME + 2];
    krn_entry_t   entry;
    file_info_t  *f;

    if (op->in.head.type != KRN_ENTRY
        || files_entry(&op->in, folder, name, sizeof(name), &entry) == -1
        || (entry.is != KRN_IS_FILE && entry.is != KRN_IS_FOLDER)
        || list->n == BOUND_FILE_LIST)
    {
        /* nothing that could be asked for */
        list->truncated |= list->n == BOUND_FILE_LIST;
        return 0;
    }

    f = files_add(list, name, e);

    if (f == NULL) {
        return -1;
    }

    f->size = entry.size;
    f->modified = entry.modified;
    f->folder = (entry.is == KRN_IS_FOLDER);

    return 0;
}


static int
files_list_ask(file_op_t *op, const char *folder, int recursive,
    file_infos_t *list, err_t *e)
{
    int        rc;
    uint64_t   until;

    until = clock_mono_us() + BOUND_FILE_STALL * 1000;

    if (file_op_ask(op, KRN_LIST, BOUND_FILE_LIST, (uint32_t) recursive,
                    folder, e) == -1)
    {
        return -1;
    }

    for ( ;; ) {
        rc = file_op_next(op, e);

        if (rc == -1 || clock_mono_us() > until) {
            return rc == -1 ? -1 : err_set(e, 504, "timeout",
                                           "the list takes too long");
        }

        if (rc == KRN_FILED) {
            list->truncated |= op->more != 0;
            return file_op_filed(op, folder, e);
        }

        if (files_list_one(op, folder, list, e) == -1) {
            return -1;
        }
    }
}


int
files_list(const files_ask_t *ask, file_infos_t *list, err_t *e)
{
    int         rc, recursive;
    char        folder[BOUND_FILE_NAME + 2];
    file_op_t   op;

    if (files_folder(ask, folder, sizeof(folder), e) == -1
        || files_yes(ask->req->query, "recursive", &recursive, e) == -1
        || file_op_begin(&op, ask->req, ask->sandbox, ask->session,
                         ask->body->client, e)
           == -1)
    {
        return -1;
    }

    rc = files_list_ask(&op, folder, recursive || ask->below, list, e);
    file_op_end(&op);

    return rc;
}


int
files_delete(const files_ask_t *ask, err_t *e)
{
    int          rc, recursive;
    file_op_t    op;
    const char  *name;

    name = files_name(ask, e);

    if (name == NULL
        || files_yes(ask->req->query, "recursive", &recursive, e) == -1
        || file_op_begin(&op, ask->req, ask->sandbox, ask->session,
                         ask->body->client, e)
           == -1)
    {
        return -1;
    }

    rc = file_op_ask(&op, KRN_DELETE, 0, (uint32_t) recursive, name, e);

    if (rc == 0) {
        rc = file_op_filed(&op, name, e);
    }

    file_op_end(&op);

    return rc;
}


static void
files_head(const files_get_t *g)
{
    char        when[64];
    time_t      t;
    answer_t   *a;
    struct tm   tm;

    a = g->ask->a;
    a->status = 200;
    a->type = file_type(g->name);
    a->streamed = 1;
    a->length = g->entry.size;

    file_disposition(&a->lines, g->name);
    (void) buf_puts(&a->lines, FILES_LINES);
    t = (time_t) (g->entry.modified / 1000);

    if (gmtime_r(&t, &tm) != NULL
        && strftime(when, sizeof(when), "%a, %d %b %Y %H:%M:%S GMT", &tm) != 0)
    {
        (void) buf_printf(&a->lines, "Last-Modified: %s\r\n", when);
    }

    (void) buf_printf(&a->lines, "X-Retort-Sandbox: %s\r\n",
                      g->op.box->sandbox);
}


/* what a file is: the first that the kernel says about it */

static int
files_get_entry(files_get_t *g, err_t *e)
{
    int          rc;
    size_t       len;
    uint64_t     size;
    const char  *p;

    rc = file_op_next(&g->op, e);

    if (rc == -1) {
        return -1;
    }

    if (rc == KRN_FILED) {
        return file_op_filed(&g->op, g->name, e) == -1
               ? -1 : err_set(e, 500, "file_failed", "no file and no error");
    }

    p = krn_in_part(&g->op.in, 1, &len, &size);

    if (rc != KRN_ENTRY || len != sizeof(krn_entry_t) || size != len) {
        return err_set(e, 500, "file_failed", "not what a file looks like");
    }

    memcpy(&g->entry, p, sizeof(krn_entry_t));

    if (g->entry.is != KRN_IS_FILE
        && !(g->folders && g->entry.is == KRN_IS_FOLDER))
    {
        return err_set(e, 409, "conflict", "\"%.100s\": it is a folder",
                       g->name);
    }

    if (g->entry.size > g->op.box->limits.fsize) {
        return err_set(e, 413, "too_large", "\"%.100s\": it is larger than a "
                       "file may be", g->name);
    }

    return 0;
}


static int
files_write(files_get_t *g, const void *p, size_t n)
{
    int             rc;
    buf_t           head;
    routes_body_t  *body;

    body = g->ask->body;

    if (g->into != NULL) {
        return buf_add(g->into, p, n);
    }

    if (g->ask->a->sent) {
        return body->write(body, p, n);
    }

    files_head(g);
    memset(&head, 0, sizeof(head));
    g->ask->a->sent = 1;
    rc = answer_write(g->ask->a, &head);

    if (rc == 0) {
        rc = body->write(body, head.data, head.len);
    }

    buf_free(&head);

    return rc == 0 && n != 0 ? body->write(body, p, n) : rc;
}


static int
files_get_bytes(files_get_t *g, err_t *e)
{
    int          rc;
    size_t       len;
    uint64_t     size;
    const char  *p;

    for ( ;; ) {
        rc = file_op_next(&g->op, e);

        if (rc == -1) {
            return -1;
        }

        if (rc == KRN_FILED) {
            return file_op_filed(&g->op, g->name, e);
        }

        p = krn_in_part(&g->op.in, 0, &len, &size);

        if (rc != KRN_BYTES || len != size || size == 0
            || size > g->entry.size - g->sent || clock_mono_us() > g->until)
        {
            return err_set(e, 500, "file_failed", "not what was announced");
        }

        g->sent += size;

        if (files_write(g, p, len) == -1) {
            return err_set(e, 0, "cancelled", "the client is gone");
        }
    }
}


static int
files_get_all(files_get_t *g, err_t *e)
{
    int  rc, look;

    look = (strcmp(g->ask->req->method, "HEAD") == 0);
    rc = file_op_ask(&g->op, KRN_GET, (uint32_t) look, 0, g->name, e);

    if (rc == 0) {
        rc = files_get_entry(g, e);
    }

    if (rc == 0 && look) {
        files_head(g);
        return file_op_filed(&g->op, g->name, e);
    }

    if (rc == 0) {
        rc = files_get_bytes(g, e);
    }

    if (rc == 0 && g->sent != g->entry.size) {
        rc = err_set(e, 500, "file_failed", "less than was announced");
    }

    if (rc == 0 && !g->ask->a->sent) {
        rc = files_write(g, "", 0);
    }

    return rc;
}


int
files_show(const files_ask_t *ask, file_info_t *file, err_t *e)
{
    int          rc;
    files_get_t  g;

    memset(&g, 0, sizeof(g));
    g.ask = ask;
    g.folders = 1;
    g.name = files_name(ask, e);

    if (g.name == NULL
        || file_op_begin(&g.op, ask->req, ask->sandbox, ask->session,
                         ask->body->client, e) == -1)
    {
        return -1;
    }

    rc = file_op_ask(&g.op, KRN_GET, 1, 0, g.name, e);

    if (rc == 0) {
        rc = files_get_entry(&g, e);
    }

    if (rc == 0) {
        rc = file_op_filed(&g.op, g.name, e);
    }

    file_op_end(&g.op);
    file->name = rc == 0 ? strdup(g.name) : NULL;
    file->size = g.entry.size;
    file->modified = g.entry.modified;
    file->folder = (g.entry.is == KRN_IS_FOLDER);

    return rc == 0 && file->name == NULL
           ? err_set(e, 500, "no_memory", "out of memory") : rc;
}


int
files_read(const files_ask_t *ask, uint64_t max, buf_t *to, err_t *e)
{
    int          rc;
    files_get_t  g;

    memset(&g, 0, sizeof(g));
    g.ask = ask;
    g.into = to;
    g.name = files_name(ask, e);

    if (g.name == NULL
        || file_op_begin(&g.op, ask->req, ask->sandbox, ask->session,
                         ask->body->client, e) == -1)
    {
        return -1;
    }

    g.until = clock_mono_us() + (uint64_t) BOUND_FILE_TIME * 1000;
    rc = file_op_ask(&g.op, KRN_GET, 0, 0, g.name, e);

    if (rc == 0) {
        rc = files_get_entry(&g, e);
    }

    if (rc == 0 && g.entry.size > max) {
        rc = err_set(e, 413, "too_large", "\"%.100s\": a file that is read "
                     "whole has at most %llu bytes", g.name,
                     (unsigned long long) max);
    }

    if (rc == 0) {
        rc = files_get_bytes(&g, e);
    }

    file_op_end(&g.op);

    return rc == 0 && g.sent != g.entry.size
           ? err_set(e, 500, "file_failed", "less than was announced") : rc;
}


int
files_get(const files_ask_t *ask, err_t *e)
{
    int          rc;
    files_get_t  g;

    memset(&g, 0, sizeof(g));
    g.ask = ask;
    g.name = files_name(ask, e);

    if (g.name == NULL
        || file_op_begin(&g.op, ask->req, ask->sandbox, ask->session,
                         ask->body->client, e)
           == -1)
    {
        return -1;
    }

    g.until = clock_mono_us() + (uint64_t) BOUND_FILE_TIME * 1000;
    rc = files_get_all(&g, e);
    file_op_end(&g.op);

    if (rc == -1 && ask->a->sent) {
        /* the head is out: nothing but a cut tells that it is not whole */
        ask->a->cut = 1;
        return 0;
    }

    if (rc == -1) {
        answer_free(ask->a);
    }

    return rc;
}
