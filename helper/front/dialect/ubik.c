
/*
 * In retort-front, as its own uid without any capability.  Ubik's tool
 * code_execution: what a client asks for becomes an execution that is answered
 * before it has run.  What the client wrote is not believed.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../accept.h"
#include "../json_in.h"
#include "../text.h"
#include "../utf8.h"
#include "native.h"
#include "ubik.h"


typedef struct {
    const request_t  *req;
    job_t            *job;
    json_object      *documents;
    json_object      *names;    /* of documents, for the memo */
    const char       *request;
    size_t            len;
} ubik_job_t;


static const dialect_route_t  ubik_routes[] = {
    { "GET", "/tools", OP_CALL },
    { "GET", "/tools/*", OP_CALL },
    { "POST", "/tools/*/execute", OP_EXECUTE },
    { "GET", "/tool-executions/*", OP_EXEC_SHOW },
    { "GET", "/tool-executions/*/stream", OP_EXEC_EVENTS },
    { "POST", "/tool-executions/*/provide-input", OP_CALL },
    { "GET", "/assets/tools/*/**", OP_ASSET },
    { "POST", "/auth/token", OP_CALL },
    { NULL, NULL, OP_EXECUTE }
};


static const struct {
    const char  *name;
    const char  *uuid;
} ubik_tools[] = {
    { "code_execution", "5e7b0c1a-4f0d-4d3e-9a61-2c8f0e5b7d01" },
    { "code_interpreter", "5e7b0c1a-4f0d-4d3e-9a61-2c8f0e5b7d02" }
};


int
ubik_tool(const char *id, const char **name, const char **uuid)
{
    size_t  i, n;

    n = strcspn(id, "/");

    for (i = 0; i < sizeof(ubik_tools) / sizeof(ubik_tools[0]); i++) {
        if ((strlen(ubik_tools[i].name) == n
             && strncmp(ubik_tools[i].name, id, n) == 0)
            || (strlen(ubik_tools[i].uuid) == n
                && strncmp(ubik_tools[i].uuid, id, n) == 0))
        {
            *name = ubik_tools[i].name;
            *uuid = ubik_tools[i].uuid;
            return 1;
        }
    }

    return 0;
}


int
ubik_fault(err_t *e, const char *where, const char *why)
{
    return err_set(e, 422, where, "%s", why);
}


json_object *
ubik_memo(const char *text)
{
    err_t         e;
    json_object  *o;

    o = text != NULL ? json_in(text, strlen(text), &e) : NULL;

    return o != NULL ? o : json_object_new_object();
}


const char *
ubik_text(json_object *o, const char *key)
{
    json_object  *v;

    return json_object_object_get_ex(o, key, &v)
           && json_object_is_type(v, json_type_string)
           ? json_object_get_string(v) : "";
}


const char *
ubik_user(const request_t *req)
{
    const char  *user;

    /* a token is for one, whatever is said beside it */
    user = request_param(req->params, "RETORT_END_USER");

    if (user == NULL) {
        user = request_param(req->params, "HTTP_X_END_USER_ID");
    }

    if (user == NULL) {
        user = request_param(req->params, "HTTP_EXTERNAL_USER_ID");
    }

    return user != NULL ? user : "";
}


int
ubik_owns(const request_t *req, const exec_t *x)
{
    int           owns;
    json_object  *memo;

    memo = ubik_memo(x->memo);
    owns = strcmp(ubik_text(memo, "user"), ubik_user(req)) == 0
           && *ubik_text(memo, "tool") != '\0';
    json_object_put(memo);

    return owns;
}


static int
ubik_form(const request_t *req, err_t *e)
{
    const char  *last;

    (void) e;
    last = strrchr(req->path, '/');

    return last != NULL && strcmp(last, "/stream") == 0 ? UBIK_SSE : UBIK_JSON;
}


static int
ubik_string(json_object *v, const char *where, err_t *e)
{
    if (json_object_is_type(v, json_type_string)
        && strlen(json_object_get_string(v))
           == (size_t) json_object_get_string_len(v))
    {
        return 0;
    }

    return ubik_fault(e, where, "Input should be a valid string");
}


/* 1 if it is there already, -1 and "e" if another one has its name */

