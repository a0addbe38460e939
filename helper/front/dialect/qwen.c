
/*
 * In retort-front, as its own uid without any capability.  The interpreter of
 * Qwen-Agent over HTTP: its call's arguments as JSON, or its parameters alone
 * as text; the answer is the text that the tool returns.  What the client
 * wrote is not believed.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../accept.h"
#include "../bounds.h"
#include "../json_in.h"
#include "../utf8.h"
#include "qwen.h"


#define QWEN_SECONDS  30        /* the countdown, if none is asked for */
#define QWEN_GRACE    5         /* seconds for code that swallows it */
#define QWEN_TIMER    64        /* bytes of the seconds' text */


typedef struct {
    const request_t  *req;
    job_t            *job;
    buf_t             code;
    int               timed;
    char              timer[QWEN_TIMER];
} qwen_call_t;


static int
qwen_form(const request_t *req, err_t *e)
{
    (void) req;
    (void) e;

    return 0;
}


/*
 * The countdown is Python's own and can be swallowed by the code; the front's
 * deadline behind it cannot.
 */

static void
qwen_deadline(qwen_call_t *c, int64_t seconds)
{
    uint64_t  max;

    max = c->req->run_max.timeout;
    c->job->timeout = max;

    if (seconds > 0
        && (uint64_t) seconds < max / 1000
        && ((uint64_t) seconds + QWEN_GRACE) * 1000 < max)
    {
        c->job->timeout = ((uint64_t) seconds + QWEN_GRACE) * 1000;
    }
}


static int
qwen_timeout(qwen_call_t *c, json_object *v, err_t *e)
{
    const char  *text;

    c->timed = 0;
    qwen_deadline(c, 0);

    if (v == NULL) {
        return 0;
    }

    if (!json_object_is_type(v, json_type_int)
        && !json_object_is_type(v, json_type_double))
    {
        return err_set(e, 400, "bad_value",
                       "\"timeout\" must be whole seconds or null");
    }

    if (!(json_object_get_double(v) < 0) && !(json_object_get_double(v) > 0)) {
        return 0;
    }

    text = json_object_to_json_string(v);

    if (strlen(text) >= QWEN_TIMER) {
        return err_set(e, 400, "bad_value", "\"timeout\" is no sane number");
    }

    memcpy(c->timer, text, strlen(text) + 1);
    c->timed = 1;
    qwen_deadline(c, json_object_get_int64(v));

    return 0;
}


static int
qwen_session(qwen_call_t *c, const char *key, err_t *e)
{
    if (job_session(c->job, key) == -1) {
        return err_set(e, 400, "bad_value", "a session's name has 1 to %d "
                       "printable ASCII characters", JOB_SESSION - 1);
    }

    return 0;
}


static int
qwen_params(qwen_call_t *c, json_object *v, err_t *e)
{
    json_object  *code;
    const char   *text;

    if (json_object_is_type(v, json_type_object)
        && json_object_object_get_ex(v, "code", &code)
        && json_object_is_type(code, json_type_string))
    {
        return buf_add(&c->code, json_object_get_string(code),
                       (size_t) json_object_get_string_len(code));
    }

    if (json_object_is_type(v, json_type_string)) {
        return qwen_code(json_object_get_string(v),
                         (size_t) json_object_get_string_len(v), &c->code, e);
    }

    text = json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN
                                             |JSON_C_TO_STRING_NOSLASHESCAPE);
    if (text == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    return qwen_code(text, strlen(text), &c->code, e);
}


/* keys that the tool does not know are ignored, as it ignores them */

static int
qwen_object(qwen_call_t *c, json_object *o, err_t *e)
{
    json_object  *v;

    if (json_object_object_get_ex(o, "files", &v) && v != NULL) {
        if (!json_object_is_type(v, json_type_array)) {
            return err_set(e, 400, "bad_value", "\"files\" must be an array");
        }

        if (qwen_files(v, c->job, e) == -1) {
            return -1;
        }
    }

    if (json_object_object_get_ex(o, "timeout", &v)
        && qwen_timeout(c, v, e) == -1)
    {
        return -1;
    }

    if (json_object_object_get_ex(o, "session", &v) && v != NULL) {
        if (!json_object_is_type(v, json_type_string)) {
            return err_set(e, 400, "bad_value", "\"session\" must be a string");
        }

        if (qwen_session(c, json_object_get_string(v), e) == -1) {
            return -1;
        }
    }

    if (!json_object_object_get_ex(o, "params", &v)) {
        return err_set(e, 400, "bad_value", "\"params\" is missing");
    }

    return qwen_params(c, v, e);
}


