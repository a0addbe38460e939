
/*
 * In retort-front, as its own uid without any capability.  MCP: the tools that
 * the protocol's conformance suite wants to call.  They run no code and know
 * nothing of anybody; a location has them only if its operator says so.
 */

#include <string.h>

#include "../accept.h"
#include "mcp.h"
#include "mcp_fixture.h"
#include "native.h"


#define MCP_WAV                                                               \
    "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

#define MCP_SAID(text)  "{\"type\":\"text\",\"text\":\"" text "\"}"
#define MCP_IMAGE                                                             \
    "{\"type\":\"image\",\"data\":\"" MCP_PNG "\",\"mimeType\":\"image/png\"}"

#define MCP_NOTHING  "{\"type\":\"object\"}"

#define MCP_STRING_INPUT(name)                                                \
    "{\"type\":\"object\",\"properties\":{\"" name "\":{\"type\":"            \
    "\"string\"}},\"required\":[\"" name "\"]}"

#define MCP_DRAFT_INPUT                                                       \
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","          \
    "\"type\":\"object\",\"$defs\":{\"address\":{\"$anchor\":\"addressDef\"," \
    "\"type\":\"object\",\"properties\":{\"street\":{\"type\":\"string\"},"   \
    "\"city\":{\"type\":\"string\"}}}},\"properties\":{\"name\":{\"type\":"   \
    "\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},"                 \
    "\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]}," \
    "\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"       \
    "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":"        \
    "[\"email\"]}]}],\"if\":{\"properties\":{\"contactMethod\":{\"const\":"   \
    "\"phone\"}},\"required\":[\"contactMethod\"]},\"then\":{\"required\":"   \
    "[\"phone\"]},\"else\":{\"required\":[\"email\"]},"                       \
    "\"additionalProperties\":false}"


static call_do_t  mcp_fixture_sampling(mcp_t *m);


static const mcp_fixture_t  mcp_fixtures[] = {

    { .name = "test_simple_text", .input = MCP_NOTHING,
      .content = "[" MCP_SAID("This is a simple text response for testing.")
                 "]" },

    { .name = "test_image_content", .input = MCP_NOTHING,
      .content = "[" MCP_IMAGE "]" },

    { .name = "test_audio_content", .input = MCP_NOTHING,
      .content = "[{\"type\":\"audio\",\"data\":\"" MCP_WAV "\","
                 "\"mimeType\":\"audio/wav\"}]" },

    { .name = "test_embedded_resource", .input = MCP_NOTHING,
      .content = "[{\"type\":\"resource\",\"resource\":{\"uri\":"
                 "\"test://embedded-resource\",\"mimeType\":\"text/plain\","
                 "\"text\":\"This is an embedded resource content.\"}}]" },

    { .name = "test_multiple_content_types", .input = MCP_NOTHING,
      .content = "[" MCP_SAID("Multiple content types test:") "," MCP_IMAGE
                 ",{\"type\":\"resource\",\"resource\":{\"uri\":"
                 "\"test://mixed-content-resource\",\"mimeType\":"
                 "\"application/json\",\"text\":"
                 "\"{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}\"}}]" },

    { .name = "test_error_handling", .input = MCP_NOTHING, .failed = 1,
      .content = "[" MCP_SAID("This tool intentionally returns an error for "
                              "testing") "]" },

    { .name = "test_streaming_elicitation", .input = MCP_NOTHING,
      .content = "[" MCP_SAID("Nothing was asked.") "]" },

    { .name = "test_logging_tool", .input = MCP_NOTHING,
      .content = "[" MCP_SAID("Nothing was logged.") "]" },

    { .name = "json_schema_2020_12_tool", .input = MCP_DRAFT_INPUT,
      .content = "[" MCP_SAID("ok") "]" },

    { .name = "test_header_param", .input = "{\"type\":\"object\","
          "\"properties\":{\"region\":{\"type\":\"string\","
          "\"x-mcp-header\":\"Region\"}}}",
      .content = "[" MCP_SAID("ok") "]" },

    { .name = "test_missing_capability", .input = MCP_NOTHING,
      .serve = mcp_fixture_sampling },

    { .name = "test_tool_with_progress", .input = MCP_NOTHING,
      .talk = mcp_talk_progress },
    { .name = "test_tool_with_logging", .input = MCP_NOTHING,
      .talk = mcp_talk_logging },
    { .name = "test_sampling", .input = MCP_STRING_INPUT("prompt"),
      .talk = mcp_talk_sampling },
    { .name = "test_elicitation", .input = MCP_STRING_INPUT("message"),
      .talk = mcp_talk_elicitation },
    { .name = "test_elicitation_sep1034_defaults", .input = MCP_NOTHING,
      .talk = mcp_talk_defaults },
    { .name = "test_elicitation_sep1330_enums", .input = MCP_NOTHING,
      .talk = mcp_talk_enums },

    { .name = "test_input_required_result_elicitation",
      .input = MCP_NOTHING, .serve = mcp_fixture_ask },
    { .name = "test_input_required_result_sampling",
      .input = MCP_NOTHING, .serve = mcp_fixture_ask },
    { .name = "test_input_required_result_list_roots",
      .input = MCP_NOTHING, .serve = mcp_fixture_ask },
    { .name = "test_input_required_result_request_state",
      .input = MCP_NOTHING, .serve = mcp_fixture_ask },
    { .name = "test_input_required_result_multiple_inputs",
      .input = MCP_NOTHING, .serve = mcp_fixture_ask },
    { .name = "test_input_required_result_multi_round",
      .input = MCP_NOTHING, .serve = mcp_fixture_ask },
    { .name = "test_input_required_result_tampered_state",
      .input = MCP_NOTHING, .serve = mcp_fixture_ask },
    { .name = "test_input_required_result_capabilities",
      .input = MCP_NOTHING, .serve = mcp_fixture_ask },

    { .name = NULL }
};


const mcp_fixture_t *
mcp_fixture(const mcp_t *m, const char *name)
{
    const mcp_fixture_t  *f;

    for (f = mcp_fixtures; m->fixtures && f->name != NULL; f++) {
        if (strcmp(f->name, name) == 0) {
            return f;
        }
    }

    return NULL;
}


void
mcp_fixture_list(const mcp_t *m, json_object *all)
{
    json_object          *o;
    const mcp_fixture_t  *f;

    for (f = mcp_fixtures; m->fixtures && f->name != NULL; f++) {
        o = json_object_new_object();
        native_add(o, "name", mcp_text(f->name));
        native_add(o, "description", mcp_text("For the conformance suite."));
        native_add(o, "inputSchema", mcp_json(f->input));
        (void) json_object_array_add(all, o);
    }
}


json_object *
mcp_fixture_said(json_object *content, int failed)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "content", content);
    native_add(o, "isError", json_object_new_boolean(failed));

    return o;
}


