
/*
 * In retort-front, as its own uid without any capability.  Requests about the
 * files of a workspace.  What is uploaded goes to the store as it comes.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bounds.h"
#include "clock.h"
#include "file_type.h"
#include "multipart.h"
#include "routes.h"
#include "shelf.h"


#define ROUTES_VALUE  64        /* bytes of a field's value */


typedef struct {
    routes_t      *r;
    shelf_in_t     in;
    shelf_info_t   file;
    int            is_file;     /* the part that comes is the file */
    int            files;
    uint64_t       until;
    char           name[MULTIPART_NAME];
    size_t         len;
    char           value[ROUTES_VALUE];
} routes_form_t;


/* what the client calls the file, and what it says that it is */

static int
routes_form_file(routes_form_t *f, const multipart_part_t *part, err_t *e)
{
    const char  *ext;

    shelf_type(f->file.mime, part->file);

    if (shelf_is_mime(part->type)) {
        (void) snprintf(f->file.mime, SHELF_MIME, "%s", part->type);
    }

    ext = file_extension(f->file.mime);

    if (part->file[0] == '\0') {
        (void) snprintf(f->file.name, sizeof(f->file.name), "unnamed%s",
                        ext != NULL ? ext : "");
        return 0;
    }

    if (!shelf_is_name(part->file)) {
        return err_set(e, 400, "bad_name", "filename: 1 to %d characters, "
                       "none of < > : \" | ? * \\ / or control characters",
                       SHELF_CHARS);
    }

    (void) snprintf(f->file.name, sizeof(f->file.name), "%.*s",
                    SHELF_NAME - 1, part->file);

    return 0;
}


static int
routes_form_begin(void *data, const multipart_part_t *part, err_t *e)
{
    routes_form_t  *f;

    f = data;
    f->is_file = strcmp(part->name, "file") == 0;
    f->len = 0;
    memcpy(f->name, part->name, sizeof(f->name));

    if (!f->is_file) {
        return 0;
    }

    if (f->files++ != 0) {
        return err_set(e, 400, "bad_value", "file: only one is taken at a "
                       "time");
    }

    return routes_form_file(f, part, e) == -1
           ? -1 : shelf_begin(&f->in, f->r->req->workspace, e);
}


static int
routes_form_piece(void *data, const char *p, size_t n, err_t *e)
{
    routes_form_t  *f;

    f = data;

    if (f->is_file) {
        return shelf_add(&f->in, p, n, e);
    }

    if (n >= sizeof(f->value) - f->len || memchr(p, '\0', n) != NULL) {
        return err_set(e, 400, "bad_value", "%s: the value is too long",
                       f->name);
    }

    memcpy(f->value + f->len, p, n);
    f->len += n;

    return 0;
}


static int
routes_form_end(void *data, err_t *e)
{
    routes_form_t  *f;

    f = data;

    if (f->is_file) {
        return 0;
    }

    f->value[f->len] = '\0';

    return f->r->dialect->shelf_field(&f->file, f->name, f->value, e);
}


static int
routes_form_body(routes_form_t *f, multipart_t *m, err_t *e)
{
    int             n;
    char            part[8176];
    routes_body_t  *body;

    body = f->r->body;

    if (body->length > BOUND_SHELF_FILE + BOUND_FILE_HEAD) {
        return err_set(e, 413, "too_large", "a file has at most %d bytes",
                       BOUND_SHELF_FILE);
    }

    for (n = body->some(body, part, sizeof(part)); n > 0;
         n = body->some(body, part, sizeof(part)))
    {
        if (multipart_feed(m, part, (size_t) n, e) == -1) {
            return -1;
        }

        if (clock_mono_us() > f->until) {
            return err_set(e, 0, "cancelled", "the body took too long");
        }
    }

    if (n == -1) {
        return err_set(e, 0, "cancelled", "the body did not come");
    }

    if (multipart_done(m, e) == -1) {
        return -1;
    }

    return f->files != 0 ? 0 : err_set(e, 400, "bad_value",
                                       "file: Field required");
}


