
/*
 * In retort-front, as its own uid without any capability.  The answer of a
 * model as it comes: each of its events is passed on, under the numbers that
 * the client's message has, and put together to the message that they are.
 * The endpoint is the operator's, and still not believed.
 */

#include <string.h>

#include "../json_in.h"
#include "anthropic_talk.h"


typedef struct {
    dialogue_t        *d;
    anthropic_talk_t  *t;
    buf_t             *to;
    err_t             *e;
} anthropic_ear_t;

typedef struct {
    const char   *type;
    int         (*heard)(anthropic_ear_t *ear, json_object *o);
} anthropic_heard_t;


static const char *
anthropic_live_text(json_object *o, const char *key)
{
    json_object  *v;

    return json_object_is_type(o, json_type_object)
           && json_object_object_get_ex(o, key, &v)
           && json_object_is_type(v, json_type_string)
           ? json_object_get_string(v) : "";
}


static json_object *
anthropic_live_member(json_object *o, const char *key, json_type type)
{
    json_object  *v;

    return json_object_object_get_ex(o, key, &v)
           && json_object_is_type(v, type) ? v : NULL;
}


static int
anthropic_live_foul(anthropic_ear_t *ear)
{
    return err_set(ear->e, 500, "model_failed", "the model's endpoint gave a "
                   "stream that is no message");
}


static json_object *
anthropic_live_content(const anthropic_live_t *l)
{
    return anthropic_live_member(l->message, "content", json_type_array);
}


/* which block of the client's message the open one is */

static size_t
anthropic_live_index(const anthropic_talk_t *t)
{
    return json_object_array_length(t->content)
           + json_object_array_length(anthropic_live_content(&t->live));
}


static int
anthropic_live_start(anthropic_ear_t *ear, json_object *o)
{
    json_object  *m;

    m = anthropic_live_member(o, "message", json_type_object);

    if (m == NULL || ear->t->live.message != NULL) {
        return anthropic_live_foul(ear);
    }

    native_add(m, "content", json_object_new_array());
    ear->t->live.message = json_object_get(m);

    if (!ear->t->begun) {
        anthropic_dialogue_say(ear->d, 0, ear->to);
    }

    return 0;
}


/* is it about the block that is open, or the one that comes next? */

static int
anthropic_live_here(const anthropic_ear_t *ear, json_object *o, int open)
{
    json_object             *v;
    const anthropic_live_t  *l;

    l = &ear->t->live;

    if (l->message == NULL || l->over || (l->block != NULL) != open) {
        return 0;
    }

    v = anthropic_live_member(o, "index", json_type_int);

    return v != NULL && json_object_get_int64(v)
           == (int64_t) json_object_array_length(anthropic_live_content(l));
}


static int
anthropic_live_block(anthropic_ear_t *ear, json_object *o)
{
    json_object               *block, *v;
    anthropic_live_t          *l;
    const anthropic_delta_t   *row;

    l = &ear->t->live;
    block = anthropic_live_member(o, "content_block", json_type_object);

    if (block == NULL || !anthropic_live_here(ear, o, 0)) {
        return anthropic_live_foul(ear);
    }

    l->block = json_object_get(block);
    l->text.len = 0;
    row = anthropic_delta(block);

    if (row != NULL && !row->json) {
        v = anthropic_live_member(block, row->key, json_type_string);
        (void) buf_puts(&l->text, v != NULL ? json_object_get_string(v) : "");
    }

    anthropic_block_begins(ear->to, anthropic_is_ours(ear->t, block)
                                    ? anthropic_use_out(block)
                                    : json_object_get(block),
                           anthropic_live_index(ear->t));

    return 0;
}


/* what a delta adds to its block beside the text that grows */

