
/*
 * In retort-front, as its own uid without any capability.  E2B's sandboxes for
 * its own clients: the service's side, and what is inside of a sandbox, which
 * a header names.  What the client wrote is not believed.
 */

#include <stdio.h>
#include <string.h>

#include "../accept.h"
#include "../text.h"
#include "e2b.h"
#include "native.h"


typedef struct {
    const request_t  *req;
    job_t            *job;
    json_object      *env;
    const char       *language;
    const char       *context;
} e2b_job_t;


static const dialect_route_t  e2b_routes[] = {
    { "POST", "/v2/sandboxes", OP_BOX_CREATE },
    { "GET", "/v2/sandboxes", OP_BOX_LIST },
    { "POST", "/v2/sandboxes/*/connect", OP_BOX_LIFE },
    { "POST", "/sandboxes", OP_BOX_CREATE },
    { "GET", "/sandboxes", OP_BOX_LIST },
    { "GET", "/sandboxes/*", OP_BOX_SHOW },
    { "DELETE", "/sandboxes/*", OP_BOX_DELETE },
    { "POST", "/sandboxes/*/connect", OP_BOX_LIFE },
    { "POST", "/sandboxes/*/timeout", OP_BOX_LIFE },

    { "GET", "/health", OP_BOX_SHOW },
    { "POST", "/execute", OP_EXECUTE },
    { "GET", "/contexts", OP_CALL },
    { "POST", "/contexts", OP_CALL },
    { "DELETE", "/contexts/*", OP_CALL },
    { "POST", "/contexts/*/restart", OP_CALL },
    { "GET", "/files", OP_FILE_GET },
    { "HEAD", "/files", OP_FILE_GET },
    { "POST", "/files", OP_FILE_POST },
    { NULL, NULL, OP_EXECUTE }
};


const char *
e2b_inside(const request_t *req)
{
    const char  *id;

    id = request_param(req->params, "HTTP_E2B_SANDBOX_ID");

    return id != NULL ? id : "";
}


static int
e2b_is_inside(const request_t *req)
{
    return strstr(req->path, "/sandboxes") == NULL;
}


/*
 * A sandbox's token is for what is inside of it, and for nothing else; the
 * web server has seen to it that it is that of the sandbox in the header.
 */

static int
e2b_sandbox(const request_t *req, char id[JOB_SANDBOX], err_t *e)
{
    const char  *name;

    if (!e2b_is_inside(req)) {
        return request_param(req->params, "RETORT_SANDBOX") == NULL
               ? 0 : err_set(e, 403, "forbidden", "a sandbox's token is for "
                             "what is inside of it");
    }

    name = e2b_inside(req);

    if (*name == '\0') {
        return err_set(e, 400, "bad_value",
                       "E2b-Sandbox-Id does not name a sandbox");
    }

    if (strlen(name) >= JOB_SANDBOX || !text_is_id(name, "sbx")) {
        return err_set(e, 404, "sandbox_not_found", "no such sandbox");
    }

    (void) snprintf(id, JOB_SANDBOX, "%s", name);

    return 0;
}


/* a sandbox that is gone is 404 to the service, and 502 from inside */

void
e2b_retell(const request_t *req, err_t *e)
{
    if (strcmp(e->code, "sandbox_not_found") == 0
        || strcmp(e->code, "sandbox_expired") == 0)
    {
        (void) err_set(e, e2b_is_inside(req) ? 502 : 404, e->code,
                       "The sandbox was not found");
    }
}


int
e2b_keys(json_object *o, const json_in_key_t *keys, void *to, err_t *e)
{
    int                   rc;
    json_object          *known, *v;
    const json_in_key_t  *k;

    known = json_object_new_object();

    for (k = keys; k->name != NULL; k++) {
        if (json_object_object_get_ex(o, k->name, &v) && v != NULL) {
            native_add(known, k->name, json_object_get(v));
        }
    }

    rc = json_in_keys(known, keys, "", to, e);
    json_object_put(known);

    return rc;
}


json_object *
e2b_body(const request_t *req, const char *body, size_t len, err_t *e)
{
    if (!accept_is(req->type, "application/json")) {
        (void) err_set(e, 415, "unsupported_type",
                       "the body must be application/json");
        return NULL;
    }

    return json_in(body, len, e);
}


static int
e2b_form(const request_t *req, err_t *e)
{
    (void) req;
    (void) e;

    return 0;
}


static int
e2b_code(void *to, json_object *v, err_t *e)
{
    job_t  *job;

    job = ((e2b_job_t *) to)->job;
    job->code = json_in_copy(v, &job->code_len, e);

    return job->code != NULL ? 0 : -1;
}


static int
e2b_language(void *to, json_object *v, err_t *e)
{
    (void) e;

    ((e2b_job_t *) to)->language = json_object_get_string(v);

    return 0;
}


