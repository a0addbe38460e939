
/*
 * In retort-front, as its own uid without any capability.  The native API: an
 * event becomes a server-sent event or a line of JSON.  All that comes from a
 * sandbox is inside of a JSON string, so it can end neither.
 */

#include <inttypes.h>
#include <string.h>

#include "../clock.h"
#include "../json_out.h"
#include "native.h"


int
native_stream_head(int form, answer_t *a)
{
    switch (form) {

    case NATIVE_SSE:
        a->type = "text/event-stream";
        a->form = "sse";
        break;

    case NATIVE_NDJSON:
        a->type = "application/x-ndjson";
        a->form = "ndjson";
        break;

    default:
        return 0;
    }

    /* an event that waits for the next one would come too late */
    (void) buf_puts(&a->lines, "Cache-Control: no-store\r\n"
                               "X-Accel-Buffering: no\r\n");

    return 1;
}


const char *
native_event_type(const event_t *ev)
{
    return ev->type == EVENT_BEGIN || ev->type == EVENT_END
           ? "status" : native_item_type(ev->item);
}


static json_object *
native_event_json(const request_t *req, const event_t *ev)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "id", native_number(ev->id));
    native_add(o, "type", native_string(native_event_type(ev)));

    if (ev->type == EVENT_ITEM) {
        native_item(o, req, ev->item);
        return o;
    }

    native_add(o, "execution_id", native_string(ev->execution));
    native_add(o, "sandbox_id", ev->sandbox[0] != '\0'
                                ? native_string(ev->sandbox) : NULL);
    native_add(o, "status", native_string("running"));

    return o;
}


/* most of what there is to say, and the longest: without a tree of it */

static void
native_event_text(const event_t *ev, buf_t *to)
{
    (void) buf_puts(to, "{");
    json_out_number(to, "id", ev->id);
    json_out_string(to, "type", native_event_type(ev));
    json_out_bytes(to, "text", ev->text, ev->len);
    (void) buf_puts(to, "}\n");
}


static void
native_event_line(const request_t *req, const event_t *ev, buf_t *to)
{
    if (ev->type == EVENT_TEXT) {
        native_event_text(ev, to);

    } else if (ev->type == EVENT_END) {
        native_put_last(to, req, ev);

    } else {
        native_line(to, native_event_json(req, ev));
    }
}


void
native_event(const request_t *req, int form, const event_t *ev, buf_t *to)
{
    if (ev->type == EVENT_BEAT) {
        (void) buf_puts(to, form == NATIVE_SSE ? ":\n\n" : "\n");
        return;
    }

    if (form == NATIVE_NDJSON) {
        native_event_line(req, ev, to);
        return;
    }

    (void) buf_printf(to, "id: %" PRIu64 "\nevent: %s\ndata: ", ev->id,
                      native_event_type(ev));
    native_event_line(req, ev, to);
    (void) buf_puts(to, "\n");
}
