
/*
 * In retort-front, as its own uid without any capability.  Messages of a
 * client in which uses of our tools and their results stand within one answer
 * of the assistant; for a model they are turns of two speakers.
 */

#include <string.h>

#include "anthropic_talk.h"


#define ANTHROPIC_RESULT  "code_execution_tool_result"


static const char *
anthropic_text_of(json_object *o, const char *key)
{
    json_object  *v;

    return json_object_is_type(o, json_type_object)
           && json_object_object_get_ex(o, key, &v)
           && json_object_is_type(v, json_type_string)
           ? json_object_get_string(v) : "";
}


/* the content of the last message, if that is the speaker's; or a new one's */

static json_object *
anthropic_said(anthropic_talk_t *t, const char *role)
{
    size_t        n;
    json_object  *m, *content;

    n = json_object_array_length(t->messages);
    m = n != 0 ? json_object_array_get_idx(t->messages, n - 1) : NULL;

    if (m != NULL && strcmp(anthropic_text_of(m, "role"), role) == 0) {
        (void) json_object_object_get_ex(m, "content", &content);
        return content;
    }

    m = json_object_new_object();
    content = json_object_new_array();
    native_add(m, "role", json_object_new_string(role));
    native_add(m, "content", content);
    (void) json_object_array_add(t->messages, m);

    return content;
}


void
anthropic_push(anthropic_talk_t *t, const char *role, json_object *block)
{
    (void) json_object_array_add(anthropic_said(t, role), block);
}


json_object *
anthropic_tool_result(json_object *result)
{
    const char   *type;
    json_object  *o, *content;

    o = json_object_new_object();
    (void) json_object_object_get_ex(result, "content", &content);
    type = anthropic_text_of(content, "type");
    native_add(o, "type", json_object_new_string("tool_result"));
    native_add(o, "tool_use_id", json_object_new_string(
                   anthropic_text_of(result, "tool_use_id")));
    native_add(o, "content", json_object_new_string(
                   json_object_to_json_string_ext(content,
                                                  JSON_C_TO_STRING_PLAIN)));
    native_add(o, "is_error", json_object_new_boolean(
                   strstr(type, "_error") != NULL));

    return o;
}


void
anthropic_push_results(anthropic_talk_t *t, json_object *results)
{
    size_t        i, n;
    json_object  *m, *all, *content;

    content = anthropic_said(t, "user");
    all = json_object_new_array();

    for (i = 0; i < json_object_array_length(results); i++) {
        (void) json_object_array_add(all, anthropic_tool_result(
                   json_object_array_get_idx(results, i)));
    }

    for (i = 0; i < json_object_array_length(content); i++) {
        (void) json_object_array_add(all, json_object_get(
                   json_object_array_get_idx(content, i)));
    }

    n = json_object_array_length(t->messages);
    m = json_object_array_get_idx(t->messages, n - 1);
    native_add(m, "content", all);
}


/* a use of ours: the model knows it as that of a tool like any other */

static void
anthropic_use_in(anthropic_talk_t *t, json_object *block)
{
    json_object  *o, *input;

    if (!json_object_object_get_ex(block, "input", &input)
        || !json_object_is_type(input, json_type_object))
    {
        input = NULL;
    }

    o = json_object_new_object();
    native_add(o, "type", json_object_new_string("tool_use"));
    native_add(o, "id", json_object_new_string(anthropic_text_of(block,
                                                                 "id")));
    native_add(o, "name", json_object_new_string(anthropic_text_of(block,
                                                                   "name")));
    native_add(o, "input", input != NULL ? json_object_get(input)
                                         : json_object_new_object());
    anthropic_push(t, "assistant", o);
    (void) json_object_array_add(t->pending, json_object_get(block));
}


/* it has its result: it is not to be run */