static int
e2b_context_id(void *to, json_object *v, err_t *e)
{
    (void) e;

    ((e2b_job_t *) to)->context = json_object_get_string(v);

    return 0;
}


static int
e2b_env(void *to, json_object *v, err_t *e)
{
    (void) e;

    ((e2b_job_t *) to)->env = v;

    return 0;
}


static const json_in_key_t  e2b_job_keys[] = {
    { "code", JSON_IN_STRING, e2b_code },
    { "context_id", JSON_IN_STRING, e2b_context_id },
    { "language", JSON_IN_STRING, e2b_language },
    { "env_vars", JSON_IN_OBJECT, e2b_env },
    { NULL, JSON_IN_STRING, NULL }
};


int
e2b_job_language(const char *name, krn_language_t *to, err_t *e)
{
    if (strcmp(name, "python") == 0 || strcmp(name, "bash") == 0) {
        *to = *name == 'p' ? KRN_PYTHON : KRN_BASH;
        return 0;
    }

    return err_set(e, 400, "bad_value", "language '%.32s' is not known here; "
                   "there are 'python' and 'bash'", name);
}


/* the sandbox's own variables first, so that the run's count */

static int
e2b_job_env(const e2b_job_t *j, const e2b_note_t *n, err_t *e)
{
    json_object                  *own, *all;
    struct json_object_iterator   it, end;

    if (!json_object_object_get_ex(n->o, "env", &own)) {
        return j->env != NULL ? native_env(j->env, j->job, e) : 0;
    }

    all = NULL;

    if (json_object_deep_copy(own, &all, NULL) == -1) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    if (j->env != NULL) {
        it = json_object_iter_begin(j->env);
        end = json_object_iter_end(j->env);

        for ( /* void */ ; !json_object_iter_equal(&it, &end);
             json_object_iter_next(&it))
        {
            native_add(all, json_object_iter_peek_name(&it),
                       json_object_get(json_object_iter_peek_value(&it)));
        }
    }

    own = all;

    if (native_env(all, j->job, e) == -1) {
        json_object_put(own);
        return -1;
    }

    json_object_put(own);

    return 0;
}


static int
e2b_job_where(const e2b_job_t *j, err_t *e)
{
    int            rc;
    e2b_note_t     n;
    e2b_context_t  c;

    if (j->context != NULL && j->language != NULL) {
        return err_set(e, 400, "bad_value", "\"context_id\" and \"language\" "
                       "exclude each other");
    }

    if (j->language != NULL
        && e2b_job_language(j->language, &j->job->language, e) == -1)
    {
        return -1;
    }

    if (e2b_note(j->req, j->job->sandbox, &n, e) == -1) {
        return -1;
    }

    rc = e2b_job_env(j, &n, e);

    if (rc == 0 && j->context != NULL) {
        rc = e2b_context(&n, j->context, &c, e);

        if (rc == 0) {
            j->job->language = c.language;
            j->job->context = c.number;
        }
    }

    e2b_note_free(&n);

    return rc;
}


/* code may run as long as anything may here: clients have their own clocks */

void
e2b_job(const request_t *req, job_t *job)
{
    job->timeout = req->run_max.timeout;
    job->output = req->run.output;
    job->box = req->box;
}


static int
e2b_parse(const request_t *req, const char *body, size_t len, job_t *job,
    err_t *e)
{
    int           rc;
    e2b_job_t     j;
    json_object  *o;

    memset(&j, 0, sizeof(j));
    j.req = req;
    j.job = job;
    e2b_job(req, job);

    if (e2b_sandbox(req, job->sandbox, e) == -1) {
        return -1;
    }

    o = e2b_body(req, body, len, e);

    if (o == NULL) {
        return -1;
    }

    rc = e2b_keys(o, e2b_job_keys, &j, e);

    if (rc == 0 && job->code == NULL) {
        rc = err_set(e, 400, "bad_value", "\"code\" is missing");
    }

    if (rc == 0) {
        rc = e2b_job_where(&j, e);
    }

    json_object_put(o);

    return rc;
}


const dialect_t  dialect_e2b = {
    .name = "e2b",
    .routes = e2b_routes,
    .form = e2b_form,
    .parse = e2b_parse,
    .stream = e2b_stream_head,
    .event = e2b_event,
    .forms = 1,
    .fail = e2b_fail,
    .sandbox = e2b_sandbox,
    .retell = e2b_retell,
    .call = e2b_call,
    .call_done = e2b_call_done,
    .call_fail = e2b_call_fail,
    .call_free = e2b_call_free,
    .parse_box = e2b_parse_box,
    .render_box = e2b_render_box,
    .render_boxes = e2b_render_boxes,
    .file = e2b_file,
    .file_part = e2b_file_part,
    .render_files = e2b_render_files
};
