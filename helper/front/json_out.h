
/*
 * JSON, written as it comes: for what is written with every run, where a tree
 * of objects costs more than what it says.  Commas come by themselves.  Texts
 * must be UTF-8 (see utf8_clean()).  If memory runs out, the buffer knows.
 */

#ifndef FRONT_JSON_OUT_H
#define FRONT_JSON_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"


/* "key" is a short constant without escapes; NULL: an element of a list */

/* { and }, [ and ] */

void json_out_open(buf_t *b, const char *key, char bracket);
void json_out_close(buf_t *b, char bracket);

void json_out_text(buf_t *b, const char *key, const char *p, size_t n);

/* anybody's bytes, made UTF-8 */

void json_out_bytes(buf_t *b, const char *key, const char *p, size_t n);

/* what was checked, or is our own; NULL and what is empty: null */

void json_out_string(buf_t *b, const char *key, const char *s);

void json_out_number(buf_t *b, const char *key, uint64_t n);

/* null, true, false, or a number that is written already */

void json_out_word(buf_t *b, const char *key, const char *word);


#endif /* FRONT_JSON_OUT_H */