static void
anthropic_live_add(json_object *block, json_object *delta)
{
    json_object  *v, *list;

    if (json_object_object_get_ex(delta, "signature", &v)) {
        native_add(block, "signature", json_object_get(v));
    }

    if (json_object_object_get_ex(delta, "citation", &v)) {
        list = anthropic_live_member(block, "citations", json_type_array);

        if (list == NULL) {
            list = json_object_new_array();
            native_add(block, "citations", list);
        }

        (void) json_object_array_add(list, json_object_get(v));
    }
}


static int
anthropic_live_delta(anthropic_ear_t *ear, json_object *o)
{
    json_object               *delta, *v;
    anthropic_live_t          *l;
    const anthropic_delta_t   *row;

    l = &ear->t->live;
    delta = anthropic_live_member(o, "delta", json_type_object);

    if (delta == NULL || !anthropic_live_here(ear, o, 1)) {
        return anthropic_live_foul(ear);
    }

    row = anthropic_delta(l->block);

    if (row != NULL
        && strcmp(anthropic_live_text(delta, "type"), row->delta) == 0)
    {
        v = anthropic_live_member(delta, row->as, json_type_string);
        (void) buf_puts(&l->text, v != NULL ? json_object_get_string(v) : "");

    } else {
        anthropic_live_add(l->block, delta);
    }

    native_add(o, "index", json_object_new_int64(
                   (int64_t) anthropic_live_index(ear->t)));
    anthropic_event(ear->to, "content_block_delta", json_object_get(o));

    return 0;
}


/* an input that is none is empty, which its tool refuses */

static json_object *
anthropic_live_input(const anthropic_live_t *l, json_object *before)
{
    err_t         e;
    json_object  *o;

    if (l->text.len == 0) {
        return json_object_get(before);
    }

    o = json_in(l->text.data, l->text.len, &e);

    return o != NULL ? o : json_object_new_object();
}


static int
anthropic_live_stop(anthropic_ear_t *ear, json_object *o)
{
    size_t                     index;
    json_object               *v;
    anthropic_live_t          *l;
    const anthropic_delta_t   *row;

    l = &ear->t->live;

    if (!anthropic_live_here(ear, o, 1)) {
        return anthropic_live_foul(ear);
    }

    index = anthropic_live_index(ear->t);
    row = anthropic_delta(l->block);

    if (row != NULL) {
        (void) json_object_object_get_ex(l->block, row->key, &v);
        native_add(l->block, row->key,
                   row->json ? anthropic_live_input(l, v)
                   : native_bytes(l->text.data, l->text.len));
    }

    (void) json_object_array_add(anthropic_live_content(l), l->block);
    l->block = NULL;
    native_add(o, "index", json_object_new_int64((int64_t) index));
    anthropic_event(ear->to, "content_block_stop", json_object_get(o));

    return 0;
}


/* this is how the model ends, which the client's message may not yet */

static int
anthropic_live_last(anthropic_ear_t *ear, json_object *o)
{
    size_t             i;
    json_object       *usage, *delta, *v;
    anthropic_live_t  *l;

    static const char *const  keys[] = { "stop_reason", "stop_sequence" };

    l = &ear->t->live;

    if (l->message == NULL || l->block != NULL) {
        return anthropic_live_foul(ear);
    }

    delta = anthropic_live_member(o, "delta", json_type_object);

    for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (delta != NULL && json_object_object_get_ex(delta, keys[i], &v)) {
            native_add(l->message, keys[i], json_object_get(v));
        }
    }

    usage = anthropic_live_member(l->message, "usage", json_type_object);

    if (usage == NULL) {
        usage = json_object_new_object();
        native_add(l->message, "usage", usage);
    }

    o = anthropic_live_member(o, "usage", json_type_object);

    if (o != NULL) {
        json_object_object_foreach(o, key, count) {
            native_add(usage, key, json_object_get(count));
        }
    }

    return 0;
}


static int
anthropic_live_over(anthropic_ear_t *ear, json_object *o)
{
    (void) o;

    if (ear->t->live.message == NULL || ear->t->live.block != NULL) {
        return anthropic_live_foul(ear);
    }

    ear->t->live.over = 1;

    return 0;
}


