
/*
 * In retort-front, as its own uid without any capability.  MCP: the fixtures
 * for tasks.  These do run: what the suite wants to wait for is Python.
 */

#include <stdio.h>
#include <string.h>

#include "mcp.h"
#include "native.h"


#define MCP_JOB_TIME  120       /* seconds that one is asked to wait, at most */

#define MCP_JOB_ASK(key)                                                      \
    "\"" key "\":{\"method\":\"elicitation/create\",\"params\":{\"message\":" \
    "\"Go on?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"     \
    "\"confirm\":{\"type\":\"boolean\"}}}}}"


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
    { "filename", JSON_IN_STRING, mcp_job_ignore },
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


/* one that asks is ended by its answers, long before that */

static int
mcp_job_parked(mcp_t *m, err_t *e)
{
    m->step = MCP_JOB_TIME;

    return mcp_job_slow(m, e);
}


static int
mcp_job_failing(mcp_t *m, err_t *e)
{
    return mcp_job_code(m, "raise RuntimeError('It fails.')\n", e);
}


/* one that asks before there is a task: what was said is what it prints */

static int
mcp_job_named(mcp_t *m, err_t *e)
{
    size_t        i;
    char          code[160];
    json_object  *v;

    static const char *const  path[] = {
        "inputResponses", "user_name", "content", "name"
    };

    v = m->params;

    for (i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
        if (!json_object_is_type(v, json_type_object)
            || !json_object_object_get_ex(v, path[i], &v))
        {
            return err_set(e, 400, "input_required", "who are you?");
        }
    }

    (void) snprintf(code, sizeof(code), "print(%.128s)\n",
                    json_object_to_json_string(v));

    return mcp_job_code(m, code, e);
}


static json_object *
mcp_job_asks(mcp_t *m, const err_t *e)
{
    return strcmp(e->code, "input_required") != 0 ? mcp_code_fail(m, e)
           : mcp_json("{\"resultType\":\"input_required\",\"inputRequests\":{"
                      MCP_JOB_ASK("user_name") "}}");
}


/* what is not answered yet is in the run's memo */

void
mcp_fixture_parked(const exec_t *x, json_object *o)
{
    json_object  *memo, *asks;

    memo = mcp_json(x->memo);
    (void) json_object_object_get_ex(memo, "asks", &asks);

    if (json_object_object_length(asks) == 0 && x->state == EXEC_OVER) {
        native_add(o, "status", mcp_text("completed"));
        native_add(o, "result", mcp_json("{\"content\":[{\"type\":\"text\","
                                         "\"text\":\"done\"}],\"isError\":"
                                         "false,\"resultType\":\"complete\"}"));

    } else if (json_object_object_length(asks) != 0
               && x->state != EXEC_OVER)
    {
        native_add(o, "status", mcp_text("input_required"));
        native_add(o, "inputRequests", json_object_get(asks));
    }

    json_object_put(memo);
}


static void
mcp_job_settle(json_object *asks, json_object *said)
{
    json_object_object_foreach(said, key, v) {
        (void) v;
        json_object_object_del(asks, key);
    }
}


void
mcp_fixture_told(mcp_t *m, const exec_t *x)
{
    json_object  *memo, *asks, *said;

    if (!json_object_object_get_ex(m->params, "inputResponses", &said)
        || !json_object_is_type(said, json_type_object))
    {
        return;
    }

    memo = mcp_json(x->memo);
    (void) json_object_object_get_ex(memo, "asks", &asks);

    mcp_job_settle(asks, said);
    m->call->cancel = json_object_object_length(asks) == 0;
    native_line(&m->call->memo, memo);
}


static json_object *
mcp_job_greet(mcp_t *m)
{
    char          text[160];
    const char   *name;
    json_object  *o, *v, *block;

    name = mcp_argument(m, "name");
    (void) snprintf(text, sizeof(text), "Hello, %.128s!",
                    *name != '\0' ? name : "you");
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

    { .name = "confirm_delete", .title = "Asking",
      .description = "A fixture.", .input = "{\"type\":\"object\","
          "\"properties\":{\"filename\":{\"type\":\"string\"}}}",
      .annotations = MCP_READS, .keys = mcp_job_keys, .fixture = 1, .task = 1,
      .asks = "{" MCP_JOB_ASK("confirm") "}", .language = KRN_PYTHON,
      .alone = 1, .ready = mcp_job_parked, .done = mcp_code_done,
      .fail = mcp_code_fail },

    { .name = "multi_input", .title = "Asking twice",
      .description = "A fixture.", .input = "{\"type\":\"object\"}",
      .annotations = MCP_READS, .keys = mcp_job_keys, .fixture = 1, .task = 1,
      .asks = "{" MCP_JOB_ASK("first") "," MCP_JOB_ASK("second") "}",
      .language = KRN_PYTHON, .alone = 1, .ready = mcp_job_parked,
      .done = mcp_code_done, .fail = mcp_code_fail },

    { .name = "test_tool_with_task", .title = "Asking before",
      .description = "A fixture.", .input = "{\"type\":\"object\"}",
      .annotations = MCP_READS, .keys = mcp_job_keys, .fixture = 1, .task = 1,
      .language = KRN_PYTHON, .alone = 1, .ready = mcp_job_named,
      .done = mcp_code_done, .fail = mcp_job_asks },

    { .name = "test_reconnection", .title = "Cut",
      .description = "A fixture.", .input = "{\"type\":\"object\"}",
      .annotations = MCP_READS, .keys = mcp_job_keys, .fixture = 1, .cut = 1,
      .language = KRN_PYTHON, .alone = 1, .ready = mcp_job_slow,
      .done = mcp_code_done, .fail = mcp_code_fail },

    { .name = NULL }
};
