
/*
 * In retort-front, as its own uid without any capability.  Text of peers may
 * pass through here: it is bounded, never a format.
 */

#include <stdarg.h>
#include <stdio.h>

#include "err.h"


int
err_set(err_t *e, int status, const char *code, const char *fmt, ...)
{
    va_list  args;

    e->status = status;
    e->retry_after = 0;
    (void) snprintf(e->code, sizeof(e->code), "%s", code);

    va_start(args, fmt);
    (void) vsnprintf(e->text, sizeof(e->text), fmt, args);
    va_end(args);

    return -1;
}
