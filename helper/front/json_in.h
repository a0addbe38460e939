
/*
 * Strict JSON from a client.
 */

#ifndef FRONT_JSON_IN_H
#define FRONT_JSON_IN_H

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"


/*
 * One object as RFC 8259 has it and nothing behind it; valid UTF-8, no half
 * surrogate pairs, no key twice, BOUND_JSON_DEPTH deep at most.  The caller
 * puts it.  NULL and "e".
 */

json_object *json_in(const char *p, size_t n, err_t *e);


/* what a key may hold */

typedef enum {
    JSON_IN_STRING,
    JSON_IN_BOOL,
    JSON_IN_WHOLE,              /* a whole number */
    JSON_IN_NUMBER,             /* a whole number or not */
    JSON_IN_OBJECT,
    JSON_IN_ARRAY
} json_in_type_t;

typedef struct {
    const char       *name;
    json_in_type_t    type;
    int             (*set)(void *to, json_object *value, err_t *e);
} json_in_key_t;

/*
 * Calls set() for each key of the object, in the object's order; "keys" ends
 * with a NULL name.  An unknown key or a wrong type is an error that names it;
 * "where" is put in front of the name ("" or "limits.").
 */

int json_in_keys(json_object *o, const json_in_key_t *keys, const char *where,
    void *to, err_t *e);

/* a whole number from 1 to "max"; errors name the key and the ceiling */

int json_in_whole(json_object *value, const char *name, uint64_t max,
    uint64_t *to, err_t *e);

/* a copy with its NUL; "*len" without; NULL and "e" (no memory) */

char *json_in_copy(json_object *value, size_t *len, err_t *e);


#endif /* FRONT_JSON_IN_H */
