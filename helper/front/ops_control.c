
/*
 * In retort-front, as its own uid without any capability.  What retortctl asks
 * by the control socket: whoever got here is root, or in the control group.
 */

#include <stdlib.h>
#include <string.h>

#include "box_all.h"
#include "clock.h"
#include "drain.h"
#include "flog.h"
#include "gate.h"
#include "ops.h"
#include "pool.h"
#include "routes.h"


typedef struct {
    const char  *path;          /* "*" at its end: an id */
    const char  *method;
    const char  *other;
    int        (*run)(const request_t *req, const char *id, answer_t *a,
                      err_t *e);
} ops_route_t;


static const char *const  ops_uses[BOX_USES] = { "ready", "busy", "idle" };


static void
ops_add(json_object *o, const char *key, json_object *v)
{
    (void) json_object_object_add(o, key, v);
}


static void
ops_time(json_object *o, const char *key, uint64_t wall_ms)
{
    char  text[CLOCK_TEXT];

    clock_text(wall_ms, text);
    ops_add(o, key, wall_ms != 0 ? json_object_new_string(text) : NULL);
}


static void
ops_number(json_object *o, const char *key, uint64_t v)
{
    ops_add(o, key, json_object_new_int64((int64_t) v));
}


static json_object *
ops_line(const box_line_t *l)
{
    json_object  *o;

    o = json_object_new_object();
    ops_add(o, "id", json_object_new_string(l->view.sandbox));
    ops_add(o, "workspace", l->workspace[0] != '\0'
                            ? json_object_new_string(l->workspace) : NULL);
    ops_add(o, "profile", json_object_new_string(l->view.profile));
    ops_add(o, "status", json_object_new_string(ops_uses[l->use]));
    ops_add(o, "execution_id", l->execution[0] != '\0'
                               ? json_object_new_string(l->execution) : NULL);
    ops_time(o, "created_at", l->view.created);
    ops_time(o, "expires_at", l->view.expires);

    return o;
}


/* all boxes, or NULL and "e"; the caller frees it */

static box_line_t *
ops_boxes(size_t *n, err_t *e)
{
    box_line_t  *lines;

    lines = calloc(box_max(), sizeof(box_line_t));

    if (lines == NULL) {
        (void) err_set(e, 500, "no_memory", "out of memory");
        return NULL;
    }

    *n = box_all(lines, box_max());

    return lines;
}


/* by its id, or by the execution's that it runs */

static int
ops_find(const char *id, box_line_t *found, err_t *e)
{
    size_t       i, n;
    box_line_t  *lines;

    lines = ops_boxes(&n, e);

    if (lines == NULL) {
        return -1;
    }

    for (i = 0; i < n && strcmp(lines[i].view.sandbox, id) != 0
                && (*id == '\0' || strcmp(lines[i].execution, id) != 0); i++)
    {
        /* the next */
    }

    if (i < n) {
        *found = lines[i];
    }

    free(lines);

    return i < n ? 0 : err_set(e, 404, "sandbox_not_found", "no such sandbox");
}


static int
ops_ps(const request_t *req, const char *id, answer_t *a, err_t *e)
{
    size_t        i, n;
    box_line_t   *lines;
    json_object  *o, *all;

    (void) req;
    (void) id;
    lines = ops_boxes(&n, e);

    if (lines == NULL) {
        return -1;
    }

    o = json_object_new_object();
    all = json_object_new_array();

    for (i = 0; i < n; i++) {
        (void) json_object_array_add(all, ops_line(&lines[i]));
    }

    free(lines);
    ops_add(o, "sandboxes", all);
    ops_json(a, 200, o);

    return 0;
}


static json_object *
ops_limits(const retort_box_limits_t *l)
{
    json_object  *o;

    o = json_object_new_object();
    ops_number(o, "memory_bytes", l->memory);
    ops_number(o, "disk_bytes", l->disk);
    ops_number(o, "processes", l->processes);
    ops_number(o, "cpu_millicores", l->cpu);

    return o;
}


