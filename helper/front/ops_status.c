
/*
 * In retort-front, as its own uid without any capability.  GET /status: what
 * people and dashboards look at first, as JSON.
 */

#include <string.h>

#include "box_all.h"
#include "clock.h"
#include "drain.h"
#include "gate.h"
#include "metrics.h"
#include "ops.h"
#include "pool.h"
#include "protocol/version.h"
#include "routes.h"
#include "zones.h"


static void
ops_add(json_object *o, const char *key, json_object *v)
{
    (void) json_object_object_add(o, key, v);
}


static void
ops_number(json_object *o, const char *key, uint64_t v)
{
    ops_add(o, key, json_object_new_int64(v < INT64_MAX ? (int64_t) v
                                                        : INT64_MAX));
}


void
ops_json(answer_t *a, int status, json_object *o)
{
    const char  *text;

    text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN
                                             |JSON_C_TO_STRING_NOSLASHESCAPE);

    a->status = status;
    a->type = "application/json";
    (void) buf_puts(&a->lines, "Cache-Control: no-store\r\n");
    (void) buf_puts(&a->body, text != NULL ? text : "{}");
    (void) buf_puts(&a->body, "\n");
    (void) json_object_put(o);
}


int
ops_method(const request_t *req, const char *one, const char *other,
    answer_t *a)
{
    err_t  e;

    if (strcmp(req->method, one) == 0 || strcmp(req->method, other) == 0) {
        return 1;
    }

    (void) err_set(&e, 405, "method_not_allowed", "allowed here: %s, %s", one,
                   other);
    e.retry_after = 0;
    routes_refuse(&e, a);
    (void) buf_printf(&a->lines, "Allow: %s, %s\r\n", one, other);

    return 0;
}


json_object *
ops_profiles(void)
{
    int                       warm;
    uint32_t                  i, ready;
    json_object              *all, *o;
    box_counts_t              c;
    const retort_profile_t   *p;
    const retort_settings_t  *s;

    s = metrics_about();
    all = json_object_new_array();

    for (i = 0; i < s->nprofiles; i++) {
        p = &s->profile[i];
        pool_look(p, &ready, &warm);
        box_count(p, &c);

        o = json_object_new_object();
        ops_add(o, "profile", json_object_new_string(p->name));
        ops_add(o, "warm", json_object_new_boolean(warm));
        ops_number(o, "ready", ready);
        ops_number(o, "wanted", p->ready);
        ops_number(o, "sessions", c.sessions);
        ops_number(o, "sessions_busy", c.sessions_busy);
        ops_number(o, "busy", c.use[BOX_BUSY]);
        ops_number(o, "max", p->sessions);
        (void) json_object_array_add(all, o);
    }

    return all;
}


static json_object *
ops_zones(const request_t *req)
{
    int           k;
    size_t        i, n;
    zone_t        zones[ZONES_MAX];
    json_object  *all, *o;

    static const char *const  keys[ZONE_NUMBERS] = {
        "running", "waiting", "max_running", "max_waiting", "admitted",
        "queued", "limited", "refused", "lost"
    };

    all = json_object_new_array();
    n = zones_parse(req->params, zones);

    for (i = 0; i < n; i++) {
        o = json_object_new_object();
        ops_add(o, "zone", json_object_new_string(zones[i].name));

        for (k = 0; k < ZONE_NUMBERS; k++) {
            ops_number(o, keys[k], zones[i].number[k]);
        }

        (void) json_object_array_add(all, o);
    }

    return all;
}


static json_object *
ops_verdicts(const metrics_sum_t *sum)
{
    int           v;
    json_object  *o;

    o = json_object_new_object();

    for (v = 0; v < VERDICT_MAX; v++) {
        ops_number(o, verdict_text((verdict_t) v), sum->verdict[v]);
    }

    return o;
}


void
ops_status(const request_t *req, answer_t *a)
{
    char           started[CLOCK_TEXT];
    unsigned       conns, busy;
    json_object   *o;
    metrics_sum_t  sum;

    if (!ops_method(req, "GET", "HEAD", a)) {
        return;
    }

    metrics_sum(&sum);
    gate_count(&conns, &busy);
    clock_text(sum.started, started);

    o = json_object_new_object();
    ops_add(o, "status", json_object_new_string(
                             drain_is() ? "draining"
                             : pool_missing() != NULL ? "starting" : "ready"));
    ops_add(o, "version", json_object_new_string(RETORT_VERSION));
    ops_add(o, "node", json_object_new_string(metrics_about()->node));
    ops_add(o, "started_at", json_object_new_string(started));
    ops_number(o, "connections", conns);
    ops_number(o, "threads", sum.threads);
    ops_number(o, "threads_busy", busy);
    ops_number(o, "front_memory_bytes", sum.memory);
    ops_number(o, "slots", metrics_about()->nslots);
    ops_add(o, "runs", ops_verdicts(&sum));
    ops_number(o, "artifacts", sum.artifacts);
    ops_number(o, "artifact_bytes", sum.artifact_bytes);
    ops_number(o, "artifacts_refused", sum.artifacts_refused);
    ops_add(o, "profiles", ops_profiles());
    ops_add(o, "admission", ops_zones(req));
    ops_json(a, 200, o);
}
