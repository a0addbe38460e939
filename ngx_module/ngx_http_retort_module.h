
/*
 * nginx's half of Retort: who asks, may it, pass it on, end it well.
 *
 * Files: module (tables), conf (directives), keys, crypto, auth (identity),
 * jwt, jwks and claims (tokens), signed, scope, resource,
 * pass (upstream life), params and stdin (request to the front), record,
 * header and body (answer of the front), form and json (ending a cut
 * answer), verdict and filter (our own answers), artifacts, variables.
 */

#ifndef _NGX_HTTP_RETORT_MODULE_H_INCLUDED_
#define _NGX_HTTP_RETORT_MODULE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>
#include "ngx_http_retort_json.h"
#include "ngx_http_retort_zone.h"


#define NGX_HTTP_RETORT_SHA256        32
#define NGX_HTTP_RETORT_NAME_MAX      64       /* of a workspace */
#define NGX_HTTP_RETORT_PROFILE_MAX   31
#define NGX_HTTP_RETORT_IMPORTS       1000     /* bytes of a list */
#define NGX_HTTP_RETORT_NODE_MAX      15

/* one FastCGI record of ours carries at most this */
#define NGX_HTTP_RETORT_RECORD_MAX    32768

/* the most that is put aside of a JSON body */
#define NGX_HTTP_RETORT_HOLD          256

/* a bound on the verdict "lost" as text, without the execution's id */
#define NGX_HTTP_RETORT_LOST_TEXT     1024

#define NGX_HTTP_RETORT_STDERR_LINE   1024
#define NGX_HTTP_RETORT_STDERR_MAX    16384

/* FastCGI 1.0 */
#define NGX_HTTP_RETORT_FCGI_HEADER   8
#define NGX_HTTP_RETORT_FCGI_BEGIN    1
#define NGX_HTTP_RETORT_FCGI_END      3
#define NGX_HTTP_RETORT_FCGI_PARAMS   4
#define NGX_HTTP_RETORT_FCGI_STDIN    5
#define NGX_HTTP_RETORT_FCGI_STDOUT   6
#define NGX_HTTP_RETORT_FCGI_STDERR   7


/* what the worker refuses itself, or cannot have; strings are constants */

typedef struct {
    ngx_uint_t    status;
    const char   *code;          /* of the native API */
    const char   *message;
    ngx_str_t     request;       /* 32 hex digits of this request's own */
    ngx_str_t     id;            /* of the client's message; "": not known */

    const char   *header;        /* that a face adds, NULL if it has none */
    const char   *value;
} ngx_http_retort_fault_t;

/* a bound on what a face writes without code and message */
#define NGX_HTTP_RETORT_FACE          512

typedef u_char *(*ngx_http_retort_face_pt)(u_char *p,
    ngx_http_retort_fault_t *f);


/* a dialect, as far as the worker needs to know it */

typedef struct {
    ngx_str_t     name;

    /* the request must have an identity */
    ngx_uint_t    identity;

    /* would this request, once lost, have been a run? */
    ngx_uint_t  (*is_run)(ngx_http_request_t *r);

    /* the one type of its answers, which are markdown; or as Accept says */
    ngx_str_t     text;

    /* what is lost is an error of JSON-RPC */
    ngx_uint_t    rpc;

    /* how it says an error, as JSON */
    ngx_http_retort_face_pt  face;
} ngx_http_retort_api_t;


typedef enum {
    RETORT_LIMIT_TIMEOUT = 0,
    RETORT_LIMIT_MEMORY,
    RETORT_LIMIT_DISK,
    RETORT_LIMIT_OUTPUT,
    RETORT_LIMIT_IMAGE,
    RETORT_LIMIT_PROCESSES,
    RETORT_LIMIT_CPU,
    RETORT_LIMIT_TURN,
    RETORT_LIMITS
} ngx_http_retort_limit_e;


/* a ceiling: its param, its range, how it is written in the configuration */

typedef struct {
    ngx_str_t     param;
    off_t         min;
    off_t         max;
    off_t       (*parse)(ngx_str_t *value);
} ngx_http_retort_limit_t;


/* what an identity may do */

#define RETORT_SCOPE_EXECUTE          0x1
#define RETORT_SCOPE_FILES            0x2
#define RETORT_SCOPE_ADMIN            0x4

/* of an identity that says nothing of scopes */
#define RETORT_SCOPE_DEFAULT          (RETORT_SCOPE_EXECUTE|RETORT_SCOPE_FILES)


