
/*
 * In retort-front, as its own uid without any capability.  The native API: a
 * client's JSON becomes a job.  What the client wrote is not believed.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../accept.h"
#include "../bounds.h"
#include "../json_in.h"
#include "../text.h"
#include "native.h"


typedef struct {
    const request_t  *req;
    job_t            *job;
    int               keep_set;
    int               limits_set;
} native_job_t;


static const char *const  native_types[] = {
    "application/json",         /* NATIVE_JSON */
    "text/markdown",            /* NATIVE_MARKDOWN */
    "text/event-stream",        /* NATIVE_SSE */
    "application/x-ndjson"      /* NATIVE_NDJSON */
};

#define NATIVE_TYPES  (sizeof(native_types) / sizeof(native_types[0]))


static int
native_wants_events(const request_t *req)
{
    const char  *last;

    last = strrchr(req->path, '/');

    return last != NULL && strcmp(last, "/events") == 0
           && accept_is_any(req->accept);
}


static int
native_form(const request_t *req, err_t *e)
{
    int  form;

    form = accept_choose(req->accept, native_types, NATIVE_TYPES);

    if (form == -1) {
        return err_set(e, 406, "not_acceptable", "answers are "
                       "application/json, text/markdown, text/event-stream "
                       "or application/x-ndjson");
    }

    /* events are nothing but a stream, whoever asks for them */
    if (form == NATIVE_JSON && native_wants_events(req)) {
        form = NATIVE_SSE;
    }

    return form;
}


static int
native_code(void *to, json_object *v, err_t *e)
{
    job_t  *job;

    job = ((native_job_t *) to)->job;
    job->code = json_in_copy(v, &job->code_len, e);

    return job->code != NULL ? 0 : -1;
}


static int
native_language(void *to, json_object *v, err_t *e)
{
    job_t       *job;
    const char  *text;

    job = ((native_job_t *) to)->job;
    text = json_object_get_string(v);

    if (strcmp(text, "python") == 0) {
        job->language = KRN_PYTHON;

    } else if (strcmp(text, "bash") == 0) {
        job->language = KRN_BASH;

    } else {
        return err_set(e, 400, "bad_value",
                       "\"language\" must be \"python\" or \"bash\"");
    }

    return 0;
}


static int
native_sandbox(void *to, json_object *v, err_t *e)
{
    job_t       *job;
    const char  *text;

    job = ((native_job_t *) to)->job;
    text = json_object_get_string(v);

    if (strlen(text) >= sizeof(job->sandbox) || !text_is_id(text, "sbx")) {
        return err_set(e, 404, "sandbox_not_found", "no such sandbox");
    }

    (void) snprintf(job->sandbox, sizeof(job->sandbox), "%s", text);

    return 0;
}


static int
native_keep(void *to, json_object *v, err_t *e)
{
    native_job_t  *n;

    (void) e;

    n = to;
    n->job->keep = json_object_get_boolean(v);
    n->keep_set = 1;

    return 0;
}


static int
native_detach(void *to, json_object *v, err_t *e)
{
    (void) e;

    ((native_job_t *) to)->job->detach = json_object_get_boolean(v);

    return 0;
}


static int
native_timeout(void *to, json_object *v, err_t *e)
{
    double         seconds;
    uint64_t       max;
    native_job_t  *n;

    n = to;
    max = n->req->run_max.timeout;
    seconds = json_object_get_double(v);

    if (!(seconds > 0) || seconds * 1000 > (double) max) {
        return err_set(e, 400, "bad_value", "\"timeout\" must be above 0 and "
                       "at most %" PRIu64 ".%03" PRIu64 " seconds",
                       max / 1000, max % 1000);
    }

    n->job->timeout = (uint64_t) ceil(seconds * 1000);

    return 0;
}


static int
native_env_name(const char *name)
{
    size_t  n;

    n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789_");

    return n != 0 && name[n] == '\0' && (name[0] < '0' || name[0] > '9');
}


static int
native_env_one(buf_t *all, const char *name, json_object *v, err_t *e)
{
    size_t       len;
    const char  *text;

    if (!native_env_name(name)) {
        return err_set(e, 400, "bad_value",
                       "\"env\": \"%.64s\" is no name of a variable", name);
    }

    if (!json_object_is_type(v, json_type_string)) {
        return err_set(e, 400, "bad_value", "\"env.%.64s\" must be a string",
                       name);
    }

    text = json_object_get_string(v);
    len = (size_t) json_object_get_string_len(v);

    if (memchr(text, '\0', len) != NULL) {
        return err_set(e, 400, "bad_value", "\"env.%.64s\" has a NUL", name);
    }

    (void) buf_puts(all, name);
    (void) buf_puts(all, "=");
    (void) buf_add(all, text, len + 1);

    return 0;
}


