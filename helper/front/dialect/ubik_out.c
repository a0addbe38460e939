
/*
 * In retort-front, as its own uid without any capability.  Ubik: executions
 * and their events.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../utf8.h"
#include "native.h"
#include "ubik.h"


#define UBIK_CHUNK  32768       /* bytes of an event that is not split */


typedef struct {
    const char      *id;
    const char      *memo;
    const char      *sandbox;
    exec_state_t     state;
    int              asks;
    const result_t  *res;
} ubik_view_t;


static const char *
ubik_status(const ubik_view_t *v)
{
    if (v->state == EXEC_OVER) {
        return v->res->verdict == VERDICT_OK ? "completed" : "failed";
    }

    return v->state == EXEC_WAITING ? "pending"
           : v->asks ? "waiting_for_input"
           : "running";
}


/* "/ubik/api/v1" and what is behind it; a client has the host already */

static json_object *
ubik_url(const request_t *req, const char *head, const char *id,
    const char *tail)
{
    buf_t         url;
    json_object  *v;

    memset(&url, 0, sizeof(url));
    (void) buf_printf(&url, "%s%s%s%s", req->script, head, id, tail);
    v = native_bytes(url.data, url.len);
    buf_free(&url);

    return v;
}


static json_object *
ubik_media(const request_t *req, const ubik_view_t *v, json_object *memo,
    const char *key)
{
    size_t        i;
    char          tail[REQ_EXECUTION + OUT_NAME + 32];
    const char   *name, *uuid;
    json_object  *list, *all, *one, *from;

    all = json_object_new_array();

    if (!ubik_tool(ubik_text(memo, "tool"), &name, &uuid)
        || !json_object_object_get_ex(memo, key, &list))
    {
        return all;
    }

    for (i = 0; i < json_object_array_length(list); i++) {
        from = json_object_array_get_idx(list, i);
        (void) snprintf(tail, sizeof(tail), "/%s/%s", v->id,
                        ubik_text(from, "name"));

        one = json_object_new_object();
        native_add(one, "type", native_string("media_reference"));
        native_add(one, "asset_filename",
                   native_string(ubik_text(from, "name")));
        native_add(one, "url", ubik_url(req, "/assets/tools/", uuid,
                                        tail));
        native_add(one, "tool_id", native_string(uuid));
        native_add(one, "execution_id", native_string(v->id));
        (void) json_object_array_add(all, one);
    }

    return all;
}


static json_object *
ubik_of(json_object *memo, const char *key)
{
    json_object  *v;

    return json_object_object_get_ex(memo, key, &v) ? json_object_get(v)
                                                    : NULL;
}


static json_object *
ubik_outputs(const request_t *req, const ubik_view_t *v, json_object *memo)
{
    json_object  *o, *plan, *rounds;

    plan = ubik_of(memo, "plan");
    rounds = ubik_of(memo, "rounds");
    o = json_object_new_object();
    native_add(o, "sandbox_id", v->sandbox[0] != '\0'
                                ? native_string(v->sandbox) : NULL);
    native_add(o, "generated_files", ubik_media(req, v, memo, "files"));
    native_add(o, "logs", native_stream(&v->res->out, OUT_STDOUT));
    native_add(o, "artifacts", ubik_media(req, v, memo, "artifacts"));
    native_add(o, "plan", plan != NULL ? plan : json_object_new_array());
    native_add(o, "total_rounds", rounds != NULL ? rounds
                                                 : json_object_new_int(0));
    native_add(o, "execution_id", native_string(v->id));

    return o;
}


static json_object *
ubik_error(const ubik_view_t *v, json_object *memo)
{
    if (v->state != EXEC_OVER || v->res->verdict == VERDICT_OK) {
        return NULL;
    }

    return native_string(*ubik_text(memo, "error") != '\0'
                         ? ubik_text(memo, "error")
                         : verdict_text(v->res->verdict));
}


/* what was accepted: 202 */

static json_object *
ubik_accepted(const request_t *req, const ubik_view_t *v, const char *uuid)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "execution_id", native_string(v->id));
    native_add(o, "status", native_string("pending"));
    native_add(o, "tool_id", native_string(uuid));
    native_add(o, "details_url", ubik_url(req, "/tool-executions/", v->id,
                                          ""));
    native_add(o, "stream_url", ubik_url(req, "/tool-executions/", v->id,
                                         "/stream"));

    return o;
}


