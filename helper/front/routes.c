
/*
 * In retort-front, as its own uid without any capability.  Chooses by dialect,
 * method and path; bodies are parsed by the dialect.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "box_id.h"
#include "clock.h"
#include "control.h"
#include "dialect/dialect.h"
#include "drain.h"
#include "health.h"
#include "metrics.h"
#include "ops.h"
#include "place.h"
#include "pool.h"
#include "readers.h"
#include "routes.h"
#include "settings.h"


#define ROUTES_ROW(name)  &dialect_##name,

static const dialect_t *const  routes_dialects[] = {
    DIALECTS(ROUTES_ROW)
    NULL
};


static const dialect_t *
routes_dialect(const char *api)
{
    const dialect_t *const  *d;

    for (d = routes_dialects; *d != NULL; d++) {
        if (strcmp((*d)->name, api) == 0) {
            return *d;
        }
    }

    return NULL;
}


/*
 * Does the path fit?  "*" is one component, the id; "**", at the end, is
 * whatever follows.
 */

static int
routes_match(routes_t *r, const char *pattern, const char *path)
{
    size_t  n;

    for ( /* void */ ; *pattern != '\0' && *path != '\0'; pattern++) {
        if (*pattern != '*') {
            if (*pattern != *path++) {
                return 0;
            }

            continue;
        }

        if (pattern[1] == '*') {
            r->rest = path;
            return 1;
        }

        n = strcspn(path, "/");

        if (n == 0) {
            return 0;
        }

        /* an id that is too long is nobody's */
        (void) snprintf(r->id, JOB_SANDBOX, "%.*s",
                        n < JOB_SANDBOX ? (int) n : 1,
                        n < JOB_SANDBOX ? path : "-");
        path += n;
    }

    return *pattern == '\0' && *path == '\0';
}


static int
routes_find(routes_t *r, err_t *e)
{
    size_t                   n;
    const dialect_route_t   *route;

    for (route = r->dialect->routes; route->method != NULL; route++) {
        if (!routes_match(r, route->path, r->req->path)) {
            continue;
        }

        if (strcmp(route->method, r->req->method) == 0) {
            r->route = route;
            return 0;
        }

        if (strstr(r->allow, route->method) != NULL) {
            continue;
        }

        n = strlen(r->allow);
        (void) snprintf(r->allow + n, sizeof(r->allow) - n, "%s%s",
                        n != 0 ? ", " : "", route->method);
    }

    if (r->allow[0] == '\0') {
        return err_set(e, 404, "not_found", "no such path");
    }

    return err_set(e, 405, "method_not_allowed", "allowed here: %s", r->allow);
}


static int
routes_wish(routes_t *r, box_wish_t *wish, err_t *e)
{
    int    rc;
    buf_t  body;

    memset(&body, 0, sizeof(body));

    rc = r->body->read(r->body, r->req->run.request, &body, e);

    if (rc == 0) {
        rc = r->dialect->parse_box(r->req, body.data, body.len, wish, e);
    }

    buf_free(&body);

    return rc == 0 ? files_load(r->req, r->body->client, wish->files,
                                &wish->nfiles, 0, e) : -1;
}


/* its id is known when its files are in it */

static int
routes_make(routes_t *r, const box_wish_t *wish, char id[JOB_SANDBOX],
    err_t *e)
{
    box_t  *box;

    box = place_fresh(r->req, wish->own_limits ? &wish->box : NULL, e);

    if (box == NULL) {
        return -1;
    }

    if (files_fill(box, wish->files, wish->nfiles, r->body->client, e) == -1
        || box_keep(box, r->req->workspace, wish->ttl, e) == -1)
    {
        box_end(box);
        return -1;
    }

    memcpy(id, box->sandbox, JOB_SANDBOX);
    box_release(box);

    if (wish->ends
        && box_end_in(id, r->req->workspace, wish->ttl, 0, e) == -1)
    {
        return -1;
    }

    return wish->note.len == 0
           || box_note_write(id, r->req->workspace, &wish->note, 0, e) == 0
           ? 0 : -1;
}


static int
routes_create(routes_t *r, err_t *e)
{
    int          rc;
    char         id[JOB_SANDBOX];
    box_view_t   view;
    box_wish_t   wish;

    memset(&wish, 0, sizeof(wish));
    rc = routes_wish(r, &wish, e);

    if (rc == 0) {
        rc = routes_make(r, &wish, id, e);
    }

    job_files_free(wish.files, wish.nfiles);
    buf_free(&wish.note);

    if (rc == -1 || box_look(id, r->req->workspace, &view, e) == -1) {
        return -1;
    }

    r->a->status = 201;
    r->dialect->render_box(r->req, &view, r->a);
    (void) buf_printf(&r->a->lines, "X-Retort-Sandbox: %s\r\n", id);

    return 0;
}