static int
qwen_body(qwen_call_t *c, const char *body, size_t len, err_t *e)
{
    int           rc;
    json_object  *o;

    if (accept_is(c->req->type, "application/json")) {
        o = json_in(body, len, e);

        if (o == NULL) {
            return -1;
        }

        rc = qwen_object(c, o, e);
        json_object_put(o);

        return rc;
    }

    if (c->req->type[0] != '\0' && !accept_is(c->req->type, "text/plain")) {
        return err_set(e, 415, "unsupported_type", "the body must be "
                       "application/json or text/plain");
    }

    if (!utf8_valid(body, len)) {
        return err_set(e, 400, "bad_value", "the body is not UTF-8");
    }

    return qwen_code(body, len, &c->code, e);
}


static int
qwen_is_blank(const buf_t *code)
{
    size_t  i;

    for (i = 0; i < code->len; i++) {
        if (code->data[i] != ' '
            && (code->data[i] < '\t' || code->data[i] > '\r'))
        {
            return 0;
        }
    }

    return 1;
}


/* the cell for the kernel */

static int
qwen_cell(qwen_call_t *c, err_t *e)
{
    buf_t  cell;

    if (qwen_is_blank(&c->code)) {
        /* an answer, though nothing runs and no sandbox is taken */
        return err_set(e, 200, "nothing", "%s", "");
    }

    memset(&cell, 0, sizeof(cell));
    qwen_wrap(c->code.data, c->code.len, c->timed ? c->timer : NULL, &cell);

    c->job->code = cell.data;
    c->job->code_len = cell.len;
    c->job->style = c->timed ? KRN_QWEN_TIMED : KRN_QWEN;
    c->job->lenient = 1;

    if (cell.failed || c->code.failed) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    return 0;
}


static int
qwen_parse(const request_t *req, const char *body, size_t len, job_t *job,
    err_t *e)
{
    int          rc;
    qwen_call_t  c;

    memset(&c, 0, sizeof(c));
    c.req = req;
    c.job = job;
    c.timed = 1;
    memcpy(c.timer, "30", sizeof("30"));

    job->output = req->run.output;
    job->box = req->box;
    job->own_limits = memcmp(&job->box, &req->profile->box,
                             sizeof(job->box)) != 0;
    qwen_deadline(&c, QWEN_SECONDS);

    rc = req->session[0] != '\0' ? qwen_session(&c, req->session, e) : 0;

    if (rc == 0) {
        rc = qwen_body(&c, body, len, e);
    }

    if (rc == 0) {
        rc = qwen_cell(&c, e);
    }

    buf_free(&c.code);

    return rc;
}


/* where links begin: the profile's word, the location's, a folder */

static void
qwen_link(const request_t *req, link_t *link)
{
    const char  *base;

    *link = req->link;
    base = req->profile->m6_static_url;

    if (base[0] == '\0') {
        if (link->base[0] != '\0' || req->profile->m6_work_dir[0] == '\0') {
            return;
        }

        /* a path, which nobody signs */
        base = req->profile->m6_work_dir;
        link->tag[0] = '\0';
    }

    (void) snprintf(link->base, sizeof(link->base), "%s", base);
}


static void
qwen_render(const request_t *req, int form, const exec_t *x, answer_t *a)
{
    link_t  link;

    (void) form;

    qwen_link(req, &link);
    a->status = 200;
    a->type = "text/plain; charset=utf-8";
    a->form = "markdown";
    qwen_text(&a->body, &x->res.out, &link, req->profile->fence);
    link_wipe(&link);
}


/*
 * What the tool itself would have said without running anything is a text as
 * well; everything else is an error of HTTP.
 */

static void
qwen_fail(const err_t *e, answer_t *a)
{
    if (e->status != 200) {
        dialect_native.fail(e, a);
        return;
    }

    a->status = 200;
    a->type = "text/plain; charset=utf-8";
    (void) buf_puts(&a->lines, "X-Retort-Status: ok\r\n");

    if (strcmp(e->code, "tool_error") == 0) {
        (void) buf_printf(&a->body, "An error occurred when calling tool "
                          "`code_interpreter`:\n%s\nTraceback:\n", e->text);
    }
}


static const dialect_route_t  qwen_routes[] = {
    { "POST", "/code_interpreter", OP_EXECUTE },
    { NULL, NULL, OP_EXECUTE }
};


const dialect_t  dialect_qwen = {
    .name = "qwen",
    .routes = qwen_routes,
    .form = qwen_form,
    .parse = qwen_parse,
    .render = qwen_render,
    .fail = qwen_fail
};