static json_object *
ubik_execution(const request_t *req, const exec_t *x, const ubik_view_t *v,
    json_object *memo, const char *uuid)
{
    json_object  *o, *done;

    done = ubik_of(memo, "completed");
    o = json_object_new_object();
    native_add(o, "id", native_string(v->id));
    native_add(o, "tool_id", native_string(uuid));
    native_add(o, "user_id", *ubik_text(memo, "user") != '\0'
                             ? native_string(ubik_text(memo, "user")) : NULL);
    native_add(o, "status", native_string(ubik_status(v)));
    native_add(o, "inputs", ubik_of(memo, "inputs"));
    native_add(o, "outputs", v->state == EXEC_OVER
                             ? ubik_outputs(req, v, memo) : NULL);
    native_add(o, "error", ubik_error(v, memo));
    native_add(o, "created_at", native_time(x->begun));
    native_add(o, "started_at", v->state != EXEC_WAITING
                                ? native_time(x->begun) : NULL);
    native_add(o, "completed_at", done != NULL
                   ? native_time((uint64_t) json_object_get_int64(done))
                   : NULL);
    json_object_put(done);

    return o;
}


void
ubik_render_exec(const request_t *req, const exec_t *x, answer_t *a)
{
    ubik_view_t   v;
    const char   *name, *uuid;
    json_object  *memo;

    v.id = x->id;
    v.memo = x->memo;
    v.state = x->state;
    v.asks = x->asks && x->input == NULL;
    v.res = &x->res;
    v.sandbox = x->state == EXEC_OVER ? x->res.sandbox : x->sandbox;
    memo = ubik_memo(x->memo);

    if (!ubik_tool(ubik_text(memo, "tool"), &name, &uuid)) {
        uuid = "";
    }

    native_write(strcmp(req->method, "POST") == 0
                 ? ubik_accepted(req, &v, uuid)
                 : ubik_execution(req, x, &v, memo, uuid), a);
    a->form = NULL;
    json_object_put(memo);
}


int
ubik_stream_head(int form, answer_t *a)
{
    if (form != UBIK_SSE) {
        return 0;
    }

    a->type = "text/event-stream";
    a->form = "sse";
    (void) buf_puts(&a->lines, "Cache-Control: no-store\r\n"
                               "X-Accel-Buffering: no\r\n");

    return 1;
}


/* the outputs, and their keys once more beside them */

static json_object *
ubik_end(const request_t *req, const event_t *ev, json_object *memo)
{
    ubik_view_t                   v;
    json_object                  *o, *outputs;
    struct json_object_iterator   it, end;

    v.id = ev->execution;
    v.memo = ev->memo;
    v.state = EXEC_OVER;
    v.asks = 0;
    v.res = ev->res;
    v.sandbox = ev->res->sandbox;

    o = json_object_new_object();

    if (ev->res->verdict != VERDICT_OK) {
        native_add(o, "message", ubik_error(&v, memo));
        native_add(o, "code", native_string(verdict_text(ev->res->verdict)));
    }

    outputs = ubik_outputs(req, &v, memo);
    native_add(o, "execution_id", native_string(v.id));
    native_add(o, "status", native_string(ubik_status(&v)));
    native_add(o, "outputs", json_object_get(outputs));

    it = json_object_iter_begin(outputs);
    end = json_object_iter_end(outputs);

    for ( /* void */ ; !json_object_iter_equal(&it, &end);
         json_object_iter_next(&it))
    {
        if (strcmp(json_object_iter_peek_name(&it), "execution_id") != 0) {
            native_add(o, json_object_iter_peek_name(&it),
                       json_object_get(json_object_iter_peek_value(&it)));
        }
    }

    json_object_put(outputs);

    return o;
}


static json_object *
ubik_asked(json_object *prompt)
{
    json_object  *o, *types;

    types = json_object_new_array();
    (void) json_object_array_add(types, native_string("text"));
    (void) json_object_array_add(types, native_string("file"));
    o = json_object_new_object();
    native_add(o, "prompt", prompt);
    native_add(o, "input_types", types);
    native_add(o, "timeout", json_object_new_int(UBIK_WAIT));

    return o;
}


/* as large as it may be, without half a character at its end */

static size_t
ubik_chunk(const char *p, size_t len)
{
    size_t  n, next;

    for (n = 0; n < len; n = next) {
        next = n + utf8_char(p + n, len - n);
        next += (next == n);

        if (next > UBIK_CHUNK) {
            break;
        }
    }

    return n;
}