/* the id of a session that the request names in its own way */

static int
routes_named(routes_t *r, err_t *e)
{
    char  name[JOB_SESSION];

    if (r->dialect->named == NULL) {
        return 0;
    }

    if (r->dialect->named(r->req, name, e) == -1) {
        return -1;
    }

    if (box_id_session(r->id, r->req->workspace, name) == -1) {
        return err_set(e, 500, "sandbox_failed", "no id for the session");
    }

    return box_touch(r->id, r->req->workspace, e);
}


static int
routes_end(routes_t *r, err_t *e)
{
    if (routes_named(r, e) == -1
        || box_delete(r->id, r->req->workspace, e) == -1)
    {
        return -1;
    }

    r->a->status = 204;

    if (r->dialect->ended != NULL) {
        r->dialect->ended(r->req, r->a);
    }

    return 0;
}


static int
routes_show(routes_t *r, err_t *e)
{
    box_view_t  view;

    if (routes_named(r, e) == -1) {
        return -1;
    }

    if (box_look(r->id, r->req->workspace, &view, e) == -1) {
        return -1;
    }

    r->a->status = 200;
    r->dialect->render_box(r->req, &view, r->a);

    return 0;
}


/* how long it shall live from now on */

static int
routes_life(routes_t *r, err_t *e)
{
    int         rc;
    box_wish_t  wish;

    memset(&wish, 0, sizeof(wish));
    rc = routes_wish(r, &wish, e);
    job_files_free(wish.files, wish.nfiles);
    buf_free(&wish.note);

    if (rc == 0) {
        rc = wish.ends ? box_end_in(r->id, r->req->workspace, wish.ttl,
                                    wish.extend, e)
                       : box_live(r->id, r->req->workspace, wish.ttl, e);
    }

    if (rc == -1) {
        return -1;
    }

    return routes_show(r, e);
}


