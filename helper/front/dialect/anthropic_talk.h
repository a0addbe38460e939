
/*
 * Inside of Anthropic's Messages API: a request is turned into questions for a
 * model that knows no code execution, with its two tools as tools like any
 * other; and what it answers into what the vendor would have said.
 */

#ifndef FRONT_ANTHROPIC_TALK_H
#define FRONT_ANTHROPIC_TALK_H

#include "anthropic.h"


/* a model's answer that comes as a stream */

typedef struct {
    buf_t              line;        /* that has no end yet */
    buf_t              data;        /* of the event that has none yet */
    json_object       *message;     /* so far; NULL: it has not begun */
    json_object       *block;       /* that is open, NULL: none */
    buf_t              text;        /* what its deltas say */
    int                over;        /* there is no more of it */
} anthropic_live_t;

typedef struct {
    anthropic_code_t   code;        /* first: it is the turn's "own" */
    anthropic_live_t   live;
    json_object       *ask;         /* the question, without its messages */
    json_object       *messages;    /* for the model */
    json_object       *pending;     /* blocks that are to be run */
    json_object       *content;     /* of the answer */
    json_object       *last;        /* what the model said last; NULL */
    int                offered;     /* the client offers code execution */
    int                stream;
    int                begun;       /* the client knows of the message */
    size_t             told;        /* blocks of "content" that it has */
    int                over;
    int                paused;
    int64_t            runs;
    int64_t            input;       /* tokens of all questions */
    int64_t            output;
} anthropic_talk_t;


/* anthropic_tools.c: the client's tools as the model has them */

int anthropic_tools_in(anthropic_talk_t *t, json_object *tools, err_t *e);

/* is it one of ours by its name? */

int anthropic_is_tool(const char *name);

/* anthropic_history.c: the client's messages as the model has them */

int anthropic_history(anthropic_talk_t *t, json_object *messages, err_t *e);

/* one block more, of "user" or "assistant"; takes it */

void anthropic_push(anthropic_talk_t *t, const char *role, json_object *block);

/* the result of a use, for the model; before all else that its user said */

void anthropic_push_results(anthropic_talk_t *t, json_object *results);
json_object *anthropic_tool_result(json_object *result);

/* anthropic_sse.c: how a block is said in pieces, by its type; NULL: whole */

typedef struct {
    const char  *type;          /* of a block */
    const char  *key;           /* what its deltas have */
    const char  *delta;
    const char  *as;            /* a delta's key */
    int          json;          /* the value is an object, told as its text */
} anthropic_delta_t;

const anthropic_delta_t *anthropic_delta(json_object *block);

/*
 * Events of a stream.  The first takes its object.  The beginning of a message
 * is said once; then blocks that were not told yet; then its end.
 */

void anthropic_event(buf_t *to, const char *type, json_object *o);
void anthropic_block_begins(buf_t *to, json_object *block, size_t index);
void anthropic_dialogue_say(dialogue_t *d, int beat, buf_t *to);
void anthropic_dialogue_end(dialogue_t *d, const err_t *e, buf_t *to);

/* anthropic_live.c: a part of the model's stream; 0, or -1 and "e" */

int anthropic_dialogue_piece(dialogue_t *d, const char *p, size_t n,
    buf_t *to, err_t *e);

/* the whole of it, which the caller takes; NULL if it was cut */

json_object *anthropic_live_take(anthropic_live_t *l);
void anthropic_live_free(anthropic_live_t *l);

/* anthropic_messages.c: is it a use of ours?  How the client is told of it */

int anthropic_is_ours(const anthropic_talk_t *t, json_object *block);
json_object *anthropic_use_out(json_object *block);

/* why the model's side does not answer; always -1 */

int anthropic_refused(int status, json_object *o, err_t *e);

/* the client's message as far as it is known */

json_object *anthropic_message(const dialogue_t *d);


int anthropic_dialogue_parse(dialogue_t *d, const char *body, size_t len,
    err_t *e);
dialogue_do_t anthropic_dialogue_next(dialogue_t *d, int late);
void anthropic_dialogue_ask(dialogue_t *d, const char *model, buf_t *to);
int anthropic_dialogue_heard(dialogue_t *d, int status, const char *body,
    size_t len, err_t *e);
void anthropic_dialogue_ran(dialogue_t *d);
void anthropic_dialogue_render(dialogue_t *d, answer_t *a);
void anthropic_dialogue_free(dialogue_t *d);


#endif /* FRONT_ANTHROPIC_TALK_H */