static int
ubik_twice(const ubik_job_t *u, const char *id, const char *name, err_t *e)
{
    size_t  i;

    for (i = 0; i < u->job->nfiles; i++) {
        if (strcmp(u->job->files[i].id, id) == 0) {
            return 1;
        }

        if (strcmp(u->job->files[i].name, name) == 0) {
            return ubik_fault(e, "document_ids", "Two documents have one "
                              "name");
        }
    }

    return 0;
}


static int
ubik_document(ubik_job_t *u, json_object *v, err_t *e)
{
    int           twice;
    char          name[SHELF_NAME + sizeof(UBIK_FILES) + 1];
    job_file_t   *f;
    const char   *id;
    shelf_info_t  info;

    if (ubik_string(v, "document_ids", e) == -1) {
        return -1;
    }

    id = json_object_get_string(v);

    if (shelf_look(id, u->req->workspace, &info, e) == -1) {
        return err_set(e, 404, "not_found", "Document %.80s not found", id);
    }

    (void) snprintf(name, sizeof(name), "%s/%s", UBIK_FILES, info.name);
    twice = ubik_twice(u, id, name, e);

    if (twice != 0) {
        return twice == 1 ? 0 : -1;
    }

    (void) json_object_array_add(u->names, native_string(info.name));
    f = &u->job->files[u->job->nfiles++];
    f->name = strdup(name);
    f->id = strdup(id);

    return f->name != NULL && f->id != NULL
           ? 0 : err_set(e, 500, "no_memory", "out of memory");
}


