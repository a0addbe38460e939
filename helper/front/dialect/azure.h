
/*
 * Inside of the dialect of Azure's dynamic sessions.  A session is what a
 * client's "identifier" in the query names; any request about it makes it.
 * There are two older shapes of requests and one newer, told apart by their
 * bodies, and those of the image inside of a pool's container.
 */

#ifndef FRONT_AZURE_H
#define FRONT_AZURE_H

#include <json-c/json.h>

#include "dialect.h"


/* a job's note: the characters of each stream, and what the answer is like */

#define AZURE_CHARS      0xffffffffull
#define AZURE_ASYNC      (1ull << 32)
#define AZURE_SHELL      (1ull << 33)
#define AZURE_WRAPPED    (1ull << 34)   /* "properties" around it */
#define AZURE_BARE       (1ull << 35)   /* their contents, nothing around */

#define AZURE_JUPYTER    (1ull << 36)   /* the value as Jupyter has it */

#define AZURE_STREAM     4096           /* characters, unless asked */
#define AZURE_TIME       120000         /* msec, unless asked */
#define AZURE_TIME_SHELL 180000         /* the same of the shell's image */
#define AZURE_TIME_MAX   220000


/* does it speak as the image inside of a container does?  Of a shell's? */

int azure_is_image(const request_t *req);
int azure_is_shell(const request_t *req);

/* azure_query.c: each 0, or -1 and "e" */

int azure_identifier(const char *id, err_t *e);
int azure_named(const request_t *req, char name[JOB_SESSION], err_t *e);
void azure_told(const request_t *req, char name[JOB_SESSION]);
int azure_version(const request_t *req, err_t *e);
int azure_file(const request_t *req, const char *rest, dialect_file_t *f,
    err_t *e);
int azure_called(const request_t *req, char name[JOB_SESSION], err_t *e);

/* was the version before the newer shape of requests? */

int azure_is_old(const request_t *req);

/* azure_body.c */

int azure_parse(const request_t *req, const char *body, size_t len,
    job_t *job, err_t *e);

/* a command of several words as a line of bash; 0, or -1 and "e" */

int azure_words(json_object *list, buf_t *to, err_t *e);

/* a time limit, bounded by ours and by what there is; 0, or -1 and "e" */

int azure_seconds(const request_t *req, int64_t seconds, uint64_t *msec,
    err_t *e);

/* azure_out.c */

void azure_render(const request_t *req, int form, const exec_t *x,
    answer_t *a);
void azure_render_exec(const request_t *req, const exec_t *x, answer_t *a);
json_object *azure_stdout(const result_t *res, uint64_t chars);
json_object *azure_stderr(const result_t *res, uint64_t chars);
json_object *azure_value(const result_t *res, const picture_t *pics,
    size_t npics);

/* where the client is, up to the location */

void azure_base(const request_t *req, buf_t *to);

/* how a run ended: its status, and the code of what is no fault of its own */

const char *azure_status(const exec_t *x);
const char *azure_cause(verdict_t v);
int azure_exit(const result_t *res);

/* Azure's name of an error, and its status */

const char *azure_code(const err_t *e, int *status);

/* azure_files.c, azure_session.c, azure_err.c */

#define AZURE_GUID  37          /* final NUL */

void azure_guid(const char *sandbox, char guid[AZURE_GUID]);

void azure_render_file(const files_ask_t *ask, const file_info_t *file,
    answer_t *a);
void azure_render_files(const files_ask_t *ask, const file_infos_t *files,
    answer_t *a);
void azure_render_box(const request_t *req, const box_view_t *view,
    answer_t *a);
void azure_render_boxes(const request_t *req, const box_view_t *views,
    size_t n, answer_t *a);
void azure_render_meta(const request_t *req, const char *manifest, size_t len,
    answer_t *a);
void azure_ended(const request_t *req, answer_t *a);
void azure_health(answer_t *a);
void azure_fail(const err_t *e, answer_t *a);
void azure_retell(const request_t *req, err_t *e);
void azure_image_fail(const err_t *e, answer_t *a);

/* as the answer's body, which a worker does not look into; frees "o" */

void azure_write(json_object *o, answer_t *a);


#endif /* FRONT_AZURE_H */