static int
routes_list(routes_t *r, err_t *e)
{
    size_t       n;
    box_view_t  *views;

    views = calloc(box_max(), sizeof(box_view_t));

    if (views == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    n = box_list(r->req->workspace, views, box_max());
    r->a->status = 200;
    r->dialect->render_boxes(r->req, views, n, r->a);
    free(views);

    return 0;
}


/* a run by the control socket leaves threads for what else comes by it */

static int
routes_control_run(routes_t *r, err_t *e)
{
    int  rc;

    if (control_run_begin() == -1) {
        (void) err_set(e, 429, "too_many_runs", "%d runs by this socket are "
                       "under way", CONTROL_RUNS);
        return -1;
    }

    rc = routes_execute(r, e);
    control_run_end();

    return rc;
}


/* what runs in it is asked to end, what waits for it is not */

static int
routes_interrupt(routes_t *r, err_t *e)
{
    if (box_interrupt(r->id, r->req->workspace, e) == -1) {
        return -1;
    }

    return routes_show(r, e);
}


static int
routes_restart(routes_t *r, err_t *e)
{
    if (place_restart(r->req, r->id, r->body->client, e) == -1) {
        return -1;
    }

    return routes_show(r, e);
}


static int
routes_metadata(routes_t *r)
{
    size_t       n;
    const char  *manifest;

    manifest = settings_manifest(r->req->profile, &n);
    r->a->status = 200;
    r->dialect->render_meta(r->req, manifest, n, r->a);

    return 0;
}


static int
routes_do(routes_t *r, err_t *e)
{
    if ((r->route->op == OP_EXECUTE || r->route->op == OP_BOX_CREATE)
        && drain_check(e) == -1)
    {
        return -1;
    }

    switch (r->route->op) {

    case OP_EXECUTE:
        return r->req->control ? routes_control_run(r, e)
                               : routes_execute(r, e);

    case OP_BOX_CREATE:
        return routes_create(r, e);

    case OP_METADATA:
        return routes_metadata(r);

    case OP_OPENAPI:
        r->dialect->render_openapi(r->req, r->a);
        return 0;

    case OP_HEALTH:
        health_serve(r->req, r->a);
        r->dialect->health(r->a);
        return 0;

    case OP_BOX_LIST:
        return routes_list(r, e);

    case OP_BOX_SHOW:
        return routes_show(r, e);

    case OP_BOX_LIFE:
        return routes_life(r, e);

    case OP_BOX_DELETE:
        return routes_end(r, e);

    case OP_BOX_INTERRUPT:
        return routes_interrupt(r, e);

    case OP_BOX_RESTART:
        return routes_restart(r, e);

    case OP_EXEC_SHOW:
        return routes_exec_show(r, e);

    case OP_EXEC_EVENTS:
        return routes_exec_events(r, e);

    case OP_EXEC_CANCEL:
        return routes_exec_cancel(r, e);

    case OP_SHELF_POST:
    case OP_SHELF_LIST:
    case OP_SHELF_SHOW:
    case OP_SHELF_GET:
    case OP_SHELF_DELETE:
        return routes_shelf(r, e);

    case OP_TURN:
        return routes_turn(r, e);

    case OP_DIALOGUE:
        return routes_dialogue(r, e);

    case OP_ASSET:
        return routes_asset(r, e);

    case OP_CALL:
        return routes_call(r, e);

    case OP_CALL_RESUME:
        return routes_call_resume(r, e);

    case OP_CALL_END:
        return routes_call_end(r, e);

    default:
        return routes_files(r, e);
    }
}


/* runs are the web server's to admit, and who follows one is counted there */

static int
routes_counted(const routes_t *r)
{
    switch (r->route->op) {

    case OP_EXECUTE:
    case OP_TURN:
    case OP_DIALOGUE:
    case OP_CALL:
    case OP_CALL_RESUME:
    case OP_EXEC_EVENTS:
    case OP_HEALTH:
        return 0;

    default:
        return !r->req->control;
    }
}


static int
routes_admit(routes_t *r, err_t *e)
{
    int       rc;
    reader_t  one;

    if (!routes_counted(r)) {
        return routes_do(r, e);
    }

    if (readers_enter(&one, READERS_REST, r->req->workspace, e) == -1) {
        return -1;
    }

    rc = routes_do(r, e);
    readers_leave(&one);

    return rc;
}


void
routes_refuse(const err_t *e, answer_t *a)
{
    metrics_refused(e->code);
    dialect_native.fail(e, a);
}


void
routes_unread(const request_t *req, const err_t *e, answer_t *a)
{
    const dialect_t  *d;

    d = routes_dialect(req->api);

    metrics_refused(e->code);
    (d != NULL ? d : &dialect_native)->fail(e, a);
}


static void
routes_fail(routes_t *r, err_t *e)
{
    if (e->status == 0) {
        /* nobody reads it; the worker's log does */
        e->status = 499;
        (void) buf_puts(&r->a->lines, "X-Retort-Status: cancelled\r\n");
    }

    metrics_refused(e->code);

    if (r->dialect->retell != NULL) {
        r->dialect->retell(r->req, e);
    }

    r->dialect->fail(e, r->a);

    if (e->status == 405) {
        (void) buf_printf(&r->a->lines, "Allow: %s\r\n", r->allow);
    }
}


/* a sandbox that is named elsewhere than in the path */

static int
routes_inside(routes_t *r, err_t *e)
{
    return r->dialect->sandbox != NULL
           ? r->dialect->sandbox(r->req, r->id, e) : 0;
}


/* the apis that are no dialect */

static int
routes_open(const request_t *req, answer_t *a)
{
    size_t  i;

    static const struct {
        const char  *api;
        void       (*serve)(const request_t *req, answer_t *a);
    } rows[] = {
        { "health", health_serve },
        { "metrics", ops_metrics },
        { "status", ops_status },
        { "control", ops_control }
    };

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].api, req->api) == 0) {
            rows[i].serve(req, a);
            return 1;
        }
    }

    return 0;
}


void
routes_serve(const request_t *req, routes_body_t *body, answer_t *a,
    routes_later_t *later)
{
    err_t     e;
    routes_t  r;

    memset(&e, 0, sizeof(e));
    memset(&r, 0, sizeof(r));
    r.req = req;
    r.body = body;
    r.a = a;
    r.later = later;
    r.dialect = routes_dialect(req->api);

    if (routes_open(req, a)) {
        return;
    }

    if (r.dialect == NULL) {
        (void) err_set(&e, 500, "unknown_api", "RETORT_API names no dialect");
        routes_refuse(&e, a);
        return;
    }

    a->asked = r.id;

    if (routes_find(&r, &e) == -1 || routes_inside(&r, &e) == -1
        || (r.dialect->check != NULL && r.dialect->check(req, &e) == -1)
        || routes_admit(&r, &e) == -1)
    {
        routes_fail(&r, &e);
    }

    a->asked = NULL;
}
