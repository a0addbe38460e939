
/*
 * In retort-front, as its own uid without any capability.  MCP: messages of
 * JSON-RPC, in and out.  What the client wrote is not believed.
 */

#include <stdint.h>
#include <string.h>

#include "../accept.h"
#include "mcp.h"
#include "native.h"


json_object *
mcp_text(const char *text)
{
    return native_string(text);
}


json_object *
mcp_json(const char *text)
{
    return json_tokener_parse(text);
}


/* a text that is not cut by a NUL: what was compared is what was said */

int
mcp_is_whole(json_object *v)
{
    return json_object_is_type(v, json_type_string)
           && strlen(json_object_get_string(v))
              == (size_t) json_object_get_string_len(v);
}


static const char *
mcp_member(json_object *o, const char *name)
{
    json_object  *v;

    if (!json_object_is_type(o, json_type_object)
        || !json_object_object_get_ex(o, name, &v) || !mcp_is_whole(v))
    {
        return "";
    }

    return json_object_get_string(v);
}


const char *
mcp_param(const mcp_t *m, const char *name)
{
    return mcp_member(m->params, name);
}


const char *
mcp_argument(const mcp_t *m, const char *name)
{
    json_object  *v;

    return m->params != NULL
           && json_object_object_get_ex(m->params, "arguments", &v)
           ? mcp_member(v, name) : "";
}


static json_object *
mcp_envelope_of(json_object *id)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "jsonrpc", json_object_new_string("2.0"));
    native_add(o, "id", json_object_get(id));

    return o;
}


/* a worker whose front is gone cuts it off: half of it would mean nothing */

void
mcp_write(answer_t *a, json_object *o, int http)
{
    native_write(o, a);
    a->form = NULL;
    a->status = http;
}


json_object *
mcp_message(const mcp_t *m, json_object *result)
{
    json_object  *o, *meta;

    if (m->modern) {
        meta = json_object_new_object();
        native_add(meta, MCP_META "serverInfo",
                   mcp_json("{\"name\":\"retort\",\"version\":\"1\"}"));
        native_add(result, "_meta", meta);

        if (!json_object_object_get_ex(result, "resultType", NULL)) {
            native_add(result, "resultType", mcp_text("complete"));
        }
    }

    o = mcp_envelope_of(m->id);
    native_add(o, "result", result);

    return o;
}


void
mcp_result(mcp_t *m, json_object *result)
{
    mcp_write(m->call->a, mcp_message(m, result), 200);
}


static json_object *
mcp_fault(json_object *id, int code, const char *text, json_object *data)
{
    json_object  *o, *error;

    error = json_object_new_object();
    native_add(error, "code", json_object_new_int(code));
    native_add(error, "message", mcp_text(text));

    if (data != NULL) {
        native_add(error, "data", data);
    }

    o = mcp_envelope_of(id);
    native_add(o, "error", error);

    return o;
}


int
mcp_error(mcp_t *m, int http, int code, const char *text, json_object *data)
{
    mcp_write(m->call->a, mcp_fault(m->id, code, text, data), http);

    return -1;
}


/* the numbers that the worker has for them, too */

static int
mcp_code(const err_t *e)
{
    if (strcmp(e->code, "session_not_found") == 0) {
        return MCP_SESSION;
    }

    switch (e->status) {

    case 401:
    case 403:
        return MCP_REFUSED;

    case 429:
    case 503:
        return MCP_LATER;

    default:
        return e->status < 500 ? MCP_REQUEST : MCP_INTERNAL;
    }
}


void
mcp_fail(const err_t *e, answer_t *a)
{
    json_object  *data;

    data = json_object_new_object();
    native_add(data, "code", mcp_text(e->code));

    mcp_write(a, mcp_fault(NULL, mcp_code(e), e->text, data), e->status);
    a->retry_after = e->retry_after;
}


/* a string, or a whole number that is echoed as it was */

int
mcp_is_id(json_object *v)
{
    int64_t  n;

    if (json_object_is_type(v, json_type_string)) {
        return json_object_get_string_len(v) <= MCP_ID;
    }

    n = json_object_get_int64(v);

    return json_object_is_type(v, json_type_int) && n != INT64_MAX
           && n != INT64_MIN;
}


static int
mcp_envelope(mcp_t *m)
{
    json_object  *v;

    if (json_object_object_get_ex(m->msg, "id", &v)) {
        if (!mcp_is_id(v)) {
            return mcp_error(m, 400, MCP_REQUEST, "\"id\" must be a string of "
                             "at most 128 bytes or a whole number", NULL);
        }

        m->id = v;
    }

    if (!json_object_object_get_ex(m->msg, "jsonrpc", &v)
        || !json_object_is_type(v, json_type_string)
        || strcmp(json_object_get_string(v), "2.0") != 0)
    {
        return mcp_error(m, 400, MCP_REQUEST, "\"jsonrpc\" must be \"2.0\"",
                         NULL);
    }

    if (json_object_object_get_ex(m->msg, "method", &v)) {
        if (!mcp_is_whole(v)) {
            return mcp_error(m, 400, MCP_REQUEST, "\"method\" must be a "
                             "string", NULL);
        }

        m->method = json_object_get_string(v);
        return 0;
    }

    if (json_object_object_get_ex(m->msg, "result", NULL)
        || json_object_object_get_ex(m->msg, "error", NULL))
    {
        return 0;
    }

    return mcp_error(m, 400, MCP_REQUEST, "\"method\" is missing", NULL);
}


static int
mcp_params(mcp_t *m)
{
    json_object  *v;

    if (!json_object_object_get_ex(m->msg, "params", &v)) {
        return 0;
    }

    if (!json_object_is_type(v, json_type_object)) {
        return mcp_error(m, 400, MCP_PARAMS, "\"params\" must be an object",
                         NULL);
    }

    m->params = v;

    if (!json_object_object_get_ex(v, "_meta", &v)) {
        return 0;
    }

    if (!json_object_is_type(v, json_type_object)) {
        return mcp_error(m, 400, MCP_PARAMS, "\"_meta\" must be an object",
                         NULL);
    }

    m->meta = v;

    return 0;
}


int
mcp_read(mcp_t *m)
{
    err_t    e;
    size_t   blank;
    call_t  *c;

    static const char *const  types[] = { "application/json" };

    c = m->call;

    if (!accept_is(c->req->type, "application/json")) {
        (void) err_set(&e, 415, "unsupported_type",
                       "the body must be application/json");
        mcp_fail(&e, c->a);
        return -1;
    }

    if (accept_choose(c->req->accept, types, 1) == -1) {
        (void) err_set(&e, 406, "not_acceptable",
                       "answers are application/json");
        mcp_fail(&e, c->a);
        return -1;
    }

    m->msg = json_in(c->body, c->len, &e);

    if (m->msg == NULL) {
        blank = strspn(c->body, " \t\r\n");

        return c->len != 0 && c->body[blank] == '['
               ? mcp_error(m, 400, MCP_REQUEST, "one message at a time: "
                           "batches are not taken", NULL)
               : mcp_error(m, 400, MCP_PARSE, e.text, NULL);
    }

    return mcp_envelope(m) == 0 ? mcp_params(m) : -1;
}
