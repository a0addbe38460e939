
/*
 * In retort-front, as its own uid without any capability.  GET /metrics: every
 * number is looked up when it is asked for, nothing is computed before.
 */

#include <stdio.h>
#include <string.h>

#include "box_all.h"
#include "drain.h"
#include "gate.h"
#include "metrics.h"
#include "metrics_fetch.h"
#include "ops.h"
#include "pool.h"
#include "protocol/version.h"
#include "usage.h"
#include "zones.h"


static void
ops_one(buf_t *to, const char *name, const char *type, const char *help,
    uint64_t value)
{
    prom_head(to, name, type, help);
    prom_count(to, name, NULL, value);
}


static void
ops_with(buf_t *to, const char *name, const char *label, const char *is,
    uint64_t value)
{
    buf_t  labels;

    memset(&labels, 0, sizeof(labels));
    prom_label(&labels, label, is);
    prom_count(to, name, &labels, value);
    to->failed |= labels.failed;
    buf_free(&labels);
}


static void
ops_run(void *data, const char *workspace, const char *profile,
    verdict_t verdict, uint64_t n)
{
    buf_t  labels, *to;

    to = data;
    memset(&labels, 0, sizeof(labels));
    prom_label(&labels, "workspace", workspace);
    prom_label(&labels, "profile", profile);
    prom_label(&labels, "verdict", verdict_text(verdict));
    prom_count(to, "retort_runs_total", &labels, n);
    to->failed |= labels.failed;
    buf_free(&labels);
}


static void
ops_runs(buf_t *to)
{
    int               i;
    buf_t             labels;
    prom_histogram_t  h;

    prom_head(to, "retort_runs_total", "counter", "Runs that have ended.");
    metrics_runs(ops_run, to);

    prom_head(to, "retort_phase_seconds", "histogram",
              "Time of a run's phases: until it had a place, a sandbox, "
              "output; the run; the rendering of the answer.");

    for (i = 0; i < METRICS_PHASES; i++) {
        memset(&labels, 0, sizeof(labels));
        prom_label(&labels, "phase", metrics_phase_name((metrics_phase_t) i));
        metrics_phase((metrics_phase_t) i, &h);
        prom_histogram(to, "retort_phase_seconds", &labels, &h);
        to->failed |= labels.failed;
        buf_free(&labels);
    }
}


typedef struct {
    const char  *name;
    const char  *help;
} ops_gauge_t;


static void
ops_pools(buf_t *to)
{
    int                       warm;
    size_t                    i;
    uint32_t                  p, v, values[7][RETORT_PROFILES_MAX];
    uint64_t                  memory[RETORT_PROFILES_MAX];
    box_counts_t              c;
    const retort_settings_t  *s;

    static const ops_gauge_t  gauges[] = {
        { "retort_pool_ready", "Sealed sandboxes that wait for a request." },
        { "retort_pool_wanted", "How many shall wait." },
        { "retort_template_warm", "1: the template has made a sandbox." },
        { "retort_sessions", "Sandboxes that are kept between runs." },
        { "retort_sessions_busy", "Those of them that run, or are asked." },
        { "retort_sandboxes_busy", "Sandboxes that run, kept or not." },
        { "retort_sandboxes_max", "Sandboxes of this profile at once." }
    };

    s = metrics_about();

    for (p = 0; p < s->nprofiles; p++) {
        pool_look(&s->profile[p], &values[0][p], &warm);
        box_count(&s->profile[p], &c);
        values[1][p] = s->profile[p].ready;
        values[2][p] = warm != 0;
        values[3][p] = c.sessions;
        values[4][p] = c.sessions_busy;
        values[5][p] = c.use[BOX_BUSY];
        values[6][p] = s->profile[p].sessions;
        memory[p] = c.memory;
    }

    for (i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++) {
        prom_head(to, gauges[i].name, "gauge", gauges[i].help);

        for (p = 0; p < s->nprofiles; p++) {
            v = values[i][p];
            ops_with(to, gauges[i].name, "profile", s->profile[p].name, v);
        }
    }

    prom_head(to, "retort_sessions_memory_bytes", "gauge",
              "What sessions had when their last run ended.");

    for (p = 0; p < s->nprofiles; p++) {
        ops_with(to, "retort_sessions_memory_bytes", "profile",
                 s->profile[p].name, memory[p]);
    }
}


static void
ops_requests(buf_t *to)
{
    int          i;
    char         status[16];
    unsigned     place;
    uint64_t     n;
    const char  *code;

    prom_head(to, "retort_requests_total", "counter",
              "Requests that the front has answered, by HTTP status.");

    for (i = 0; i < METRICS_STATUS; i++) {
        n = metrics_answers(i);

        if (n != 0) {
            (void) snprintf(status, sizeof(status), "%03d", i);
            ops_with(to, "retort_requests_total", "status", status, n);
        }
    }

    prom_head(to, "retort_refusals_total", "counter",
              "Requests that were refused, by the code of the error.");

    for (place = 0; (code = metrics_refusal(place, &n)) != NULL; place++) {
        ops_with(to, "retort_refusals_total", "code", code, n);
    }
}


