
/*
 * In retort-front, as its own uid without any capability.  The input is a
 * client's, the result a tenant's: both are checked.
 */

#include <string.h>

#include "../json_in.h"
#include "editor.h"
#include "native.h"


#define EDITOR_RUN  "exec /usr/bin/python3 -I -S "                            \
                    "/usr/lib/retort/python/retort_edit.py"
#define EDITOR_TYPE  "text_editor_code_execution_"


typedef struct {
    const char  *command;
    const char  *texts[3];      /* that it takes; NULL: no more */
} editor_command_t;

static const editor_command_t  editor_commands[] = {
    { "view", { "path", NULL, NULL } },
    { "create", { "path", "file_text", NULL } },
    { "str_replace", { "path", "old_str", "new_str" } },
    { NULL, { NULL, NULL, NULL } }
};


static const char *
editor_text(json_object *o, const char *key)
{
    json_object  *v;

    return json_object_object_get_ex(o, key, &v)
           && json_object_is_type(v, json_type_string)
           ? json_object_get_string(v) : NULL;
}


static const editor_command_t *
editor_command(json_object *input)
{
    const char               *name;
    const editor_command_t   *c;

    name = editor_text(input, "command");

    if (name == NULL) {
        return NULL;
    }

    for (c = editor_commands; c->command != NULL; c++) {
        if (strcmp(c->command, name) == 0) {
            return c;
        }
    }

    return NULL;
}


static int
editor_invalid(err_t *e, const char *what)
{
    return err_set(e, 400, "invalid_tool_input", "%s", what);
}


static int
editor_path(json_object *input, err_t *e)
{
    json_object  *v;

    (void) json_object_object_get_ex(input, "path", &v);

    if (json_object_get_string_len(v) == 0
        || strlen(json_object_get_string(v))
           != (size_t) json_object_get_string_len(v))
    {
        return editor_invalid(e, "path: it must be the path of a file");
    }

    return 0;
}


/* two lines, the second of which may be -1, the last */

static int
editor_range(json_object *ask, json_object *input, err_t *e)
{
    int           i;
    json_object  *v, *one;

    if (!json_object_object_get_ex(input, "view_range", &v) || v == NULL) {
        return 0;
    }

    for (i = 0; i < 2; i++) {
        one = json_object_is_type(v, json_type_array)
              && json_object_array_length(v) == 2
              ? json_object_array_get_idx(v, (size_t) i) : NULL;

        if (!json_object_is_type(one, json_type_int)) {
            return editor_invalid(e, "view_range: it must be two numbers");
        }
    }

    native_add(ask, "view_range", json_object_get(v));

    return 0;
}


/* what the program is asked: nothing that it does not know */

static int
editor_ask(json_object *ask, json_object *input, err_t *e)
{
    int                       i;
    json_object              *v;
    const editor_command_t   *c;

    c = editor_command(input);

    if (c == NULL) {
        return editor_invalid(e, "command: it must be \"view\", \"create\" or "
                              "\"str_replace\"");
    }

    native_add(ask, "command", json_object_new_string(c->command));

    for (i = 0; i < 3 && c->texts[i] != NULL; i++) {
        if (editor_text(input, c->texts[i]) == NULL) {
            return err_set(e, 400, "invalid_tool_input",
                           "%s: it must be a string", c->texts[i]);
        }

        (void) json_object_object_get_ex(input, c->texts[i], &v);
        native_add(ask, c->texts[i], json_object_get(v));
    }

    if (strcmp(c->command, "str_replace") == 0
        && *editor_text(input, "old_str") == '\0')
    {
        return editor_invalid(e, "old_str: it must not be empty");
    }

    return editor_path(input, e) == -1 ? -1 : editor_range(ask, input, e);
}


int
editor_job(json_object *input, job_t *job, err_t *e)
{
    json_object  *ask;

    ask = json_object_new_object();

    if (editor_ask(ask, input, e) == -1) {
        json_object_put(ask);
        return -1;
    }

    native_add(ask, "limit", native_number(job->output));

    job->language = KRN_BASH;
    job->shelve = 1;
    job->code = strdup(EDITOR_RUN);
    job->code_len = strlen(EDITOR_RUN);
    job->stdin_text = strdup(json_object_to_json_string_ext(
                          ask, JSON_C_TO_STRING_PLAIN));
    job->stdin_len = job->stdin_text != NULL ? strlen(job->stdin_text) : 0;
    json_object_put(ask);

    return job->code != NULL && job->stdin_text != NULL
           ? 0 : err_set(e, 500, "no_memory", "out of memory");
}


