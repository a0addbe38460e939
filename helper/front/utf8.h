
/*
 * Bytes that claim to be UTF-8.  Pure functions.
 */

#ifndef FRONT_UTF8_H
#define FRONT_UTF8_H

#include <stddef.h>

#include "buf.h"


/* length of the valid character at "p", 0 if there is none; n is not 0 */

size_t utf8_char(const char *p, size_t n);

/* not 0 if all of it is valid */

int utf8_valid(const char *p, size_t n);

/* the most bytes, at most "max", that do not cut a character in two */

size_t utf8_cut(const char *p, size_t n, size_t max);

/* appends the text; each byte that is not valid, and NUL, as U+FFFD */

void utf8_clean(buf_t *out, const char *p, size_t n);


#endif /* FRONT_UTF8_H */
