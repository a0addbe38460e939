
/*
 * Part of retortctl: the events of a run, one JSON object a line.  What is in
 * them was written by the code that ran.
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"


typedef struct {
    const char  *status;
    int          code;
} events_verdict_t;

struct events_s {
    int          json;
    int          shows;         /* a line of progress is to be seen */
    int          open;          /* the output's last line has no end yet */
    time_t       begun;
    char        *line;
    size_t       n;
    int          failed;
    int          over;
    int          code;
};


static const events_verdict_t  events_verdicts[] = {
    { "ok", CTL_OK },
    { "error", CTL_NO },
    { "timeout", CTL_TIMEOUT },
    { "oom", CTL_OOM },
    { "killed", CTL_KILLED },
    { "cancelled", CTL_CANCELLED },
    { "lost", CTL_LOST }
};


static time_t
events_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return ts.tv_sec;
}


events_t *
events_new(const ctl_t *ctl)
{
    events_t  *e;

    e = calloc(1, sizeof(events_t));

    if (e != NULL) {
        e->json = ctl->json;
        e->begun = events_now();
        e->code = CTL_LOST;
    }

    return e;
}


static void
events_hide(events_t *e)
{
    if (e->shows) {
        (void) fputs("\r\033[K", stderr);
        e->shows = 0;
    }
}


void
events_wait(events_t *e)
{
    if (!e->open) {
        (void) fprintf(stderr, "\r\033[Krunning, %lld s",
                       (long long) (events_now() - e->begun));
        e->shows = 1;
    }
}


static void
events_text(events_t *e, FILE *f, json_object *o, const char *key)
{
    size_t        n;
    const char   *text;
    json_object  *v;

    if (!json_object_object_get_ex(o, key, &v)
        || !json_object_is_type(v, json_type_string))
    {
        return;
    }

    text = json_object_get_string(v);
    n = (size_t) json_object_get_string_len(v);

    if (n != 0) {
        term_write(f, text, n);
        e->open = text[n - 1] != '\n';
    }
}


/* what has no line's end of its own gets one */

static void
events_whole(events_t *e, FILE *f, json_object *o, const char *key)
{
    events_text(e, f, o, key);

    if (e->open) {
        term_write(f, "\n", 1);
        e->open = 0;
    }
}


static void
events_status(events_t *e, json_object *o)
{
    size_t       i;
    const char  *status;

    status = ask_text(o, "status");

    for (i = 0; i < sizeof(events_verdicts) / sizeof(events_verdicts[0]); i++) {
        if (strcmp(events_verdicts[i].status, status) != 0) {
            continue;
        }

        e->over = 1;
        e->code = events_verdicts[i].code;

        if (e->open) {
            term_write(stdout, "\n", 1);
            e->open = 0;
        }

        if (e->code > CTL_NO) {
            ctl_error("the run ended as \"%s\"", status);
        }
    }
}


static void
events_show(events_t *e, json_object *o)
{
    const char  *type;

    type = ask_text(o, "type");

    if (strcmp(type, "stdout") == 0) {
        events_text(e, stdout, o, "text");

    } else if (strcmp(type, "stderr") == 0) {
        events_text(e, stderr, o, "text");

    } else if (strcmp(type, "status") == 0) {
        events_status(e, o);

    } else if (strcmp(type, "error") == 0) {
        events_whole(e, stderr, o, "text");

    } else {
        events_whole(e, stdout, o, "text");
        events_whole(e, stdout, o, "url");
    }
}


static void
events_line(events_t *e)
{
    json_object  *o;

    e->line[e->n] = '\0';
    o = json_tokener_parse(e->line);

    if (json_object_is_type(o, json_type_object)) {
        events_hide(e);

        if (e->json) {
            (void) printf("%s\n", e->line);
            (void) fflush(stdout);
        }

        if (!e->json) {
            events_show(e, o);

        } else if (strcmp(ask_text(o, "type"), "status") == 0) {
            events_status(e, o);
        }
    }

    (void) json_object_put(o);
    e->n = 0;
}


static int
events_is_stream(const wire_answer_t *a)
{
    return strcmp(a->type, "application/x-ndjson") == 0;
}


void
events_feed(events_t *e, const wire_answer_t *a, const char *p, size_t n)
{
    char    *line;
    size_t   part;

    while (n != 0 && !e->failed) {
        part = events_is_stream(a) && memchr(p, '\n', n) != NULL
               ? (size_t) ((const char *) memchr(p, '\n', n) - p) : n;
        line = realloc(e->line, e->n + part + 1);

        if (line == NULL) {
            e->failed = 1;
            return;
        }

        e->line = line;
        memcpy(e->line + e->n, p, part);
        e->n += part;
        e->line[e->n] = '\0';
        p += part;
        n -= part;

        if (n != 0) {
            events_line(e);
            p++;
            n--;
        }
    }
}


void
events_free(events_t *e)
{
    events_hide(e);
    free(e->line);
    free(e);
}


int
events_end(events_t *e, const wire_answer_t *a)
{
    int           code;
    json_object  *o;

    events_hide(e);
    code = e->code;

    if (!events_is_stream(a)) {
        code = ask_json(a, e->failed ? NULL : e->line, &o);

        if (code == CTL_OK) {
            (void) json_object_put(o);
            ctl_error("the front's answer is no stream");
            code = CTL_NO;
        }

    } else if (!e->over) {
        ctl_error("the run's end was not seen");
    }

    events_free(e);

    return code;
}