json_object *
editor_error(const char *code, const char *message)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "type", json_object_new_string(EDITOR_TYPE
                                                 "tool_result_error"));
    native_add(o, "error_code", json_object_new_string(code));
    native_add(o, "error_message", message != NULL ? native_string(message)
                                                   : NULL);

    return o;
}


/* a member of what it said, if that is of the type; else null */

static void
editor_copy(json_object *o, json_object *said, const char *key,
    json_type type)
{
    json_object  *v;

    if (!json_object_object_get_ex(said, key, &v)
        || !json_object_is_type(v, type))
    {
        v = NULL;
    }

    native_add(o, key, json_object_get(v));
}


static json_object *
editor_view(json_object *said)
{
    json_object  *o;
    const char   *kind;

    kind = editor_text(said, "file_type");
    o = json_object_new_object();
    native_add(o, "type", json_object_new_string(EDITOR_TYPE "view_result"));
    native_add(o, "file_type", json_object_new_string(
                   kind != NULL && strcmp(kind, "image") == 0 ? "image"
                   : kind != NULL && strcmp(kind, "pdf") == 0 ? "pdf"
                   : "text"));
    native_add(o, "content", native_string(
                   editor_text(said, "content") != NULL
                   ? editor_text(said, "content") : ""));
    editor_copy(o, said, "num_lines", json_type_int);
    editor_copy(o, said, "start_line", json_type_int);
    editor_copy(o, said, "total_lines", json_type_int);

    return o;
}


static json_object *
editor_lines(json_object *said)
{
    size_t        i, n;
    json_object  *v, *one, *lines;

    lines = json_object_new_array();
    n = json_object_object_get_ex(said, "lines", &v)
        && json_object_is_type(v, json_type_array)
        ? json_object_array_length(v) : 0;

    for (i = 0; i < n; i++) {
        one = json_object_array_get_idx(v, i);

        if (json_object_is_type(one, json_type_string)) {
            (void) json_object_array_add(lines, json_object_get(one));
        }
    }

    return lines;
}


static json_object *
editor_said(json_object *said)
{
    json_object  *o;
    const char   *type, *code;

    type = editor_text(said, "type");
    type = type != NULL ? type : "";

    if (strcmp(type, "view") == 0) {
        return editor_view(said);
    }

    o = json_object_new_object();

    if (strcmp(type, "create") == 0) {
        native_add(o, "type", json_object_new_string(EDITOR_TYPE
                                                     "create_result"));
        editor_copy(o, said, "is_file_update", json_type_boolean);
        return o;
    }

    if (strcmp(type, "str_replace") == 0) {
        native_add(o, "type", json_object_new_string(EDITOR_TYPE
                                                     "str_replace_result"));
        native_add(o, "lines", editor_lines(said));
        editor_copy(o, said, "old_start", json_type_int);
        editor_copy(o, said, "old_lines", json_type_int);
        editor_copy(o, said, "new_start", json_type_int);
        editor_copy(o, said, "new_lines", json_type_int);
        return o;
    }

    json_object_put(o);
    code = editor_text(said, "code");

    return editor_error(code != NULL && strcmp(code, "file_not_found") == 0
                        ? "file_not_found" : "invalid_tool_input",
                        editor_text(said, "message"));
}


json_object *
editor_result(const result_t *res)
{
    err_t         e;
    buf_t         text;
    json_object  *o, *said;

    if (res->verdict == VERDICT_TIMEOUT) {
        return editor_error("execution_time_exceeded", NULL);
    }

    memset(&text, 0, sizeof(text));
    outputs_join(&res->out, OUT_STDOUT, &text);
    said = res->verdict == VERDICT_OK && text.len != 0
           ? json_in(text.data, text.len, &e) : NULL;
    buf_free(&text);

    if (said == NULL) {
        return editor_error("unavailable", NULL);
    }

    o = editor_said(said);
    json_object_put(said);

    return o;
}
