
/*
 * In retort-front, as its own uid without any capability.  Anthropic's Files
 * API.  Lists have two shapes: an older one, for clients that send the beta's
 * header, with ids as cursors; and one with pages.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "../file_type.h"
#include "../text.h"
#include "anthropic.h"


#define ANTHROPIC_BETA       "files-api-2025-04-14"
#define ANTHROPIC_PAGE       "page_"
#define ANTHROPIC_LIMIT      20
#define ANTHROPIC_LIMIT_MAX  1000
#define ANTHROPIC_LIFE_MIN   3600
#define ANTHROPIC_LIFE_MAX   7776000


int
anthropic_shelf_field(shelf_info_t *file, const char *name, const char *value,
    err_t *e)
{
    uint64_t  n;

    if (strcmp(name, "expires_in_seconds") != 0) {
        return err_set(e, 400, "unknown_key", "%s: Extra inputs are not "
                       "permitted", name);
    }

    if (text_number(value, &n) == -1 || n < ANTHROPIC_LIFE_MIN
        || n > ANTHROPIC_LIFE_MAX)
    {
        return err_set(e, 400, "bad_value", "expires_in_seconds: Input should "
                       "be a whole number from %d to %d", ANTHROPIC_LIFE_MIN,
                       ANTHROPIC_LIFE_MAX);
    }

    file->expires = clock_wall_ms() / 1000 + n;

    return 0;
}


/* does the client speak the older form?  Values have commas between them */

static int
anthropic_is_beta(const request_t *req)
{
    size_t       n;
    const char  *p;

    p = request_param(req->params, "HTTP_ANTHROPIC_BETA");

    for ( /* void */ ; p != NULL && *p != '\0'; p += n) {
        p += strspn(p, ", \t");
        n = strcspn(p, ", \t");

        if (n == strlen(ANTHROPIC_BETA)
            && memcmp(p, ANTHROPIC_BETA, n) == 0)
        {
            return 1;
        }
    }

    return 0;
}


static int
anthropic_limit(const request_t *req, shelf_query_t *q, err_t *e)
{
    char      text[16];
    uint64_t  n;

    n = ANTHROPIC_LIMIT;

    if (file_query(req->query, "limit", text, sizeof(text)) == -1
        || (text[0] != '\0' && text_number(text, &n) == -1)
        || n == 0 || n > ANTHROPIC_LIMIT_MAX)
    {
        return err_set(e, 400, "bad_value", "limit: Input should be a whole "
                       "number from 1 to %d", ANTHROPIC_LIMIT_MAX);
    }

    q->max = (size_t) n;

    return 0;
}


static int
anthropic_page(const request_t *req, shelf_query_t *q, err_t *e)
{
    char    text[40], *end;
    size_t  n;

    n = strlen(ANTHROPIC_PAGE);

    if (file_query(req->query, "page", text, sizeof(text)) == 0) {
        if (text[0] == '\0') {
            return 0;
        }

        if (strncmp(text, ANTHROPIC_PAGE, n) == 0
            && strspn(text + n, "0123456789abcdef") == 16
            && text[n + 16] == '\0')
        {
            q->before = strtoull(text + n, &end, 16);
            q->paged = 1;
            return 0;
        }
    }

    return err_set(e, 400, "bad_value", "page: not a page of ours");
}


/* one that is there already is there once; 0, or -1 and "e" */

static int
anthropic_id(shelf_query_t *q, const char *id, err_t *e)
{
    size_t  i;

    for (i = 0; i < q->nids; i++) {
        if (strcmp(q->ids[i], id) == 0) {
            return 0;
        }
    }

    if (q->nids == SHELF_IDS) {
        return err_set(e, 400, "bad_value", "ids: at most %d", SHELF_IDS);
    }

    (void) snprintf(q->ids[q->nids++], OUT_ID, "%s", id);

    return 0;
}


/* "ids[]", as often as there are ids; its brackets may be encoded */

static int
anthropic_ids(const request_t *req, shelf_query_t *q, err_t *e)
{
    char         key[8], id[OUT_ID];
    size_t       n;
    const char  *p, *eq;

    for (p = req->query; *p != '\0'; p += n + (p[n] == '&')) {
        n = strcspn(p, "&");
        eq = memchr(p, '=', n);

        if (eq == NULL
            || file_decode(p, (size_t) (eq - p), '+', key, sizeof(key)) == -1
            || strcmp(key, "ids[]") != 0)
        {
            continue;
        }

        q->by_id = 1;

        /* one that is too long to be ours is left out, as others are */

        if (file_decode(eq + 1, n - (size_t) (eq + 1 - p), '+', id, OUT_ID)
            == 0
            && anthropic_id(q, id, e) == -1)
        {
            return -1;
        }
    }

    return 0;
}