int
native_env(json_object *v, job_t *job, err_t *e)
{
    int                           rc;
    buf_t                         all;
    struct json_object_iterator   it, end;

    if (json_object_object_length(v) > BOUND_ENV_COUNT) {
        return err_set(e, 400, "bad_value", "\"env\" has more than %d names",
                       BOUND_ENV_COUNT);
    }

    memset(&all, 0, sizeof(all));
    it = json_object_iter_begin(v);
    end = json_object_iter_end(v);

    for (rc = 0; rc == 0 && !json_object_iter_equal(&it, &end);
         json_object_iter_next(&it))
    {
        rc = native_env_one(&all, json_object_iter_peek_name(&it),
                            json_object_iter_peek_value(&it), e);
    }

    job->env = all.data;
    job->env_len = all.len;

    if (rc == 0 && (all.failed || all.len > BOUND_ENV_BYTES)) {
        return err_set(e, 400, "bad_value", "\"env\" has more than %d bytes",
                       BOUND_ENV_BYTES);
    }

    return rc;
}


static int
native_job_env(void *to, json_object *v, err_t *e)
{
    return native_env(v, ((native_job_t *) to)->job, e);
}


static int
native_stdin(void *to, json_object *v, err_t *e)
{
    job_t  *job;

    job = ((native_job_t *) to)->job;
    job->stdin_text = json_in_copy(v, &job->stdin_len, e);

    return job->stdin_text != NULL ? 0 : -1;
}


static int
native_files(void *to, json_object *v, err_t *e)
{
    job_t  *job;

    job = ((native_job_t *) to)->job;

    return native_inputs(v, &job->files, &job->nfiles, e);
}


static int
native_job_limits(void *to, json_object *v, err_t *e)
{
    native_job_t     *n;
    native_limits_t   l;

    n = to;
    l.req = n->req;
    l.box = &n->job->box;
    l.output = &n->job->output;

    if (native_limits(v, &l, e) == -1) {
        return -1;
    }

    n->limits_set = memcmp(&n->job->box, &n->req->box,
                           sizeof(n->job->box)) != 0;

    return 0;
}


static const json_in_key_t  native_keys[] = {
    { "code", JSON_IN_STRING, native_code },
    { "language", JSON_IN_STRING, native_language },
    { "sandbox_id", JSON_IN_STRING, native_sandbox },
    { "keep", JSON_IN_BOOL, native_keep },
    { "detach", JSON_IN_BOOL, native_detach },
    { "timeout", JSON_IN_NUMBER, native_timeout },
    { "env", JSON_IN_OBJECT, native_job_env },
    { "stdin", JSON_IN_STRING, native_stdin },
    { "files", JSON_IN_ARRAY, native_files },
    { "limits", JSON_IN_OBJECT, native_job_limits },
    { NULL, JSON_IN_STRING, NULL }
};


static int
native_whole(const native_job_t *n, err_t *e)
{
    const job_t  *job;

    job = n->job;

    if (job->code_len == 0) {
        return err_set(e, 400, "bad_value", "\"code\" is missing or empty");
    }

    if (job->sandbox[0] == '\0') {
        return 0;
    }

    if (n->keep_set && !job->keep) {
        return err_set(e, 400, "bad_value",
                       "\"keep\": false does not go with \"sandbox_id\"");
    }

    if (n->limits_set) {
        return err_set(e, 400, "bad_value", "\"limits\" of a sandbox are set "
                       "when it is made");
    }

    return 0;
}


static json_object *
native_body(const request_t *req, const char *body, size_t len, err_t *e)
{
    if (!accept_is(req->type, "application/json")) {
        (void) err_set(e, 415, "unsupported_type",
                       "the body must be application/json");
        return NULL;
    }

    return json_in(body, len, e);
}


static int
native_parse(const request_t *req, const char *body, size_t len, job_t *job,
    err_t *e)
{
    int            rc;
    json_object   *o;
    native_job_t   n;

    memset(&n, 0, sizeof(n));
    n.req = req;
    n.job = job;

    job->timeout = req->run.timeout;
    job->output = req->run.output;
    job->box = req->box;

    o = native_body(req, body, len, e);

    if (o == NULL) {
        return -1;
    }

    rc = json_in_keys(o, native_keys, "", &n, e);
    json_object_put(o);

    if (rc == 0) {
        rc = native_whole(&n, e);
    }

    job->own_limits = memcmp(&job->box, &req->profile->box,
                             sizeof(job->box)) != 0;

    return rc;
}


