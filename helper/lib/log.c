
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


#define RLOG_ESCAPE  4          /* bytes of the longest escape, \xHH */


typedef struct {
    size_t  len;
    size_t  room;               /* the newline and the mark of a cut are kept */
    int     cut;
    char    data[RLOG_LINE];
} rlog_line_t;


static const char  *rlog_program = "retort";
static int         rlog_debug;

static const char  rlog_cut[] = "...";

static const char *const  rlog_levels[] = {
    "error", "warn", "info", "debug"
};


void
rlog_init(const char *program)
{
    rlog_program = program;
    rlog_debug = (getenv("RETORT_DEBUG") != NULL);
}


static size_t
rlog_escape(char *out, unsigned char c)
{
    static const char  hex[] = "0123456789abcdef";

    if (c == '\\') {
        out[0] = '\\';
        out[1] = '\\';
        return 2;
    }

    if (c >= 0x20 && c < 0x7f) {
        out[0] = (char) c;
        return 1;
    }

    out[0] = '\\';
    out[1] = 'x';
    out[2] = hex[c >> 4];
    out[3] = hex[c & 15];

    return RLOG_ESCAPE;
}


static void
rlog_add(rlog_line_t *line, const char *text)
{
    char    one[RLOG_ESCAPE];
    size_t  n;

    for ( /* void */ ; *text != '\0' && !line->cut; text++) {
        n = rlog_escape(one, (unsigned char) *text);

        if (n > line->room - line->len) {
            line->cut = 1;
            return;
        }

        memcpy(line->data + line->len, one, n);
        line->len += n;
    }
}


static void
rlog_format(rlog_line_t *line, const char *fmt, va_list args)
{
    int   n;
    char  text[RLOG_LINE];

    n = vsnprintf(text, sizeof(text), fmt, args);

    if (n < 0) {
        rlog_add(line, fmt);
        return;
    }

    rlog_add(line, text);

    if ((size_t) n >= sizeof(text)) {
        line->cut = 1;
    }
}


static void
rlog_begin(rlog_line_t *line, rlog_level_t level)
{
    char  pid[32];

    line->len = 0;
    line->cut = 0;
    line->room = sizeof(line->data) - sizeof(rlog_cut);

    (void) snprintf(pid, sizeof(pid), "[%ld] ", (long) getpid());

    rlog_add(line, rlog_program);
    rlog_add(line, pid);
    rlog_add(line, level <= RLOG_DEBUG ? rlog_levels[level] : "?");
    rlog_add(line, ": ");
}


static void
rlog_end(rlog_line_t *line)
{
    ssize_t  n;

    if (line->cut) {
        memcpy(line->data + line->len, rlog_cut, sizeof(rlog_cut) - 1);
        line->len += sizeof(rlog_cut) - 1;
    }

    line->data[line->len++] = '\n';

    do {
        n = write(STDERR_FILENO, line->data, line->len);
    } while (n == -1 && errno == EINTR);
}


void
rlog(rlog_level_t level, const char *fmt, ...)
{
    int          saved;
    va_list      args;
    rlog_line_t  line;

    if (level == RLOG_DEBUG && !rlog_debug) {
        return;
    }

    saved = errno;

    rlog_begin(&line, level);

    va_start(args, fmt);
    rlog_format(&line, fmt, args);
    va_end(args);

    rlog_end(&line);

    errno = saved;
}


void
rlog_errno(rlog_level_t level, int err, const char *fmt, ...)
{
    int          saved;
    char         code[32];
    va_list      args;
    const char   *text;
    rlog_line_t  line;

    if (level == RLOG_DEBUG && !rlog_debug) {
        return;
    }

    saved = errno;

    rlog_begin(&line, level);

    va_start(args, fmt);
    rlog_format(&line, fmt, args);
    va_end(args);

    text = strerrordesc_np(err);
    (void) snprintf(code, sizeof(code), " (%d: ", err);

    rlog_add(&line, code);
    rlog_add(&line, text != NULL ? text : "unknown error");
    rlog_add(&line, ")");

    rlog_end(&line);

    errno = saved;
}
