
/*
 * In retort-front, as its own uid without any capability.  E2B: sandboxes as
 * its clients make, list and end them.  What the client wrote is not believed.
 */

#include <string.h>

#include "../file_type.h"
#include "e2b.h"
#include "native.h"


/* what clients ask of it to know what they may ask for */

#define E2B_VERSION  "0.5.6"

#define E2B_PAIR     512        /* of a query's names and values, final NUL */


typedef struct {
    const request_t  *req;
    box_wish_t       *wish;
    json_object      *metadata;
    json_object      *env;
    int               timed;
} e2b_wish_t;


static int
e2b_wish_template(void *to, json_object *v, err_t *e)
{
    const char  *name;
    e2b_wish_t  *w;

    w = to;
    name = json_object_get_string(v);

    if (strcmp(name, E2B_TEMPLATE) != 0
        && strcmp(name, w->req->profile->name) != 0)
    {
        return err_set(e, 404, "not_found", "template '%.64s' not found; "
                       "there are '" E2B_TEMPLATE "' and '%s'", name,
                       w->req->profile->name);
    }

    return 0;
}


static int
e2b_wish_timeout(void *to, json_object *v, err_t *e)
{
    e2b_wish_t  *w;

    w = to;

    if (w->req->profile->life == RETORT_LIFE_EXIT) {
        return err_set(e, 400, "bad_value", "\"timeout\": here a sandbox lives "
                       "until its interpreter ends");
    }

    if (json_in_whole(v, "timeout", w->req->run_max.ttl / 1000, &w->wish->ttl,
                      e)
        == -1)
    {
        return -1;
    }

    w->wish->ttl *= 1000;
    w->timed = 1;

    return 0;
}


/* names and texts */

static int
e2b_wish_texts(json_object *v, const char *what, err_t *e)
{
    json_object                  *one;
    struct json_object_iterator   it, end;

    it = json_object_iter_begin(v);
    end = json_object_iter_end(v);

    for ( /* void */ ; !json_object_iter_equal(&it, &end);
         json_object_iter_next(&it))
    {
        one = json_object_iter_peek_value(&it);

        if (!json_object_is_type(one, json_type_string)) {
            return err_set(e, 400, "bad_value", "\"%s.%.64s\" must be a "
                           "string", what, json_object_iter_peek_name(&it));
        }
    }

    return 0;
}


static int
e2b_wish_metadata(void *to, json_object *v, err_t *e)
{
    ((e2b_wish_t *) to)->metadata = v;

    return e2b_wish_texts(v, "metadata", e);
}


static int
e2b_wish_env(void *to, json_object *v, err_t *e)
{
    int    rc;
    job_t  job;

    memset(&job, 0, sizeof(job));
    rc = native_env(v, &job, e);
    job_free(&job);
    ((e2b_wish_t *) to)->env = v;

    return rc;
}


/* false is what is always so here */

static int
e2b_wish_internet(void *to, json_object *v, err_t *e)
{
    (void) to;

    return json_object_get_boolean(v)
           ? err_set(e, 400, "bad_value", "a sandbox has no network here")
           : 0;
}


static int
e2b_wish_pause(void *to, json_object *v, err_t *e)
{
    (void) to;

    return json_object_get_boolean(v)
           ? err_set(e, 400, "bad_value", "a sandbox cannot be paused here")
           : 0;
}


static int
e2b_wish_no(void *to, json_object *v, err_t *e)
{
    (void) to;
    (void) v;

    return err_set(e, 400, "bad_value", "\"network\", \"iam\", \"mcp\" and "
                   "\"volumeMounts\" are not known here");
}


static int
e2b_wish_any(void *to, json_object *v, err_t *e)
{
    (void) to;
    (void) v;
    (void) e;

    return 0;
}


static const json_in_key_t  e2b_wish_keys[] = {
    { "templateID", JSON_IN_STRING, e2b_wish_template },
    { "timeout", JSON_IN_WHOLE, e2b_wish_timeout },
    { "metadata", JSON_IN_OBJECT, e2b_wish_metadata },
    { "envVars", JSON_IN_OBJECT, e2b_wish_env },
    { "allow_internet_access", JSON_IN_BOOL, e2b_wish_internet },
    { "autoPause", JSON_IN_BOOL, e2b_wish_pause },
    { "secure", JSON_IN_BOOL, e2b_wish_any },
    { "network", JSON_IN_OBJECT, e2b_wish_no },
    { "iam", JSON_IN_OBJECT, e2b_wish_no },
    { "mcp", JSON_IN_OBJECT, e2b_wish_no },
    { "volumeMounts", JSON_IN_ARRAY, e2b_wish_no },
    { NULL, JSON_IN_STRING, NULL }
};


/* a request about nothing but its time: others may leave it out */

static int
e2b_is_timed(const request_t *req)
{
    return strcmp(strrchr(req->path, '/'), "/timeout") == 0;
}


