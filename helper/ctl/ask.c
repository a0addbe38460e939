
/*
 * Part of retortctl: questions to the control API.
 */

#include <stdlib.h>
#include <string.h>

#include "ctl.h"


typedef struct {
    char    *p;
    size_t   n;
    int      failed;
} ask_body_t;


static void
ask_body(void *data, const char *p, size_t n)
{
    char        *more;
    ask_body_t  *b;

    b = data;
    more = realloc(b->p, b->n + n + 1);

    if (more == NULL) {
        b->failed = 1;
        return;
    }

    b->p = more;
    memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = '\0';
}


const char *
ask_text(json_object *o, const char *key)
{
    json_object  *v;

    if (!json_object_object_get_ex(o, key, &v)
        || !json_object_is_type(v, json_type_string))
    {
        return "-";
    }

    return json_object_get_string(v);
}


long long
ask_number(json_object *o, const char *key)
{
    json_object  *v;

    return json_object_object_get_ex(o, key, &v) ? json_object_get_int64(v)
                                                 : 0;
}


void
ask_print(json_object *o)
{
    (void) printf("%s\n", json_object_to_json_string_ext(o,
                                  JSON_C_TO_STRING_PLAIN
                                  |JSON_C_TO_STRING_NOSLASHESCAPE));
}


int
ask_json(const wire_answer_t *a, const char *body, json_object **answer)
{
    json_object  *o, *error;

    o = json_tokener_parse(body != NULL ? body : "");

    if (!json_object_is_type(o, json_type_object)) {
        ctl_error("the front's answer (%d) cannot be read", a->status);
        (void) json_object_put(o);
        return CTL_NO;
    }

    if (a->status >= 200 && a->status < 300) {
        *answer = o;
        return CTL_OK;
    }

    error = NULL;
    (void) json_object_object_get_ex(o, "error", &error);
    ctl_error("%s (%s)", ask_text(error, "message"), ask_text(error, "code"));
    (void) json_object_put(o);

    return CTL_NO;
}


int
ask(const ctl_t *ctl, const char *method, const char *path,
    json_object **answer)
{
    int            rc;
    ask_body_t     body;
    wire_answer_t  a;
    wire_param_t   params[] = {
        { "RETORT_API", "control" },
        { "REQUEST_METHOD", method },
        { "PATH_INFO", path },
        { NULL, NULL }
    };

    memset(&a, 0, sizeof(a));
    memset(&body, 0, sizeof(body));
    a.body = ask_body;
    a.data = &body;
    rc = wire_ask(ctl->socket, params, NULL, 0, &a);

    if (rc == CTL_OK) {
        rc = ask_json(&a, body.failed ? NULL : body.p, answer);
    }

    free(body.p);

    return rc;
}
