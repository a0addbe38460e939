
/*
 * In retort-front, as its own uid without any capability.  MCP: the fixtures
 * for tasks.  These do run: what the suite wants to wait for is Python.
 */

#include <stdio.h>
#include <string.h>

#include "mcp.h"
#include "native.h"


#define MCP_JOB_TIME  120       /* seconds that one is asked to wait, at most */


static int
mcp_job_ignore(void *to, json_object *v, err_t *e)
{
    (void) to;
    (void) v;
    (void) e;

    return 0;
}


static int
mcp_job_seconds(void *to, json_object *v, err_t *e)
{
    int64_t  n;

    n = json_object_get_int64(v);

    if (n < 0 || n > MCP_JOB_TIME) {
        return err_set(e, 400, "bad_value", "\"seconds\" is out of range");
    }

    ((mcp_t *) to)->step = (int) n;

    return 0;
}


static const json_in_key_t  mcp_job_keys[] = {
    { "seconds", JSON_IN_WHOLE, mcp_job_seconds },
    { "label", JSON_IN_STRING, mcp_job_ignore },
    { "name", JSON_IN_STRING, mcp_job_ignore },
    { NULL, JSON_IN_STRING, NULL }
};


static int
mcp_job_code(mcp_t *m, const char *code, err_t *e)
{
    job_t  *job;

    job = &m->call->job;
    job->code = strdup(code);
    job->code_len = strlen(code);
    job->timeout = m->call->req->run_max.timeout;

    return job->code != NULL ? 0
           : err_set(e, 500, "no_memory", "out of memory");
}


static int
mcp_job_slow(mcp_t *m, err_t *e)
{
    char  code[80];

    (void) snprintf(code, sizeof(code), "import time\ntime.sleep(%d)\n"
                    "print('done')\n", m->step);

    return mcp_job_code(m, code, e);
}


static int
mcp_job_failing(mcp_t *m, err_t *e)
{
    return mcp_job_code(m, "raise RuntimeError('It fails.')\n", e);
}


static json_object *
mcp_job_greet(mcp_t *m)
{
    char          text[160];
    json_object  *o, *v, *block;

    if (!json_object_object_get_ex(m->params, "arguments", &v)
        || !json_object_object_get_ex(v, "name", &v))
    {
        v = NULL;
    }

    (void) snprintf(text, sizeof(text), "Hello, %.128s!",
                    v != NULL ? json_object_get_string(v) : "you");
    block = mcp_json("{\"type\":\"text\"}");
    native_add(block, "text", mcp_text(text));
    o = mcp_json("{\"content\":[],\"isError\":false}");
    (void) json_object_object_get_ex(o, "content", &v);
    (void) json_object_array_add(v, block);

    return o;
}


const mcp_tool_t  mcp_fixture_tools[] = {

    { .name = "greet", .title = "Greet", .description = "A fixture.",
      .input = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":"
          "\"string\"}}}",
      .annotations = MCP_READS, .keys = mcp_job_keys, .fixture = 1,
      .now = mcp_job_greet, .fail = mcp_code_fail },

    { .name = "slow_compute", .title = "Slow", .description = "A fixture.",
      .input = "{\"type\":\"object\",\"properties\":{\"seconds\":{\"type\":"
          "\"integer\"},\"label\":{\"type\":\"string\"}}}",
      .annotations = MCP_READS, .keys = mcp_job_keys, .fixture = 1,
      .language = KRN_PYTHON, .alone = 1, .ready = mcp_job_slow,
      .done = mcp_code_done, .fail = mcp_code_fail },

    { .name = "failing_job", .title = "Failing", .description = "A fixture.",
      .input = "{\"type\":\"object\"}",
      .annotations = MCP_READS, .keys = mcp_job_keys, .fixture = 1, .task = 1,
      .language = KRN_PYTHON, .alone = 1, .ready = mcp_job_failing,
      .done = mcp_code_done, .fail = mcp_code_fail },

    { .name = "protocol_error_job", .title = "Faulty",
      .description = "A fixture.", .input = "{\"type\":\"object\"}",
      .annotations = MCP_READS, .keys = mcp_job_keys, .fixture = 1, .task = 1,
      .faulty = 1, .language = KRN_PYTHON, .alone = 1,
      .ready = mcp_job_failing, .done = mcp_code_done,
      .fail = mcp_code_fail },

    { .name = NULL }
};