int
e2b_parse_box(const request_t *req, const char *body, size_t len,
    box_wish_t *wish, err_t *e)
{
    int           rc;
    e2b_wish_t    w;
    json_object  *o;

    memset(&w, 0, sizeof(w));
    w.req = req;
    w.wish = wish;
    wish->ttl = req->run.ttl;
    wish->ends = req->profile->life == RETORT_LIFE_TIMED;
    wish->extend = strcmp(strrchr(req->path, '/'), "/connect") == 0;
    wish->box = req->box;
    wish->own_limits = memcmp(&wish->box, &req->profile->box,
                              sizeof(wish->box)) != 0;

    if (len == 0 && !e2b_is_timed(req)) {
        return 0;
    }

    o = e2b_body(req, body, len, e);

    if (o == NULL) {
        return -1;
    }

    rc = e2b_keys(o, e2b_wish_keys, &w, e);

    if (rc == 0 && !w.timed && e2b_is_timed(req)) {
        rc = err_set(e, 400, "bad_value", "\"timeout\" is missing");
    }

    if (rc == 0 && (w.metadata != NULL || w.env != NULL)) {
        rc = e2b_note_new(w.metadata, w.env, wish, e);
    }

    json_object_put(o);

    return rc;
}


static json_object *
e2b_metadata(const request_t *req, const char *sandbox)
{
    err_t         e;
    e2b_note_t    n;
    json_object  *v;

    v = NULL;

    if (e2b_note(req, sandbox, &n, &e) == 0) {
        if (json_object_object_get_ex(n.o, "metadata", &v)) {
            v = json_object_get(v);
        }

        e2b_note_free(&n);
    }

    return v != NULL ? v : json_object_new_object();
}


static json_object *
e2b_box(const request_t *req, const box_view_t *v)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "sandboxID", native_string(v->sandbox));
    native_add(o, "templateID", native_string(E2B_TEMPLATE));
    native_add(o, "clientID", native_string("retort"));
    native_add(o, "alias", native_string(v->profile));
    native_add(o, "envdVersion", native_string(E2B_VERSION));
    native_add(o, "startedAt", native_time(v->created));
    native_add(o, "endAt", native_time(v->expires));
    native_add(o, "state", native_string("running"));
    native_add(o, "cpuCount", native_number((v->limits.cpu + 999) / 1000));
    native_add(o, "memoryMB", native_number(v->limits.memory >> 20));
    native_add(o, "diskSizeMB", native_number(v->limits.disk >> 20));
    native_add(o, "metadata", e2b_metadata(req, v->sandbox));

    return o;
}


/* with what lets its owner in: one token, by the two names it goes by */

void
e2b_render_box(const request_t *req, const box_view_t *view, answer_t *a)
{
    char          token[LINK_TOKEN];
    const char   *last;
    json_object  *o;

    last = strrchr(req->path, '/');

    if (strcmp(last, "/health") == 0 || strcmp(last, "/timeout") == 0) {
        a->status = 204;
        return;
    }

    o = e2b_box(req, view);
    native_add(o, "domain", NULL);

    if (link_token(&req->link, req->workspace, req->profile->name,
                   view->sandbox, token)
        == 0)
    {
        native_add(o, "envdAccessToken", native_string(token));
        native_add(o, "trafficAccessToken", native_string(token));
    }

    native_write(o, a);
}


/* clients encode each name and value before the query is encoded */

static int
e2b_twice(const char *p, size_t n, char *to, size_t size)
{
    char  once[E2B_PAIR];

    return file_decode(p, n, '+', once, sizeof(once)) == 0
           ? file_decode(once, strlen(once), '%', to, size) : -1;
}


/* "user=a&x=b": what a sandbox's metadata must have */

static int
e2b_is_wanted(const char *filter, json_object *metadata)
{
    char          name[E2B_PAIR], value[E2B_PAIR];
    size_t        n, k;
    json_object  *v;

    for ( /* void */ ; *filter != '\0'; filter += n + (filter[n] == '&')) {
        n = strcspn(filter, "&");
        k = strcspn(filter, "&=");

        if (n == 0) {
            continue;
        }

        if (k == n || e2b_twice(filter, k, name, sizeof(name)) == -1
            || e2b_twice(filter + k + 1, n - k - 1, value, sizeof(value))
               == -1
            || !json_object_object_get_ex(metadata, name, &v)
            || strcmp(json_object_get_string(v), value) != 0)
        {
            return 0;
        }
    }

    return 1;
}


void
e2b_render_boxes(const request_t *req, const box_view_t *views, size_t n,
    answer_t *a)
{
    char          filter[4 * E2B_PAIR];
    size_t        i;
    json_object  *all, *one, *metadata;

    all = json_object_new_array();

    if (file_query(req->query, "metadata", filter, sizeof(filter)) == -1) {
        n = 0;
    }

    for (i = 0; i < n; i++) {
        one = e2b_box(req, &views[i]);
        (void) json_object_object_get_ex(one, "metadata", &metadata);

        if (e2b_is_wanted(filter, metadata)) {
            (void) json_object_array_add(all, one);

        } else {
            json_object_put(one);
        }
    }

    native_write(all, a);
}


void
e2b_fail(const err_t *e, answer_t *a)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "code", json_object_new_int(e->status));
    native_add(o, "message", native_string(e->text));

    native_write(o, a);
    a->form = NULL;
    a->status = e->status;
    a->retry_after = e->retry_after;
}