/* a tool that may not go on without something of its client */

static call_do_t
mcp_fixture_sampling(mcp_t *m)
{
    if (mcp_capable(m, "sampling")) {
        mcp_result(m, mcp_fixture_said(mcp_json("[" MCP_SAID("ok") "]"), 0));

    } else {
        (void) mcp_error(m, m->modern ? 400 : 200, MCP_CAPABILITY,
                         "the client cannot do what this tool needs",
                         mcp_json("{\"requiredCapabilities\":"
                                  "{\"sampling\":{}}}"));
    }

    return CALL_ANSWERED;
}


call_do_t
mcp_fixture_call(mcp_t *m, const mcp_fixture_t *f)
{
    static const char *const  types[] = { "text/event-stream" };

    m->fixture = f;

    if (m->modern && mcp_mirrored(m, f->input) == -1) {
        return CALL_ANSWERED;
    }

    if (f->serve != NULL) {
        return f->serve(m);
    }

    if (f->content != NULL) {
        mcp_result(m, mcp_fixture_said(mcp_json(f->content), f->failed));
        return CALL_ANSWERED;
    }

    if (accept_choose(m->call->req->accept, types, 1) == -1) {
        mcp_result(m, mcp_fixture_said(mcp_json("[" MCP_SAID("It needs a "
                                                             "stream.") "]"),
                                       1));
        return CALL_ANSWERED;
    }

    m->token = mcp_token(m);

    return CALL_TALK;
}