static int
anthropic_live_ping(anthropic_ear_t *ear, json_object *o)
{
    if (ear->t->begun) {
        anthropic_event(ear->to, "ping", json_object_get(o));
    }

    return 0;
}


static int
anthropic_live_error(anthropic_ear_t *ear, json_object *o)
{
    const char  *type;

    type = anthropic_live_text(anthropic_live_member(o, "error",
                                                     json_type_object),
                               "type");

    return anthropic_refused(strcmp(type, "overloaded_error") == 0 ? 529
                             : strcmp(type, "rate_limit_error") == 0 ? 429
                             : strcmp(type, "invalid_request_error") == 0
                             ? 400 : 500, o, ear->e);
}


static const anthropic_heard_t  anthropic_heards[] = {
    { "message_start", anthropic_live_start },
    { "content_block_start", anthropic_live_block },
    { "content_block_delta", anthropic_live_delta },
    { "content_block_stop", anthropic_live_stop },
    { "message_delta", anthropic_live_last },
    { "message_stop", anthropic_live_over },
    { "ping", anthropic_live_ping },
    { "error", anthropic_live_error },
    { NULL, NULL }
};


/* one event; those that nobody knows are passed over */

static int
anthropic_live_event(anthropic_ear_t *ear)
{
    int                       rc;
    err_t                     bad;
    buf_t                    *data;
    json_object              *o;
    const anthropic_heard_t  *row;

    data = &ear->t->live.data;

    if (data->len == 0) {
        return 0;
    }

    o = json_in(data->data, data->len, &bad);
    data->len = 0;

    if (o == NULL) {
        return anthropic_live_foul(ear);
    }

    rc = 0;

    for (row = anthropic_heards; row->type != NULL; row++) {
        if (strcmp(row->type, anthropic_live_text(o, "type")) == 0) {
            rc = row->heard(ear, o);
        }
    }

    json_object_put(o);

    return rc;
}


/* of an event only its data counts, whose "type" says what it is */

static int
anthropic_live_line(anthropic_ear_t *ear)
{
    size_t             n;
    const char        *p;
    anthropic_live_t  *l;

    l = &ear->t->live;
    p = l->line.data;
    n = l->line.len;
    l->line.len = 0;

    if (n != 0 && p[n - 1] == '\r') {
        n--;
    }

    if (n == 0) {
        return anthropic_live_event(ear);
    }

    if (n > 5 && strncmp(p, "data:", 5) == 0) {
        (void) buf_add(&l->data, p + 5, n - 5);
        (void) buf_add(&l->data, "\n", 1);
    }

    return 0;
}


int
anthropic_dialogue_piece(dialogue_t *d, const char *p, size_t n, buf_t *to,
    err_t *e)
{
    int                rc;
    size_t             len;
    const char        *end;
    anthropic_ear_t    ear;
    anthropic_live_t  *l;

    ear.d = d;
    ear.t = d->own;
    ear.to = to;
    ear.e = e;
    l = &ear.t->live;
    rc = 0;

    while (n != 0 && rc == 0) {
        end = memchr(p, '\n', n);
        len = end != NULL ? (size_t) (end - p) : n;
        (void) buf_add(&l->line, p, len);

        if (end != NULL) {
            rc = anthropic_live_line(&ear);
            len++;
        }

        p += len;
        n -= len;
    }

    return l->line.failed || l->data.failed || l->text.failed
           ? err_set(e, 500, "no_memory", "out of memory") : rc;
}


json_object *
anthropic_live_take(anthropic_live_t *l)
{
    json_object  *o;

    o = l->over ? l->message : NULL;

    if (o != NULL) {
        l->message = NULL;
    }

    anthropic_live_free(l);

    return o;
}


void
anthropic_live_free(anthropic_live_t *l)
{
    json_object_put(l->message);
    json_object_put(l->block);
    buf_free(&l->line);
    buf_free(&l->data);
    buf_free(&l->text);
    memset(l, 0, sizeof(anthropic_live_t));
}
