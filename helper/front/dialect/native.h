
/*
 * Inside of the native dialect.
 */

#ifndef FRONT_NATIVE_H
#define FRONT_NATIVE_H

#include <json-c/json.h>

#include "dialect.h"


enum { NATIVE_JSON, NATIVE_MARKDOWN, NATIVE_SSE, NATIVE_NDJSON };


/* parsing of "limits", for cells and for sandboxes */

typedef struct {
    const request_t       *req;
    retort_box_limits_t   *box;
    uint64_t              *output;      /* NULL: there is no such key */
} native_limits_t;

int native_limits(json_object *value, native_limits_t *to, err_t *e);

/* a list of input files; the caller frees it with job_files_free() */

int native_inputs(json_object *v, job_file_t **files, size_t *nfiles,
    err_t *e);

/* names and strings become a job's variables; 0, or -1 and "e" */

int native_env(json_object *v, job_t *job, err_t *e);

/* rendering */

void native_render(const request_t *req, int form, const exec_t *x,
    answer_t *a);
int native_stream_head(int form, answer_t *a);
void native_event(const request_t *req, int form, const event_t *ev,
    buf_t *to);
void native_render_exec(const request_t *req, const exec_t *x, answer_t *a);
void native_fail(const err_t *e, answer_t *a);
void native_render_box(const request_t *req, const box_view_t *view,
    answer_t *a);
void native_render_boxes(const request_t *req, const box_view_t *views,
    size_t n, answer_t *a);
void native_render_meta(const request_t *req, const char *manifest,
    size_t len, answer_t *a);
void native_render_openapi(const request_t *req, answer_t *a);
void native_render_file(const files_ask_t *ask, const file_info_t *file,
    answer_t *a);
void native_render_files(const files_ask_t *ask, const file_infos_t *files,
    answer_t *a);

/* pieces of JSON: what is added belongs to "o"; NULL stands for null */

void native_add(json_object *o, const char *key, json_object *v);
json_object *native_bytes(const char *p, size_t n);
json_object *native_string(const char *s);
json_object *native_number(uint64_t v);
json_object *native_time(uint64_t wall_ms);

/* what an item is called, and its keys */

const char *native_item_type(const out_item_t *item);
const char *native_event_type(const event_t *ev);
void native_item(json_object *o, const request_t *req, const out_item_t *item);

/* not 0 if these are its type and a text alone */

int native_item_plain(const out_item_t *item);

/* all of one stream, the last error or NULL, links to what was stored */

json_object *native_stream(const outputs_t *out, out_type_t type);
json_object *native_error(const result_t *res);
json_object *native_traceback(const out_item_t *item);
json_object *native_artifacts(const request_t *req, const outputs_t *out);

/* how much there was, if not all of it was kept; what it did to files */

json_object *native_truncated(const request_t *req, const outputs_t *out);
json_object *native_changes(const request_t *req, const result_t *res);

/* a run that is over, and the event that tells it: a line; "status" is last */

void native_put_run(buf_t *to, const request_t *req, const exec_t *x);
void native_put_last(buf_t *to, const request_t *req, const event_t *ev);

/*
 * Lines of a manifest: the value of one that begins with "word", else NULL;
 * and "name version", added to a list.
 */

const char *native_meta_value(const char *line, size_t len, const char *word,
    size_t *n);
void native_meta_pair(json_object *all, const char *p, size_t n);

/* as text, on one line; frees "o" */

void native_line(buf_t *to, json_object *o);

/* as the answer's body; frees "o" */

void native_write(json_object *o, answer_t *a);


#endif /* FRONT_NATIVE_H */
