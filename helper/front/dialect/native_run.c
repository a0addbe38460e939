
/*
 * In retort-front, as its own uid without any capability.  The native API:
 * what is said of every run, as text at once; a tree of objects is made only
 * for what few runs have.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../clock.h"
#include "../json_out.h"
#include "../markdown.h"
#include "native.h"


/* microseconds as milliseconds with their fraction */

static void
native_put_msec(buf_t *to, const char *key, uint64_t us)
{
    char  text[40];

    (void) snprintf(text, sizeof(text), "%" PRIu64 ".%03u", us / 1000,
                    (unsigned) (us % 1000));
    json_out_word(to, key, text);
}


/* frees "o" */

static void
native_put_tree(buf_t *to, const char *key, json_object *o)
{
    const char  *text;

    text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN
                                             |JSON_C_TO_STRING_NOSLASHESCAPE);
    if (text == NULL) {
        to->failed = 1;

    } else {
        json_out_word(to, key, text);
    }

    json_object_put(o);
}


static void
native_put_stream(buf_t *to, const char *key, const outputs_t *out,
    out_type_t type)
{
    buf_t  all;

    memset(&all, 0, sizeof(all));
    outputs_join(out, type, &all);
    json_out_bytes(to, key, all.data, all.len);
    to->failed |= all.failed;
    buf_free(&all);
}


static void
native_put_item(buf_t *to, const request_t *req, const out_item_t *item)
{
    const char   *type;
    json_object  *o;

    type = native_item_type(item);

    if (native_item_plain(item)) {
        json_out_open(to, NULL, '{');
        json_out_string(to, "type", type);
        json_out_bytes(to, "text", item->text.data, item->text.len);
        json_out_close(to, '}');
        return;
    }

    o = json_object_new_object();
    native_add(o, "type", native_string(type));
    native_item(o, req, item);
    native_put_tree(to, NULL, o);
}


static void
native_put_outputs(buf_t *to, const request_t *req, const outputs_t *out)
{
    const out_item_t  *item;

    json_out_open(to, "outputs", '[');

    for (item = out->first; item != NULL; item = item->next) {
        native_put_item(to, req, item);
    }

    json_out_close(to, ']');
}


/* the last expression's value; a script has an exit code instead */

static void
native_put_value(buf_t *to, const result_t *res)
{
    json_object       *o;
    const out_item_t  *item;

    if (res->language == KRN_BASH) {
        o = json_object_new_object();
        native_add(o, "exit_code", json_object_new_int(res->exit_code));
        native_put_tree(to, "result", o);
        return;
    }

    item = outputs_last(&res->out, OUT_RESULT);

    if (item != NULL) {
        json_out_bytes(to, "result", item->text.data, item->text.len);

    } else {
        json_out_word(to, "result", "null");
    }
}


static void
native_put_usage(buf_t *to, const result_t *res)
{
    json_out_open(to, "usage", '{');
    native_put_msec(to, "wall_ms", res->wall_us);
    native_put_msec(to, "cpu_ms", res->cpu_us);
    native_put_msec(to, "cpu_user_ms", res->cpu_us - res->cpu_system_us);
    native_put_msec(to, "cpu_system_ms", res->cpu_system_us);
    json_out_number(to, "peak_memory_bytes", res->memory_peak);
    json_out_number(to, "written_bytes", res->written);
    json_out_number(to, "processes", res->processes);
    json_out_close(to, '}');
}


static void
native_put_timings(buf_t *to, const result_t *res, uint64_t began)
{
    json_out_open(to, "timings_us", '{');
    json_out_number(to, "queue", res->queue_us);
    json_out_number(to, "create", res->create_us);
    json_out_number(to, "first_byte", res->first_byte_us);
    json_out_number(to, "run", res->run_us);
    json_out_number(to, "render", clock_mono_us() - began);
    json_out_close(to, '}');
}


void
native_put_end(buf_t *to, const request_t *req, const result_t *res,
    uint64_t began)
{
    char  expires[CLOCK_TEXT];

    expires[0] = '\0';

    if (res->expires != 0) {
        clock_text(res->expires, expires);
    }

    json_out_string(to, "state", fate_text(res->fate));
    json_out_string(to, "state_reason", res->fate_why);
    native_put_value(to, res);
    native_put_tree(to, "error", native_error(res));
    native_put_tree(to, "artifacts", native_artifacts(req, &res->out));
    native_put_tree(to, "files", native_changes(req, res));
    json_out_word(to, "files_truncated",
                  res->out.more_changes ? "true" : "false");
    native_put_tree(to, "truncated", native_truncated(req, &res->out));
    native_put_usage(to, res);
    json_out_string(to, "expires_at", expires);
    native_put_timings(to, res, began);

    /* last: a worker whose front is gone ends the answer with it */
    json_out_string(to, "status", verdict_text(res->verdict));
}


void
native_put_run(buf_t *to, const request_t *req, const exec_t *x)
{
    buf_t            md;
    uint64_t         began;
    const result_t  *res;

    res = &x->res;
    began = clock_mono_us();
    memset(&md, 0, sizeof(md));
    markdown(&md, &res->out, &req->link);

    (void) buf_puts(to, "{");
    json_out_string(to, "execution_id", x->id);
    json_out_string(to, "sandbox_id", res->sandbox);
    native_put_stream(to, "stdout", &res->out, OUT_STDOUT);
    native_put_stream(to, "stderr", &res->out, OUT_STDERR);
    native_put_outputs(to, req, &res->out);
    json_out_bytes(to, "markdown", md.data, md.len);
    native_put_end(to, req, res, began);
    json_out_close(to, '}');
    (void) buf_puts(to, "\n");

    to->failed |= md.failed;
    buf_free(&md);
}


void
native_put_last(buf_t *to, const request_t *req, const event_t *ev)
{
    (void) buf_puts(to, "{");
    json_out_number(to, "id", ev->id);
    json_out_string(to, "type", native_event_type(ev));
    json_out_string(to, "execution_id", ev->execution);
    json_out_string(to, "sandbox_id", ev->sandbox);
    native_put_end(to, req, ev->res, clock_mono_us());
    json_out_close(to, '}');
    (void) buf_puts(to, "\n");
}
