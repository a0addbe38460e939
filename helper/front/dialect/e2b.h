
/*
 * Inside of the E2B dialect.
 */

#ifndef FRONT_E2B_H
#define FRONT_E2B_H

#include <json-c/json.h>

#include "dialect.h"
#include "../json_in.h"


#define E2B_HOME      "/home/user"      /* where clients think they are */
#define E2B_TEMPLATE  "code-interpreter-v1"
#define E2B_DEFAULT   "default"         /* the context that is always there */
#define E2B_CONTEXTS  32                /* of one sandbox, but the default */
#define E2B_CONTEXT   40                /* of its id, final NUL */
#define E2B_CWD       1024


typedef struct {
    json_object  *o;
    uint64_t      version;
} e2b_note_t;


/* an interpreter's namespace, by the client's id */

typedef struct {
    uint32_t         number;    /* for the kernel; 0: the default */
    krn_language_t   language;
    char             id[E2B_CONTEXT];
    char             cwd[E2B_CWD];
} e2b_context_t;


/* the sandbox that a request inside of one names, "" if it names none */

const char *e2b_inside(const request_t *req);

/* an error as clients know it where they are */

void e2b_retell(const request_t *req, err_t *e);

/* what every run has */

void e2b_job(const request_t *req, job_t *job);
int e2b_job_language(const char *name, krn_language_t *to, err_t *e);

/* keys that are not known and nulls are left out, as clients expect it */

int e2b_keys(json_object *o, const json_in_key_t *keys, void *to, err_t *e);

/* the caller puts it; NULL and "e" */

json_object *e2b_body(const request_t *req, const char *body, size_t len,
    err_t *e);


/*
 * e2b_note.c: what the front remembers of a sandbox for its client.  0 and a
 * note that e2b_note_free() frees, or -1 and "e".
 */

int e2b_note(const request_t *req, const char *sandbox, e2b_note_t *n,
    err_t *e);
void e2b_note_free(e2b_note_t *n);

/* 0; 1 if another request has changed it meanwhile; or -1 and "e" */

int e2b_note_write(const request_t *req, const char *sandbox,
    const e2b_note_t *n, err_t *e);

/* a new sandbox's; either may be NULL */

int e2b_note_new(json_object *metadata, json_object *env, box_wish_t *wish,
    err_t *e);

/* the contexts, an array that may be empty; belongs to the note */

json_object *e2b_note_contexts(const e2b_note_t *n);

/* the context of that id; 0, or -1 and "e" */

int e2b_context(const e2b_note_t *n, const char *id, e2b_context_t *c,
    err_t *e);


/* e2b_context.c */

call_do_t e2b_call(call_t *c);
void e2b_call_done(call_t *c, const exec_t *x);
void e2b_call_fail(call_t *c, const err_t *e);
void e2b_call_free(call_t *c);


/* e2b_box.c */

int e2b_parse_box(const request_t *req, const char *body, size_t len,
    box_wish_t *wish, err_t *e);
void e2b_render_box(const request_t *req, const box_view_t *view,
    answer_t *a);
void e2b_render_boxes(const request_t *req, const box_view_t *views, size_t n,
    answer_t *a);
void e2b_fail(const err_t *e, answer_t *a);


/* e2b_out.c */

int e2b_stream_head(int form, answer_t *a);
void e2b_event(const request_t *req, int form, const event_t *ev, buf_t *to);


/* e2b_file.c */

int e2b_file(const request_t *req, const char *rest, dialect_file_t *f,
    err_t *e);
int e2b_file_part(const request_t *req, const char *file, char *name,
    size_t size, err_t *e);
void e2b_render_files(const files_ask_t *ask, const file_infos_t *files,
    answer_t *a);


#endif /* FRONT_E2B_H */
