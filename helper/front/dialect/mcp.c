
/*
 * In retort-front, as its own uid without any capability.  MCP over HTTP, and
 * Prisme's interpreter, which is MCP with one tool and a few habits of its
 * own.  What the client wrote is not believed.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp.h"
#include "native.h"


/* MCP_ALL: Prisme and Azure have it, too; MCP_TEST: with fixtures alone */

enum { MCP_OLD = 1, MCP_NEW = 2, MCP_ALL = 4, MCP_TEST = 8 };


typedef struct {
    const char   *name;
    int           eras;
    call_do_t   (*serve)(mcp_t *m);
} mcp_method_t;


/* as Azure's says it, whatever is asked for */

static call_do_t
mcp_azure_initialize(mcp_t *m)
{
    mcp_result(m, mcp_json("{\"protocolVersion\":\"2025-03-26\","
                           "\"capabilities\":{\"tools\":{\"call\":true,"
                           "\"list\":true}},\"serverInfo\":{\"name\":"
                           "\"Microsoft Container Apps MCP Server\","
                           "\"version\":\"1.0.0\"}}"));

    return CALL_ANSWERED;
}


/* nothing that does nothing: clients use what is named here */

static json_object *
mcp_capabilities(const mcp_t *m)
{
    json_object  *o;

    o = mcp_json("{\"tools\":{}}");

    if (m->prisme || m->azure) {
        return o;
    }

    native_add(o, "prompts", json_object_new_object());
    native_add(o, "resources", mcp_json(m->fixtures && !m->modern
                                        ? "{\"subscribe\":true}" : "{}"));

    if (m->modern) {
        native_add(o, "extensions",
                   mcp_json("{\"" MCP_META "tasks\":{}}"));
    }

    if (m->fixtures) {
        native_add(o, "completions", json_object_new_object());
    }

    if (m->fixtures && !m->modern) {
        native_add(o, "logging", json_object_new_object());
    }

    return o;
}


static call_do_t
mcp_initialize(mcp_t *m)
{
    char          id[SESSION_ID];
    const char   *version;
    json_object  *o, *v;

    if (m->azure) {
        return mcp_azure_initialize(m);
    }

    version = m->prisme ? "2025-06-18" : MCP_NEWEST;

    if (m->params != NULL
        && json_object_object_get_ex(m->params, "protocolVersion", &v)
        && json_object_is_type(v, json_type_string)
        && mcp_is_version(json_object_get_string(v)))
    {
        version = json_object_get_string(v);
    }

    if (!m->prisme) {
        if (session_open(m->call->req->workspace, version,
                         m->call->req->run_max.ttl, id)
            == -1)
        {
            (void) mcp_error(m, 500, MCP_INTERNAL, "out of memory", NULL);
            return CALL_ANSWERED;
        }

        (void) buf_printf(&m->call->a->lines, "Mcp-Session-Id: %s\r\n", id);
    }

    o = mcp_json("{\"serverInfo\":{\"name\":\"retort\",\"version\":\"1\"}}");
    native_add(o, "capabilities", mcp_capabilities(m));
    native_add(o, "protocolVersion", mcp_text(version));
    mcp_result(m, o);

    return CALL_ANSWERED;
}


static call_do_t
mcp_ping(mcp_t *m)
{
    mcp_result(m, json_object_new_object());

    return CALL_ANSWERED;
}


json_object *
mcp_cached(const mcp_t *m, json_object *o)
{
    if (m->modern) {
        native_add(o, "ttlMs", json_object_new_int(m->filed != NULL
                                                   ? 0 : 300000));
        native_add(o, "cacheScope", mcp_text("private"));
    }

    return o;
}


static call_do_t
mcp_discover(mcp_t *m)
{
    json_object  *o;

    o = mcp_json("{\"supportedVersions\":[\"" MCP_MODERN "\"]}");
    native_add(o, "capabilities", mcp_capabilities(m));
    mcp_result(m, mcp_cached(m, o));

    return CALL_ANSWERED;
}


static call_do_t
mcp_list(mcp_t *m)
{
    json_object  *all;

    all = mcp_tools(m);
    mcp_fixture_list(m, all);

    return mcp_page(m, "tools", all);
}


void
mcp_key(mcp_t *m, json_object *id)
{
    (void) snprintf(m->call->key, CALL_KEY, "%s %s", m->session,
                    json_object_to_json_string(id));
}


static void
mcp_args_fault(mcp_t *m, const err_t *e)
{
    if (m->tool->rpc) {
        (void) mcp_error(m, 200, e->status == 404 ? MCP_NOT_FOUND : MCP_PARAMS,
                         e->text, NULL);
        return;
    }

    mcp_result(m, m->tool->fail(m, e));
}


static void
mcp_tools_now(mcp_t *m)
{
    json_object  *o;

    o = m->tool->now(m);

    if (o != NULL) {
        mcp_result(m, o);

    } else {
        (void) mcp_error(m, 500, MCP_INTERNAL, "out of memory", NULL);
    }
}


