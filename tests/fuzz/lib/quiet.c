
/*
 * lib/log.h and front/flog.h for targets that would say too much: the text is
 * made, and forgotten.
 */

#include <stdarg.h>
#include <stdio.h>

#include "front/flog.h"


static void __attribute__((format(printf, 1, 0)))
quiet(const char *fmt, va_list args)
{
    char  text[RLOG_LINE];

    (void) vsnprintf(text, sizeof(text), fmt, args);
}


void
rlog(rlog_level_t level, const char *fmt, ...)
{
    va_list  args;

    (void) level;
    va_start(args, fmt);
    quiet(fmt, args);
    va_end(args);
}


void
flog(rlog_level_t level, const char *fmt, ...)
{
    va_list  args;

    (void) level;
    va_start(args, fmt);
    quiet(fmt, args);
    va_end(args);
}


const char *
rlog_why(int err)
{
    (void) err;

    return "a reason";
}


void
flog_execution(const char *id)
{
    (void) id;
}
