
/*
 * In retort-front, as its own uid without any capability.  The native API: a
 * result becomes JSON or Markdown.  Texts of a sandbox are made valid UTF-8
 * here; json-c escapes the rest.
 */

#include <string.h>

#include "../clock.h"
#include "../json_in.h"
#include "../markdown.h"
#include "../utf8.h"
#include "native.h"


static const char *const  native_types[] = {
    "stdout", "stderr", "result", "display", "image", "error", "file"
};


void
native_add(json_object *o, const char *key, json_object *v)
{
    (void) json_object_object_add(o, key, v);
}


json_object *
native_bytes(const char *p, size_t n)
{
    buf_t         clean;
    json_object  *v;

    memset(&clean, 0, sizeof(clean));
    utf8_clean(&clean, p, n);

    if (clean.len > INT32_MAX) {
        clean.len = INT32_MAX;
    }

    v = json_object_new_string_len(clean.data != NULL ? clean.data : "",
                                   (int) clean.len);
    buf_free(&clean);

    return v;
}


static json_object *
native_text(const buf_t *b)
{
    return native_bytes(b->data, b->len);
}


json_object *
native_string(const char *s)
{
    return native_bytes(s, strlen(s));
}


json_object *
native_number(uint64_t v)
{
    return json_object_new_int64(v < INT64_MAX ? (int64_t) v : INT64_MAX);
}


json_object *
native_time(uint64_t wall_ms)
{
    char  text[CLOCK_TEXT];

    clock_text(wall_ms, text);

    return json_object_new_string(text);
}


static json_object *
native_url(const request_t *req, const out_artifact_t *a)
{
    char  url[LINK_URL];

    if (a->file[0] == '\0') {
        return NULL;
    }

    link_url(&req->link, a, url);

    return json_object_new_string(url);
}


/* the stored form, or why there is none */

static void
native_form_of(json_object *o, const request_t *req, const out_artifact_t *a)
{
    native_add(o, "mime", native_string(a->mime));
    native_add(o, "url", native_url(req, a));
    native_add(o, "name", native_string(a->name));

    if (a->why[0] != '\0') {
        native_add(o, "not_stored", native_string(a->why));
    }
}


static json_object *
native_forms(const request_t *req, const out_item_t *item, size_t from)
{
    size_t        i;
    json_object  *all, *one;

    all = json_object_new_array();

    for (i = from; i < item->nartifacts; i++) {
        one = json_object_new_object();
        native_form_of(one, req, &item->artifacts[i]);
        (void) json_object_array_add(all, one);
    }

    return all;
}


json_object *
native_traceback(const out_item_t *item)
{
    buf_t         text;
    json_object  *v;

    memset(&text, 0, sizeof(text));
    markdown_no_ansi(&text, item->traceback.data, item->traceback.len);
    v = native_text(&text);
    buf_free(&text);

    return v;
}


static void
native_error_keys(json_object *o, const out_item_t *item)
{
    native_add(o, "name", native_text(&item->name));
    native_add(o, "message", native_text(&item->message));
    native_add(o, "traceback", native_traceback(item));
}


/* what a figure or a table says, for programs */

static void
native_data(json_object *o, const out_item_t *item)
{
    int                        i;
    err_t                      e;
    static const char *const   keys[OUT_DATA] = { "chart", "dataframe" };

    for (i = 0; i < OUT_DATA; i++) {
        if (item->data[i].len != 0) {
            native_add(o, keys[i], json_in(item->data[i].data,
                                           item->data[i].len, &e));
        }
    }
}


const char *
native_item_type(const out_item_t *item)
{
    return native_types[item->type];
}


int
native_item_plain(const out_item_t *item)
{
    int  i, n;

    n = item->nartifacts != 0;

    for (i = 0; i < OUT_DATA; i++) {
        n |= item->data[i].len != 0;
    }

    return n == 0 && (item->type == OUT_STDOUT || item->type == OUT_STDERR
                      || item->type == OUT_RESULT
                      || item->type == OUT_DISPLAY);
}


void
native_item(json_object *o, const request_t *req, const out_item_t *item)
{
    size_t  from;
    buf_t   text;

    from = 0;

    if (item->type == OUT_IMAGE || item->type == OUT_SAVED) {
        native_form_of(o, req, &item->artifacts[0]);
        from = 1;

    } else {
        memset(&text, 0, sizeof(text));

        if (item->type == OUT_ERROR) {
            markdown_no_ansi(&text, item->text.data, item->text.len);

        } else {
            (void) buf_add(&text, item->text.data, item->text.len);
        }

        native_add(o, "text", native_text(&text));
        buf_free(&text);
    }

    if (item->type == OUT_ERROR) {
        native_error_keys(o, item);
    }

    native_data(o, item);

    if (item->nartifacts > from) {
        native_add(o, "forms", native_forms(req, item, from));
    }
}


static void
native_artifact(json_object *all, const request_t *req,
    const out_artifact_t *a)
{
    json_object  *one;

    if (a->file[0] == '\0') {
        return;
    }

    one = json_object_new_object();
    native_add(one, "name", native_string(a->name));
    native_add(one, "mime", native_string(a->mime));
    native_add(one, "size", native_number(a->size));
    native_add(one, "sha256", native_string(a->sha256));
    native_add(one, "file_id", native_string(a->id));
    native_add(one, "url", native_url(req, a));
    (void) json_object_array_add(all, one);
}


