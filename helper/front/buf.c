
/*
 * In retort-front, as its own uid without any capability.  Holds bytes of
 * anybody and looks at none of them.
 */

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"


static int
buf_room(buf_t *b, size_t n)
{
    char    *p;
    size_t   size;

    if (b->failed || n > SIZE_MAX / 4 - b->len) {
        b->failed = 1;
        return -1;
    }

    if (b->len + n <= b->size) {
        return 0;
    }

    size = b->size != 0 ? b->size : 256;

    while (size < b->len + n) {
        size *= 2;
    }

    p = realloc(b->data, size);
    if (p == NULL) {
        b->failed = 1;
        return -1;
    }

    b->data = p;
    b->size = size;

    return 0;
}


int
buf_add(buf_t *b, const void *p, size_t n)
{
    if (buf_room(b, n) == -1) {
        return -1;
    }

    if (n != 0) {
        memcpy(b->data + b->len, p, n);
        b->len += n;
    }

    return 0;
}


int
buf_puts(buf_t *b, const char *s)
{
    return buf_add(b, s, strlen(s));
}


int
buf_printf(buf_t *b, const char *fmt, ...)
{
    int      n;
    char     line[1024];
    va_list  args;

    va_start(args, fmt);
    n = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);

    if (n < 0 || (size_t) n >= sizeof(line)) {
        b->failed = 1;
        return -1;
    }

    return buf_add(b, line, (size_t) n);
}


void
buf_free(buf_t *b)
{
    free(b->data);
    memset(b, 0, sizeof(buf_t));
}
