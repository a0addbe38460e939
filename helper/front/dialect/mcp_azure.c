
/*
 * In retort-front, as its own uid without any capability.  MCP: the tools of
 * Azure's dynamic sessions.  An environment is a session by its client's name
 * for it, and is made when something first runs in it.
 */

#include <stdio.h>
#include <string.h>

#include "../box_id.h"
#include "azure.h"
#include "mcp.h"
#include "native.h"


#define MCP_AZURE_LAUNCHED                                                    \
    "{\"type\":\"object\",\"properties\":{\"environmentId\":{\"type\":"       \
    "\"string\"}},\"required\":[\"environmentId\"]}"

#define MCP_AZURE_INPUT(what)                                                 \
    "{\"type\":\"object\",\"properties\":{\"environmentId\":{\"type\":"       \
    "\"string\",\"description\":\"The environment, as launchShell has "       \
    "named it.\"}," what ",\"timeoutInSeconds\":{\"type\":\"integer\","       \
    "\"minimum\":1,\"description\":\"Seconds that it may run.\"}},"

#define MCP_AZURE_OUTPUT                                                      \
    "{\"type\":\"object\",\"properties\":{\"stdout\":{\"type\":\"string\"},"  \
    "\"stderr\":{\"type\":\"string\"},\"exitCode\":{\"type\":\"integer\"},"   \
    "\"executionResult\":{},\"executionTimeInMilliseconds\":{\"type\":"       \
    "\"integer\"},\"status\":{\"type\":\"string\"}},\"required\":"            \
    "[\"stdout\",\"stderr\",\"exitCode\"]}"


static json_object *
mcp_azure_launch(mcp_t *m)
{
    char          id[BOX_ID_ENVIRONMENT];
    json_object  *o;

    if (box_id_environment(id, m->call->req->workspace) == -1) {
        return NULL;
    }

    o = json_object_new_object();
    native_add(o, "environmentId", mcp_text(id));

    return mcp_twins(o, 0);
}


/* a location may take only names that we have given */

static int
mcp_azure_environment(void *to, json_object *v, err_t *e)
{
    job_t       *job;
    mcp_t       *m;
    const char  *id;

    m = to;
    job = &m->call->job;
    id = json_object_get_string(v);

    if (request_param(m->call->req->params, "RETORT_STRICT") != NULL
        && !box_id_environment_ours(id, m->call->req->workspace))
    {
        return err_set(e, 404, "environment_not_found",
                       "Environment not found: %.128s", id);
    }

    if (azure_identifier(id, e) == -1) {
        return -1;
    }

    (void) snprintf(job->session, sizeof(job->session), "%.*s",
                    JOB_SESSION - 1, id);

    return 0;
}


static int
mcp_azure_seconds(void *to, json_object *v, err_t *e)
{
    mcp_t  *m;

    m = to;

    m->timed = 1;

    return azure_seconds(m->call->req, json_object_get_int64(v),
                         &m->call->job.timeout, e);
}


static int
mcp_azure_once(const job_t *job, err_t *e)
{
    return job->code == NULL ? 0
           : err_set(e, 400, "bad_value", "exactly one of \"shellCommand\" "
                     "and \"execCommandAndArgs\" is needed");
}


static int
mcp_azure_code(void *to, json_object *v, err_t *e)
{
    job_t  *job;

    job = &((mcp_t *) to)->call->job;

    if (mcp_azure_once(job, e) == -1) {
        return -1;
    }

    job->code = json_in_copy(v, &job->code_len, e);

    return job->code != NULL ? 0 : -1;
}


static int
mcp_azure_args(void *to, json_object *v, err_t *e)
{
    int     rc;
    buf_t   line;
    job_t  *job;

    job = &((mcp_t *) to)->call->job;

    if (mcp_azure_once(job, e) == -1) {
        return -1;
    }

    memset(&line, 0, sizeof(line));
    rc = azure_words(v, &line, e);

    if (rc == -1 || buf_add(&line, "", 1) == -1) {
        buf_free(&line);
        return rc == -1 ? -1 : err_set(e, 500, "no_memory", "out of memory");
    }

    job->code = line.data;
    job->code_len = line.len - 1;

    return 0;
}


static const json_in_key_t  mcp_azure_none[] = {
    { NULL, JSON_IN_STRING, NULL }
};


static const json_in_key_t  mcp_azure_python[] = {
    { "environmentId", JSON_IN_STRING, mcp_azure_environment },
    { "pythonCode", JSON_IN_STRING, mcp_azure_code },
    { "timeoutInSeconds", JSON_IN_WHOLE, mcp_azure_seconds },
    { "timeoutSeconds", JSON_IN_WHOLE, mcp_azure_seconds },
    { NULL, JSON_IN_STRING, NULL }
};


static const json_in_key_t  mcp_azure_shell[] = {
    { "environmentId", JSON_IN_STRING, mcp_azure_environment },
    { "shellCommand", JSON_IN_STRING, mcp_azure_code },
    { "execCommandAndArgs", JSON_IN_ARRAY, mcp_azure_args },
    { "timeoutInSeconds", JSON_IN_WHOLE, mcp_azure_seconds },
    { "timeoutSeconds", JSON_IN_WHOLE, mcp_azure_seconds },
    { NULL, JSON_IN_STRING, NULL }
};


