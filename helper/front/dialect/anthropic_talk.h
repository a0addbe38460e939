
/*
 * Inside of Anthropic's Messages API: a request is turned into questions for a
 * model that knows no code execution, with its two tools as tools like any
 * other; and what it answers into what the vendor would have said.
 */

#ifndef FRONT_ANTHROPIC_TALK_H
#define FRONT_ANTHROPIC_TALK_H

#include "anthropic.h"


typedef struct {
    anthropic_code_t   code;        /* first: it is the turn's "own" */
    json_object       *ask;         /* the question, without its messages */
    json_object       *messages;    /* for the model */
    json_object       *pending;     /* blocks that are to be run */
    json_object       *content;     /* of the answer */
    json_object       *last;        /* what the model said last; NULL */
    int                offered;     /* the client offers code execution */
    int                stream;
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

/* anthropic_sse.c: a whole message as the events of a stream */

void anthropic_sse(json_object *message, buf_t *to);

/* anthropic_messages.c */

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
