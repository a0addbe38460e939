
/*
 * Small questions about text.  Pure functions, but text_id().
 */

#ifndef FRONT_TEXT_H
#define FRONT_TEXT_H

#include <stddef.h>
#include <stdint.h>


/* a decimal number that fits, nothing else; 0 or -1 */

int text_number(const char *s, uint64_t *value);

/* 1 to "max" characters of [A-Za-z0-9._-] */

int text_is_name(const char *s, size_t max);

/* "<kind>_<node>_<32 lower hex digits>" */

int text_is_id(const char *s, const char *kind);

/* makes one, with 128 bits of getrandom(); 0 or -1 */

int text_id(char *s, size_t size, const char *kind, const char *node);

/* 32 lower hex digits and NUL; 0 or -1 */

int text_random(char hex[33]);

/* strict base64 with its padding; "out" has room for n / 4 * 3; -1 if bad */

int text_base64(const char *s, size_t n, unsigned char *out, size_t *len);


#endif /* FRONT_TEXT_H */
