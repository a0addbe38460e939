
/*
 * In retort-front, as its own uid without any capability.  MCP: the table of
 * tools, and which of them a location offers.
 */

#include <string.h>

#include "mcp.h"
#include "native.h"


#define MCP_CODE(what)                                                        \
    "\"code\":{\"type\":\"string\",\"description\":\"" what "\"}"

#define MCP_SESSION_INPUT(what)                                               \
    "{\"type\":\"object\",\"properties\":{" MCP_CODE(what) ","                \
    "\"sandbox_id\":{\"type\":\"string\",\"description\":"                    \
    "\"Sandbox of an earlier result, to go on in it.\"},"                     \
    "\"timeout\":{\"type\":\"number\",\"exclusiveMinimum\":0,"                \
    "\"description\":\"Seconds that it may run.\"}},"                         \
    "\"required\":[\"code\"],\"additionalProperties\":false}"

#define MCP_SESSION_OUTPUT(more)                                              \
    "{\"type\":\"object\",\"properties\":{"                                   \
    "\"sandbox_id\":{\"type\":[\"string\",\"null\"]},"                        \
    "\"status\":{\"type\":\"string\"},\"state\":{\"type\":\"string\"},"       \
    "\"stdout\":{\"type\":\"string\"},\"stderr\":{\"type\":\"string\"},"      \
    more                                                                      \
    "\"error\":{\"type\":[\"object\",\"null\"]},"                             \
    "\"artifacts\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"     \
    "\"expires_at\":{\"type\":[\"string\",\"null\"]}},"                       \
    "\"required\":[\"sandbox_id\",\"status\",\"stdout\",\"stderr\","          \
    "\"error\"]}"


static const mcp_tool_t  mcp_table[] = {

    { .name = "python", .title = "Python",
      .description = "Runs Python in a sandbox without network. Variables and "
          "files stay: give the sandbox_id of the result to go on. The value "
          "of the last expression is the result, figures are shown.",
      .input = MCP_SESSION_INPUT("Python code."),
      .output = MCP_SESSION_OUTPUT("\"result\":{\"type\":[\"string\","
                                   "\"null\"]},"),
      .annotations = MCP_HINTS, .keys = mcp_keys_session,
      .language = KRN_PYTHON, .handle = 1,
      .done = mcp_run_done, .fail = mcp_run_fail },

    { .name = "bash", .title = "Bash",
      .description = "Runs a bash script in a sandbox without network. Files "
          "stay: give the sandbox_id of the result to go on.",
      .input = MCP_SESSION_INPUT("A bash script."),
      .output = MCP_SESSION_OUTPUT("\"exit_code\":{\"type\":\"integer\"},"),
      .annotations = MCP_HINTS, .keys = mcp_keys_session,
      .language = KRN_BASH, .handle = 1,
      .done = mcp_run_done, .fail = mcp_run_fail },

    { .name = "execute_python", .title = "Execute Python",
      .description = "Runs a whole Python script without network. Nothing "
          "stays. The result is what it prints, or the value of its last "
          "expression.",
      .input = "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":"
          "\"string\"},\"files\":{\"type\":\"array\",\"items\":{\"type\":"
          "\"string\"}}},\"required\":[\"code\"]}",
      .output = "{\"type\":\"object\",\"properties\":{\"result\":{},"
          "\"logs\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
          "\"error\":{\"type\":\"object\",\"properties\":{\"code\":{\"type\":"
          "\"string\"},\"message\":{\"type\":\"string\"},\"stack\":{\"type\":"
          "\"string\"}},\"required\":[\"code\",\"message\",\"stack\"]}},"
          "\"required\":[\"result\",\"logs\"]}",
      .annotations = MCP_HINTS, .keys = mcp_keys_prisme,
      .language = KRN_PYTHON, .alone = 1, .ready = mcp_prisme_ready,
      .done = mcp_prisme_done, .fail = mcp_prisme_fail },

    { .name = "code_interpreter", .title = "Code interpreter",
      .description = "Python code sandbox, which can be used to execute Python "
          "code.",
      .input = "{\"type\":\"object\",\"properties\":{\"code\":{\"description\":"
          "\"The python code.\",\"type\":\"string\"}},\"required\":"
          "[\"code\"]}",
      .annotations = MCP_HINTS, .keys = mcp_keys_code,
      .language = KRN_PYTHON,
      .done = mcp_code_done, .fail = mcp_code_fail },

    { .name = NULL }
};


static const mcp_tool_t *const  mcp_tables[] = {
    mcp_table, mcp_files_tools, mcp_anthropic_tools, mcp_azure_tools,
    mcp_fixture_tools
};

#define MCP_TABLES  (sizeof(mcp_tables) / sizeof(mcp_tables[0]))


/* RETORT_TOOLS has the names with blanks between them; Prisme's is one alone */

static int
mcp_offered(const mcp_t *m, const char *name)
{
    size_t       n;
    const char  *list;

    list = m->prisme ? "execute_python"
           : request_param(m->call->req->params, "RETORT_TOOLS");

    if (list == NULL) {
        list = m->azure ? "launchShell runPythonCodeInRemoteEnvironment "
                          "runShellCommandInRemoteEnvironment"
               : "python bash";
    }

    for ( /* void */ ; *list != '\0'; list += n + strspn(list + n, " ")) {
        n = strcspn(list, " ");

        if (n == strlen(name) && memcmp(list, name, n) == 0) {
            return 1;
        }
    }

    return 0;
}


static int
mcp_has_tool(const mcp_t *m, const mcp_tool_t *t)
{
    return t->fixture ? m->fixtures
                      : mcp_offered(m, t->as != NULL ? t->as : t->name);
}


const mcp_tool_t *
mcp_tool(const mcp_t *m, const char *name)
{
    size_t             i;
    const mcp_tool_t  *t;

    for (i = 0; i < MCP_TABLES; i++) {
        for (t = mcp_tables[i]; t->name != NULL; t++) {
            if (strcmp(t->name, name) == 0) {
                return mcp_has_tool(m, t) ? t : NULL;
            }
        }
    }

    return NULL;
}


static json_object *
mcp_described(const mcp_tool_t *t)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "name", mcp_text(t->name));
    native_add(o, "title", mcp_text(t->title));
    native_add(o, "description", mcp_text(t->description));
    native_add(o, "inputSchema", mcp_json(t->input));

    if (t->output != NULL) {
        native_add(o, "outputSchema", mcp_json(t->output));
    }

    native_add(o, "annotations", mcp_json(t->annotations));

    return o;
}


json_object *
mcp_tools(const mcp_t *m)
{
    size_t             i;
    json_object       *all;
    const mcp_tool_t  *t;

    all = json_object_new_array();

    for (i = 0; i < MCP_TABLES; i++) {
        for (t = mcp_tables[i]; t->name != NULL; t++) {
            if (t->as == NULL && mcp_has_tool(m, t)) {
                (void) json_object_array_add(all, mcp_described(t));
            }
        }
    }

    return all;
}
