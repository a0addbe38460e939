
/*
 * JSON5, as far as a call of Qwen-Agent's interpreter needs it: is the text
 * one value, of which kind, and what is its member "code"?
 */

#ifndef FRONT_JSON5_H
#define FRONT_JSON5_H

#include <stddef.h>

#include "buf.h"


#define JSON5_DEPTH  64         /* deeper values are not read */


typedef enum {
    JSON5_NONE,                 /* not a value, or more than one */
    JSON5_NULL,
    JSON5_BOOL,
    JSON5_INT,
    JSON5_FLOAT,
    JSON5_STRING,
    JSON5_ARRAY,
    JSON5_OBJECT
} json5_kind_t;

typedef struct {
    json5_kind_t  kind;         /* of the whole */
    json5_kind_t  code;         /* of its last "code"; JSON5_NONE: no such */
    buf_t         text;         /* the string, or the string "code" */
} json5_t;


/*
 * Reads all of "p".  The text is valid UTF-8 if "p" is: a half of a surrogate
 * pair becomes U+FFFD.  The caller frees v->text in any case.
 */

void json5_read(json5_t *v, const char *p, size_t n);


#endif /* FRONT_JSON5_H */
