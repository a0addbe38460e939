
/*
 * A growing byte buffer.  If memory runs out the buffer keeps what it has and
 * "failed" stays set: writers need not check each call, the one who uses the
 * result does.
 */

#ifndef FRONT_BUF_H
#define FRONT_BUF_H

#include <stddef.h>


typedef struct {
    char    *data;              /* may be NULL if len is 0 */
    size_t   len;
    size_t   size;
    int      failed;
} buf_t;


/* 0, or -1 and "failed"; "p" is copied */

int buf_add(buf_t *b, const void *p, size_t n);
int buf_puts(buf_t *b, const char *s);
int buf_printf(buf_t *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* frees the bytes; the buffer may be used again */

void buf_free(buf_t *b);


#endif /* FRONT_BUF_H */
