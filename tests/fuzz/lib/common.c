
/*
 * What all targets have.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"


/* so that abort() is told with its stack, and its input is kept */

const char *__asan_default_options(void);


const char *
__asan_default_options(void)
{
    return "handle_abort=1:allocator_may_return_null=1";
}


void *
fuzz_copy(const void *p, size_t n)
{
    void  *copy;

    copy = malloc(n != 0 ? n : 1);

    if (copy == NULL) {
        abort();
    }

    memcpy(copy, p, n);

    return copy;
}


void
fuzz_broken(const char *what)
{
    (void) fprintf(stderr, "broken promise: %s\n", what);
    abort();
}