static int
ubik_documents(ubik_job_t *u, err_t *e)
{
    size_t  i, n;

    if (u->documents == NULL) {
        return 0;
    }

    n = json_object_array_length(u->documents);

    if (n > BOUND_FILES) {
        return ubik_fault(e, "document_ids", "List has too many items");
    }

    u->job->files = calloc(n + 1, sizeof(job_file_t));

    if (u->job->files == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    for (i = 0; i < n; i++) {
        if (ubik_document(u, json_object_array_get_idx(u->documents, i), e)
            == -1)
        {
            return -1;
        }
    }

    return 0;
}


static int
ubik_key(ubik_job_t *u, const char *key, json_object *v, err_t *e)
{
    if (strcmp(key, "document_ids") == 0) {
        u->documents = v;

        return json_object_is_type(v, json_type_array)
               ? 0 : ubik_fault(e, key, "Input should be a valid list");
    }

    if (strcmp(key, "request") != 0 && strcmp(key, "context") != 0
        && strcmp(key, "sandbox_id") != 0)
    {
        return ubik_fault(e, key, "Extra inputs are not permitted");
    }

    if (ubik_string(v, key, e) == -1) {
        return -1;
    }

    if (strcmp(key, "request") == 0) {
        if (json_object_get_string_len(v) > UBIK_MEMO) {
            return ubik_fault(e, key, "String is too long");
        }

        u->request = json_object_get_string(v);
        u->len = (size_t) json_object_get_string_len(v);

    } else if (strcmp(key, "sandbox_id") == 0) {
        if (strlen(json_object_get_string(v)) >= JOB_SANDBOX
            || !text_is_id(json_object_get_string(v), "sbx"))
        {
            return err_set(e, 404, "sandbox_not_found", "no such sandbox");
        }

        (void) snprintf(u->job->sandbox, JOB_SANDBOX, "%s",
                        json_object_get_string(v));
    }

    return 0;
}


static int
ubik_inputs(ubik_job_t *u, json_object *inputs, err_t *e)
{
    json_object                  *v;
    struct json_object_iterator   it, end;

    it = json_object_iter_begin(inputs);
    end = json_object_iter_end(inputs);

    for ( /* void */ ; !json_object_iter_equal(&it, &end);
         json_object_iter_next(&it))
    {
        v = json_object_iter_peek_value(&it);

        /* what is optional may be null */

        if (v == NULL
            && strcmp(json_object_iter_peek_name(&it), "request") != 0)
        {
            continue;
        }

        if (ubik_key(u, json_object_iter_peek_name(&it), v, e) == -1) {
            return -1;
        }
    }

    if (u->request == NULL) {
        return ubik_fault(e, "request", "Field required");
    }

    return u->request[0] != '\0'
           ? 0 : ubik_fault(e, "request", "String should have at least 1 "
                            "character");
}


/* code that is there needs nobody to write it */

static int
ubik_code(ubik_job_t *u, json_object *memo, err_t *e)
{
    buf_t        code;
    const char  *planner;

    memset(&code, 0, sizeof(code));

    if (ubik_chat_code(u->request, u->len, &code) == 1 && code.len != 0) {
        u->job->code = code.data;
        u->job->code_len = code.len;

        return code.failed ? err_set(e, 500, "no_memory", "out of memory") : 0;
    }

    buf_free(&code);
    planner = request_param(u->req->params, "RETORT_PLANNER");

    if (planner == NULL || *planner == '\0') {
        return ubik_fault(e, "request", "There is no planner here: one fenced "
                          "block of Python is needed");
    }

    native_add(memo, "planner", native_string(planner));

    return 0;
}


static int
ubik_job(ubik_job_t *u, json_object *inputs, err_t *e)
{
    int           rc;
    const char   *name, *uuid;
    json_object  *memo;

    if (!ubik_tool(u->req->path + sizeof("/tools/") - 1, &name, &uuid)) {
        return err_set(e, 404, "not_found", "Tool not found");
    }

    if (strlen(ubik_user(u->req)) >= UBIK_NAME) {
        return err_set(e, 400, "bad_value", "X-End-User-ID is too long");
    }

    if (!utf8_valid(ubik_user(u->req), strlen(ubik_user(u->req)))) {
        return err_set(e, 400, "bad_value", "X-End-User-ID is no UTF-8");
    }

    u->names = json_object_new_array();
    memo = json_object_new_object();
    native_add(memo, "tool", native_string(name));
    native_add(memo, "inputs", json_object_get(inputs));
    native_add(memo, "user", native_string(ubik_user(u->req)));
    native_add(memo, "documents", u->names);

    rc = ubik_inputs(u, inputs, e);

    if (rc == 0) {
        rc = ubik_documents(u, e);
    }

    if (rc == 0) {
        rc = ubik_code(u, memo, e);
    }

    if (rc == 0) {
        u->job->memo = strdup(json_object_to_json_string_ext(memo,
                           JSON_C_TO_STRING_PLAIN
                           |JSON_C_TO_STRING_NOSLASHESCAPE));
        rc = u->job->memo != NULL
             ? 0 : err_set(e, 500, "no_memory", "out of memory");
    }

    json_object_put(memo);

    if (rc == 0 && strlen(u->job->memo) > UBIK_MEMO) {
        rc = ubik_fault(e, "request", "String is too long");
    }

    return rc;
}


static int
ubik_parse(const request_t *req, const char *body, size_t len, job_t *job,
    err_t *e)
{
    int           rc;
    ubik_job_t    u;
    json_object  *o, *inputs;

    memset(&u, 0, sizeof(u));
    u.req = req;
    u.job = job;
    job->detach = 1;
    job->timeout = req->run.timeout;
    job->output = req->run.output;
    job->box = req->box;
    job->own_limits = memcmp(&job->box, &req->profile->box,
                             sizeof(job->box)) != 0;

    if (!accept_is(req->type, "application/json")) {
        return err_set(e, 415, "unsupported_type",
                       "the body must be application/json");
    }

    o = json_in(body, len, e);

    if (o == NULL) {
        return ubik_fault(e, "", "JSON decode error");
    }

    if (!json_object_object_get_ex(o, "inputs", &inputs)) {
        rc = ubik_fault(e, "inputs", "Field required");

    } else if (!json_object_is_type(inputs, json_type_object)) {
        rc = ubik_fault(e, "inputs", "Input should be a valid dictionary");

    } else {
        rc = ubik_job(&u, inputs, e);
    }

    json_object_put(o);

    return rc;
}


const dialect_t  dialect_ubik = {
    .name = "ubik",
    .routes = ubik_routes,
    .form = ubik_form,
    .parse = ubik_parse,
    .plans = 1,
    .owns = ubik_owns,
    .stream = ubik_stream_head,
    .event = ubik_event,
    .render_exec = ubik_render_exec,
    .fail = ubik_fail,
    .call = ubik_call,
    .call_fail = ubik_call_fail,
    .call_free = ubik_call_free
};
