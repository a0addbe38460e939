
/*
 * What Python shows of plain data, as JSON.
 */

#ifndef FRONT_LITERAL_H
#define FRONT_LITERAL_H

#include <json-c/json.h>
#include <stddef.h>


/*
 * A number, a string, None, True, False, or lists, tuples and dicts of them:
 * 0 and what it is, NULL for None; the caller puts it.  nan and inf, which
 * JSON does not have, become strings.  -1 if it is anything else, or long.
 */

int literal_json(const char *p, size_t n, json_object **to);


#endif /* FRONT_LITERAL_H */
