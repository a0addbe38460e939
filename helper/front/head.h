
/*
 * The beginning of a FastCGI request, looked at before libfcgi reads it:
 * FCGI_BEGIN_REQUEST and all of FCGI_PARAMS.  A pure function.
 *
 * libfcgi allocates what a length says and waits for as long as it takes; so
 * it only gets to see requests whose params are complete, bounded, and add up.
 */

#ifndef FRONT_HEAD_H
#define FRONT_HEAD_H

#include <stddef.h>


typedef enum {
    HEAD_BAD = -1,
    HEAD_MORE = 0,              /* not complete yet */
    HEAD_WHOLE = 1
} head_t;


/* "n" bytes from the beginning of a request, at most BOUND_HEAD */

head_t head_check(const unsigned char *p, size_t n);


#endif /* FRONT_HEAD_H */
