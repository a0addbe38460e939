
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


#endif /* FRONT_ANTHROPIC_H */