typedef struct {
    u_char        sha256[NGX_HTTP_RETORT_SHA256];
    ngx_str_t     workspace;
    ngx_array_t  *profiles;      /* of ngx_str_t; NULL: every profile */
    ngx_uint_t    scopes;
} ngx_http_retort_key_t;


typedef struct ngx_http_retort_jwt_s  ngx_http_retort_jwt_t;


typedef struct {
    ngx_array_t  *secrets;       /* of ngx_str_t */
    time_t        window;        /* to both sides of the clock */
} ngx_http_retort_signed_t;


typedef struct {
    ngx_array_t                zones;    /* of ngx_http_retort_zone_conf_t * */
} ngx_http_retort_main_conf_t;


typedef struct {
    ngx_http_upstream_conf_t   upstream;

    /* the same from the first byte sent on: no other peer is tried */
    ngx_http_upstream_conf_t   sent;

    /* the same after a kept connection turned out to be closed */
    ngx_http_upstream_conf_t   unsent;

    ngx_http_retort_api_t     *api;
    ngx_str_t                  tools;    /* names, with blanks between */
    ngx_str_t                  imports;  /* the same, of packages */
    ngx_flag_t                 strict;   /* Azure's: only names of ours */
    ngx_uint_t                 azure_full;
    ngx_uint_t                 mcp_links;
    ngx_flag_t                 mcp_fixtures;
    ngx_array_t               *names;    /* of ngx_str_t, the server's */
    ngx_str_t                  profile;
    ngx_http_complex_value_t  *workspace;
    ngx_array_t               *keys;     /* of ngx_http_retort_key_t */
    ngx_http_retort_jwt_t     *jwt;
    ngx_http_retort_signed_t  *identity;
    ngx_array_t               *peers;    /* of ngx_cidr_t; NULL: everybody */
    ngx_uint_t                 scope;    /* 0: what the request is of */
    ngx_http_complex_value_t  *resource; /* URL of its metadata */
    ngx_str_t                  document; /* such metadata */
    ngx_str_t                  node;
    ngx_str_t                  planner;      /* an endpoint's name */
    ngx_http_complex_value_t  *static_url;
    off_t                      limits[RETORT_LIMITS];

    ngx_str_t                  artifacts;

    ngx_array_t               *secrets;  /* of ngx_str_t; NULL: unsigned */
    time_t                     expires;

    ngx_http_retort_admission_t  *admission;   /* NULL: everybody */
    ngx_http_retort_zone_conf_t  *status;
} ngx_http_retort_loc_conf_t;


/* an answer that the worker gives itself */

typedef struct {
    ngx_uint_t    status;
    ngx_str_t     type;
    ngx_str_t     body;
    const char   *header;        /* one more line, or NULL */
    const char   *value;
} ngx_http_retort_answer_t;


/* how the worker must end a body, by X-Retort-Form */

typedef enum {
    RETORT_FORM_NONE = 0,
    RETORT_FORM_JSON,
    RETORT_FORM_MARKDOWN,
    RETORT_FORM_SSE,
    RETORT_FORM_NDJSON
} ngx_http_retort_form_e;


/* FastCGI records, taken apart as they come */

typedef struct {
    u_char        header[NGX_HTTP_RETORT_FCGI_HEADER];
    u_char        end[NGX_HTTP_RETORT_FCGI_HEADER];  /* of END_REQUEST */
    size_t        have;          /* bytes of the header */
    size_t        content;       /* bytes of content still to come */
    size_t        padding;
    ngx_uint_t    type;
    unsigned      eof:1;         /* stdout has ended */
} ngx_http_retort_record_t;


/* Markdown: is a fence open? */

typedef struct {
    size_t        fence;         /* its length, 0: none */
    size_t        run;           /* fence characters in this line */
    u_char        fence_char;
    u_char        run_char;
    u_char        indent;
    u_char        line;          /* part of the line that we are in */
    unsigned      clean:1;       /* only blanks after the run */
    unsigned      tick:1;        /* a backtick after the run */
} ngx_http_retort_markdown_t;


/* server-sent events: where in the block are we? */

typedef struct {
    u_char        line;
    u_char        name;          /* bytes of the field's name */
    unsigned      other:1;       /* the name is not (a start of) "data" */
    unsigned      space:1;       /* the blank after the colon may come */
    unsigned      block:1;       /* the event has a line */
    unsigned      data:1;        /* the event has a line of data */
} ngx_http_retort_sse_t;


