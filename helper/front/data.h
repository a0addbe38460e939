
/*
 * Forms of a display that programs read: a figure's chart, a table's first
 * rows.  JSON objects, made in the sandbox, so checked like a client's.
 */

#ifndef FRONT_DATA_H
#define FRONT_DATA_H

#include "output.h"


/* the form that a MIME type names; OUT_DATA if it is none of them */

out_data_t data_kind(const char *mime);

/*
 * Keeps the form with the item: "n" bytes of "size" that there were.  What is
 * no JSON object, too large, or there already, is left out.
 */

void data_take(outputs_t *o, out_item_t *item, out_data_t kind, const char *p,
    size_t n, uint64_t size);


#endif /* FRONT_DATA_H */
