
/*
 * Inside of Anthropic's dialect: its Files API, and the half of its
 * code-execution tool that runs code.
 */

#ifndef FRONT_ANTHROPIC_H
#define FRONT_ANTHROPIC_H

#include "dialect.h"
#include "native.h"


/* anthropic.c: what every answer has, whatever else is in it */

void anthropic_answer(json_object *o, answer_t *a);
void anthropic_fail(const err_t *e, answer_t *a);

/* do the headers say what they have to?  0, or -1 and "e" */

int anthropic_headers(const request_t *req, err_t *e);

/* a time, with the six digits that the vendor has; takes usec */

json_object *anthropic_time(uint64_t wall_us);

/* anthropic_files.c */

int anthropic_shelf_field(shelf_info_t *file, const char *name,
    const char *value, err_t *e);
int anthropic_shelf_query(const request_t *req, shelf_query_t *q, err_t *e);
int anthropic_shelf_get(const request_t *req, const shelf_info_t *file,
    err_t *e);
void anthropic_render_shelf(const request_t *req, const shelf_info_t *file,
    int gone, answer_t *a);
void anthropic_render_shelves(const request_t *req, const shelf_info_t *files,
    size_t n, int more, answer_t *a);


/* a block that asks for something, and what becomes of it */

#define ANTHROPIC_TOOL_ID  129

typedef enum {
    ANTHROPIC_BASH,
    ANTHROPIC_EDITOR,
    ANTHROPIC_PYTHON,
    ANTHROPIC_UPLOAD            /* files are put there, nothing is told */
} anthropic_tool_t;

typedef struct {
    json_object        *block;      /* a part of the body; NULL: an upload */
    const char         *id;
    anthropic_tool_t    tool;
    int                 answered;   /* its result stands beside it */
    int                 step;       /* of the turn; -1: it is not one */
    char                why[200];   /* of one whose input is wrong */
} anthropic_use_t;

typedef struct {
    json_object       *body;
    anthropic_use_t   *uses;
    size_t             nuses;
} anthropic_code_t;


/* anthropic_code.c */

int anthropic_turn_parse(turn_call_t *c, const char *body, size_t len,
    err_t *e);
void anthropic_turn_free(turn_call_t *c);

/*
 * The same for blocks that came another way: "content" is an array of them and
 * stays the caller's, as long as the call.  0, or -1 and "e".
 */

int anthropic_blocks(turn_call_t *c, json_object *content, err_t *e);

/* anthropic_container.c: ids of containers are those of sandboxes */

int anthropic_container(turn_call_t *c, json_object *v, err_t *e);
json_object *anthropic_container_out(const turn_call_t *c);

/* anthropic_out.c */

void anthropic_turn_render(turn_call_t *c, answer_t *a);

/* what a tool gives for a run, which is over, or for none and why */

json_object *anthropic_content(anthropic_tool_t tool, const exec_t *x,
    const err_t *e);

/* the result block of a use; NULL if it goes on */

json_object *anthropic_result(const turn_call_t *c, const anthropic_use_t *u);


#endif /* FRONT_ANTHROPIC_H */