/* a large event comes in pieces of its text, one behind the other */

static void
ubik_event_chunks(const event_t *ev, const char *name, const buf_t *text,
    buf_t *to)
{
    size_t        at, n, total;
    int           i;
    char          id[REQ_EXECUTION + 24];
    json_object  *o;

    total = 0;
    for (at = 0; at < text->len; total++) {
        at += ubik_chunk(text->data + at, text->len - at);
    }

    (void) snprintf(id, sizeof(id), "%s_%" PRIu64, ev->execution, ev->id);
    i = 0;

    for (at = 0; at < text->len; at += n) {
        n = ubik_chunk(text->data + at, text->len - at);
        o = json_object_new_object();
        native_add(o, "chunk_id", native_string(id));
        native_add(o, "chunk_index", json_object_new_int(i++));
        native_add(o, "total_chunks", native_number(total));
        native_add(o, "original_event_type", native_string(name));
        native_add(o, "chunk_data", native_bytes(text->data + at, n));
        native_add(o, "is_last_chunk",
                   json_object_new_boolean(at + n == text->len));
        (void) buf_printf(to, "event: %s_delta_sse\ndata: ", name);
        native_line(to, o);
        (void) buf_puts(to, "\n");
    }
}


static void
ubik_event_write(const event_t *ev, const char *name, json_object *o,
    buf_t *to)
{
    buf_t  text;

    memset(&text, 0, sizeof(text));
    native_line(&text, o);
    to->failed |= text.failed;

    if (!text.failed && text.len - 1 > UBIK_CHUNK) {
        /* the end of its line is not its text */
        text.len--;
        ubik_event_chunks(ev, name, &text, to);

    } else {
        (void) buf_printf(to, "event: %s\ndata: ", name);
        (void) buf_add(to, text.data, text.len);
        (void) buf_puts(to, "\n");
    }

    buf_free(&text);
}


void
ubik_event(const request_t *req, int form, const event_t *ev, buf_t *to)
{
    const char   *name;
    json_object  *o, *memo;

    (void) form;

    if (ev->type == EVENT_BEAT) {
        (void) buf_puts(to, ":\n\n");
        return;
    }

    if (ev->type == EVENT_END) {
        memo = ubik_memo(ev->memo);
        name = ev->res->verdict == VERDICT_OK ? "tool_end" : "error";
        o = ubik_end(req, ev, memo);
        json_object_put(memo);

    } else if (ev->type == EVENT_ITEM) {
        name = "tool_input_required";
        o = ubik_asked(native_bytes(ev->item->text.data, ev->item->text.len));
        native_add(o, "state", native_string("waiting_for_input"));

    } else {
        o = json_object_new_object();
        name = ev->type == EVENT_TEXT ? "tool_partial_update" : "tool_update";

        if (ev->type == EVENT_TEXT) {
            native_add(o, "content", native_bytes(ev->text, ev->len));
            native_add(o, "output_key", native_string("logs"));

        } else {
            native_add(o, "phase", native_string("running"));
            native_add(o, "message", native_string("The execution has begun"));
        }
    }

    ubik_event_write(ev, name, o, to);
}


/* 422: where the fault is, as "code" says */

static json_object *
ubik_detail(const err_t *e)
{
    int           beside;
    json_object  *all, *one, *loc;

    beside = (e->code[0] == '.' || e->code[0] == '?');
    loc = json_object_new_array();
    (void) json_object_array_add(loc, native_string(e->code[0] == '?'
                                                    ? "query" : "body"));

    if (strcmp(e->code, "inputs") != 0 && e->code[0] != '\0' && !beside) {
        (void) json_object_array_add(loc, native_string("inputs"));
    }

    if (e->code[0] != '\0') {
        (void) json_object_array_add(loc, native_string(e->code + beside));
    }

    one = json_object_new_object();
    native_add(one, "loc", loc);
    native_add(one, "msg", native_string(e->text));
    native_add(one, "type", native_string(strcmp(e->text, "Field required")
                                          == 0 ? "missing" : "value_error"));
    all = json_object_new_array();
    (void) json_object_array_add(all, one);

    return all;
}


void
ubik_fail(const err_t *e, answer_t *a)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "detail", e->status == 422 ? ubik_detail(e)
                                             : native_string(e->text));
    native_write(o, a);
    a->form = NULL;
    a->status = e->status;
    a->retry_after = e->retry_after;
}
