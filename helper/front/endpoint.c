
/*
 * In retort-front, as its own uid without any capability.  Names come from
 * dialects and locations, answers from servers that the operator chose.
 */

#include <stdio.h>
#include <string.h>

#include "endpoint.h"
#include "metrics_fetch.h"
#include "outside.h"


static int
endpoint_failed(const fetch_ans_t *a, const char *name, err_t *e)
{
    switch (a->code) {

    case FETCH_ENAME:
        return err_set(e, 503, "endpoint_unknown", "retortd's file has no "
                       "endpoint \"%s\"", name);

    case FETCH_ETIME:
        return err_set(e, 504, "endpoint_timeout", "the endpoint \"%s\" took "
                       "too long", name);

    case FETCH_EBUSY:
        (void) err_set(e, 503, "fetch_busy", "%s", a->text);
        e->retry_after = 1;
        return -1;

    default:
        return err_set(e, 502, "endpoint_failed", "the endpoint \"%s\": %s",
                       name, a->text);
    }
}


static int
endpoint_ask(outside_t *o, uint16_t op, const char *name, const char *headers,
    const char *body, size_t len, err_t *e)
{
    fetch_req_t  req;

    memset(&req, 0, sizeof(req));

    if (strlen(name) >= sizeof(req.name)) {
        return err_set(e, 503, "endpoint_unknown", "no such endpoint");
    }

    req.op = op;
    req.head = headers != NULL ? (uint32_t) strlen(headers) : 0;
    req.len = (uint32_t) len;
    memcpy(req.name, name, strlen(name));

    if (len > FETCH_BODY || req.head > FETCH_HEADERS) {
        return err_set(e, 502, "endpoint_failed", "more is to be sent to the "
                       "endpoint \"%s\" than may be", name);
    }

    return outside_ask(o, &req, headers, body, o->client, e);
}


/* 1: go on; 0: that was all; -1 and "e" */

static int
endpoint_take(const outside_msg_t *m, const char *name, int *headed,
    const endpoint_sink_t *sink, err_t *e)
{
    int  rc;

    rc = -1;

    if (m->head.op == FETCH_END) {
        return m->head.code == FETCH_OK && *headed
               ? 0 : endpoint_failed(&m->head, name, e);
    }

    if (m->head.op == FETCH_HEAD && !*headed) {
        *headed = 1;
        rc = sink->head(sink->own, (int) m->head.status, m->head.type);

    } else if (m->head.op == FETCH_DATA && *headed) {
        rc = sink->data(sink->own, m->data, m->head.len);
    }

    return rc == 0 ? 1 : err_set(e, 502, "endpoint_enough", "the answer of the "
                                 "endpoint \"%s\" is not wanted", name);
}


/* "end" is what it said of the end, of another kind if nothing was said */

static void
endpoint_count(int rc, const fetch_ans_t *end, const err_t *e)
{
    if (rc == 0) {
        metrics_fetch(METRICS_CALLS, FETCH_OK);

    } else if (end->op == FETCH_END && end->code <= FETCH_ENAME) {
        metrics_fetch(METRICS_CALLS, end->code != FETCH_OK ? end->code
                                                           : FETCH_EFAILED);

    } else {
        metrics_fetch(METRICS_CALLS, metrics_fetch_why(e));
    }
}


int
call_endpoint(const char *name, const char *headers, const char *body,
    size_t len, int client, const endpoint_sink_t *sink, err_t *e)
{
    int            rc, headed;
    outside_t      o;
    outside_msg_t  m;

    o.client = client;
    m.head.op = 0;

    if (endpoint_ask(&o, FETCH_CALL, name, headers, body, len, e) == -1) {
        endpoint_count(-1, &m.head, e);
        return -1;
    }

    headed = 0;

    do {
        m.head.op = 0;
        rc = outside_hear(&o, &m, e);

        if (rc == 0) {
            metrics_fetch_bytes(METRICS_CALLS, m.head.len);
            rc = endpoint_take(&m, name, &headed, sink, e);
        }
    } while (rc == 1);

    outside_end(&o);
    endpoint_count(rc, &m.head, e);

    return rc;
}


int
endpoint_model(const char *name, char model[FETCH_TEXT], err_t *e)
{
    int            rc;
    outside_t      o;
    outside_msg_t  m;

    o.client = -1;

    if (endpoint_ask(&o, FETCH_ABOUT, name, NULL, NULL, 0, e) == -1) {
        return -1;
    }

    rc = outside_hear(&o, &m, e);
    outside_end(&o);

    if (rc == 0 && (m.head.op != FETCH_END || m.head.code != FETCH_OK)) {
        return endpoint_failed(&m.head, name, e);
    }

    if (rc == 0) {
        memcpy(model, m.head.text, FETCH_TEXT);
    }

    return rc;
}
