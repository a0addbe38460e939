
/*
 * In retort-front, as its own uid without any capability.  MCP: Anthropic's
 * tools.  What they take and give is as in their own API; the sandbox goes on
 * by the name that every tool here has for it.
 */

#include <string.h>

#include "anthropic.h"
#include "editor.h"
#include "mcp.h"
#include "native.h"


#define MCP_OF_BOX                                                            \
    "\"sandbox_id\":{\"type\":\"string\",\"description\":"                    \
    "\"Sandbox of an earlier result, to go on in it.\"}"

#define MCP_BLOCK                                                             \
    "{\"type\":\"object\",\"properties\":{\"type\":{\"type\":\"string\"},"    \
    "\"sandbox_id\":{\"type\":[\"string\",\"null\"]}},"                       \
    "\"required\":[\"type\",\"sandbox_id\"]}"

#define MCP_STRING(name)  "\"" name "\":{\"type\":\"string\"}"


/* the editor reads its input as a whole */

static int
mcp_block_later(void *to, json_object *v, err_t *e)
{
    (void) to;
    (void) v;
    (void) e;

    return 0;
}


static const json_in_key_t  mcp_keys_python[] = {
    { "code", JSON_IN_STRING, mcp_arg_code },
    { "sandbox_id", JSON_IN_STRING, mcp_arg_sandbox },
    { NULL, JSON_IN_STRING, NULL }
};


static const json_in_key_t  mcp_keys_command[] = {
    { "command", JSON_IN_STRING, mcp_arg_code },
    { "sandbox_id", JSON_IN_STRING, mcp_arg_sandbox },
    { NULL, JSON_IN_STRING, NULL }
};


static const json_in_key_t  mcp_keys_editor[] = {
    { "command", JSON_IN_STRING, mcp_block_later },
    { "path", JSON_IN_STRING, mcp_block_later },
    { "file_text", JSON_IN_STRING, mcp_block_later },
    { "old_str", JSON_IN_STRING, mcp_block_later },
    { "new_str", JSON_IN_STRING, mcp_block_later },
    { "view_range", JSON_IN_ARRAY, mcp_block_later },
    { "sandbox_id", JSON_IN_STRING, mcp_arg_sandbox },
    { NULL, JSON_IN_STRING, NULL }
};


static int
mcp_block_ready(mcp_t *m, err_t *e)
{
    job_t  *job;

    job = &m->call->job;
    job->shelve = 1;

    return job->code_len != 0 ? 0
           : err_set(e, 400, "bad_value", "\"%s\" is missing or empty",
                     job->language == KRN_BASH ? "command" : "code");
}


static int
mcp_editor_ready(mcp_t *m, err_t *e)
{
    json_object  *args;

    if (!json_object_object_get_ex(m->params, "arguments", &args)) {
        return err_set(e, 400, "bad_value", "\"command\" is missing");
    }

    return editor_job(args, &m->call->job, e);
}


static anthropic_tool_t
mcp_block_tool(const mcp_t *m)
{
    return m->tool->ready == mcp_editor_ready ? ANTHROPIC_EDITOR
           : m->tool->language == KRN_BASH ? ANTHROPIC_BASH
           : ANTHROPIC_PYTHON;
}


static json_object *
mcp_block_done(mcp_t *m, const exec_t *x)
{
    json_object  *o;

    o = anthropic_content(mcp_block_tool(m), x, NULL);
    native_add(o, "sandbox_id", x->res.sandbox[0] != '\0'
                                ? mcp_text(x->res.sandbox) : NULL);

    return mcp_pictures(m, mcp_twins(o, x->res.verdict != VERDICT_OK
                                     || json_object_object_get_ex(
                                            o, "error_code", NULL)));
}


static json_object *
mcp_block_fail(mcp_t *m, const err_t *e)
{
    json_object  *o;

    o = anthropic_content(mcp_block_tool(m), NULL, e);
    native_add(o, "sandbox_id", NULL);
    native_add(o, "message", mcp_text(e->text));

    return mcp_twins(o, 1);
}


const mcp_tool_t  mcp_anthropic_tools[] = {

    { .name = "code_execution", .title = "Code execution",
      .description = "Runs Python in a sandbox without network. Variables and "
          "files stay: give the sandbox_id of the result to go on.",
      .input = "{\"type\":\"object\",\"properties\":{" MCP_STRING("code") ","
          MCP_OF_BOX "},\"required\":[\"code\"],"
          "\"additionalProperties\":false}",
      .output = MCP_BLOCK, .annotations = MCP_HINTS, .keys = mcp_keys_python,
      .language = KRN_PYTHON, .handle = 1, .ready = mcp_block_ready,
      .done = mcp_block_done, .fail = mcp_block_fail },

    { .name = "bash_code_execution", .title = "Bash",
      .description = "Runs a bash command in a sandbox without network. Files "
          "stay. What it leaves in $OUTPUT_DIR can be had by a file_id.",
      .input = "{\"type\":\"object\",\"properties\":{" MCP_STRING("command")
          "," MCP_OF_BOX "},\"required\":[\"command\"],"
          "\"additionalProperties\":false}",
      .output = MCP_BLOCK, .annotations = MCP_HINTS, .keys = mcp_keys_command,
      .language = KRN_BASH, .handle = 1, .ready = mcp_block_ready,
      .done = mcp_block_done, .fail = mcp_block_fail },

    { .name = "text_editor_code_execution", .title = "Text editor",
      .description = "Views, creates and changes files of a sandbox.",
      .input = "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":"
          "\"string\",\"enum\":[\"view\",\"create\",\"str_replace\"]},"
          MCP_STRING("path") "," MCP_STRING("file_text") ","
          MCP_STRING("old_str") "," MCP_STRING("new_str") ","
          "\"view_range\":{\"type\":\"array\",\"items\":{\"type\":"
          "\"integer\"}}," MCP_OF_BOX "},\"required\":[\"command\","
          "\"path\"],\"additionalProperties\":false}",
      .output = MCP_BLOCK, .annotations = MCP_HINTS, .keys = mcp_keys_editor,
      .language = KRN_BASH, .handle = 1, .ready = mcp_editor_ready,
      .done = mcp_block_done, .fail = mcp_block_fail },

    { .name = NULL }
};