static const dialect_route_t  native_routes[] = {
    { "POST", "/execute", OP_EXECUTE },
    { "GET", "/metadata", OP_METADATA },
    { "GET", "/openapi.json", OP_OPENAPI },
    { "GET", "/sandboxes", OP_BOX_LIST },
    { "POST", "/sandboxes", OP_BOX_CREATE },
    { "GET", "/sandboxes/*", OP_BOX_SHOW },
    { "DELETE", "/sandboxes/*", OP_BOX_DELETE },
    { "POST", "/sandboxes/*/interrupt", OP_BOX_INTERRUPT },
    { "POST", "/sandboxes/*/restart", OP_BOX_RESTART },
    { "GET", "/executions/*", OP_EXEC_SHOW },
    { "DELETE", "/executions/*", OP_EXEC_CANCEL },
    { "GET", "/executions/*/events", OP_EXEC_EVENTS },
    { "GET", "/sandboxes/*/files", OP_FILE_LIST },
    { "POST", "/sandboxes/*/files", OP_FILE_POST },
    { "GET", "/sandboxes/*/files/**", OP_FILE_GET },
    { "HEAD", "/sandboxes/*/files/**", OP_FILE_GET },
    { "PUT", "/sandboxes/*/files/**", OP_FILE_PUT },
    { "DELETE", "/sandboxes/*/files/**", OP_FILE_DELETE },
    { NULL, NULL, OP_EXECUTE }
};


typedef struct {
    const request_t  *req;
    box_wish_t       *wish;
} native_wish_t;


static int
native_wish_profile(void *to, json_object *v, err_t *e)
{
    native_wish_t  *w;

    w = to;

    if (strcmp(json_object_get_string(v), w->req->profile->name) != 0) {
        return err_set(e, 403, "forbidden",
                       "only the profile \"%s\" is offered here",
                       w->req->profile->name);
    }

    return 0;
}


static int
native_wish_ttl(void *to, json_object *v, err_t *e)
{
    native_wish_t  *w;

    w = to;

    if (w->req->profile->life == RETORT_LIFE_EXIT) {
        return err_set(e, 400, "bad_value", "\"ttl\": here a sandbox lives "
                       "until its interpreter ends");
    }

    if (json_in_whole(v, "ttl", w->req->run_max.ttl / 1000, &w->wish->ttl, e)
        == -1)
    {
        return -1;
    }

    w->wish->ttl *= 1000;

    return 0;
}


static int
native_wish_limits(void *to, json_object *v, err_t *e)
{
    native_wish_t    *w;
    native_limits_t   l;

    w = to;
    l.req = w->req;
    l.box = &w->wish->box;
    l.output = NULL;

    return native_limits(v, &l, e);
}


static int
native_wish_files(void *to, json_object *v, err_t *e)
{
    native_wish_t  *w;

    w = to;

    return native_inputs(v, &w->wish->files, &w->wish->nfiles, e);
}


static const json_in_key_t  native_wish_keys[] = {
    { "profile", JSON_IN_STRING, native_wish_profile },
    { "ttl", JSON_IN_WHOLE, native_wish_ttl },
    { "limits", JSON_IN_OBJECT, native_wish_limits },
    { "files", JSON_IN_ARRAY, native_wish_files },
    { NULL, JSON_IN_STRING, NULL }
};


static int
native_parse_box(const request_t *req, const char *body, size_t len,
    box_wish_t *wish, err_t *e)
{
    int             rc;
    json_object    *o;
    native_wish_t   w;

    w.req = req;
    w.wish = wish;
    wish->ttl = req->run.ttl;
    wish->box = req->box;
    rc = 0;

    if (len != 0) {
        o = native_body(req, body, len, e);

        if (o == NULL) {
            return -1;
        }

        rc = json_in_keys(o, native_wish_keys, "", &w, e);
        json_object_put(o);
    }

    wish->own_limits = memcmp(&wish->box, &req->profile->box,
                              sizeof(wish->box)) != 0;

    return rc;
}


const dialect_t  dialect_native = {
    .name = "native",
    .routes = native_routes,
    .form = native_form,
    .parse = native_parse,
    .render = native_render,
    .stream = native_stream_head,
    .event = native_event,
    .render_exec = native_render_exec,
    .fail = native_fail,
    .parse_box = native_parse_box,
    .render_box = native_render_box,
    .render_boxes = native_render_boxes,
    .render_meta = native_render_meta,
    .render_openapi = native_render_openapi,
    .render_file = native_render_file,
    .render_files = native_render_files
};
