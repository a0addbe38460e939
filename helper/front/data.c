
/*
 * In retort-front, as its own uid without any capability.  The text comes from
 * a sandbox, where a forged one costs no more than an honest one: all of a
 * run's together are bounded, and none is kept that json-c would not take from
 * a client.
 */

#include <json-c/json_visit.h>
#include <math.h>
#include <string.h>

#include "bounds.h"
#include "data.h"
#include "json_in.h"


static const char *const  data_mime[OUT_DATA] = {
    "application/vnd.retort.chart+json",
    "application/vnd.retort.dataframe+json",
    "application/vnd.retort.value+json"
};


out_data_t
data_kind(const char *mime)
{
    int  kind;

    for (kind = 0; kind < OUT_DATA; kind++) {
        if (strcmp(data_mime[kind], mime) == 0) {
            break;
        }
    }

    return (out_data_t) kind;
}


/* json-c reads NaN and Infinity, and would write them again */

static int
data_visit(json_object *o, int flags, json_object *parent, const char *key,
    size_t *index, void *bad)
{
    (void) flags;
    (void) parent;
    (void) key;
    (void) index;

    if (json_object_is_type(o, json_type_double)
        && !isfinite(json_object_get_double(o)))
    {
        *(int *) bad = 1;
        return JSON_C_VISIT_RETURN_STOP;
    }

    return JSON_C_VISIT_RETURN_CONTINUE;
}


void
data_take(outputs_t *o, out_item_t *item, out_data_t kind, const char *p,
    size_t n, uint64_t size)
{
    int          bad;
    err_t        e;
    json_object  *object;

    if (size != n || n > BOUND_DATA || n > BOUND_DATA_RUN - o->data_kept
        || item->data[kind].len != 0)
    {
        return;
    }

    object = json_in(p, n, &e);

    if (object == NULL) {
        return;
    }

    bad = 0;
    (void) json_c_visit(object, 0, data_visit, &bad);
    json_object_put(object);

    if (!bad && buf_add(&item->data[kind], p, n) == 0) {
        o->data_kept += n;
    }
}
