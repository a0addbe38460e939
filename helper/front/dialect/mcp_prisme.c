
/*
 * In retort-front, as its own uid without any capability.  MCP: the result of
 * Prisme's execute_python.
 */

#include <stdlib.h>
#include <string.h>

#include "../markdown.h"
#include "mcp.h"
#include "native.h"


/* its value is asked for, to be told at its end */

int
mcp_prisme_ready(mcp_t *m, err_t *e)
{
    job_t  *job;

    static const char  ask[] = "RETORT_VALUE=1";

    job = &m->call->job;

    if (job->code_len == 0) {
        return err_set(e, 400, "bad_value", "\"code\" is missing or empty");
    }

    job->env = malloc(sizeof(ask));

    if (job->env == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    memcpy(job->env, ask, sizeof(ask));
    job->env_len = sizeof(ask);

    return 0;
}


/* what the script says itself, in JSON: {"value": ...} */

static json_object *
mcp_prisme_value(const outputs_t *out)
{
    err_t              e;
    json_object       *o, *v;
    const out_item_t  *item, *last;

    last = NULL;

    for (item = out->first; item != NULL; item = item->next) {
        if (item->data[OUT_VALUE].len != 0) {
            last = item;
        }
    }

    o = last != NULL ? json_in(last->data[OUT_VALUE].data,
                               last->data[OUT_VALUE].len, &e) : NULL;

    if (o == NULL || !json_object_object_get_ex(o, "value", &v)) {
        json_object_put(o);
        return NULL;
    }

    v = json_object_get(v);
    json_object_put(o);

    return v;
}


static json_object *
mcp_prisme_result(const outputs_t *out)
{
    json_object       *v;
    const out_item_t  *item;

    for (item = out->first; item != NULL; item = item->next) {
        if (item->type == OUT_STDOUT && item->text.len != 0) {
            return native_stream(out, OUT_STDOUT);
        }
    }

    v = mcp_prisme_value(out);

    if (v != NULL) {
        return v;
    }

    item = outputs_last(out, OUT_RESULT);

    return item != NULL ? native_bytes(item->text.data, item->text.len) : NULL;
}


/* what went to stderr, line by line */

static json_object *
mcp_prisme_logs(const outputs_t *out)
{
    char         *end;
    size_t        at, n;
    buf_t         all;
    json_object  *logs;

    memset(&all, 0, sizeof(all));
    outputs_join(out, OUT_STDERR, &all);
    logs = json_object_new_array();

    for (at = 0; at < all.len; at += n + 1) {
        end = memchr(all.data + at, '\n', all.len - at);
        n = end != NULL ? (size_t) (end - (all.data + at)) : all.len - at;
        (void) json_object_array_add(logs, native_bytes(all.data + at, n));
    }

    buf_free(&all);

    return logs;
}


static json_object *
mcp_prisme_fault(json_object *code, json_object *message, json_object *stack)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "code", code);
    native_add(o, "message", message);
    native_add(o, "stack", stack);

    return o;
}


static json_object *
mcp_prisme_error(const result_t *res)
{
    buf_t              message, stack;
    json_object       *o;
    const out_item_t  *item;

    item = outputs_last(&res->out, OUT_ERROR);

    if (item == NULL) {
        return mcp_prisme_fault(mcp_text(verdict_text(res->verdict)),
                                mcp_text(verdict_text(res->verdict)),
                                mcp_text(""));
    }

    memset(&message, 0, sizeof(message));
    memset(&stack, 0, sizeof(stack));

    outputs_error_line(&message, item);
    markdown_no_ansi(&stack, item->traceback.data, item->traceback.len);

    o = mcp_prisme_fault(native_bytes(item->name.data, item->name.len),
                         native_bytes(message.data, message.len),
                         native_bytes(stack.data, stack.len));
    buf_free(&message);
    buf_free(&stack);

    return o;
}


json_object *
mcp_prisme_done(mcp_t *m, const exec_t *x)
{
    json_object  *o;

    (void) m;

    o = json_object_new_object();
    native_add(o, "result", mcp_prisme_result(&x->res.out));
    native_add(o, "logs", mcp_prisme_logs(&x->res.out));

    if (x->res.verdict != VERDICT_OK) {
        native_add(o, "error", mcp_prisme_error(&x->res));
    }

    return mcp_twins(o, x->res.verdict != VERDICT_OK);
}


/* what is not the script's own fault is not to be tried again at once */

static int
mcp_prisme_away(const err_t *e)
{
    return e->status == 429 || e->status >= 500;
}


json_object *
mcp_prisme_fail(mcp_t *m, const err_t *e)
{
    const char   *code;
    json_object  *o;

    (void) m;

    code = mcp_prisme_away(e) ? "CodeSandboxUnreachable"
           : strcmp(e->code, "file_not_fetched") == 0 ? "FileDownloadError"
           : e->code;

    o = json_object_new_object();
    native_add(o, "result", NULL);
    native_add(o, "logs", json_object_new_array());
    native_add(o, "error", mcp_prisme_fault(mcp_text(code), mcp_text(e->text),
                                            mcp_text("")));

    return mcp_twins(o, 1);
}


/*
 * Of a message that was not read: a result, too, if it is a fault of ours, as
 * the worker writes it.  Nobody knows the id, so clients are told by HTTP.
 */

void
mcp_prisme_refuse(const err_t *e, answer_t *a)
{
    json_object  *o;

    if (!mcp_prisme_away(e)) {
        mcp_fail(e, a);
        return;
    }

    o = json_object_new_object();
    native_add(o, "jsonrpc", mcp_text("2.0"));
    native_add(o, "id", NULL);
    native_add(o, "result", mcp_prisme_fail(NULL, e));
    mcp_write(a, o, e->status);
    a->retry_after = e->retry_after;
}