static int
ops_show(const request_t *req, const char *id, answer_t *a, err_t *e)
{
    box_line_t    l;
    brk_stat_t    stat;
    json_object  *o, *use;

    (void) req;

    if (ops_find(id, &l, e) == -1) {
        return -1;
    }

    o = ops_line(&l);
    ops_add(o, "limits", ops_limits(&l.view.limits));

    if (box_usage(l.id, &stat) == 0) {
        use = json_object_new_object();
        ops_number(use, "memory_bytes", stat.memory_now);
        ops_number(use, "peak_memory_bytes", stat.memory_peak);
        ops_number(use, "cpu_ms", stat.cpu_us / 1000);
        ops_number(use, "processes", stat.processes);
        ops_number(use, "oom_kills", stat.oom_kills);
        ops_add(o, "usage", use);
    }

    ops_json(a, 200, o);

    return 0;
}


static int
ops_kill(const request_t *req, const char *id, answer_t *a, err_t *e)
{
    box_line_t    l;
    json_object  *o;

    (void) req;

    if (ops_find(id, &l, e) == -1 || box_kill_line(&l, e) == -1) {
        return -1;
    }

    flog(RLOG_INFO, "control: %s was ended", l.view.sandbox);

    o = json_object_new_object();
    ops_add(o, "killed", json_object_new_string(l.view.sandbox));
    ops_json(a, 200, o);

    return 0;
}


static int
ops_drain(const request_t *req, const char *id, answer_t *a, err_t *e)
{
    int           on;
    unsigned      conns, busy;
    json_object  *o;

    (void) id;
    (void) e;
    on = strcmp(req->method, "PUT") == 0;

    if (on != drain_is()) {
        drain_set(on);
        flog(RLOG_INFO, "control: %s", on ? "draining" : "takes work again");
    }

    gate_count(&conns, &busy);

    o = json_object_new_object();
    ops_add(o, "draining", json_object_new_boolean(on));
    ops_number(o, "requests", busy);
    ops_json(a, 200, o);

    return 0;
}


static int
ops_pool(const request_t *req, const char *id, answer_t *a, err_t *e)
{
    json_object  *o;

    (void) id;
    (void) e;

    if (strcmp(req->method, "POST") == 0) {
        pool_kick();
    }

    o = json_object_new_object();
    ops_add(o, "profiles", ops_profiles());
    ops_json(a, 200, o);

    return 0;
}


static const ops_route_t  ops_routes[] = {
    { "/ps", "GET", "HEAD", ops_ps },
    { "/sandboxes/*", "GET", "HEAD", ops_show },
    { "/kill/*", "POST", "POST", ops_kill },
    { "/drain", "PUT", "DELETE", ops_drain },
    { "/pool", "GET", "POST", ops_pool }
};


/* the id behind a path's last slash, "" if it has none; NULL: another path */

static const char *
ops_match(const char *pattern, const char *path)
{
    size_t  n;

    n = strcspn(pattern, "*");

    if (pattern[n] == '\0') {
        return strcmp(pattern, path) == 0 ? "" : NULL;
    }

    return strncmp(pattern, path, n) == 0 ? path + n : NULL;
}


void
ops_control(const request_t *req, answer_t *a)
{
    err_t               e;
    size_t              i;
    const char         *id;
    const ops_route_t  *r;

    memset(&e, 0, sizeof(e));

    for (i = 0; i < sizeof(ops_routes) / sizeof(ops_routes[0]); i++) {
        r = &ops_routes[i];
        id = ops_match(r->path, req->path);

        if (id == NULL) {
            continue;
        }

        if (ops_method(req, r->method, r->other, a)
            && r->run(req, id, a, &e) == -1)
        {
            routes_refuse(&e, a);
        }

        return;
    }

    (void) err_set(&e, 404, "not_found", "no such path");
    routes_refuse(&e, a);
}