static int
mcp_azure_ready(mcp_t *m, err_t *e)
{
    int     rc;
    job_t  *job;

    job = &m->call->job;

    if (job->session[0] == '\0') {
        return err_set(e, 400, "bad_value", "\"environmentId\" is missing");
    }

    if (job->code_len == 0) {
        return err_set(e, 400, "bad_value", "%s is missing or empty",
                       job->language == KRN_PYTHON ? "\"pythonCode\""
                       : "one of \"shellCommand\" and "
                         "\"execCommandAndArgs\"");
    }

    rc = 0;
    job->note = AZURE_STREAM;

    if (!m->timed) {
        rc = azure_seconds(m->call->req, AZURE_TIME / 1000, &job->timeout, e);
    }

    return rc;
}


static json_object *
mcp_azure_done(mcp_t *m, const exec_t *x)
{
    int               ended;
    json_object      *o, *value, *bytes, *result;
    const result_t   *res;

    res = &x->res;
    ended = res->verdict != VERDICT_OK && res->verdict != VERDICT_ERROR;
    value = azure_value(res, m->call->pics, m->call->npics);

    o = json_object_new_object();
    native_add(o, "stdout", azure_stdout(res, x->note));
    native_add(o, "stderr", azure_stderr(res, x->note));
    native_add(o, "exitCode", json_object_new_int(azure_exit(res)));
    native_add(o, "executionResult", value);
    native_add(o, "executionTimeInMilliseconds",
               native_number(res->wall_us / 1000));
    native_add(o, "status", mcp_text(azure_status(x)));

    /* a model sees the picture by itself, and not as letters in a text */
    bytes = NULL;

    if (json_object_object_get_ex(value, "base64_data", &bytes)) {
        bytes = json_object_get(bytes);
        json_object_object_del(value, "base64_data");
    }

    result = mcp_twins(o, ended);

    if (bytes != NULL) {
        native_add(value, "base64_data", bytes);
    }

    return mcp_pictures(m, result);
}


static json_object *
mcp_azure_fail(mcp_t *m, const err_t *e)
{
    int           status;
    char          text[256];
    json_object  *o;

    (void) m;

    (void) snprintf(text, sizeof(text), "%s: %s", azure_code(e, &status),
                    e->text);
    o = json_object_new_object();
    native_add(o, "stdout", mcp_text(""));
    native_add(o, "stderr", mcp_text(text));
    native_add(o, "exitCode", json_object_new_int(-1));
    native_add(o, "executionResult", NULL);
    native_add(o, "executionTimeInMilliseconds", json_object_new_int(0));
    native_add(o, "status", mcp_text("Failed"));

    return mcp_twins(o, 1);
}


const mcp_tool_t  mcp_azure_tools[] = {

    { .name = "launchShell", .title = "Launch shell",
      .description = "Names a new environment for shell commands and Python "
          "code. It is made when something first runs in it, and ends when "
          "nothing has for some time.",
      .input = "{\"type\":\"object\",\"properties\":{}}",
      .output = MCP_AZURE_LAUNCHED, .annotations = MCP_HINTS,
      .keys = mcp_azure_none, .now = mcp_azure_launch,
      .fail = mcp_azure_fail, .rpc = 1 },

    { .name = "launchPythonEnvironment", .as = "launchShell",
      .keys = mcp_azure_none, .now = mcp_azure_launch,
      .fail = mcp_azure_fail, .rpc = 1 },

    { .name = "runPythonCodeInRemoteEnvironment", .title = "Run Python code",
      .description = "Runs Python code in an environment without network. "
          "Variables, and files in /mnt/data, stay.",
      .input = MCP_AZURE_INPUT("\"pythonCode\":{\"type\":\"string\"}")
          "\"required\":[\"environmentId\",\"pythonCode\"]}",
      .output = MCP_AZURE_OUTPUT, .annotations = MCP_HINTS,
      .keys = mcp_azure_python, .language = KRN_PYTHON,
      .ready = mcp_azure_ready, .done = mcp_azure_done,
      .fail = mcp_azure_fail, .rpc = 1 },

    { .name = "runShellCommandInRemoteEnvironment",
      .title = "Run shell command",
      .description = "Runs a command in an environment without network: a "
          "line for bash, or a program with its arguments. Files in "
          "/mnt/data stay.",
      .input = MCP_AZURE_INPUT("\"shellCommand\":{\"type\":\"string\"},"
          "\"execCommandAndArgs\":{\"type\":\"array\",\"items\":{\"type\":"
          "\"string\"}}")
          "\"required\":[\"environmentId\"]}",
      .output = MCP_AZURE_OUTPUT, .annotations = MCP_HINTS,
      .keys = mcp_azure_shell, .language = KRN_BASH,
      .ready = mcp_azure_ready, .done = mcp_azure_done,
      .fail = mcp_azure_fail, .rpc = 1 },

    { .name = NULL }
};
