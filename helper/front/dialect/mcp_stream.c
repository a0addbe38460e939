
/*
 * In retort-front, as its own uid without any capability.  MCP: answers as
 * streams of events.  Lines of the code's stdout are progress, the result is
 * the last message.  In a session events have ids, from which a stream that
 * was cut goes on; a memo says whose answer it is.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../accept.h"
#include "../bounds.h"
#include "../clock.h"
#include "../text.h"
#include "mcp.h"
#include "native.h"


#define MCP_RETRY  "1000"       /* msec */


/* the client's name for its progress; what is none is left alone */

json_object *
mcp_token(const mcp_t *m)
{
    json_object  *v;

    if (m->meta == NULL
        || !json_object_object_get_ex(m->meta, "progressToken", &v)
        || !mcp_is_id(v))
    {
        return NULL;
    }

    return v;
}


/* what a later request about this run has to know */

void
mcp_memo(mcp_t *m)
{
    json_object  *memo;

    memo = json_object_new_object();
    native_add(memo, "id", json_object_get(m->id));
    native_add(memo, "token", json_object_get(m->token));
    native_add(memo, "tool", mcp_text(m->tool->name));
    native_add(memo, "version", mcp_text(m->version));

    if (m->call->job.detach) {
        native_add(memo, "task", json_object_new_boolean(1));
    }

    if (m->tool->asks != NULL) {
        native_add(memo, "asks", mcp_json(m->tool->asks));
    }

    m->call->memo.len = 0;
    native_line(&m->call->memo, memo);
}


void
mcp_stream_wish(mcp_t *m)
{
    static const char *const  types[] = { "text/event-stream" };

    m->token = mcp_token(m);

    if (m->prisme || m->token == NULL
        || accept_choose(m->call->req->accept, types, 1) == -1)
    {
        return;
    }

    m->call->stream = 1;

    if (*m->session != '\0') {
        mcp_memo(m);
    }
}


/* a worker whose front is gone cuts it off: who has ids may come back */

int
mcp_stream_head(int form, answer_t *a)
{
    (void) form;

    a->type = "text/event-stream";
    (void) buf_puts(&a->lines, "Cache-Control: no-store\r\n"
                               "X-Accel-Buffering: no\r\n");

    return 1;
}


/* who may come back has to know from where */

static void
mcp_prime(const exec_t *x, uint64_t id, buf_t *to)
{
    (void) buf_printf(to, "id: %s.%" PRIu64 "\nretry: " MCP_RETRY
                      "\ndata: \n\n", x->id, id);
}


void
mcp_stream_cut(mcp_t *m, const exec_t *x)
{
    (void) mcp_stream_head(0, m->call->a);
    m->call->a->status = 200;
    mcp_prime(x, 1, &m->call->a->body);
}


/* frees "o" */

static void
mcp_event(const mcp_t *m, const exec_t *x, uint64_t id, json_object *o,
    buf_t *to)
{
    if (m->call->lasting && id != 0) {
        (void) buf_printf(to, "id: %s.%" PRIu64 "\n", x->id, id);
    }

    (void) buf_puts(to, "event: message\ndata: ");
    native_line(to, o);
    (void) buf_puts(to, "\n");
}


/* milliseconds since the run began: they grow over all cuts of the stream */

static void
mcp_progress(mcp_t *m, const exec_t *x, uint64_t id, json_object *text,
    buf_t *to)
{
    uint64_t      now;
    json_object  *o, *params;

    now = clock_wall_ms();
    now = now > x->begun ? now - x->begun : 0;
    m->progress = now > m->progress ? now : m->progress + 1;

    params = json_object_new_object();
    native_add(params, "progressToken", json_object_get(m->token));
    native_add(params, "progress", native_number(m->progress));

    if (text != NULL) {
        native_add(params, "message", text);
    }

    o = json_object_new_object();
    native_add(o, "jsonrpc", mcp_text("2.0"));
    native_add(o, "method", mcp_text("notifications/progress"));
    native_add(o, "params", params);
    mcp_event(m, x, id, o, to);
}


static void
mcp_line(mcp_t *m, const exec_t *x, uint64_t id, buf_t *to)
{
    if (m->line.len != 0) {
        mcp_progress(m, x, id, native_bytes(m->line.data, m->line.len), to);
        m->line.len = 0;
    }
}


/* what has no end yet waits for it: ids stand at ends of lines alone */

static void
mcp_lines(mcp_t *m, const exec_t *x, const event_t *ev, buf_t *to)
{
    size_t       n;
    const char  *p, *end;

    end = ev->text + ev->len;

    for (p = ev->text; p < end; p += n + 1) {
        n = 0;

        while (p + n < end && p[n] != '\n' && p[n] != '\r') {
            n++;
        }

        (void) buf_add(&m->line, p, n);

        if (p + n < end || m->line.len >= BOUND_PIECE) {
            mcp_line(m, x, ev->id - (uint64_t) (end - p - (p + n < end))
                           + n, to);
        }
    }
}


/* one that was cancelled by a message is not answered */

static void
mcp_last(mcp_t *m, const exec_t *x, const event_t *ev, buf_t *to)
{
    if (m->call->lasting && x->res.verdict == VERDICT_CANCELLED) {
        return;
    }

    mcp_line(m, x, 0, to);

    mcp_event(m, x, ev->id, mcp_message(m, m->tool->done(m, x)), to);
}


void
mcp_call_event(call_t *c, const exec_t *x, const event_t *ev, buf_t *to)
{
    mcp_t  *m;

    m = c->own;

    switch (ev->type) {

    case EVENT_BEGIN:
        if (c->lasting && strcmp(m->version, MCP_NEWEST) == 0) {
            mcp_prime(x, ev->id, to);
        }

        break;

    case EVENT_TEXT:
        if (ev->item->type == OUT_STDOUT) {
            mcp_lines(m, x, ev, to);
        }

        break;

    case EVENT_BEAT:
        mcp_progress(m, x, 0, NULL, to);
        break;

    case EVENT_END:
        mcp_last(m, x, ev, to);
        break;

    default:
        break;
    }
}


int
mcp_call_resume(call_t *c, char id[REQ_EXECUTION], uint64_t *after, err_t *e)
{
    mcp_t       *m;
    size_t       n;
    const char  *last;

    m = mcp_new(c);

    if (m == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    if (*m->session != '\0'
        && !session_live(m->session, c->req->workspace, m->agreed))
    {
        return err_set(e, 404, "session_not_found", "no such session");
    }

    last = c->req->last;
    n = strcspn(last, ".");

    if (*m->session == '\0' || n == 0 || last[n] != '.' || n >= REQ_EXECUTION
        || text_number(last + n + 1, after) == -1)
    {
        return err_set(e, 405, "method_not_allowed", "there is no stream but "
                       "those of calls");
    }

    (void) snprintf(id, REQ_EXECUTION, "%.*s", (int) n, last);

    return 0;
}


/* our own words, but for a client's ids in them */

int
mcp_call_again(call_t *c, const char *memo)
{
    mcp_t        *m;
    json_object  *v;

    m = c->own;
    m->msg = mcp_json(memo);

    if (!json_object_object_get_ex(m->msg, "id", &m->id)
        || !json_object_object_get_ex(m->msg, "token", &m->token)
        || !json_object_object_get_ex(m->msg, "tool", &v))
    {
        return -1;
    }

    m->tool = mcp_tool(m, json_object_get_string(v));
    (void) json_object_object_get_ex(m->msg, "version", &v);
    m->version = json_object_get_string(v);
    c->lasting = 1;
    c->pictures = !m->prisme;

    return m->tool != NULL ? 0 : -1;
}
