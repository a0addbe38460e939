
/*
 * Inside of the dialect of MCP, of Prisme's, which is MCP with one tool, and of
 * Azure's, with three.
 * One POST is one JSON-RPC message.  Two eras share the endpoint: one that
 * begins with "initialize" and may have sessions, and one in which each
 * message stands alone.
 */

#ifndef FRONT_MCP_H
#define FRONT_MCP_H

#include <json-c/json.h>

#include "../json_in.h"
#include "../session.h"
#include "dialect.h"


#define MCP_MODERN   "2026-07-28"
#define MCP_NEWEST   "2025-11-25"       /* of the era before */
#define MCP_META     "io.modelcontextprotocol/"
#define MCP_ID       128                /* bytes of a message's id */

#define MCP_PARSE     -32700
#define MCP_REQUEST   -32600
#define MCP_METHOD    -32601
#define MCP_PARAMS    -32602
#define MCP_INTERNAL  -32603
#define MCP_NOT_FOUND -32000
#define MCP_LATER     -32000
#define MCP_REFUSED   -32001
#define MCP_SESSION   -32001            /* only in the era before */
#define MCP_HEADER    -32020
#define MCP_CAPABILITY  -32021
#define MCP_VERSION   -32022
#define MCP_NO_RESOURCE  -32002        /* only in the era before */


typedef struct mcp_s       mcp_t;
typedef struct mcp_tool_s  mcp_tool_t;
typedef struct mcp_fixture_s  mcp_fixture_t;

/* one message */

struct mcp_s {
    call_t             *call;
    json_object        *msg;            /* the others are parts of it */
    json_object        *id;             /* NULL: a notification */
    json_object        *params;         /* NULL: none */
    json_object        *meta;           /* NULL: none */
    const char         *method;         /* NULL: a response */
    const char         *version;        /* "" if it is not told */
    const char         *session;        /* "" if it has none */
    char                agreed[SESSION_VERSION];    /* the session's */
    const mcp_tool_t   *tool;
    json_object        *token;          /* of its progress, NULL: none */
    uint64_t            progress;       /* that was told last */
    buf_t               line;           /* of stdout, that has no end yet */
    const mcp_fixture_t  *fixture;      /* that is called, NULL: none */
    int                 step;           /* of the fixture */
    void              (*filed)(mcp_t *m);   /* answers about files */
    void              (*failed)(mcp_t *m);  /* what is not there */
    int                 fixtures;       /* there are some */
    int                 links;          /* instead of pictures */
    int                 modern;
    int                 prisme;
    int                 azure;
    int                 timed;          /* the client has said how long */
    int                 entered;        /* it is counted in its session */
};

struct mcp_tool_s {
    const char            *name;
    const char            *title;
    const char            *description;
    const char            *input;       /* JSON, as the next three */
    const char            *output;      /* NULL: none */
    const char            *annotations;
    const json_in_key_t   *keys;
    krn_language_t         language;
    int                    handle;      /* "sandbox_id" goes in and out */
    int                    alone;       /* never in a session */
    int                    task;        /* always one */
    int                    faulty;      /* its end is a fault of the protocol */
    int                    cut;         /* its stream is, where it begins */
    const char            *asks;        /* JSON: what its task asks for first */
    int                    fixture;     /* only with fixtures */
    int                    rpc;         /* bad arguments are no result */
    const char            *as;          /* offered with it, but not listed */

    /* is all there that it takes?  NULL: "code" is; 0, or -1 and "e" */
    int                  (*ready)(mcp_t *m, err_t *e);

    /* a tool that runs nothing: its result, NULL if memory runs out */
    json_object         *(*now)(mcp_t *m);

    /* a tool that is about files and runs nothing: answers with them */
    void                 (*filed)(mcp_t *m);

    /* the answer's result; the second of a call that did not run */
    json_object         *(*done)(mcp_t *m, const exec_t *x);
    json_object         *(*fail)(mcp_t *m, const err_t *e);
};


/* a value of "params": a text, "" if it is none */

const char *mcp_param(const mcp_t *m, const char *name);

/* the same of "arguments" in it */

const char *mcp_argument(const mcp_t *m, const char *name);

/* does the client say that it can? */

int mcp_capable(const mcp_t *m, const char *what);
json_object *mcp_capability(const mcp_t *m, const char *what);

/* what may be kept for a while, and by whom */

json_object *mcp_cached(const mcp_t *m, json_object *o);

/* answers with a page of a list, takes it; bad cursors are refused */

call_do_t mcp_page(mcp_t *m, const char *key, json_object *all);

/* the run by the client's name for it */

void mcp_key(mcp_t *m, json_object *id);

/* mcp_prompt.c, mcp_resource.c, mcp_skill.c */

call_do_t mcp_prompts_list(mcp_t *m);
call_do_t mcp_prompts_get(mcp_t *m);
call_do_t mcp_complete(mcp_t *m);
call_do_t mcp_resources_list(mcp_t *m);
call_do_t mcp_resources_templates(mcp_t *m);
call_do_t mcp_resources_read(mcp_t *m);
call_do_t mcp_nothing(mcp_t *m);
void mcp_resource_fail(mcp_t *m, const err_t *e);

json_object *mcp_base64(const char *p, size_t n);
int mcp_is_text(const char *p, size_t n);

extern const char  mcp_skill[];

/* mcp_fixture.c: what the conformance suite wants, if it is switched on */

#define MCP_PNG                                                               \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAE"     \
    "hQGAhKmMIQAAAABJRU5ErkJggg=="

