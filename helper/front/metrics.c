
/*
 * In retort-front, as its own uid without any capability.
 *
 * Labels are few by force: a workspace or a code gets a row of its own when it
 * is seen for the first time, until there is none left.  A row's name never
 * changes, so it is read without a lock; the mutex is for new names alone.
 */

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "metrics.h"
#include "settings.h"


#define METRICS_NAME  REQ_WORKSPACE

typedef _Atomic uint64_t  metrics_count_t;

typedef struct {
    metrics_count_t  bucket[PROM_BUCKETS + 1];
    metrics_count_t  sum;
} metrics_times_t;

/* at place "max", behind the last name, is the row of all others */

typedef struct {
    atomic_uint       n;
    unsigned          max;
    char            (*name)[METRICS_NAME];
} metrics_names_t;


static int                       metrics_statm = -1;
static uint64_t                  metrics_started;
static uint64_t                  metrics_threads;
static const retort_settings_t  *metrics_settings;
static pthread_mutex_t           metrics_mutex = PTHREAD_MUTEX_INITIALIZER;

static char             metrics_workspace[METRICS_WORKSPACES][METRICS_NAME];
static char             metrics_code[METRICS_CODES][METRICS_NAME];
static metrics_names_t  metrics_workspaces = {
    0, METRICS_WORKSPACES, metrics_workspace
};
static metrics_names_t  metrics_codes = { 0, METRICS_CODES, metrics_code };

static metrics_count_t  metrics_by[METRICS_WORKSPACES + 1]
                                  [RETORT_PROFILES_MAX][VERDICT_MAX];
static metrics_count_t  metrics_refusals[METRICS_CODES + 1];
static metrics_count_t  metrics_statuses[METRICS_STATUS];
static metrics_count_t  metrics_artifacts;
static metrics_count_t  metrics_bytes;
static metrics_count_t  metrics_unstored;
static metrics_count_t  metrics_cpu;
static metrics_times_t  metrics_times[METRICS_PHASES];


int
metrics_init(const retort_settings_t *s, uint64_t threads)
{
    metrics_settings = s;
    metrics_threads = threads;
    metrics_started = clock_wall_ms();
    metrics_statm = open("/proc/self/statm", O_RDONLY|O_CLOEXEC);

    return metrics_statm != -1 ? 0 : -1;
}


static void
metrics_add(metrics_count_t *c, uint64_t n)
{
    (void) atomic_fetch_add_explicit(c, n, memory_order_relaxed);
}


static uint64_t
metrics_get(metrics_count_t *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}


/* names before "n" were whole before "n" was stored */

static unsigned
metrics_find(metrics_names_t *t, const char *name, unsigned from, unsigned n)
{
    unsigned  i;

    for (i = from; i < n && strcmp(t->name[i], name) != 0; i++) { /* void */ }

    return i;
}


static unsigned
metrics_row(metrics_names_t *t, const char *name)
{
    unsigned  i, n;

    n = atomic_load_explicit(&t->n, memory_order_acquire);
    i = metrics_find(t, name, 0, n);

    if (i < n || n == t->max) {
        return i;
    }

    (void) pthread_mutex_lock(&metrics_mutex);

    n = atomic_load_explicit(&t->n, memory_order_relaxed);
    i = metrics_find(t, name, i, n);

    if (i == n && n < t->max) {
        (void) snprintf(t->name[n], METRICS_NAME, "%s", name);
        atomic_store_explicit(&t->n, n + 1, memory_order_release);
    }

    (void) pthread_mutex_unlock(&metrics_mutex);

    return i;
}


void
metrics_took(metrics_phase_t phase, uint64_t us)
{
    metrics_add(&metrics_times[phase].bucket[prom_bucket(us)], 1);
    metrics_add(&metrics_times[phase].sum, us);
}


static void
metrics_outputs(const outputs_t *out)
{
    size_t                  i;
    const out_item_t       *item;
    const out_artifact_t   *a;

    for (item = out->first; item != NULL; item = item->next) {
        for (i = 0; i < item->nartifacts; i++) {
            a = &item->artifacts[i];

            if (a->file[0] == '\0') {
                metrics_add(&metrics_unstored, 1);
                continue;
            }

            metrics_add(&metrics_artifacts, 1);
            metrics_add(&metrics_bytes, a->size);
        }
    }
}