static void
anthropic_settle(anthropic_talk_t *t, const char *id)
{
    size_t        i;
    json_object  *left, *one;

    left = json_object_new_array();

    for (i = 0; i < json_object_array_length(t->pending); i++) {
        one = json_object_array_get_idx(t->pending, i);

        if (strcmp(anthropic_text_of(one, "id"), id) != 0) {
            (void) json_object_array_add(left, json_object_get(one));
        }
    }

    json_object_put(t->pending);
    t->pending = left;
}


/* only the newest files: the others are in the container already */

static void
anthropic_file_in(anthropic_talk_t *t, json_object *block, int newest)
{
    json_object  *o;

    if (newest) {
        (void) json_object_array_add(t->pending, json_object_get(block));
    }

    o = json_object_new_object();
    native_add(o, "type", json_object_new_string("text"));
    native_add(o, "text", json_object_new_string(
                   "(A file was put into the working directory.)"));
    anthropic_push(t, "user", o);
}


static void
anthropic_block_in(anthropic_talk_t *t, const char *role, json_object *block,
    int newest)
{
    const char  *type, *tail;

    type = anthropic_text_of(block, "type");
    tail = strstr(type, ANTHROPIC_RESULT);

    if (strcmp(type, "server_tool_use") == 0
        && anthropic_is_tool(anthropic_text_of(block, "name")))
    {
        anthropic_use_in(t, block);

    } else if (tail != NULL && strcmp(tail, ANTHROPIC_RESULT) == 0) {
        anthropic_settle(t, anthropic_text_of(block, "tool_use_id"));
        anthropic_push(t, "user", anthropic_tool_result(block));

    } else if (strcmp(type, "container_upload") == 0) {
        anthropic_file_in(t, block, newest);

    } else {
        anthropic_push(t, role, json_object_get(block));
    }
}


static int
anthropic_message_in(anthropic_talk_t *t, json_object *m, int newest,
    err_t *e)
{
    size_t        i;
    const char   *role;
    json_object  *content, *o;

    role = anthropic_text_of(m, "role");
    role = strcmp(role, "user") == 0 ? "user"
           : strcmp(role, "assistant") == 0 ? "assistant" : NULL;

    if (role == NULL || !json_object_object_get_ex(m, "content", &content)) {
        return err_set(e, 400, "bad_value", "messages: each has a role, "
                       "\"user\" or \"assistant\", and content");
    }

    if (json_object_is_type(content, json_type_string)) {
        o = json_object_new_object();
        native_add(o, "type", json_object_new_string("text"));
        native_add(o, "text", json_object_get(content));
        anthropic_push(t, role, o);
        return 0;
    }

    if (!json_object_is_type(content, json_type_array)) {
        return err_set(e, 400, "bad_value", "messages: content is a string or "
                       "an array of blocks");
    }

    for (i = 0; i < json_object_array_length(content); i++) {
        anthropic_block_in(t, role, json_object_array_get_idx(content, i),
                           newest);
    }

    return 0;
}


/* behind the last answer, from where on files are new */

static size_t
anthropic_newest(json_object *messages)
{
    size_t  n;

    n = json_object_array_length(messages);

    while (n != 0
           && strcmp(anthropic_text_of(json_object_array_get_idx(messages,
                                                                 n - 1),
                                       "role"), "assistant") != 0)
    {
        n--;
    }

    return n;
}


int
anthropic_history(anthropic_talk_t *t, json_object *messages, err_t *e)
{
    size_t  i, newest;

    if (!json_object_is_type(messages, json_type_array)
        || json_object_array_length(messages) == 0)
    {
        return err_set(e, 400, "bad_value", "messages: Input should be an "
                       "array of at least one message");
    }

    newest = anthropic_newest(messages);

    for (i = 0; i < json_object_array_length(messages); i++) {
        if (anthropic_message_in(t, json_object_array_get_idx(messages, i),
                                 i >= newest, e)
            == -1)
        {
            return -1;
        }
    }

    return 0;
}
