
/*
 * Part of retortctl: a file, run in a fresh sandbox.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"


#define RUN_WORKSPACE  "retortctl"
#define RUN_CHUNK      65536
#define RUN_FILE       (64 * 1024 * 1024)
#define RUN_TICK       250      /* msec */


typedef struct {
    events_t        *events;
    wire_answer_t   *answer;
} run_t;


static void
run_body(void *data, const char *p, size_t n)
{
    run_t  *r;

    r = data;
    events_feed(r->events, r->answer, p, n);
}


static void
run_wait(void *data)
{
    events_wait(((run_t *) data)->events);
}


/* the whole of it, with a NUL behind; NULL: told */

static char *
run_read(int fd, const char *name, size_t *len)
{
    char     *text, *more;
    ssize_t   n;

    *len = 0;
    text = NULL;
    n = -1;

    while ((more = realloc(text, *len + RUN_CHUNK + 1)) != NULL) {
        text = more;
        n = read(fd, text + *len, RUN_CHUNK);

        if (n <= 0 || *len > RUN_FILE) {
            break;
        }

        *len += (size_t) n;
    }

    if (more == NULL || n != 0) {
        ctl_error("%s: %s", name, *len > RUN_FILE ? "too large"
                                                  : strerror(errno));
        free(text);
        return NULL;
    }

    text[*len] = '\0';

    return text;
}


static char *
run_load(const char *name, size_t *len)
{
    int    fd;
    char  *text;

    if (strcmp(name, "-") == 0) {
        return run_read(STDIN_FILENO, "standard input", len);
    }

    fd = open(name, O_RDONLY|O_CLOEXEC);

    if (fd == -1) {
        ctl_error("%s: %s", name, strerror(errno));
        return NULL;
    }

    text = run_read(fd, name, len);
    (void) close(fd);

    return text;
}


static const char *
run_language(const ctl_t *ctl)
{
    const char  *dot;

    if (ctl->language != NULL) {
        return ctl->language;
    }

    dot = strrchr(ctl->args[0], '.');

    return dot != NULL && (strcmp(dot, ".sh") == 0 || strcmp(dot, ".bash") == 0)
           ? "bash" : "python";
}


/* the request's JSON, NULL: told */

static json_object *
run_request(const ctl_t *ctl)
{
    char         *code, *end;
    double        timeout;
    size_t        len;
    json_object  *o;

    timeout = 0;

    if (ctl->timeout != NULL) {
        timeout = strtod(ctl->timeout, &end);

        if (*end != '\0' || end == ctl->timeout || !(timeout > 0)) {
            ctl_error("--timeout %s: not a number of seconds", ctl->timeout);
            return NULL;
        }
    }

    code = run_load(ctl->args[0], &len);

    if (code == NULL) {
        return NULL;
    }

    o = json_object_new_object();
    (void) json_object_object_add(o, "code",
                              json_object_new_string_len(code, (int) len));
    (void) json_object_object_add(o, "language",
                              json_object_new_string(run_language(ctl)));

    if (timeout > 0) {
        (void) json_object_object_add(o, "timeout",
                                      json_object_new_double(timeout));
    }

    free(code);

    return o;
}


static int
run_send(const ctl_t *ctl, const char *body, size_t len)
{
    int            rc, code;
    char           length[32];
    run_t          r;
    wire_answer_t  a;
    wire_param_t   params[] = {
        { "RETORT_API", "native" },
        { "RETORT_WORKSPACE", ctl->workspace != NULL ? ctl->workspace
                                                     : RUN_WORKSPACE },
        { "RETORT_PROFILE", ctl->profile },
        { "REQUEST_METHOD", "POST" },
        { "SCRIPT_NAME", "/v1" },
        { "PATH_INFO", "/execute" },
        { "CONTENT_TYPE", "application/json" },
        { "CONTENT_LENGTH", length },
        { "HTTP_ACCEPT", "application/x-ndjson" },
        { NULL, NULL }
    };

    (void) snprintf(length, sizeof(length), "%zu", len);
    memset(&a, 0, sizeof(a));
    r.answer = &a;
    r.events = events_new(ctl);

    if (r.events == NULL) {
        ctl_error("out of memory");
        return CTL_NO;
    }

    a.body = run_body;
    a.data = &r;

    if (isatty(STDERR_FILENO) && !ctl->json) {
        a.wait = run_wait;
        a.tick = RUN_TICK;
    }

    rc = wire_ask(ctl->socket, params, body, len, &a);

    if (rc == CTL_AWAY || rc == CTL_USAGE) {
        events_free(r.events);
        return rc;
    }

    code = events_end(r.events, &a);

    return rc == CTL_OK ? code : CTL_LOST;
}


int
run_file(const ctl_t *ctl)
{
    int           rc;
    const char   *body;
    json_object  *o;

    o = run_request(ctl);

    if (o == NULL) {
        return CTL_USAGE;
    }

    body = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
    rc = run_send(ctl, body, strlen(body));
    (void) json_object_put(o);

    return rc;
}
