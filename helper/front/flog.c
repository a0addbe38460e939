
/*
 * In retort-front, as its own uid without any capability.  Text of peers is
 * bounded here and escaped in lib/log.c.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "flog.h"


static _Thread_local char  flog_id[96];


void
flog_execution(const char *id)
{
    (void) snprintf(flog_id, sizeof(flog_id), "%s", id);
}


void
flog(rlog_level_t level, const char *fmt, ...)
{
    int      err;
    char     text[RLOG_LINE];
    va_list  args;

    err = errno;

    va_start(args, fmt);
    (void) vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    rlog(level, "%s%s%s", flog_id, flog_id[0] != '\0' ? " " : "", text);

    errno = err;
}
