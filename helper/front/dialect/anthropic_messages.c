
/*
 * In retort-front, as its own uid without any capability.  Anthropic's
 * Messages API before a model that the operator chose: what it asks to be run
 * is run here.  Both sides are checked.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../accept.h"
#include "../json_in.h"
#include "../text.h"
#include "anthropic_talk.h"


#define ANTHROPIC_ENDPOINT  "anthropic"


static const char *
anthropic_member(json_object *o, const char *key)
{
    json_object  *v;

    return json_object_object_get_ex(o, key, &v)
           && json_object_is_type(v, json_type_string)
           ? json_object_get_string(v) : "";
}


static void
anthropic_headers_out(dialogue_t *d)
{
    const char  *version;

    version = request_param(d->turn.turn.req->params,
                            "HTTP_ANTHROPIC_VERSION");

    if (version == NULL || !text_is_name(version, 32)) {
        version = "2023-06-01";
    }

    (void) snprintf(d->headers, sizeof(d->headers), "anthropic-version: %s\n",
                    version);
}


/* the steps of the round before are of no use any more */

static int
anthropic_round(dialogue_t *d, err_t *e)
{
    anthropic_talk_t  *t;

    t = d->own;
    free(t->code.uses);
    free(d->turn.turn.steps);
    memset(&t->code, 0, sizeof(t->code));
    d->turn.turn.steps = NULL;
    d->turn.turn.nsteps = 0;

    return json_object_array_length(t->pending) == 0
           ? 0 : anthropic_blocks(&d->turn, t->pending, e);
}


/* what is only for us is taken out of what the model is asked */

static int
anthropic_talk_in(dialogue_t *d, err_t *e)
{
    size_t                      i;
    json_object                *v;
    anthropic_talk_t           *t;
    static const char *const    ours[] = { "messages", "stream", "container" };

    t = d->own;

    if (json_object_object_get_ex(t->ask, "stream", &v) && v != NULL) {
        if (!json_object_is_type(v, json_type_boolean)) {
            return err_set(e, 400, "bad_value", "stream: Input should be a "
                           "valid boolean");
        }

        t->stream = json_object_get_boolean(v);
        d->stream = t->stream;
    }

    if (json_object_object_get_ex(t->ask, "container", &v)
        && anthropic_container(&d->turn, v, e) == -1)
    {
        return -1;
    }

    if (json_object_object_get_ex(t->ask, "tools", &v)
        && anthropic_tools_in(t, v, e) == -1)
    {
        return -1;
    }

    if (!json_object_object_get_ex(t->ask, "messages", &v)) {
        v = NULL;
    }

    if (anthropic_history(t, v, e) == -1) {
        return -1;
    }

    for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        json_object_object_del(t->ask, ours[i]);
    }

    return anthropic_round(d, e);
}