typedef struct {
    ngx_uint_t                  form;
    ngx_http_retort_utf8_t      utf8;
    ngx_http_retort_json_t      json;
    ngx_http_retort_markdown_t  markdown;
    ngx_http_retort_sse_t       sse;

    unsigned                    any:1;       /* a byte of body was seen */
    unsigned                    line:1;      /* ndjson: the line has text */

    /* json: "status" of the outermost object waits for END_REQUEST */
    unsigned                    holding:1;
    size_t                      held;
    u_char                      hold[NGX_HTTP_RETORT_HOLD];
} ngx_http_retort_follow_t;


typedef struct {
    ngx_http_request_t         *request;

    /* identity */
    ngx_str_t                   workspace;
    ngx_uint_t                  scopes;
    ngx_uint_t                  lacks;       /* the scope that is missing */
    ngx_str_t                   execution;

    /* admission */
    ngx_http_retort_zone_t     *zone;        /* once it was asked */
    uint32_t                    run;         /* ours in it, or NOBODY */
    ngx_msec_t                  asked;
    ngx_event_t                 wait;
    ngx_queue_t                 queue;       /* of zone->waiting */
    ngx_uint_t                  refusal;
    ngx_uint_t                  retry;
    ngx_str_t                   queue_time;

    /* from X-Retort-* lines; variables */
    ngx_str_t                   inside;          /* all that a token is for */
    ngx_str_t                   user;            /* whom a token is for */
    ngx_str_t                   sandbox;
    ngx_str_t                   status;
    ngx_str_t                   wall;
    ngx_str_t                   cpu;
    ngx_str_t                   memory;

    /* request to the front */
    ngx_chain_t                *free;
    ngx_chain_t                *busy;
    ngx_http_event_handler_pt   unsent_handler;  /* of the client's bytes */

    /* answer of the front */
    ngx_http_retort_record_t    record;
    ngx_buf_t                   header;
    ngx_http_retort_follow_t    follow;
    off_t                       rest;        /* of Content-Length, or -1 */
    ngx_recv_pt                 recv;
    ngx_http_upstream_handler_pt
                                read_event_handler;

    /* FCGI_STDERR: the line that is coming in, and all so far */
    u_char                     *err;
    size_t                      err_len;
    size_t                      err_total;

    /* what we answer instead of anybody else */
    ngx_http_retort_answer_t   *answer;

    unsigned                    identified:1;
    unsigned                    presented:1; /* a credential, good or not */
    unsigned                    told:1;      /* its message is no run */
    unsigned                    waits:1;
    unsigned                    wakes:1;     /* others may run as well */
    unsigned                    delivered:1; /* the front got a byte */
    unsigned                    deaf:1;      /* the front reads no more */
    unsigned                    broken:1;    /* the front broke the wire */
    unsigned                    overloaded:1;
    unsigned                    ended:1;     /* the answer has its end */
    unsigned                    lost:1;      /* nobody knows the verdict */
    unsigned                    replaced:1;  /* our header was sent */
    unsigned                    replaced_body:1;
} ngx_http_retort_ctx_t;


/* ngx_http_retort_module.c */

extern ngx_module_t  ngx_http_retort_module;

/* the request's context, made at first use; NULL: no memory */
ngx_http_retort_ctx_t *ngx_http_retort_ctx(ngx_http_request_t *r);

/* the part of the path that belongs to the location, without last slash */
void ngx_http_retort_split_path(ngx_http_request_t *r, ngx_str_t *script,
    ngx_str_t *rest);

/* appends a header line to the answer; strings are kept, not copied */
ngx_table_elt_t *ngx_http_retort_add_header(ngx_http_request_t *r,
    const char *key, const char *value);


/* ngx_http_retort_conf.c: setters of directives */

extern ngx_http_retort_api_t    ngx_http_retort_apis[];
extern ngx_http_retort_limit_t  ngx_http_retort_limits[];
extern ngx_conf_bitmask_t       ngx_http_retort_next_upstream[];
extern ngx_conf_post_t          ngx_http_retort_positive_msec;
extern ngx_conf_post_t          ngx_http_retort_expires_bounds;
extern ngx_conf_post_t          ngx_http_retort_buffer_bounds;

