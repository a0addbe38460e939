
/*
 * In retort-front, as its own uid without any capability.  Codes have passed
 * through a process that reads what hostile servers write.
 */

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "metrics_fetch.h"
#include "prom.h"


typedef struct {
    const char  *total;
    const char  *about;
    const char  *bytes;
    const char  *about_bytes;
} metrics_fetch_name_t;


static _Atomic uint64_t  metrics_fetch_n[METRICS_FETCHES][METRICS_FETCH_CODES];
static _Atomic uint64_t  metrics_fetch_size[METRICS_FETCHES];

static const metrics_fetch_name_t  metrics_fetch_names[METRICS_FETCHES] = {
    { "retort_fetches_total", "Files named by URL, by how that ended.",
      "retort_fetched_bytes_total", "Bytes of them that were received." },
    { "retort_endpoint_calls_total", "Calls of endpoints, by how they ended.",
      "retort_endpoint_bytes_total", "Bytes of their answers." }
};

static const char *const  metrics_fetch_ends[METRICS_FETCH_CODES] = {
    "ok", "refused", "failed", "too_large", "timeout", "busy", "unknown",
    "cached", "dropped", "lost"
};


void
metrics_fetch(metrics_fetch_t what, unsigned code)
{
    (void) atomic_fetch_add_explicit(&metrics_fetch_n[what]
                                         [code < METRICS_FETCH_CODES
                                          ? code : FETCH_EFAILED],
                                     1, memory_order_relaxed);
}


void
metrics_fetch_bytes(metrics_fetch_t what, uint64_t n)
{
    (void) atomic_fetch_add_explicit(&metrics_fetch_size[what], n,
                                     memory_order_relaxed);
}


unsigned
metrics_fetch_why(const err_t *e)
{
    return e->status == 0 || strcmp(e->code, "endpoint_enough") == 0
           ? METRICS_DROPPED
           : strcmp(e->code, "fetch_busy") == 0 ? FETCH_EBUSY
           : strcmp(e->code, "fetch_timeout") == 0 ? FETCH_ETIME
           : METRICS_LOST;
}


static void
metrics_fetch_lines(buf_t *to, metrics_fetch_t what)
{
    unsigned                     i;
    buf_t                        label;
    const metrics_fetch_name_t  *n;

    n = &metrics_fetch_names[what];
    prom_head(to, n->total, "counter", n->about);

    for (i = 0; i < METRICS_FETCH_CODES; i++) {
        memset(&label, 0, sizeof(label));
        prom_label(&label, "result", metrics_fetch_ends[i]);
        prom_count(to, n->total, &label,
                   atomic_load_explicit(&metrics_fetch_n[what][i],
                                        memory_order_relaxed));
        to->failed |= label.failed;
        buf_free(&label);
    }

    prom_head(to, n->bytes, "counter", n->about_bytes);
    prom_count(to, n->bytes, NULL,
               atomic_load_explicit(&metrics_fetch_size[what],
                                    memory_order_relaxed));
}


void
metrics_fetch_print(buf_t *to)
{
    metrics_fetch_lines(to, METRICS_FILES);
    metrics_fetch_lines(to, METRICS_CALLS);
}