json_object *
native_artifacts(const request_t *req, const outputs_t *out)
{
    size_t             i;
    json_object       *all;
    const out_item_t  *item;

    all = json_object_new_array();

    for (item = out->first; item != NULL; item = item->next) {
        for (i = 0; i < item->nartifacts; i++) {
            native_artifact(all, req, &item->artifacts[i]);
        }
    }

    native_artifact(all, req, &out->whole);

    return all;
}


json_object *
native_stream(const outputs_t *out, out_type_t type)
{
    buf_t         all;
    json_object  *v;

    memset(&all, 0, sizeof(all));
    outputs_join(out, type, &all);
    v = native_text(&all);
    buf_free(&all);

    return v;
}


json_object *
native_error(const result_t *res)
{
    json_object       *o;
    const out_item_t  *item;

    item = outputs_last(&res->out, OUT_ERROR);

    if (item == NULL) {
        return NULL;
    }

    o = json_object_new_object();
    native_error_keys(o, item);

    if (res->exit_code != 0) {
        native_add(o, "exit_code", json_object_new_int(res->exit_code));
    }

    return o;
}


void
native_line(buf_t *to, json_object *o)
{
    size_t       len;
    const char  *text;

    text = json_object_to_json_string_length(o, JSON_C_TO_STRING_PLAIN
                                             |JSON_C_TO_STRING_NOSLASHESCAPE,
                                             &len);
    if (text == NULL) {
        to->failed = 1;

    } else {
        (void) buf_add(to, text, len);
        (void) buf_puts(to, "\n");
    }

    json_object_put(o);
}


void
native_write(json_object *o, answer_t *a)
{
    native_line(&a->body, o);
    a->type = "application/json";
    a->form = "json";
}


/* how much there was, if not all of it was kept */

json_object *
native_truncated(const request_t *req, const outputs_t *out)
{
    json_object  *o;

    if (!outputs_cut(out)) {
        return NULL;
    }

    o = json_object_new_object();
    native_add(o, "kept_bytes", native_number(out->stream_kept));
    native_add(o, "total_bytes", native_number(out->stream_size));

    if (out->whole.file[0] != '\0') {
        native_add(o, "url", native_url(req, &out->whole));

    } else if (out->whole.why[0] != '\0') {
        native_add(o, "not_stored", native_string(out->whole.why));
    }

    return o;
}


static void
native_render_json(const request_t *req, const exec_t *x, answer_t *a)
{
    native_put_run(&a->body, req, x);
    a->type = "application/json";
    a->form = "json";
}


void
native_render(const request_t *req, int form, const exec_t *x, answer_t *a)
{
    a->status = 200;

    if (form == NATIVE_JSON) {
        native_render_json(req, x, a);
        return;
    }

    a->type = "text/markdown; charset=utf-8";
    a->form = "markdown";
    markdown(&a->body, &x->res.out, &req->link);
}


void
native_render_exec(const request_t *req, const exec_t *x, answer_t *a)
{
    json_object  *o;

    if (x->state == EXEC_OVER) {
        native_render_json(req, x, a);
        return;
    }

    o = json_object_new_object();
    native_add(o, "execution_id", native_string(x->id));
    native_add(o, "sandbox_id", x->sandbox[0] != '\0'
                                ? native_string(x->sandbox) : NULL);
    native_add(o, "started_at", native_time(x->begun));
    native_add(o, "status", json_object_new_string(
                  x->state == EXEC_WAITING ? "waiting" : "running"));
    native_write(o, a);
}


void
native_fail(const err_t *e, answer_t *a)
{
    json_object  *o, *inner;

    inner = json_object_new_object();
    native_add(inner, "code", native_string(e->code));
    native_add(inner, "message", native_string(e->text));

    o = json_object_new_object();
    native_add(o, "error", inner);

    native_write(o, a);
    a->form = NULL;
    a->status = e->status;
    a->retry_after = e->retry_after;
}


static json_object *
native_box(const box_view_t *v)
{
    json_object  *o, *l;

    l = json_object_new_object();
    native_add(l, "memory_bytes", native_number(v->limits.memory));
    native_add(l, "disk_bytes", native_number(v->limits.disk));
    native_add(l, "processes", native_number(v->limits.processes));
    native_add(l, "cpu", json_object_new_double(v->limits.cpu / 1000.0));
    native_add(l, "files", native_number(v->limits.files));

    o = json_object_new_object();
    native_add(o, "sandbox_id", native_string(v->sandbox));
    native_add(o, "status", json_object_new_string(v->busy ? "running"
                                                           : "ready"));
    native_add(o, "profile", native_string(v->profile));
    native_add(o, "created_at", native_time(v->created));
    native_add(o, "expires_at", native_time(v->expires));
    native_add(o, "limits", l);

    return o;
}


void
native_render_box(const request_t *req, const box_view_t *view, answer_t *a)
{
    (void) req;

    native_write(native_box(view), a);
}


void
native_render_boxes(const request_t *req, const box_view_t *views,
    size_t n, answer_t *a)
{
    size_t        i;
    json_object  *o, *all;

    (void) req;

    all = json_object_new_array();

    for (i = 0; i < n; i++) {
        (void) json_object_array_add(all, native_box(&views[i]));
    }

    o = json_object_new_object();
    native_add(o, "sandboxes", all);
    native_write(o, a);
}