char *ngx_http_retort_set_pass(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_retort_set_api(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
extern ngx_conf_enum_t  ngx_http_retort_azure_full[];
extern ngx_conf_enum_t  ngx_http_retort_mcp_pictures[];

char *ngx_http_retort_set_tools(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_retort_set_imports(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_retort_set_profile(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_retort_set_workspace(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_retort_set_planner(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_retort_set_node(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_retort_set_limit(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_retort_set_artifacts(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);


/* ngx_http_retort_keys.c */

char *ngx_http_retort_set_key_file(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* all of a file of at most 16 megabytes; a secret one is nobody else's */
ngx_int_t ngx_http_retort_read_file(ngx_conf_t *cf, ngx_str_t *name,
    ngx_uint_t secret, ngx_str_t *text);

/* takes what comes before ch, and ch, off the front of s */
ngx_str_t ngx_http_retort_cut(ngx_str_t *s, u_char ch);

/* *k is the entry, or NULL; takes the same time for every key of one length */
ngx_int_t ngx_http_retort_find_key(ngx_array_t *keys, ngx_str_t *key,
    ngx_http_retort_key_t **k);

/* 1 to max characters of [A-Za-z0-9._-] */
ngx_uint_t ngx_http_retort_is_name(ngx_str_t *s, size_t max);


/* ngx_http_retort_crypto.c: NGX_OK, or NGX_ERROR */

ngx_int_t ngx_http_retort_sha256(u_char result[NGX_HTTP_RETORT_SHA256],
    u_char *data, size_t len);
ngx_int_t ngx_http_retort_hmac(u_char result[NGX_HTTP_RETORT_SHA256],
    u_char *key, size_t key_len, ngx_str_t *text);

/* in the same time for all contents of one length */
ngx_uint_t ngx_http_retort_equal(u_char *a, u_char *b, size_t len);


/* ngx_http_retort_jwt.c */

char *ngx_http_retort_set_jwt(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* NGX_OK: ctx has its workspace and scopes; or NGX_HTTP_UNAUTHORIZED */
ngx_int_t ngx_http_retort_check_jwt(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_http_retort_jwt_t *jwt,
    ngx_str_t *value);


/* ngx_http_retort_signed.c */

char *ngx_http_retort_set_signed(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_retort_set_peers(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* the same; NGX_DECLINED: the request has no such header */
ngx_int_t ngx_http_retort_check_signed(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_http_retort_signed_t *sd);


/* ngx_http_retort_scope.c */

char *ngx_http_retort_set_scope(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* RETORT_SCOPE_*; 0: no such name */
ngx_uint_t ngx_http_retort_scope(ngx_str_t *name);

/* all of a list with commas; 0: it is malformed */
ngx_uint_t ngx_http_retort_scope_list(ngx_str_t *list);

/* *lack: what to say to a client that has not got it */
const char *ngx_http_retort_scope_name(ngx_uint_t scope, const char **lack);

/* the one that the request needs */
ngx_uint_t ngx_http_retort_needed_scope(ngx_http_request_t *r);


/* ngx_http_retort_resource.c */

char *ngx_http_retort_set_document(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* WWW-Authenticate of a refusal; NGX_OK, or NGX_ERROR */
ngx_int_t ngx_http_retort_challenge(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_uint_t status);


/* ngx_http_retort_auth.c */

ngx_int_t ngx_http_retort_access_handler(ngx_http_request_t *r);
ngx_uint_t ngx_http_retort_needs_identity(ngx_http_retort_loc_conf_t *rlcf);

/*
 * NGX_OK: ctx->workspace says who it is, or nobody has to be known.
 * NGX_HTTP_UNAUTHORIZED, NGX_HTTP_FORBIDDEN: ctx->answer is set.
 */
ngx_int_t ngx_http_retort_identify(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);


/* ngx_http_retort_pass.c */

ngx_int_t ngx_http_retort_pass_handler(ngx_http_request_t *r);

/* the request goes to the front; NGX_DONE, or a status */
ngx_int_t ngx_http_retort_start(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);

/* 16 random bytes as exec_<node>_<32 hex digits> into ctx->execution */
ngx_int_t ngx_http_retort_name_execution(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);


/* ngx_http_retort_params.c */

/* one buffer: BEGIN_REQUEST and all of PARAMS; NULL: no memory */
ngx_buf_t *ngx_http_retort_params(ngx_http_request_t *r);

/* writes a record's header, returns the end; len is at most 65535 */
u_char *ngx_http_retort_record_header(u_char *p, ngx_uint_t type,
    size_t len);


/* ngx_http_retort_stdin.c */

/* u->request_bufs: the params and, if it is there already, the body */
ngx_int_t ngx_http_retort_create_request(ngx_http_request_t *r);

/* u->output's filter: the client's body becomes STDIN records */
ngx_int_t ngx_http_retort_stdin_filter(void *data, ngx_chain_t *in);


/* ngx_http_retort_record.c */

/*
 * Takes the next piece out of b.  NGX_OK: part is a piece of record->type,
 * never empty.  NGX_AGAIN: b is used up.  NGX_DONE: END_REQUEST is complete,
 * record->end has it.  NGX_ERROR: this is not FastCGI as we know it.
 */
ngx_int_t ngx_http_retort_record(ngx_http_retort_record_t *record,
    ngx_buf_t *b, ngx_str_t *part);

/* is b, behind what is left of the record, a good end and nothing else? */
ngx_uint_t ngx_http_retort_record_ends(ngx_http_retort_record_t *record,
    ngx_buf_t *b);

/* the verdict in a complete END_REQUEST, if the header had none */

void ngx_http_retort_end_status(ngx_http_retort_ctx_t *ctx);

/* a piece of FCGI_STDERR for the error log */
void ngx_http_retort_stderr(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *part);
void ngx_http_retort_stderr_flush(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);


/* ngx_http_retort_header.c */

ngx_int_t ngx_http_retort_process_header(ngx_http_request_t *r);


/* ngx_http_retort_body.c */

ngx_int_t ngx_http_retort_input_filter_init(void *data);
ngx_int_t ngx_http_retort_input_filter(void *data, ssize_t bytes);

/* recv() of the connection to the front while a request uses it */
ssize_t ngx_http_retort_recv(ngx_connection_t *c, u_char *buf, size_t size);


/* ngx_http_retort_form.c */

/*
 * Follows a part of the body.  NGX_OK: all of it may be sent.  NGX_AGAIN:
 * from part->data + *keep on it has been put aside.  *before is what had
 * been put aside earlier and has to be sent first, in memory of the pool.
 */
ngx_int_t ngx_http_retort_follow(ngx_http_request_t *r,
    ngx_http_retort_follow_t *f, ngx_str_t *part, size_t *keep,
    ngx_str_t *before);

/*
 * What ends the body as lost, in memory of the pool.  NGX_DECLINED: nothing
 * can; the connection has to be cut.
 */
ngx_int_t ngx_http_retort_close_form(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *text);


/*
 * ngx_http_retort_message.c: the id of a message, as it was written.
 * NGX_DECLINED: it is not known.
 */

#define NGX_HTTP_RETORT_MESSAGE_TEXT  132

ngx_int_t ngx_http_retort_message_id(ngx_http_request_t *r, ngx_str_t *id);

/* is this the method of a run, or might it be? */
ngx_uint_t ngx_http_retort_is_call(ngx_str_t *method);

/* is it certain that it asks for no run? */
ngx_uint_t ngx_http_retort_message_is_told(ngx_http_request_t *r);

/*
 * ngx_http_retort_site.c: the names of the server that is being read, NULL: no
 * memory.  Has the front to look at "Host"?  Is it "Host" alone that says which
 * site is ours?
 */

ngx_array_t *ngx_http_retort_server_names(ngx_conf_t *cf);

void ngx_http_retort_site(ngx_http_request_t *r, ngx_uint_t *host,
    ngx_uint_t *site);

/*
 * ngx_http_retort_face.c: a row of ngx_http_retort_apis has one of these.
 * Writes the body of an error, returns its end.
 */

u_char *ngx_http_retort_face_native(u_char *p, ngx_http_retort_fault_t *f);
u_char *ngx_http_retort_face_rpc(u_char *p, ngx_http_retort_fault_t *f);
u_char *ngx_http_retort_face_prisme(u_char *p, ngx_http_retort_fault_t *f);
u_char *ngx_http_retort_face_azure(u_char *p, ngx_http_retort_fault_t *f);
u_char *ngx_http_retort_face_anthropic(u_char *p,
    ngx_http_retort_fault_t *f);
u_char *ngx_http_retort_face_e2b(u_char *p, ngx_http_retort_fault_t *f);
u_char *ngx_http_retort_face_ubik(u_char *p, ngx_http_retort_fault_t *f);


/* ngx_http_retort_verdict.c */

/* the form that the client asks for; RETORT_FORM_JSON by default */
ngx_uint_t ngx_http_retort_accepted_form(ngx_http_request_t *r);

/* an error, in the face of the location's dialect; NULL: no memory */
ngx_http_retort_answer_t *ngx_http_retort_error(ngx_http_request_t *r,
    ngx_uint_t status, const char *code, const char *message);

/* the verdict "lost" as a whole answer, in the form the client asks for */
ngx_http_retort_answer_t *ngx_http_retort_lost(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);

/*
 * The verdict "lost" as text: a document, a block, an event or a line.  Needs
 * NGX_HTTP_RETORT_LOST_TEXT + execution->len bytes; returns the new end.
 */
/* the last line of a stream that was lost, in the words of its dialect */
u_char *ngx_http_retort_lost_line(ngx_http_request_t *r, u_char *p,
    ngx_str_t *execution);

u_char *ngx_http_retort_lost_text(u_char *p, ngx_uint_t form,
    ngx_str_t *execution);

/* u->finalize_request: nginx ends the exchange with the front, by rc */
void ngx_http_retort_finalize_request(ngx_http_request_t *r, ngx_int_t rc);


/* ngx_http_retort_filter.c */

ngx_int_t ngx_http_retort_filter_init(ngx_conf_t *cf);


/* ngx_http_retort_limits.c */

char *ngx_http_retort_set_zone(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_http_retort_set_limits(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* the zone of that name, declared or still to be; NULL: no such name */
ngx_http_retort_zone_conf_t *ngx_http_retort_zone_conf(ngx_conf_t *cf,
    ngx_str_t *name);

ngx_int_t ngx_http_retort_limits_init(ngx_conf_t *cf);
ngx_int_t ngx_http_retort_init_module(ngx_cycle_t *cycle);
ngx_int_t ngx_http_retort_init_process(ngx_cycle_t *cycle);


/* ngx_http_retort_admit.c */

/*
 * NGX_OK: the request may go on.  NGX_AGAIN: ngx_http_retort_start() will be
 * called once it may.  A status: ctx->answer says why it may not.
 */
ngx_int_t ngx_http_retort_admit(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);

/* the run is over, or will not be; does nothing the second time */
void ngx_http_retort_release(ngx_http_retort_ctx_t *ctx);


/* ngx_http_retort_status.c */

char *ngx_http_retort_set_status(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
ngx_int_t ngx_http_retort_status_handler(ngx_http_request_t *r);

/* a zone's name and numbers, for the front; empty if it cannot be read */
ngx_int_t ngx_http_retort_status_line(ngx_http_request_t *r,
    ngx_http_retort_zone_conf_t *zc, ngx_str_t *line);


/* ngx_http_retort_token.c: NGX_OK, NGX_DECLINED (there is none), or 401 */

ngx_int_t ngx_http_retort_by_token(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);


/* ngx_http_retort_bearer.c: the same, of a credential */

ngx_int_t ngx_http_retort_by_bearer(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *value);


/* ngx_http_retort_links.c */

char *ngx_http_retort_set_secret(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/* the secrets of a file, of ngx_str_t, at least one; NULL: logged */
ngx_array_t *ngx_http_retort_read_secrets(ngx_conf_t *cf, ngx_str_t *name);

/* SHA-256 of a label and a name, keyed with the secret; NGX_OK */
ngx_int_t ngx_http_retort_derive(u_char result[NGX_HTTP_RETORT_SHA256],
    ngx_str_t *secret, const char *label, ngx_str_t *name);

/* the signature of a token for one sandbox */
ngx_int_t ngx_http_retort_check_token(ngx_http_request_t *r,
    ngx_str_t *workspace, ngx_str_t *sandbox, ngx_str_t *signature);

/* what the front signs a workspace's links with; empty without a secret */
ngx_int_t ngx_http_retort_link_params(ngx_http_request_t *r,
    ngx_str_t *workspace, ngx_str_t *tag, ngx_str_t *key);

/* NGX_OK: the link is ours and good for *left seconds; or 403 */
ngx_int_t ngx_http_retort_check_link(ngx_http_request_t *r, ngx_str_t *name,
    time_t *left);


/* ngx_http_retort_artifacts.c */

ngx_int_t ngx_http_retort_artifacts_handler(ngx_http_request_t *r);


/* ngx_http_retort_variables.c */

ngx_int_t ngx_http_retort_add_variables(ngx_conf_t *cf);


#endif /* _NGX_HTTP_RETORT_MODULE_H_INCLUDED_ */
