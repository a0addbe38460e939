
/*
 * Pictures of a run, out of the store, for answers that have them inside.
 */

#ifndef FRONT_PICTURE_H
#define FRONT_PICTURE_H

#include "output.h"
#include "request.h"


typedef struct {
    const out_artifact_t  *artifact;
    buf_t                  base64;      /* len 0: it is only linked */
    buf_t                  text;        /* of forms that are text, instead */
} picture_t;


/*
 * All pictures, in their order; of the first ones also the bytes, as
 * BOUND_PICTURES allows.  The caller frees the list with pictures_free().
 */

picture_t *pictures_load(const request_t *req, const outputs_t *out,
    size_t *n);

/* the same of all forms of one output, whatever they are */

picture_t *pictures_forms(const request_t *req, const out_item_t *item,
    size_t *n);

void pictures_free(picture_t *list, size_t n);


#endif /* FRONT_PICTURE_H */
