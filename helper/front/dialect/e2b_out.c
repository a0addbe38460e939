
/*
 * In retort-front, as its own uid without any capability.  E2B: what a run
 * says, as the lines of JSON that its clients read.  All that comes from a
 * sandbox is inside of a JSON string.
 */

#include <string.h>

#include "../clock.h"
#include "e2b.h"
#include "native.h"


typedef struct {
    const char  *mime;
    const char  *key;
} e2b_form_t;


static const e2b_form_t  e2b_forms[] = {
    { "text/html", "html" },
    { "text/markdown", "markdown" },
    { "image/svg+xml", "svg" },
    { "image/png", "png" },
    { "image/jpeg", "jpeg" },
    { "application/pdf", "pdf" },
    { "text/latex", "latex" },
    { "application/json", "json" }
};

#define E2B_FORMS  (sizeof(e2b_forms) / sizeof(e2b_forms[0]))


int
e2b_stream_head(int form, answer_t *a)
{
    (void) form;

    a->type = "application/x-ndjson";
    a->form = "ndjson";
    (void) buf_puts(&a->lines, "Cache-Control: no-store\r\n"
                               "X-Accel-Buffering: no\r\n");

    return 1;
}


static json_object *
e2b_typed(const char *type)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "type", native_string(type));

    return o;
}


static json_object *
e2b_text(const event_t *ev)
{
    json_object  *o;

    o = e2b_typed(ev->item->type == OUT_STDOUT ? "stdout" : "stderr");
    native_add(o, "text", native_bytes(ev->text, ev->len));
    native_add(o, "timestamp", native_time(clock_wall_ms()));

    return o;
}


static json_object *
e2b_error(const out_item_t *item)
{
    json_object  *o;

    o = e2b_typed("error");
    native_add(o, "name", native_bytes(item->name.data, item->name.len));
    native_add(o, "value", native_bytes(item->message.data,
                                        item->message.len));
    native_add(o, "traceback", native_traceback(item));

    return o;
}


/* a form that clients know by its key; the others are "extra", by their type */

static json_object *
e2b_place(json_object *o, const char *mime, const char **key)
{
    size_t        i;
    json_object  *extra;

    for (i = 0; i < E2B_FORMS; i++) {
        if (strcmp(e2b_forms[i].mime, mime) == 0) {
            *key = e2b_forms[i].key;
            return o;
        }
    }

    *key = mime;

    if (!json_object_object_get_ex(o, "extra", &extra)) {
        extra = json_object_new_object();
        native_add(o, "extra", extra);
    }

    return extra;
}


static json_object *
e2b_value(const picture_t *p)
{
    err_t         e;
    json_object  *v;

    if (p->base64.len != 0) {
        return json_object_new_string_len(p->base64.data,
                                          (int) p->base64.len);
    }

    v = NULL;

    if (strcmp(p->artifact->mime, "application/json") == 0) {
        v = json_in(p->text.data, p->text.len, &e);
    }

    return v != NULL ? v : native_bytes(p->text.data, p->text.len);
}


/* what could not be shown is told of, and not left out */

static void
e2b_form(json_object *o, const picture_t *p)
{
    buf_t         why;
    const char   *key;
    json_object  *to;

    if (p->base64.len != 0 || p->text.len != 0) {
        to = e2b_place(o, p->artifact->mime, &key);
        native_add(to, key, e2b_value(p));
        return;
    }

    memset(&why, 0, sizeof(why));
    (void) buf_printf(&why, "%s: %s", p->artifact->name,
                      p->artifact->why[0] != '\0' ? p->artifact->why
                                                  : "it is too large here");
    to = e2b_place(o, "not_shown", &key);
    native_add(to, key, native_bytes(why.data, why.len));
    buf_free(&why);
}


/* a table's columns by their names, if all of its rows are here */

static json_object *
e2b_columns(json_object *frame)
{
    size_t        i, k;
    json_object  *o, *names, *rows, *cut, *column, *row;

    if (!json_object_object_get_ex(frame, "columns", &names)
        || !json_object_is_type(names, json_type_array)
        || !json_object_object_get_ex(frame, "rows", &rows)
        || !json_object_is_type(rows, json_type_array)
        || !json_object_object_get_ex(frame, "truncated", &cut)
        || json_object_get_boolean(cut))
    {
        return NULL;
    }

    o = json_object_new_object();

    for (i = 0; i < json_object_array_length(names); i++) {
        column = json_object_new_array();

        for (k = 0; k < json_object_array_length(rows); k++) {
            row = json_object_array_get_idx(rows, k);
            row = json_object_is_type(row, json_type_array)
                  ? json_object_array_get_idx(row, i) : NULL;
            (void) json_object_array_add(column, json_object_get(row));
        }

        native_add(o, json_object_get_string(
                          json_object_array_get_idx(names, i)), column);
    }

    return o;
}


static void
e2b_data(json_object *o, const out_item_t *item)
{
    err_t         e;
    json_object  *v;
    const buf_t  *b;

    b = &item->data[OUT_CHART];
    v = b->len != 0 ? json_in(b->data, b->len, &e) : NULL;

    if (v != NULL) {
        native_add(o, "chart", v);
    }

    b = &item->data[OUT_FRAME];
    v = b->len != 0 ? json_in(b->data, b->len, &e) : NULL;

    if (v != NULL) {
        native_add(o, "data", e2b_columns(v));
        json_object_put(v);
    }
}


static json_object *
e2b_result(const event_t *ev)
{
    size_t             i;
    json_object       *o;
    const out_item_t  *item;

    item = ev->item;
    o = e2b_typed("result");

    if (item->text.len != 0) {
        native_add(o, "text", native_bytes(item->text.data, item->text.len));
    }

    for (i = 0; i < ev->npics; i++) {
        e2b_form(o, &ev->pics[i]);
    }

    e2b_data(o, item);
    native_add(o, "is_main_result",
               json_object_new_boolean(item->type == OUT_RESULT));

    return o;
}


static json_object *
e2b_item(const event_t *ev)
{
    switch (ev->item->type) {

    case OUT_ERROR:
        return e2b_error(ev->item);

    case OUT_SAVED:
        /* clients find files where the code has left them */
        return NULL;

    default:
        return e2b_result(ev);
    }
}


void
e2b_event(const request_t *req, int form, const event_t *ev, buf_t *to)
{
    json_object  *o;

    (void) req;
    (void) form;

    switch (ev->type) {

    case EVENT_BEGIN:
        o = e2b_typed("number_of_executions");
        native_add(o, "execution_count", native_number(ev->count));
        break;

    case EVENT_TEXT:
        o = e2b_text(ev);
        break;

    case EVENT_ITEM:
        o = e2b_item(ev);
        break;

    case EVENT_END:
        o = e2b_typed("end_of_execution");
        break;

    default:
        o = e2b_typed("keepalive");
        break;
    }

    if (o != NULL) {
        native_line(to, o);
    }
}
