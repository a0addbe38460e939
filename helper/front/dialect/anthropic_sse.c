
/*
 * In retort-front, as its own uid without any capability.  A message as the
 * events of a stream: each block begins, gets what it has in one piece, and
 * ends; results of tools come whole where they begin.
 */

#include <string.h>

#include "anthropic_talk.h"


static const anthropic_delta_t  anthropic_deltas[] = {
    { "text", "text", "text_delta", "text", 0 },
    { "thinking", "thinking", "thinking_delta", "thinking", 0 },
    { "tool_use", "input", "input_json_delta", "partial_json", 1 },
    { "server_tool_use", "input", "input_json_delta", "partial_json", 1 },
    { NULL, NULL, NULL, NULL, 0 }
};


void
anthropic_event(buf_t *to, const char *type, json_object *o)
{
    (void) buf_printf(to, "event: %s\ndata: ", type);
    (void) buf_puts(to, json_object_to_json_string_ext(
                        o, JSON_C_TO_STRING_PLAIN));
    (void) buf_puts(to, "\n\n");
    json_object_put(o);
}


static json_object *
anthropic_typed(const char *type)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "type", json_object_new_string(type));

    return o;
}


static json_object *
anthropic_copy(json_object *o)
{
    json_object  *copy;

    copy = NULL;

    return json_object_deep_copy(o, &copy, NULL) == 0 ? copy : NULL;
}


const anthropic_delta_t *
anthropic_delta(json_object *block)
{
    json_object               *v;
    const anthropic_delta_t   *row;

    if (json_object_object_get_ex(block, "type", &v)
        && json_object_is_type(v, json_type_string))
    {
        for (row = anthropic_deltas; row->type != NULL; row++) {
            if (strcmp(row->type, json_object_get_string(v)) == 0
                && json_object_object_get_ex(block, row->key, &v))
            {
                return row;
            }
        }
    }

    return NULL;
}


void
anthropic_block_begins(buf_t *to, json_object *block, size_t index)
{
    json_object  *o;

    o = anthropic_typed("content_block_start");
    native_add(o, "index", json_object_new_int64((int64_t) index));
    native_add(o, "content_block", block);
    anthropic_event(to, "content_block_start", o);
}


static void
anthropic_block_out(buf_t *to, json_object *block, size_t index)
{
    json_object               *o, *start, *value, *delta;
    const anthropic_delta_t   *row;

    row = anthropic_delta(block);
    start = anthropic_copy(block);
    value = NULL;

    if (row != NULL) {
        (void) json_object_object_get_ex(block, row->key, &value);
        native_add(start, row->key, row->json ? json_object_new_object()
                                              : json_object_new_string(""));
    }

    anthropic_block_begins(to, start, index);

    if (row != NULL) {
        delta = anthropic_typed(row->delta);
        native_add(delta, row->as, row->json
                   ? json_object_new_string(json_object_to_json_string_ext(
                         value, JSON_C_TO_STRING_PLAIN))
                   : json_object_get(value));
        o = anthropic_typed("content_block_delta");
        native_add(o, "index", json_object_new_int64((int64_t) index));
        native_add(o, "delta", delta);
        anthropic_event(to, "content_block_delta", o);
    }

    o = anthropic_typed("content_block_stop");
    native_add(o, "index", json_object_new_int64((int64_t) index));
    anthropic_event(to, "content_block_stop", o);
}


static void
anthropic_move(json_object *to, json_object *from, const char *key)
{
    json_object  *v;

    if (json_object_object_get_ex(from, key, &v)) {
        native_add(to, key, json_object_get(v));
    }
}


static void
anthropic_begin(dialogue_t *d, buf_t *to)
{
    json_object       *o, *head;
    anthropic_talk_t  *t;

    t = d->own;

    if (t->begun) {
        return;
    }

    t->begun = 1;
    head = anthropic_message(d);
    native_add(head, "content", json_object_new_array());
    native_add(head, "stop_reason", NULL);
    o = anthropic_typed("message_start");
    native_add(o, "message", head);
    anthropic_event(to, "message_start", o);
}


/* with "beat" there is a sign of life at least */

void
anthropic_dialogue_say(dialogue_t *d, int beat, buf_t *to)
{
    size_t             before;
    anthropic_talk_t  *t;

    t = d->own;
    before = to->len;
    anthropic_begin(d, to);

    for ( /* void */ ; t->told < json_object_array_length(t->content);
         t->told++)
    {
        anthropic_block_out(to, json_object_array_get_idx(t->content,
                                                          t->told), t->told);
    }

    if (beat && to->len == before) {
        anthropic_event(to, "ping", anthropic_typed("ping"));
    }
}


static void
anthropic_error_out(const err_t *e, buf_t *to)
{
    answer_t      a;
    json_object  *o;

    memset(&a, 0, sizeof(a));
    anthropic_fail(e, &a);
    (void) buf_add(&a.body, "", 1);

    /* the request has another name in the head, which is out already */

    o = a.body.failed ? anthropic_typed("error")
                      : json_tokener_parse(a.body.data);
    json_object_object_del(o, "request_id");
    anthropic_event(to, "error", o);
    answer_free(&a);
}


void
anthropic_dialogue_end(dialogue_t *d, const err_t *e, buf_t *to)
{
    json_object  *o, *message, *delta;

    if (e != NULL) {
        anthropic_error_out(e, to);
        return;
    }

    anthropic_dialogue_say(d, 0, to);
    message = anthropic_message(d);
    delta = json_object_new_object();
    anthropic_move(delta, message, "stop_reason");
    anthropic_move(delta, message, "stop_sequence");
    anthropic_move(delta, message, "container");
    o = anthropic_typed("message_delta");
    native_add(o, "delta", delta);
    anthropic_move(o, message, "usage");
    anthropic_event(to, "message_delta", o);
    anthropic_event(to, "message_stop", anthropic_typed("message_stop"));
    json_object_put(message);
}
