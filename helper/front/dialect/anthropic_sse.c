
/*
 * In retort-front, as its own uid without any capability.  A message as the
 * events of a stream: each block begins, gets what it has in one piece, and
 * ends; results of tools come whole where they begin.
 */

#include <string.h>

#include "anthropic_talk.h"


typedef struct {
    const char  *type;          /* of a block */
    const char  *key;           /* what its delta has */
    const char  *delta;
    const char  *as;            /* the delta's key */
    int          json;          /* the value is an object, told as its text */
} anthropic_delta_t;

static const anthropic_delta_t  anthropic_deltas[] = {
    { "text", "text", "text_delta", "text", 0 },
    { "thinking", "thinking", "thinking_delta", "thinking", 0 },
    { "tool_use", "input", "input_json_delta", "partial_json", 1 },
    { "server_tool_use", "input", "input_json_delta", "partial_json", 1 },
    { NULL, NULL, NULL, NULL, 0 }
};


/* takes the object */

static void
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


static const anthropic_delta_t *
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


static void
anthropic_block_out(buf_t *to, json_object *block, int index)
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

    o = anthropic_typed("content_block_start");
    native_add(o, "index", json_object_new_int(index));
    native_add(o, "content_block", start);
    anthropic_event(to, "content_block_start", o);

    if (row != NULL) {
        delta = anthropic_typed(row->delta);
        native_add(delta, row->as, row->json
                   ? json_object_new_string(json_object_to_json_string_ext(
                         value, JSON_C_TO_STRING_PLAIN))
                   : json_object_get(value));
        o = anthropic_typed("content_block_delta");
        native_add(o, "index", json_object_new_int(index));
        native_add(o, "delta", delta);
        anthropic_event(to, "content_block_delta", o);
    }

    o = anthropic_typed("content_block_stop");
    native_add(o, "index", json_object_new_int(index));
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


void
anthropic_sse(json_object *message, buf_t *to)
{
    size_t        i;
    json_object  *o, *head, *content, *delta;

    head = anthropic_copy(message);
    native_add(head, "content", json_object_new_array());
    native_add(head, "stop_reason", NULL);
    o = anthropic_typed("message_start");
    native_add(o, "message", head);
    anthropic_event(to, "message_start", o);

    (void) json_object_object_get_ex(message, "content", &content);

    for (i = 0; i < json_object_array_length(content); i++) {
        anthropic_block_out(to, json_object_array_get_idx(content, i),
                            (int) i);
    }

    delta = json_object_new_object();
    anthropic_move(delta, message, "stop_reason");
    anthropic_move(delta, message, "stop_sequence");
    anthropic_move(delta, message, "container");
    o = anthropic_typed("message_delta");
    native_add(o, "delta", delta);
    anthropic_move(o, message, "usage");
    anthropic_event(to, "message_delta", o);
    anthropic_event(to, "message_stop", anthropic_typed("message_stop"));
}