int
anthropic_dialogue_parse(dialogue_t *d, const char *body, size_t len, err_t *e)
{
    anthropic_talk_t  *t;

    t = calloc(1, sizeof(anthropic_talk_t));
    d->own = t;
    d->turn.own = t;
    d->endpoint = ANTHROPIC_ENDPOINT;

    if (t == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    t->messages = json_object_new_array();
    t->pending = json_object_new_array();
    t->content = json_object_new_array();
    anthropic_headers_out(d);

    if (!accept_is(d->turn.turn.req->type, "application/json")) {
        return err_set(e, 415, "unsupported_type",
                       "the body must be application/json");
    }

    t->ask = json_in(body, len, e);

    return t->ask != NULL ? anthropic_talk_in(d, e) : -1;
}


dialogue_do_t
anthropic_dialogue_next(dialogue_t *d, int late)
{
    anthropic_talk_t  *t;

    t = d->own;

    if (t->over) {
        return DIALOGUE_OVER;
    }

    if (late) {
        t->paused = 1;
        return DIALOGUE_OVER;
    }

    return json_object_array_length(t->pending) == 0 ? DIALOGUE_ASK
                                                     : DIALOGUE_RUN;
}


void
anthropic_dialogue_ask(dialogue_t *d, const char *model, buf_t *to)
{
    anthropic_talk_t  *t;

    t = d->own;

    if (*model != '\0') {
        native_add(t->ask, "model", native_string(model));
    }

    if (t->stream) {
        native_add(t->ask, "stream", json_object_new_boolean(1));
    }

    native_add(t->ask, "messages", json_object_get(t->messages));
    (void) buf_puts(to, json_object_to_json_string_ext(
                        t->ask, JSON_C_TO_STRING_PLAIN));
}


/* its key is the operator's: a client cannot do anything about it */

int
anthropic_refused(int status, json_object *o, err_t *e)
{
    json_object  *error;
    const char   *text;

    text = "";

    if (o != NULL && json_object_object_get_ex(o, "error", &error)
        && json_object_is_type(error, json_type_object))
    {
        text = anthropic_member(error, "message");
    }

    switch (status) {

    case 400:
    case 413:
    case 429:
        return err_set(e, status, "model_refused", "%.190s",
                       *text != '\0' ? text : "the model refused");

    case 503:
    case 529:
        return err_set(e, 503, "model_busy", "the model is overloaded");

    default:
        return err_set(e, 500, "model_failed", "the model's endpoint answered "
                       "%d", status);
    }
}


/* "toolu_x" is the model's, "srvtoolu_x" the client's name for it */

static json_object *
anthropic_use_id(const char *id)
{
    char    text[ANTHROPIC_TOOL_ID];
    size_t  n;

    id += strncmp(id, "toolu_", 6) == 0 ? 6 : 0;
    n = (size_t) snprintf(text, sizeof(text), "srvtoolu_");

    for ( /* void */ ; *id != '\0' && n + 1 < sizeof(text); id++) {
        if ((*id >= '0' && *id <= '9') || (*id >= 'a' && *id <= 'z')
            || (*id >= 'A' && *id <= 'Z') || *id == '_')
        {
            text[n++] = *id;
        }
    }

    text[n] = '\0';

    return json_object_new_string(text);
}


int
anthropic_is_ours(const anthropic_talk_t *t, json_object *block)
{
    return t->offered
           && strcmp(anthropic_member(block, "type"), "tool_use") == 0
           && anthropic_is_tool(anthropic_member(block, "name"));
}


json_object *
anthropic_use_out(json_object *block)
{
    json_object  *use, *caller, *input;

    (void) json_object_object_get_ex(block, "input", &input);
    caller = json_object_new_object();
    native_add(caller, "type", json_object_new_string("direct"));
    use = json_object_new_object();
    native_add(use, "type", json_object_new_string("server_tool_use"));
    native_add(use, "id", anthropic_use_id(anthropic_member(block, "id")));
    native_add(use, "name", native_string(anthropic_member(block, "name")));
    native_add(use, "input", json_object_get(input));
    native_add(use, "caller", caller);

    return use;
}


/* one block of the model's: 1 if it is for us, 2 if a tool of the client's */

static int
anthropic_heard_block(anthropic_talk_t *t, json_object *block)
{
    json_object  *use;

    if (!json_object_is_type(block, json_type_object)) {
        return 0;
    }

    if (!anthropic_is_ours(t, block)) {
        anthropic_push(t, "assistant", json_object_get(block));
        (void) json_object_array_add(t->content, json_object_get(block));

        return strcmp(anthropic_member(block, "type"), "tool_use") == 0 ? 2
                                                                        : 0;
    }

    use = anthropic_use_out(block);
    native_add(block, "id", native_string(anthropic_member(use, "id")));
    anthropic_push(t, "assistant", json_object_get(block));
    (void) json_object_array_add(t->content, json_object_get(use));
    (void) json_object_array_add(t->pending, use);

    return 1;
}


static void
anthropic_count(anthropic_talk_t *t, json_object *o)
{
    json_object  *usage, *v;

    if (!json_object_object_get_ex(o, "usage", &usage)
        || !json_object_is_type(usage, json_type_object))
    {
        return;
    }

    if (json_object_object_get_ex(usage, "input_tokens", &v)) {
        t->input += json_object_get_int64(v);
    }

    if (json_object_object_get_ex(usage, "output_tokens", &v)) {
        t->output += json_object_get_int64(v);
    }
}


/* takes the message */

static void
anthropic_take(anthropic_talk_t *t, json_object *o, json_object *content)
{
    int     all;
    size_t  i;

    all = 0;

    for (i = 0; i < json_object_array_length(content); i++) {
        all |= anthropic_heard_block(t, json_object_array_get_idx(content,
                                                                  i));
    }

    anthropic_count(t, o);
    json_object_put(t->last);
    t->last = o;

    /* a tool of the client's comes first: ours runs when it has answered */
    t->over = all != 1
              || strcmp(anthropic_member(o, "stop_reason"), "tool_use") != 0;
}


/* of a stream nothing is left to be told but what comes of its uses */

static json_object *
anthropic_heard_live(anthropic_talk_t *t, err_t *e)
{
    json_object  *o, *content;

    o = anthropic_live_take(&t->live);

    if (o == NULL) {
        (void) err_set(e, 500, "model_failed", "the model's endpoint gave an "
                       "answer that has no end");
        return NULL;
    }

    (void) json_object_object_get_ex(o, "content", &content);
    t->told += json_object_array_length(content);

    return o;
}


static json_object *
anthropic_heard_whole(int status, const char *body, size_t len, err_t *e)
{
    err_t         bad;
    json_object  *o, *content;

    o = json_in(body, len, &bad);

    if (status != 200) {
        (void) anthropic_refused(status, o, e);

    } else if (o != NULL && json_object_object_get_ex(o, "content", &content)
               && json_object_is_type(content, json_type_array))
    {
        return o;

    } else {
        (void) err_set(e, 500, "model_failed", "the model's endpoint gave an "
                       "answer that is no message");
    }

    json_object_put(o);

    return NULL;
}


int
anthropic_dialogue_heard(dialogue_t *d, int status, const char *body,
    size_t len, err_t *e)
{
    err_t              bad;
    json_object       *o, *content;
    anthropic_talk_t  *t;

    t = d->own;
    o = body == NULL ? anthropic_heard_live(t, e)
                     : anthropic_heard_whole(status, body, len, e);

    if (o == NULL) {
        return -1;
    }

    (void) json_object_object_get_ex(o, "content", &content);
    anthropic_take(t, o, content);

    if (anthropic_round(d, &bad) == -1) {
        return err_set(e, 500, "model_failed", "the model asked for what "
                       "cannot be run");
    }

    return 0;
}


void
anthropic_dialogue_ran(dialogue_t *d)
{
    size_t             i;
    json_object       *results, *one;
    anthropic_use_t   *u;
    anthropic_talk_t  *t;

    t = d->own;
    results = json_object_new_array();

    for (i = 0; i < t->code.nuses; i++) {
        u = &t->code.uses[i];
        one = u->tool != ANTHROPIC_UPLOAD ? anthropic_result(&d->turn, u)
                                          : NULL;
        if (one != NULL) {
            (void) json_object_array_add(results, one);
            (void) json_object_array_add(t->content, json_object_get(one));
            t->runs++;
        }
    }

    if (json_object_array_length(results) != 0) {
        anthropic_push_results(t, results);
    }

    json_object_put(results);
    d->turn.handle[0] = '\0';

    if (!d->turn.turn.whole) {
        t->paused = 1;
        t->over = 1;
        return;
    }

    json_object_put(t->pending);
    t->pending = json_object_new_array();
}


static json_object *
anthropic_usage(const anthropic_talk_t *t)
{
    json_object  *usage, *tools;

    tools = json_object_new_object();
    native_add(tools, "code_execution_requests",
               json_object_new_int64(t->runs));
    usage = json_object_new_object();
    native_add(usage, "input_tokens", json_object_new_int64(t->input));
    native_add(usage, "output_tokens", json_object_new_int64(t->output));
    native_add(usage, "server_tool_use", tools);

    return usage;
}


json_object *
anthropic_message(const dialogue_t *d)
{
    char               id[40], hex[33];
    json_object       *o, *v, *from;
    const char        *stop;
    anthropic_talk_t  *t;

    t = d->own;

    if (text_random(hex) == -1) {
        memset(hex, '0', sizeof(hex));
    }

    (void) snprintf(id, sizeof(id), "msg_%.24s", hex);
    stop = t->last != NULL ? anthropic_member(t->last, "stop_reason") : "";
    from = t->last != NULL ? t->last
           : t->live.message != NULL ? t->live.message : t->ask;

    o = json_object_new_object();
    native_add(o, "id", json_object_new_string(id));
    native_add(o, "type", json_object_new_string("message"));
    native_add(o, "role", json_object_new_string("assistant"));
    native_add(o, "model", native_string(anthropic_member(from, "model")));
    native_add(o, "content", json_object_get(t->content));
    native_add(o, "stop_reason", native_string(
                   t->paused ? "pause_turn"
                   : *stop != '\0' ? stop : "end_turn"));
    native_add(o, "stop_sequence", NULL);

    if (t->last != NULL && !t->paused
        && json_object_object_get_ex(t->last, "stop_sequence", &v))
    {
        native_add(o, "stop_sequence", json_object_get(v));
    }

    native_add(o, "container", anthropic_container_out(&d->turn));
    native_add(o, "usage", anthropic_usage(t));

    return o;
}


void
anthropic_dialogue_render(dialogue_t *d, answer_t *a)
{
    anthropic_answer(anthropic_message(d), a);
}


void
anthropic_dialogue_free(dialogue_t *d)
{
    anthropic_talk_t  *t;

    t = d->own;
    free(d->turn.turn.steps);

    if (t != NULL) {
        free(t->code.uses);
        json_object_put(t->ask);
        json_object_put(t->messages);
        json_object_put(t->pending);
        json_object_put(t->content);
        json_object_put(t->last);
        anthropic_live_free(&t->live);
        free(t);
    }
}