static int
routes_shelf_post(routes_t *r, err_t *e)
{
    int            rc;
    multipart_t   *m;
    routes_form_t  f;

    memset(&f, 0, sizeof(f));
    f.r = r;
    f.in.fd = -1;
    f.until = clock_mono_us() + (uint64_t) BOUND_FILE_TIME * 1000;
    m = calloc(1, sizeof(multipart_t));

    if (m == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    m->begin = routes_form_begin;
    m->piece = routes_form_piece;
    m->end = routes_form_end;
    m->data = &f;
    rc = multipart_init(m, r->req->type, e);

    if (rc == 0) {
        rc = routes_form_body(&f, m, e);
    }

    if (rc == 0) {
        rc = shelf_keep(&f.in, &f.file, e);
    }

    shelf_drop(&f.in);
    free(m);

    if (rc == 0) {
        r->dialect->render_shelf(r->req, &f.file, 0, r->a);
    }

    return rc;
}


/* those that are there: one that is not is left out */

static size_t
routes_shelf_ids(routes_t *r, const shelf_query_t *q, shelf_info_t *list)
{
    err_t   e;
    size_t  i, n;

    n = 0;

    for (i = 0; i < q->nids; i++) {
        n += shelf_look(q->ids[i], r->req->workspace, &list[n], &e) == 0;
    }

    return n;
}


static int
routes_shelf_page(routes_t *r, const shelf_query_t *q, shelf_ask_t *ask,
    err_t *e)
{
    shelf_info_t  file;

    memset(ask, 0, sizeof(shelf_ask_t));
    ask->max = q->max;
    ask->before = q->before;

    if (q->after_id[0] != '\0') {
        if (shelf_look(q->after_id, r->req->workspace, &file, e) == -1) {
            return -1;
        }

        ask->before = file.created;
    }

    if (q->before_id[0] != '\0') {
        if (shelf_look(q->before_id, r->req->workspace, &file, e) == -1) {
            return -1;
        }

        ask->after = file.created;
        ask->last = 1;
    }

    return 0;
}


static int
routes_shelf_list(routes_t *r, err_t *e)
{
    int             more;
    size_t          n;
    shelf_ask_t     ask;
    shelf_info_t   *list;
    shelf_query_t   q;

    memset(&q, 0, sizeof(q));
    q.before = UINT64_MAX;

    if (r->dialect->shelf_query(r->req, &q, e) == -1
        || routes_shelf_page(r, &q, &ask, e) == -1)
    {
        return -1;
    }

    list = calloc(q.by_id ? SHELF_IDS : q.max, sizeof(shelf_info_t));

    if (list == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    more = 0;
    n = q.by_id ? routes_shelf_ids(r, &q, list)
                : shelf_list(r->req->workspace, &ask, list, &more);
    r->dialect->render_shelves(r->req, list, n, more, r->a);
    free(list);

    return 0;
}


static int
routes_shelf_head(routes_t *r, const shelf_info_t *file)
{
    int         rc;
    buf_t       head;
    answer_t   *a;

    a = r->a;
    a->status = 200;
    a->type = file->mime;
    a->streamed = 1;
    a->length = file->size;
    file_disposition(&a->lines, file->name);
    (void) buf_puts(&a->lines, "X-Content-Type-Options: nosniff\r\n"
                    "Content-Security-Policy: sandbox; default-src 'none'\r\n"
                    "Cache-Control: no-store\r\n");

    memset(&head, 0, sizeof(head));
    rc = answer_head(a, &head);

    if (rc == 0) {
        rc = r->body->write(r->body, head.data, head.len);
    }

    a->type = NULL;
    buf_free(&head);

    return rc;
}


static int
routes_shelf_bytes(routes_t *r, int fd, uint64_t left)
{
    char       part[32768];
    size_t     want;
    ssize_t    n;
    uint64_t   until;

    until = clock_mono_us() + (uint64_t) BOUND_FILE_TIME * 1000;

    while (left != 0) {
        want = left < sizeof(part) ? (size_t) left : sizeof(part);
        n = read(fd, part, want);

        if (n == -1 && errno == EINTR) {
            continue;
        }

        if (n <= 0 || clock_mono_us() > until
            || r->body->write(r->body, part, (size_t) n) == -1)
        {
            return -1;
        }

        left -= (uint64_t) n;
    }

    return 0;
}


/* from the head on, nothing but a cut tells that it is not whole */

static int
routes_shelf_get(routes_t *r, err_t *e)
{
    int           fd;
    shelf_info_t  file;

    if (shelf_look(r->id, r->req->workspace, &file, e) == -1
        || r->dialect->shelf_get(r->req, &file, e) == -1)
    {
        return -1;
    }

    fd = shelf_open(r->id, r->req->workspace, &file, e);

    if (fd == -1) {
        return -1;
    }

    r->a->sent = 1;

    if (routes_shelf_head(r, &file) == -1
        || routes_shelf_bytes(r, fd, file.size) == -1)
    {
        r->a->cut = 1;
    }

    (void) close(fd);

    return 0;
}


int
routes_shelf(routes_t *r, err_t *e)
{
    shelf_info_t  file;

    switch (r->route->op) {

    case OP_SHELF_POST:
        return routes_shelf_post(r, e);

    case OP_SHELF_LIST:
        return routes_shelf_list(r, e);

    case OP_SHELF_GET:
        return routes_shelf_get(r, e);

    default:
        break;
    }

    if (shelf_look(r->id, r->req->workspace, &file, e) == -1
        || (r->route->op == OP_SHELF_DELETE
            && shelf_delete(r->id, r->req->workspace, e) == -1))
    {
        return -1;
    }

    r->dialect->render_shelf(r->req, &file, r->route->op == OP_SHELF_DELETE,
                             r->a);

    return 0;
}
