
/*
 * In retort-front, as its own uid without any capability.  MCP: the fixtures
 * that speak while they are called, and those of the older era that ask their
 * client something on the way.
 */

#include <string.h>

#include "mcp.h"
#include "mcp_fixture.h"
#include "native.h"


#define MCP_PAUSE  50           /* msec */

#define MCP_FIELDS(fields)                                                    \
    "{\"message\":\"Please fill this in\",\"requestedSchema\":{\"type\":"     \
    "\"object\",\"properties\":{" fields "}}}"

#define MCP_CHOICE(value, title)                                              \
    "{\"const\":\"" value "\",\"title\":\"" title "\"}"

#define MCP_OPTIONS  "\"enum\":[\"option1\",\"option2\",\"option3\"]"


/* takes the object */

static void
mcp_talk_say(buf_t *to, json_object *o)
{
    (void) buf_puts(to, "event: message\ndata: ");
    native_line(to, o);
    (void) buf_puts(to, "\n");
}


static void
mcp_talk_notice(buf_t *to, const char *method, json_object *params)
{
    json_object  *o;

    o = mcp_json("{\"jsonrpc\":\"2.0\"}");
    native_add(o, "method", mcp_text(method));
    native_add(o, "params", params);
    mcp_talk_say(to, o);
}


static int
mcp_talk_end(mcp_t *m, buf_t *to, const char *text, int failed)
{
    json_object  *content, *block;

    block = mcp_json("{\"type\":\"text\"}");
    native_add(block, "text", mcp_text(text));
    content = json_object_new_array();
    (void) json_object_array_add(content, block);
    mcp_talk_say(to, mcp_message(m, mcp_fixture_said(content, failed)));

    return CALL_TALK_END;
}


int
mcp_talk_progress(mcp_t *m, buf_t *to, const char *heard)
{
    json_object  *params;

    (void) heard;

    if (m->token != NULL) {
        params = json_object_new_object();
        native_add(params, "progressToken", json_object_get(m->token));
        native_add(params, "progress", json_object_new_int(50 * m->step));
        native_add(params, "total", json_object_new_int(100));
        mcp_talk_notice(to, "notifications/progress", params);
    }

    return m->step++ < 2 ? MCP_PAUSE : mcp_talk_end(m, to, "done", 0);
}


int
mcp_talk_logging(mcp_t *m, buf_t *to, const char *heard)
{
    json_object  *params;

    static const char *const  texts[] = {
        "Tool execution started", "Tool processing data",
        "Tool execution completed"
    };

    (void) heard;

    params = mcp_json("{\"level\":\"info\"}");
    native_add(params, "data", mcp_text(texts[m->step]));
    mcp_talk_notice(to, "notifications/message", params);

    return m->step++ < 2 ? MCP_PAUSE : mcp_talk_end(m, to, "done", 0);
}


/* the request on the stream, then the answer to it by another POST */

static int
mcp_talk_ask(mcp_t *m, buf_t *to, const char *heard, const char *method,
    json_object *params)
{
    int           rc;
    json_object  *o, *id, *said;

    if (m->step++ == 0) {
        id = mcp_text(m->call->req->execution);
        o = mcp_json("{\"jsonrpc\":\"2.0\"}");
        native_add(o, "id", id);
        native_add(o, "method", mcp_text(method));
        native_add(o, "params", params);
        mcp_key(m, id);
        mcp_talk_say(to, o);
        return CALL_TALK_HEAR;
    }

    json_object_put(params);
    o = heard != NULL ? mcp_json(heard) : NULL;

    if (o == NULL || !json_object_object_get_ex(o, "result", &said)) {
        rc = mcp_talk_end(m, to, "The client gave no result.", 1);

    } else {
        rc = mcp_talk_end(m, to, json_object_to_json_string(said), 0);
    }

    json_object_put(o);

    return rc;
}


int
mcp_talk_sampling(mcp_t *m, buf_t *to, const char *heard)
{
    json_object  *params, *message, *content;

    content = mcp_json("{\"type\":\"text\"}");
    native_add(content, "text", mcp_text(mcp_argument(m, "prompt")));
    message = mcp_json("{\"role\":\"user\"}");
    native_add(message, "content", content);
    content = json_object_new_array();
    (void) json_object_array_add(content, message);
    params = mcp_json("{\"maxTokens\":100}");
    native_add(params, "messages", content);

    return mcp_talk_ask(m, to, heard, "sampling/createMessage", params);
}


int
mcp_talk_elicitation(mcp_t *m, buf_t *to, const char *heard)
{
    json_object  *params;

    params = mcp_json(MCP_FIELDS(
        "\"username\":{\"type\":\"string\",\"description\":"
        "\"User's response\"},\"email\":{\"type\":\"string\","
        "\"description\":\"User's email address\"}"));
    native_add(params, "message",
               mcp_text(mcp_argument(m, "message")));

    return mcp_talk_ask(m, to, heard, "elicitation/create", params);
}


int
mcp_talk_defaults(mcp_t *m, buf_t *to, const char *heard)
{
    return mcp_talk_ask(m, to, heard, "elicitation/create", mcp_json(
        MCP_FIELDS(
            "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
            "\"age\":{\"type\":\"integer\",\"default\":30},"
            "\"score\":{\"type\":\"number\",\"default\":95.5},"
            "\"status\":{\"type\":\"string\",\"enum\":[\"active\","
            "\"inactive\",\"pending\"],\"default\":\"active\"},"
            "\"verified\":{\"type\":\"boolean\",\"default\":true}")));
}


int
mcp_talk_enums(mcp_t *m, buf_t *to, const char *heard)
{
    return mcp_talk_ask(m, to, heard, "elicitation/create", mcp_json(
        MCP_FIELDS(
            "\"untitledSingle\":{\"type\":\"string\"," MCP_OPTIONS "},"
            "\"titledSingle\":{\"type\":\"string\",\"oneOf\":["
            MCP_CHOICE("value1", "First Option") ","
            MCP_CHOICE("value2", "Second Option") "]},"
            "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\","
            "\"opt3\"],\"enumNames\":[\"Option One\",\"Option Two\","
            "\"Option Three\"]},"
            "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":"
            "\"string\"," MCP_OPTIONS "}},"
            "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":["
            MCP_CHOICE("value1", "First Choice") ","
            MCP_CHOICE("value2", "Second Choice") "]}}")));
}


int
mcp_call_talk(call_t *c, buf_t *to, const char *heard)
{
    mcp_t  *m;

    m = c->own;

    return m->fixture->talk(m, to, heard);
}