const mcp_fixture_t *mcp_fixture(const mcp_t *m, const char *name);
void mcp_fixture_list(const mcp_t *m, json_object *all);
call_do_t mcp_fixture_call(mcp_t *m, const mcp_fixture_t *f);
int mcp_fixture_asks(mcp_t *m, const char *name);

/* a task that asks: how it stands, put into "o"; what its client answers */

void mcp_fixture_parked(const exec_t *x, json_object *o);
void mcp_fixture_told(mcp_t *m, const exec_t *x);
int mcp_call_talk(call_t *c, buf_t *to, const char *heard);

/* mcp_rpc.c: 0; or -1, and it is answered */

int mcp_read(mcp_t *m);

/* both take the object; an error's data may be NULL */

void mcp_result(mcp_t *m, json_object *result);
int mcp_error(mcp_t *m, int http, int code, const char *text,
    json_object *data);

/* an error of a message that was not read; a whole answer to one; takes "o" */

void mcp_fail(const err_t *e, answer_t *a);
void mcp_write(answer_t *a, json_object *o, int http);

/* a whole message, around a result of ours */

json_object *mcp_message(const mcp_t *m, json_object *result);

/* a text without a NUL in it; 1 or 0 */

int mcp_is_whole(json_object *v);

/* what echoes as it was: a short string, or a whole number; 1 or 0 */

int mcp_is_id(json_object *v);

json_object *mcp_text(const char *text);
json_object *mcp_json(const char *text);

/* mcp.c: what is known of a request before its message; NULL: no memory */

mcp_t *mcp_new(call_t *c);

/* mcp_stream.c: how the answer to a call of a tool is to come; streams */

json_object *mcp_token(const mcp_t *m);
void mcp_memo(mcp_t *m);
void mcp_stream_wish(mcp_t *m);
int mcp_stream_head(int form, answer_t *a);

/* a stream that ends where it begins: its client comes back for the rest */

void mcp_stream_cut(mcp_t *m, const exec_t *x);

void mcp_call_event(call_t *c, const exec_t *x, const event_t *ev, buf_t *to);
int mcp_call_resume(call_t *c, char id[REQ_EXECUTION], uint64_t *after,
    err_t *e);
int mcp_call_again(call_t *c, const char *memo);

/* mcp_task.c */

int mcp_task_able(const mcp_t *m);
call_do_t mcp_task_wish(mcp_t *m);
call_do_t mcp_task_look(mcp_t *m);
void mcp_call_task(call_t *c, const exec_t *x);
void mcp_call_look(call_t *c, const exec_t *x);

/* mcp_site.c: may it speak to us at all?  0, or -1 and "e" */

int mcp_site(const request_t *req, err_t *e);

/*
 * mcp_era.c: which era it is; is it what its headers say?  0; or -1, and it is
 * answered
 */

void mcp_era(mcp_t *m);
int mcp_check(mcp_t *m);
int mcp_is_version(const char *version);

/* does the header, by its param's name, say this?  1 or 0 */

int mcp_says(const mcp_t *m, const char *name, const char *value);

/*
 * Arguments that the schema wants in headers of their own, too
 * ("x-mcp-header"): 0; or -1, and it is answered.
 */

int mcp_mirrored(mcp_t *m, const char *input);

/* mcp_tools.c */

const mcp_tool_t *mcp_tool(const mcp_t *m, const char *name);
json_object *mcp_tools(const mcp_t *m);

/* mcp_args.c: 0, or -1 and "e" */

int mcp_args(mcp_t *m, json_object *args, err_t *e);

extern const json_in_key_t  mcp_keys_session[];     /* python, bash */
extern const json_in_key_t  mcp_keys_code[];        /* code_interpreter */
extern const json_in_key_t  mcp_keys_prisme[];      /* execute_python */

/* mcp_out.c, mcp_prisme.c: results */

json_object *mcp_run_done(mcp_t *m, const exec_t *x);
json_object *mcp_run_fail(mcp_t *m, const err_t *e);
json_object *mcp_code_done(mcp_t *m, const exec_t *x);
json_object *mcp_code_fail(mcp_t *m, const err_t *e);
int mcp_prisme_ready(mcp_t *m, err_t *e);
json_object *mcp_prisme_done(mcp_t *m, const exec_t *x);
json_object *mcp_prisme_fail(mcp_t *m, const err_t *e);
void mcp_prisme_refuse(const err_t *e, answer_t *a);

/* each ended by a row without a name */

extern const mcp_tool_t  mcp_azure_tools[];
extern const mcp_tool_t  mcp_files_tools[];
extern const mcp_tool_t  mcp_anthropic_tools[];
extern const mcp_tool_t  mcp_fixture_tools[];

/* code may do anything that it can: a client should ask first */

#define MCP_HINTS                                                             \
    "{\"readOnlyHint\":false,\"destructiveHint\":true,"                       \
    "\"idempotentHint\":false,\"openWorldHint\":true}"

#define MCP_READS                                                             \
    "{\"readOnlyHint\":true,\"destructiveHint\":false,"                       \
    "\"idempotentHint\":true,\"openWorldHint\":false}"

/* "sandbox_id"; code, whatever it is called */

int mcp_arg_sandbox(void *to, json_object *v, err_t *e);
int mcp_arg_code(void *to, json_object *v, err_t *e);

/* the run's pictures, added to a result */

json_object *mcp_pictures(const mcp_t *m, json_object *result);

/* a result of these; takes "structured", whose text is the first block */

json_object *mcp_twins(json_object *structured, int failed);


#endif /* FRONT_MCP_H */
