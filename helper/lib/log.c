
/*
 * Linked into every program of the helper.  Runs as whoever logs.  Texts may
 * quote a peer's bytes: they are bounded and escaped here, once, for all.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"


#define RLOG_CUT  "...\n"       /* room for it, or for "\n", is kept */


static const char  *rlog_program = "retort";
static int         rlog_debug;


void
rlog_init(const char *program)
{
    rlog_program = program;
    rlog_debug = (getenv("RETORT_DEBUG") != NULL);
}


/* copies with escapes, as far as there is room for the longest one */

static char *
rlog_escape(char *to, const char *end, const char **text)
{
    unsigned char  c;

    for ( /* void */ ; **text != '\0' && end - to >= 4; (*text)++) {
        c = (unsigned char) **text;

        if (c == '\\') {
            *to++ = '\\';
            *to++ = '\\';

        } else if (c >= 0x20 && c < 0x7f) {
            *to++ = (char) c;

        } else {
            to += snprintf(to, 5, "\\x%02x", c);
        }
    }

    return to;
}


static void
rlog_write(rlog_level_t level, int err, const char *fmt, va_list args)
{
    int                       n;
    char                      text[RLOG_LINE], line[RLOG_LINE + 1], *p;
    ssize_t                   rc;
    const char                *why, *rest;
    static const char *const  levels[] = { "error", "warn", "info", "debug" };

    n = snprintf(text, sizeof(text), "%s[%ld] %s: ", rlog_program,
                 (long) getpid(), levels[level]);
    (void) vsnprintf(text + n, sizeof(text) - (size_t) n, fmt, args);

    if (err != -1) {
        why = strerrordesc_np(err);
        n = (int) strlen(text);
        (void) snprintf(text + n, sizeof(text) - (size_t) n, " (%d: %s)", err,
                        why != NULL ? why : "unknown error");
    }

    rest = text;
    p = rlog_escape(line, line + RLOG_LINE - strlen(RLOG_CUT), &rest);
    why = (*rest != '\0') ? RLOG_CUT : "\n";
    memcpy(p, why, strlen(why));
    p += strlen(why);

    do {
        rc = write(STDERR_FILENO, line, (size_t) (p - line));
    } while (rc == -1 && errno == EINTR);
}


void
rlog(rlog_level_t level, const char *fmt, ...)
{
    int      saved;
    va_list  args;

    saved = errno;
    va_start(args, fmt);

    if (level != RLOG_DEBUG || rlog_debug) {
        rlog_write(level, -1, fmt, args);
    }

    va_end(args);
    errno = saved;
}


void
rlog_errno(rlog_level_t level, int err, const char *fmt, ...)
{
    int      saved;
    va_list  args;

    saved = errno;
    va_start(args, fmt);

    if (level != RLOG_DEBUG || rlog_debug) {
        rlog_write(level, err, fmt, args);
    }

    va_end(args);
    errno = saved;
}
