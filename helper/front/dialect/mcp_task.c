
/*
 * In retort-front, as its own uid without any capability.  MCP: the extension
 * for tasks.  A call that may take minutes is answered at once, goes on by
 * itself, and is asked for by the id of its execution.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bounds.h"
#include "../clock.h"
#include "../text.h"
#include "mcp.h"
#include "native.h"


#define MCP_TASKS      MCP_META "tasks"
#define MCP_TASK_TIME  60000    /* msec: what may take longer is one */
#define MCP_TASK_POLL  1000


int
mcp_task_able(const mcp_t *m)
{
    json_object  *v;

    v = mcp_capability(m, "extensions");

    return v != NULL && json_object_is_type(v, json_type_object)
           && json_object_object_get_ex(v, MCP_TASKS, NULL);
}


static int
mcp_task_refuse(mcp_t *m)
{
    return mcp_error(m, 400, MCP_CAPABILITY, "the client does not say that it "
                     "knows tasks",
                     mcp_json("{\"requiredCapabilities\":{\"extensions\":{\""
                              MCP_TASKS "\":{}}}}"));
}


static int
mcp_task_wanted(const mcp_t *m)
{
    if (m->tool->cut) {
        return !m->modern && *m->session != '\0';
    }

    return m->modern && !m->prisme && !m->azure && mcp_task_able(m)
           && (m->tool->task || m->call->job.timeout > MCP_TASK_TIME);
}


call_do_t
mcp_task_wish(mcp_t *m)
{
    if (m->modern && m->tool->task && !mcp_task_able(m)) {
        (void) mcp_task_refuse(m);
        return CALL_ANSWERED;
    }

    if (!mcp_task_wanted(m)) {
        return CALL_RUN;
    }

    m->call->job.detach = 1;
    m->call->stream = 0;
    mcp_memo(m);

    return CALL_TASK;
}


static const char *
mcp_task_status(const exec_t *x)
{
    return x->state != EXEC_OVER ? "working"
           : x->res.verdict == VERDICT_CANCELLED ? "cancelled"
           : x->res.verdict == VERDICT_LOST ? "failed" : "completed";
}


static json_object *
mcp_task(const exec_t *x, const char *type)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "resultType", mcp_text(type));
    native_add(o, "taskId", mcp_text(x->id));
    native_add(o, "status", mcp_text(mcp_task_status(x)));
    native_add(o, "createdAt", native_time(x->begun));
    native_add(o, "lastUpdatedAt", native_time(clock_wall_ms()));
    native_add(o, "ttlMs", native_number(BOUND_EXEC_KEEP));
    native_add(o, "pollIntervalMs", native_number(MCP_TASK_POLL));

    return o;
}


void
mcp_call_task(call_t *c, const exec_t *x)
{
    mcp_t  *m;

    m = c->own;

    if (m->tool->cut) {
        mcp_stream_cut(m, x);

    } else {
        mcp_result(m, mcp_task(x, "task"));
    }
}


static void
mcp_task_none(mcp_t *m)
{
    (void) mcp_error(m, 200, MCP_PARAMS, "no such task", NULL);
}


/* a run is a task if its memo says whose it is */

static const mcp_tool_t *
mcp_task_tool(mcp_t *m, const exec_t *x)
{
    json_object       *memo, *v;
    const mcp_tool_t  *tool;

    memo = x->memo != NULL ? mcp_json(x->memo) : NULL;
    tool = NULL;

    if (memo != NULL && json_object_object_get_ex(memo, "task", NULL)
        && json_object_object_get_ex(memo, "tool", &v))
    {
        tool = mcp_tool(m, json_object_get_string(v));
    }

    json_object_put(memo);

    return tool;
}


static void
mcp_task_show(mcp_t *m, const exec_t *x)
{
    json_object  *o, *result, *error;

    o = mcp_task(x, "complete");

    if (m->tool->asks != NULL) {
        mcp_fixture_parked(x, o);

    } else if (x->state == EXEC_OVER && m->tool->faulty) {
        native_add(o, "status", mcp_text("failed"));
        native_add(o, "error", mcp_json("{\"code\":-32603,\"message\":"
                                        "\"This is a fixture's fault.\"}"));

    } else if (x->state == EXEC_OVER && x->res.verdict == VERDICT_LOST) {
        error = json_object_new_object();
        native_add(error, "code", json_object_new_int(MCP_INTERNAL));
        native_add(error, "message", mcp_text("the service lost the run"));
        native_add(o, "error", error);

    } else if (x->state == EXEC_OVER
               && x->res.verdict != VERDICT_CANCELLED)
    {
        result = m->tool->done(m, x);
        native_add(result, "resultType", mcp_text("complete"));
        native_add(o, "result", result);
    }

    mcp_result(m, o);
}


void
mcp_call_look(call_t *c, const exec_t *x)
{
    mcp_t  *m;

    m = c->own;
    m->tool = mcp_task_tool(m, x);

    if (m->tool == NULL) {
        mcp_task_none(m);

    } else if (strcmp(m->method, "tasks/get") == 0) {
        mcp_task_show(m, x);

    } else {
        c->cancel = strcmp(m->method, "tasks/cancel") == 0;

        if (!c->cancel && m->tool->asks != NULL) {
            mcp_fixture_told(m, x);
        }

        mcp_result(m, json_object_new_object());
    }
}


call_do_t
mcp_task_look(mcp_t *m)
{
    const char  *id;

    if (!mcp_task_able(m)) {
        (void) mcp_task_refuse(m);
        return CALL_ANSWERED;
    }

    id = mcp_param(m, "taskId");

    if (!text_is_id(id, "exec") || strlen(id) >= REQ_EXECUTION) {
        mcp_task_none(m);
        return CALL_ANSWERED;
    }

    (void) snprintf(m->call->key, CALL_KEY, "%s", id);
    m->call->pictures = 1;
    m->failed = mcp_task_none;

    return CALL_LOOK;
}
