
/*
 * Inside of the Ubik dialect, and what the loop of its rounds (plan.c) says in
 * its words.
 *
 * An execution's outputs are the transcript, as one stream.  Whatever else is
 * known of it is an object, the memo:
 *
 *   tool, inputs, user, planner, documents, plan, rounds, artifacts, files,
 *   error, completed
 *
 * A question to its client is an output of its own as well.
 */

#ifndef FRONT_UBIK_H
#define FRONT_UBIK_H

#include <json-c/json.h>

#include "dialect.h"


#define UBIK_FILES   "uploaded_files"   /* of /workspace, and of /home */
#define UBIK_MEMO    262144             /* bytes of a client's memo */
#define UBIK_ROUNDS  6
#define UBIK_ASKS    3          /* questions of one execution */
#define UBIK_WAIT    300        /* seconds that a question waits */


enum { UBIK_JSON, UBIK_SSE };


/*
 * A fault of what a client sent: 422, and where it is: a key of the inputs,
 * "inputs" itself, a key beside it (".key"), or one of the query ("?key").
 */

int ubik_fault(err_t *e, const char *where, const char *why);

/* not 0 if the path's tool is one of ours; its name and its uuid */

int ubik_tool(const char *id, const char **name, const char **uuid);

/* the memo of an execution, an empty object if there is none */

json_object *ubik_memo(const char *text);
const char *ubik_text(json_object *o, const char *key);

#define UBIK_NAME  128          /* of an end user */

/* who the client's end user is, "" if nobody is named */

const char *ubik_user(const request_t *req);


/* what one end user made is not there for another; x->lock is held */

int ubik_owns(const request_t *req, const exec_t *x);

/* ubik_input.c: an answer for an execution; 0, or -1 and "e" */

int ubik_input(call_t *c, err_t *e);


/* ubik_out.c */

void ubik_render_exec(const request_t *req, const exec_t *x, answer_t *a);
int ubik_stream_head(int form, answer_t *a);
void ubik_event(const request_t *req, int form, const event_t *ev, buf_t *to);
void ubik_fail(const err_t *e, answer_t *a);


/* ubik_token.c: a token for an end user; c->a has it, or "e" is set */

void ubik_token(call_t *c, err_t *e);


/* ubik_tools.c */

call_do_t ubik_call(call_t *c);
void ubik_call_fail(call_t *c, const err_t *e);
void ubik_call_free(call_t *c);


/* ubik_log.c: pieces of a transcript, appended */

void ubik_log_begin(buf_t *to, const char *sandbox, json_object *plan);
void ubik_log_round(buf_t *to, unsigned n, unsigned max, const char *step,
    const buf_t *code);
void ubik_log_result(buf_t *to, const result_t *res);

/* what went wrong in a run, as one line; "" if nothing did */

void ubik_log_error(buf_t *to, const result_t *res);


/*
 * ubik_chat.c: the planner, a model that speaks as OpenAI's chat does.  The
 * code of the first fenced block of a text, 1; or 0 if there is none, 2 if
 * there are more.
 */

int ubik_chat_code(const char *p, size_t n, buf_t *code);

/* the question that it asks, appended; 1, or 0 if there is none */

int ubik_chat_question(const buf_t *text, buf_t *question);

/* the steps that stand above the block as a list */

json_object *ubik_chat_plan(const char *p, size_t n);

/* the messages that a conversation begins with; one more */

json_object *ubik_chat_begin(json_object *memo);
void ubik_chat_add(json_object *messages, const char *role, const buf_t *text);

/* a request's body; what an answer says: 0, or -1 and "e" */

void ubik_chat_body(json_object *messages, const char *model, buf_t *to);
int ubik_chat_answer(const buf_t *body, buf_t *text, err_t *e);


#endif /* FRONT_UBIK_H */