void
metrics_run(const request_t *req, const result_t *res)
{
    unsigned   row;
    ptrdiff_t  profile;

    row = metrics_row(&metrics_workspaces, req->workspace);
    profile = req->profile - metrics_settings->profile;
    metrics_add(&metrics_by[row][profile][res->verdict], 1);
    metrics_add(&metrics_cpu, res->cpu_us);
    metrics_outputs(&res->out);

    metrics_took(METRICS_QUEUE, res->queue_us);
    metrics_took(METRICS_RUN, res->run_us);

    /* a silent run has no first byte */

    if (res->first_byte_us != 0) {
        metrics_took(METRICS_FIRST_BYTE, res->first_byte_us);
    }
}


void
metrics_answer(int status)
{
    if (status >= 0 && status < METRICS_STATUS) {
        metrics_add(&metrics_statuses[status], 1);
    }
}


void
metrics_refused(const char *code)
{
    metrics_add(&metrics_refusals[metrics_row(&metrics_codes, code)], 1);
}


/* resident pages: the second number; 0 if it cannot be told */

static uint64_t
metrics_memory(void)
{
    char     text[128], *end;
    ssize_t  n;

    n = pread(metrics_statm, text, sizeof(text) - 1, 0);

    if (n <= 0) {
        return 0;
    }

    text[n] = '\0';
    (void) strtoull(text, &end, 10);

    return strtoull(end, NULL, 10) * (uint64_t) sysconf(_SC_PAGESIZE);
}


void
metrics_sum(metrics_sum_t *sum)
{
    unsigned  w, p, v;

    memset(sum, 0, sizeof(metrics_sum_t));
    sum->artifacts = metrics_get(&metrics_artifacts);
    sum->artifact_bytes = metrics_get(&metrics_bytes);
    sum->artifacts_refused = metrics_get(&metrics_unstored);
    sum->cpu_us = metrics_get(&metrics_cpu);
    sum->threads = metrics_threads;
    sum->started = metrics_started;
    sum->memory = metrics_memory();

    for (w = 0; w <= METRICS_WORKSPACES; w++) {
        for (p = 0; p < metrics_settings->nprofiles; p++) {
            for (v = 0; v < VERDICT_MAX; v++) {
                sum->verdict[v] += metrics_get(&metrics_by[w][p][v]);
            }
        }
    }
}


const retort_settings_t *
metrics_about(void)
{
    return metrics_settings;
}


void
metrics_phase(metrics_phase_t phase, prom_histogram_t *h)
{
    unsigned          i;
    metrics_times_t  *t;

    t = &metrics_times[phase];

    for (i = 0; i <= PROM_BUCKETS; i++) {
        h->bucket[i] = metrics_get(&t->bucket[i]);
    }

    h->sum = metrics_get(&t->sum);
}


const char *
metrics_phase_name(metrics_phase_t phase)
{
    static const char *const  names[METRICS_PHASES] = {
        "queue", "create", "first_byte", "run", "render"
    };

    return names[phase];
}


static void
metrics_row_runs(unsigned w, const char *name, metrics_each_t each, void *data)
{
    unsigned  p, v;
    uint64_t  n;

    for (p = 0; p < metrics_settings->nprofiles; p++) {
        for (v = 0; v < VERDICT_MAX; v++) {
            n = metrics_get(&metrics_by[w][p][v]);

            if (n != 0) {
                each(data, name, metrics_settings->profile[p].name,
                     (verdict_t) v, n);
            }
        }
    }
}


void
metrics_runs(metrics_each_t each, void *data)
{
    unsigned  w, n;

    n = atomic_load_explicit(&metrics_workspaces.n, memory_order_acquire);

    for (w = 0; w < n; w++) {
        metrics_row_runs(w, metrics_workspace[w], each, data);
    }

    metrics_row_runs(METRICS_WORKSPACES, METRICS_OTHER, each, data);
}


uint64_t
metrics_answers(int status)
{
    return metrics_get(&metrics_statuses[status]);
}


const char *
metrics_refusal(unsigned i, uint64_t *n)
{
    unsigned  last;

    last = atomic_load_explicit(&metrics_codes.n, memory_order_acquire);

    if (i < last) {
        *n = metrics_get(&metrics_refusals[i]);
        return metrics_code[i];
    }

    *n = metrics_get(&metrics_refusals[METRICS_CODES]);

    return i == last && *n != 0 ? METRICS_OTHER : NULL;
}
