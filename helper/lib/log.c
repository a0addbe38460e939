
/*
 * Linked into every program of the helper.  Runs as whoever logs.  Texts may
 * quote a peer's bytes: they are bounded and escaped here, once, for all.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"


#define RLOG_CUT  "...\n"       /* room for it, or for "\n", is kept */


static const char  *rlog_program = "retort";


void
rlog_init(const char *program)
{
    rlog_program = program;
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


const char *
rlog_why(int err)
{
    const char  *why;

    why = strerrordesc_np(err);

    return why != NULL ? why : "unknown error";
}


void
rlog(rlog_level_t level, const char *fmt, ...)
{
    int                       n, saved;
    char                      text[RLOG_LINE], line[RLOG_LINE + 1], *p;
    va_list                   args;
    const char                *rest;
    static const char *const  levels[] = { "error", "warn", "info" };

    saved = errno;
    n = snprintf(text, sizeof(text), "%s[%ld] %s: ", rlog_program,
                 (long) getpid(), levels[level]);

    va_start(args, fmt);
    (void) vsnprintf(text + n, sizeof(text) - (size_t) n, fmt, args);
    va_end(args);

    rest = text;
    p = rlog_escape(line, line + RLOG_LINE - strlen(RLOG_CUT), &rest);
    rest = (*rest != '\0') ? RLOG_CUT : "\n";
    memcpy(p, rest, strlen(rest));
    p += strlen(rest);

    while (write(STDERR_FILENO, line, (size_t) (p - line)) == -1
           && errno == EINTR)
    {
        /* again */
    }

    errno = saved;
}