static call_do_t
mcp_tools_call(mcp_t *m)
{
    err_t                 e;
    char                  text[192];
    json_object          *name, *args;
    const mcp_fixture_t  *f;

    if (m->params == NULL
        || !json_object_object_get_ex(m->params, "name", &name)
        || !mcp_is_whole(name))
    {
        (void) mcp_error(m, 200, MCP_PARAMS, "\"name\" must be a string",
                         NULL);
        return CALL_ANSWERED;
    }

    if (json_object_object_get_ex(m->params, "arguments", &args)
        && !json_object_is_type(args, json_type_object))
    {
        (void) mcp_error(m, 200, MCP_PARAMS, "\"arguments\" must be an object",
                         NULL);
        return CALL_ANSWERED;
    }

    m->tool = mcp_tool(m, json_object_get_string(name));
    f = mcp_fixture(m, json_object_get_string(name));

    if (f != NULL) {
        return mcp_fixture_call(m, f);
    }

    if (m->tool == NULL) {
        (void) snprintf(text, sizeof(text), "%s: %.128s",
                        m->prisme ? "Tool not found" : "Unknown tool",
                        json_object_get_string(name));
        (void) mcp_error(m, 200, m->prisme ? MCP_METHOD : MCP_PARAMS, text,
                         NULL);
        return CALL_ANSWERED;
    }

    memset(&e, 0, sizeof(e));

    if (mcp_args(m, args, &e) == -1) {
        mcp_args_fault(m, &e);
        return CALL_ANSWERED;
    }

    if (m->tool->now != NULL) {
        mcp_tools_now(m);
        return CALL_ANSWERED;
    }

    if (m->tool->filed != NULL) {
        m->filed = m->tool->filed;
        return CALL_FILES;
    }

    m->call->pictures = !m->prisme;

    /* who has a session says by a message of its own that a run shall end */
    if (*m->session != '\0') {
        m->call->lasting = 1;
        m->entered = 1;
        session_enter(m->session, m->call->req->workspace);
        mcp_key(m, m->id);
    }

    mcp_stream_wish(m);

    return mcp_task_wish(m);
}


static const mcp_method_t  mcp_methods[] = {
    { "initialize", MCP_OLD|MCP_ALL, mcp_initialize },
    { "ping", MCP_OLD|MCP_ALL, mcp_ping },
    { "server/discover", MCP_NEW|MCP_ALL, mcp_discover },
    { "tools/list", MCP_OLD|MCP_NEW|MCP_ALL, mcp_list },
    { "tools/call", MCP_OLD|MCP_NEW|MCP_ALL, mcp_tools_call },
    { "prompts/list", MCP_OLD|MCP_NEW, mcp_prompts_list },
    { "prompts/get", MCP_OLD|MCP_NEW, mcp_prompts_get },
    { "resources/list", MCP_OLD|MCP_NEW, mcp_resources_list },
    { "resources/templates/list", MCP_OLD|MCP_NEW, mcp_resources_templates },
    { "resources/read", MCP_OLD|MCP_NEW, mcp_resources_read },
    { "tasks/get", MCP_NEW, mcp_task_look },
    { "tasks/update", MCP_NEW, mcp_task_look },
    { "tasks/cancel", MCP_NEW, mcp_task_look },
    { "completion/complete", MCP_OLD|MCP_NEW|MCP_TEST, mcp_complete },
    { "logging/setLevel", MCP_OLD|MCP_TEST, mcp_nothing },
    { "resources/subscribe", MCP_OLD|MCP_TEST, mcp_nothing },
    { "resources/unsubscribe", MCP_OLD|MCP_TEST, mcp_nothing },
    { NULL, 0, NULL }
};


static int
mcp_has(const mcp_t *m, int eras)
{
    return (eras & (m->modern ? MCP_NEW : MCP_OLD)) != 0
           && ((eras & MCP_ALL) != 0 || (!m->prisme && !m->azure))
           && ((eras & MCP_TEST) == 0 || m->fixtures);
}


static call_do_t
mcp_method(mcp_t *m)
{
    char                 text[192];
    const mcp_method_t  *row;

    for (row = mcp_methods; row->name != NULL; row++) {
        if (strcmp(row->name, m->method) == 0 && mcp_has(m, row->eras)) {
            return row->serve(m);
        }
    }

    (void) snprintf(text, sizeof(text), "Method not found: %.128s",
                    m->method);
    (void) mcp_error(m, m->modern ? 404 : 200, MCP_METHOD, text, NULL);

    return CALL_ANSWERED;
}


/* a notification, or an answer to what was never asked */