static int
anthropic_cursor(const request_t *req, const char *key, char id[OUT_ID],
    err_t *e)
{
    if (file_query(req->query, key, id, OUT_ID) == -1) {
        return err_set(e, 400, "bad_value", "%s: not an id of a file", key);
    }

    return 0;
}


/* those of a session of the vendor's: no file here has one */

static void
anthropic_scope(const request_t *req, shelf_query_t *q)
{
    char  id[2];

    if (file_query(req->query, "scope_id", id, sizeof(id)) == -1
        || id[0] != '\0')
    {
        q->by_id = 1;
        q->nids = 0;
    }
}


/* each shape has cursors of its own, and says so when it gets the other's */

static int
anthropic_older(const request_t *req, shelf_query_t *q, err_t *e)
{
    if (anthropic_cursor(req, "after_id", q->after_id, e) == -1
        || anthropic_cursor(req, "before_id", q->before_id, e) == -1)
    {
        return -1;
    }

    if (q->after_id[0] != '\0' && q->before_id[0] != '\0') {
        return err_set(e, 400, "bad_value", "before_id and after_id exclude "
                       "each other");
    }

    anthropic_scope(req, q);

    return 0;
}


int
anthropic_shelf_query(const request_t *req, shelf_query_t *q, err_t *e)
{
    if (anthropic_limit(req, q, e) == -1) {
        return -1;
    }

    if (anthropic_is_beta(req)) {
        return anthropic_older(req, q, e);
    }

    if (anthropic_ids(req, q, e) == -1 || anthropic_page(req, q, e) == -1) {
        return -1;
    }

    if (q->by_id && (q->paged || strstr(req->query, "limit=") != NULL)) {
        return err_set(e, 400, "bad_value", "ids excludes limit and page");
    }

    anthropic_scope(req, q);

    return 0;
}


int
anthropic_shelf_get(const request_t *req, const shelf_info_t *file, err_t *e)
{
    (void) req;

    return file->made ? 0 : err_set(e, 400, "file_not_downloadable",
                                    "File `%s` is not downloadable.",
                                    file->id);
}


static json_object *
anthropic_file(const request_t *req, const shelf_info_t *file)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "type", json_object_new_string("file"));
    native_add(o, "id", native_string(file->id));
    native_add(o, "filename", native_string(file->name));
    native_add(o, "mime_type", native_string(file->mime));
    native_add(o, "size_bytes", native_number(file->size));
    native_add(o, "created_at", anthropic_time(file->created));
    native_add(o, "downloadable", json_object_new_boolean(file->made));

    if (anthropic_is_beta(req)) {
        native_add(o, "scope", NULL);

    } else {
        native_add(o, "expires_at", file->expires != 0
                                    ? anthropic_time(file->expires * 1000000)
                                    : NULL);
    }

    return o;
}


void
anthropic_render_shelf(const request_t *req, const shelf_info_t *file,
    int gone, answer_t *a)
{
    json_object  *o;

    if (!gone) {
        anthropic_answer(anthropic_file(req, file), a);
        return;
    }

    o = json_object_new_object();
    native_add(o, "id", native_string(file->id));
    native_add(o, "type", json_object_new_string("file_deleted"));
    anthropic_answer(o, a);
}


static json_object *
anthropic_next(const shelf_info_t *last)
{
    char  text[40];

    (void) snprintf(text, sizeof(text), ANTHROPIC_PAGE "%016" PRIx64,
                    last->created);

    return json_object_new_string(text);
}


void
anthropic_render_shelves(const request_t *req, const shelf_info_t *files,
    size_t n, int more, answer_t *a)
{
    size_t        i;
    json_object  *o, *data;

    data = json_object_new_array();

    for (i = 0; i < n; i++) {
        (void) json_object_array_add(data, anthropic_file(req, &files[i]));
    }

    o = json_object_new_object();
    native_add(o, "data", data);

    if (anthropic_is_beta(req)) {
        native_add(o, "has_more", json_object_new_boolean(more));
        native_add(o, "first_id", n != 0 ? native_string(files[0].id) : NULL);
        native_add(o, "last_id", n != 0 ? native_string(files[n - 1].id)
                                        : NULL);

    } else {
        native_add(o, "next_page", more ? anthropic_next(&files[n - 1])
                                        : NULL);
    }

    anthropic_answer(o, a);
}
