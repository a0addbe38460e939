
/*
 * Inside of the native dialect.
 */

#ifndef FRONT_NATIVE_H
#define FRONT_NATIVE_H

#include <json-c/json.h>

#include "dialect.h"


enum { NATIVE_JSON, NATIVE_MARKDOWN };


/* parsing of "limits", for cells and for sandboxes */

typedef struct {
    const request_t       *req;
    retort_box_limits_t   *box;
    uint64_t              *output;      /* NULL: there is no such key */
} native_limits_t;

int native_limits(json_object *value, native_limits_t *to, err_t *e);

/* rendering */

void native_render(const request_t *req, int form, const result_t *res,
    answer_t *a);
void native_fail(const err_t *e, answer_t *a);
void native_render_box(const box_view_t *view, answer_t *a);
void native_render_boxes(const box_view_t *views, size_t n, answer_t *a);


#endif /* FRONT_NATIVE_H */