static call_do_t
mcp_notice(mcp_t *m)
{
    json_object  *id;

    m->call->a->status = m->prisme ? 200 : 202;

    if (!m->modern && m->method == NULL && m->id != NULL && m->fixtures
        && *m->session != '\0')
    {
        mcp_key(m, m->id);
        return CALL_TELL;
    }

    if (m->modern || m->method == NULL || *m->session == '\0'
        || strcmp(m->method, "notifications/cancelled") != 0
        || m->params == NULL
        || !json_object_object_get_ex(m->params, "requestId", &id)
        || (json_object_is_type(id, json_type_string)
            && json_object_get_string_len(id) > MCP_ID))
    {
        return CALL_ANSWERED;
    }

    mcp_key(m, id);

    return CALL_CANCEL;
}


static const char *
mcp_session(const request_t *req)
{
    const char  *id;

    id = request_param(req->params, "HTTP_MCP_SESSION_ID");

    return id != NULL ? id : "";
}


mcp_t *
mcp_new(call_t *c)
{
    mcp_t  *m;

    m = calloc(1, sizeof(mcp_t));

    if (m != NULL) {
        c->own = m;
        m->call = c;
        m->version = "";
        m->prisme = strcmp(c->req->api, "prisme") == 0;
        m->azure = strcmp(c->req->api, "azure_mcp") == 0;
        m->session = m->prisme || m->azure ? "" : mcp_session(c->req);
        m->links = request_param(c->req->params, "RETORT_MCP_PICTURES")
                   != NULL;
        m->fixtures = !m->prisme && !m->azure
                      && request_param(c->req->params, "RETORT_MCP_FIXTURES")
                         != NULL;
    }

    return m;
}


static call_do_t
mcp_call(call_t *c)
{
    mcp_t  *m;

    m = mcp_new(c);

    if (m == NULL) {
        c->a->status = 500;
        return CALL_ANSWERED;
    }

    if (mcp_read(m) == -1) {
        return CALL_ANSWERED;
    }

    mcp_era(m);

    if (mcp_check(m) == -1) {
        return CALL_ANSWERED;
    }

    return m->id != NULL && m->method != NULL ? mcp_method(m) : mcp_notice(m);
}


/* one that was cancelled by a message is not answered */

static void
mcp_call_done(call_t *c, const exec_t *x)
{
    mcp_t  *m;

    m = c->own;

    if (c->lasting && x->res.verdict == VERDICT_CANCELLED) {
        c->a->status = 202;
        return;
    }

    mcp_result(m, m->tool->done(m, x));
}


/* nor is one that waited for its sandbox then */

static void
mcp_call_fail(call_t *c, const err_t *e)
{
    mcp_t  *m;

    m = c->own;

    if (c->lasting && e->status == 0) {
        c->a->status = 202;

    } else if (m->tool != NULL) {
        mcp_result(m, m->tool->fail(m, e));

    } else if (m->failed != NULL) {
        m->failed(m);

    } else {
        mcp_resource_fail(m, e);
    }
}


static void
mcp_call_filed(call_t *c)
{
    mcp_t  *m;

    m = c->own;
    m->filed(m);
}


static void
mcp_call_free(call_t *c)
{
    mcp_t  *m;

    m = c->own;

    if (m != NULL) {
        if (m->entered) {
            session_leave(m->session, c->req->workspace);
        }

        json_object_put(m->msg);
        buf_free(&m->line);
        free(m);
    }
}


static const dialect_route_t  mcp_routes[] = {
    { "POST", "", OP_CALL },
    { "POST", "/", OP_CALL },
    { "GET", "", OP_CALL_RESUME },
    { "GET", "/", OP_CALL_RESUME },
    { "DELETE", "", OP_CALL_END },
    { "DELETE", "/", OP_CALL_END },
    { NULL, NULL, OP_CALL }
};


static const dialect_route_t  mcp_prisme_routes[] = {
    { "POST", "", OP_CALL },
    { "POST", "/", OP_CALL },
    { NULL, NULL, OP_CALL }
};


#define MCP_CALLS                                                             \
    .check = mcp_site, .call = mcp_call,                                      \
    .call_done = mcp_call_done, .call_fail = mcp_call_fail,                   \
    .call_free = mcp_call_free, .call_session = mcp_session

#define MCP_STREAMS                                                           \
    .stream = mcp_stream_head, .call_event = mcp_call_event


const dialect_t  dialect_mcp = {
    .name = "mcp",
    .routes = mcp_routes,
    .fail = mcp_fail,
    MCP_CALLS,
    MCP_STREAMS,
    .call_resume = mcp_call_resume,
    .call_filed = mcp_call_filed,
    .call_talk = mcp_call_talk,
    .call_task = mcp_call_task,
    .call_look = mcp_call_look,
    .call_again = mcp_call_again
};


const dialect_t  dialect_prisme = {
    .name = "prisme",
    .routes = mcp_prisme_routes,
    .fail = mcp_prisme_refuse,
    MCP_CALLS
};


const dialect_t  dialect_azure_mcp = {
    .name = "azure_mcp",
    .routes = mcp_prisme_routes,
    .fail = mcp_fail,
    MCP_CALLS,
    MCP_STREAMS
};
