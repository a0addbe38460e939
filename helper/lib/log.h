
/*
 * Log lines of the helper's programs, to standard error: the supervisor (or
 * auto/up) decides where they go.
 */

#ifndef RETORT_LOG_H
#define RETORT_LOG_H


#define RLOG_LINE  1000         /* bytes of one line, with its newline */


typedef enum {
    RLOG_ERROR,                 /* something does not work any more */
    RLOG_WARN,                  /* refused, lost or restarted, and goes on */
    RLOG_INFO                   /* what an operator wants to know later */
} rlog_level_t;


/*
 * Once, at the start.  "program" is kept, not copied: a literal.  Without it
 * lines are written just the same, as "retort".
 */

void rlog_init(const char *program);


/*
 * Writes "PROGRAM[PID] LEVEL: text" in one write(2), so that lines of several
 * programs never mix.  Never more than RLOG_LINE bytes: what does not fit is
 * cut and ends in "...".  Bytes that could forge a line or drive a terminal
 * (controls, DEL and all above it) come out as \xHH, a backslash as two.
 *
 * Allocates nothing, keeps errno, never fails: a line that cannot be written
 * is lost.  Not for signal handlers.  Any thread may call it.
 */

void rlog(rlog_level_t level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));


/* the same, with " (ERR: its text)" behind it */

#define rlog_errno(level, err, fmt, ...)                                      \
    rlog(level, fmt " (%d: %s)", ##__VA_ARGS__, err, rlog_why(err))

const char *rlog_why(int err);


#endif /* RETORT_LOG_H */