static void
ops_self(buf_t *to)
{
    char           text[PROM_SECONDS];
    unsigned       conns, busy;
    metrics_sum_t  sum;

    metrics_sum(&sum);
    gate_count(&conns, &busy);

    ops_one(to, "retort_artifacts_total", "counter",
            "Pictures and files of runs that were stored.", sum.artifacts);
    ops_one(to, "retort_artifact_bytes_total", "counter",
            "Bytes of them.", sum.artifact_bytes);
    ops_one(to, "retort_artifacts_refused_total", "counter",
            "Those that were not: too large, too many, no room.",
            sum.artifacts_refused);
    ops_one(to, "retort_store_bytes", "gauge",
            "What artifacts and files of workspaces take on the disk.",
            usage_total());

    prom_head(to, "retort_run_cpu_seconds_total", "counter",
              "CPU time of all runs.");
    prom_seconds(sum.cpu_us, text);
    prom_line(to, "retort_run_cpu_seconds_total", NULL, text);

    ops_one(to, "retort_connections", "gauge",
            "Connections of the web server, idle ones too.", conns);
    ops_one(to, "retort_threads", "gauge",
            "Requests that can be served at once.", sum.threads);
    ops_one(to, "retort_threads_busy", "gauge",
            "Requests that are served.", busy);
    ops_one(to, "retort_front_memory_bytes", "gauge",
            "Resident memory of the front.", sum.memory);
    ops_one(to, "retort_slots", "gauge", "Sandboxes at once, all profiles.",
            metrics_about()->nslots);
    ops_one(to, "retort_draining", "gauge", "1: no new work is taken.",
            drain_is() != 0);

    prom_head(to, "retort_front_start_time_seconds", "gauge",
              "When the front was started; its counters began then.");
    prom_seconds(sum.started * 1000, text);
    prom_line(to, "retort_front_start_time_seconds", NULL, text);
}


static void
ops_zone_lines(buf_t *to, const ops_gauge_t *g, const char *type,
    zone_number_t which, const zone_t *zones, size_t n)
{
    size_t  i;

    prom_head(to, g->name, type, g->help);

    for (i = 0; i < n; i++) {
        ops_with(to, g->name, "zone", zones[i].name, zones[i].number[which]);
    }
}


static void
ops_zones(buf_t *to, const request_t *req)
{
    int     i;
    size_t  n;
    zone_t  zones[ZONES_MAX];

    static const ops_gauge_t  numbers[ZONE_NUMBERS] = {
        { "retort_admission_running", "Runs that nginx has admitted." },
        { "retort_admission_waiting", "Requests that wait in nginx." },
        { "retort_admission_running_max", "Their bound; 0: none." },
        { "retort_admission_waiting_max", "Their bound; 2^32 - 1: none." },
        { "retort_admission_admitted_total", "Requests that were let in." },
        { "retort_admission_queued_total", "Those of them that had waited." },
        { "retort_admission_limited_total",
          "Refused with 429: too many of one workspace." },
        { "retort_admission_refused_total",
          "Refused with 503: too many of all." },
        { "retort_admission_lost_total",
          "Runs whose end nobody knows: the front died." }
    };

    n = zones_parse(req->params, zones);

    for (i = 0; n != 0 && i < ZONE_NUMBERS; i++) {
        ops_zone_lines(to, &numbers[i], i < ZONE_ADMITTED ? "gauge"
                                                          : "counter",
                       (zone_number_t) i, zones, n);
    }
}


void
ops_metrics(const request_t *req, answer_t *a)
{
    buf_t  *to, labels;

    if (!ops_method(req, "GET", "HEAD", a)) {
        return;
    }

    to = &a->body;
    a->status = 200;
    a->type = "text/plain; version=0.0.4; charset=utf-8";
    (void) buf_puts(&a->lines, "Cache-Control: no-store\r\n");

    memset(&labels, 0, sizeof(labels));
    prom_label(&labels, "version", RETORT_VERSION);
    prom_label(&labels, "node", metrics_about()->node);
    prom_head(to, "retort_build_info", "gauge", "Always 1.");
    prom_count(to, "retort_build_info", &labels, 1);
    to->failed |= labels.failed;
    buf_free(&labels);

    ops_runs(to);
    ops_pools(to);
    ops_requests(to);
    metrics_fetch_print(to);
    ops_self(to);
    ops_zones(to, req);
}
