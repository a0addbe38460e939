
/*
 * In retort-front, as its own uid without any capability.  Azure's dynamic
 * sessions: a body becomes a job.  Keys and words count whatever their case;
 * keys that are not known are ignored, as Azure does.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../accept.h"
#include "../json_in.h"
#include "../text.h"
#include "../utf8.h"
#include "azure.h"


enum { AZURE_CODE, AZURE_PYTHON, AZURE_COMMAND, AZURE_ARGS, AZURE_INPUT,
       AZURE_EXECUTION, AZURE_SECONDS, AZURE_LENGTH, AZURE_EMPTY,
       AZURE_AS_JUPYTER, AZURE_SHELL_TYPE, AZURE_IDENTIFIER, AZURE_KEYS };


typedef struct {
    const request_t  *req;
    job_t            *job;
    json_object      *v[AZURE_KEYS];        /* NULL: not there, or null */
} azure_body_t;

typedef struct {
    const char  *name;
    json_type    type;
    const char  *is;
} azure_key_t;

static const azure_key_t  azure_keys[AZURE_KEYS] = {
    { "code", json_type_string, "a string" },
    { "pythonCode", json_type_string, "a string" },
    { "shellCommand", json_type_string, "a string" },
    { "execCommandAndArgs", json_type_array, "an array of strings" },
    { "codeInputType", json_type_string, "a string" },
    { "executionType", json_type_string, "a string" },
    { "timeoutInSeconds", json_type_int, "a whole number" },
    { "outputStreamsMaxLength", json_type_int, "a whole number" },
    { "useEmptyKernel", json_type_boolean, "true or false" },
    { "returnJupyterFormatExecutionResult", json_type_boolean,
      "true or false" },
    { "shellType", json_type_string, "a string" },
    { "identifier", json_type_string, "a string" }
};


static int
azure_has_nul(json_object *v)
{
    return json_object_is_type(v, json_type_string)
           && strlen(json_object_get_string(v))
              != (size_t) json_object_get_string_len(v);
}


static int
azure_key(azure_body_t *b, const char *name, json_object *v, err_t *e)
{
    size_t  i;

    for (i = 0; i < AZURE_KEYS; i++) {
        if (strcasecmp(azure_keys[i].name, name) == 0) {
            break;
        }
    }

    if (i == AZURE_KEYS || v == NULL) {
        return 0;
    }

    if (b->v[i] != NULL) {
        return err_set(e, 400, "bad_value", "%s is there twice.",
                       azure_keys[i].name);
    }

    if (!json_object_is_type(v, azure_keys[i].type)) {
        return err_set(e, 400, "bad_value", "%s must be %s.",
                       azure_keys[i].name, azure_keys[i].is);
    }

    if (i != AZURE_CODE && i != AZURE_PYTHON && azure_has_nul(v)) {
        return err_set(e, 400, "bad_value", "%s has a NUL.",
                       azure_keys[i].name);
    }

    b->v[i] = v;

    return 0;
}


static int
azure_read(azure_body_t *b, json_object *o, err_t *e)
{
    struct json_object_iterator  it, end;

    it = json_object_iter_begin(o);
    end = json_object_iter_end(o);

    for ( /* void */ ; !json_object_iter_equal(&it, &end);
         json_object_iter_next(&it))
    {
        if (azure_key(b, json_object_iter_peek_name(&it),
                      json_object_iter_peek_value(&it), e)
            == -1)
        {
            return -1;
        }
    }

    return 0;
}


/* the older shapes have all of it in "properties" */

static int
azure_properties(azure_body_t *b, json_object *o, err_t *e)
{
    json_object  *inner;

    if (!json_object_object_get_ex(o, "properties", &inner)) {
        return azure_read(b, o, e);
    }

    if (!json_object_is_type(inner, json_type_object)) {
        return err_set(e, 400, "bad_value", "properties must be an object.");
    }

    b->job->note |= strcmp(b->req->path, "/python/execute") == 0
                    ? AZURE_BARE : AZURE_WRAPPED;

    return azure_read(b, inner, e);
}


static const char *
azure_word(const azure_body_t *b, int key, const char *otherwise)
{
    return b->v[key] != NULL ? json_object_get_string(b->v[key]) : otherwise;
}


static int
azure_word_of(const char *word, const char *const *words, const char *what,
    err_t *e)
{
    int  i;

    for (i = 0; words[i] != NULL; i++) {
        if (strcasecmp(words[i], word) == 0) {
            return i;
        }
    }

    return err_set(e, 400, "bad_value", "%s cannot be \"%.64s\".", what, word);
}


static int
azure_one_of(const azure_body_t *b, int key, const char *const *words,
    err_t *e)
{
    return azure_word_of(azure_word(b, key, words[0]), words,
                         azure_keys[key].name, e);
}


static int
azure_execution(azure_body_t *b, err_t *e)
{
    int  asynchronous;

    static const char *const  words[] = { "Synchronous", "Asynchronous",
                                          NULL };

    asynchronous = azure_one_of(b, AZURE_EXECUTION, words, e);

    if (asynchronous == -1) {
        return -1;
    }

    if (asynchronous && (b->job->note & (AZURE_WRAPPED|AZURE_BARE)) != 0) {
        return err_set(e, 400, "bad_value", "executionType must be "
                       "synchronous in properties.");
    }

    if (asynchronous) {
        b->job->detach = 1;
        b->job->note |= AZURE_ASYNC;
    }

    return 0;
}


static int
azure_decode(azure_body_t *b, json_object *v, err_t *e)
{
    int             rc;
    size_t          n, len;
    job_t          *job;
    unsigned char  *bytes;

    job = b->job;
    n = (size_t) json_object_get_string_len(v);
    bytes = malloc(n / 4 * 3 + 1);

    if (bytes == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    rc = text_base64(json_object_get_string(v), n, bytes, &len);

    if (rc == 0) {
        bytes[len] = '\0';
        job->code = (char *) bytes;
        job->code_len = len;
    }

    if (rc == -1 || memchr(bytes, '\0', len) != NULL
        || !utf8_valid((char *) bytes, len))
    {
        if (rc == -1) {
            free(bytes);
        }

        return err_set(e, 400, "bad_value", "The code is not the base64 of a "
                       "text.");
    }

    return 0;
}


static int
azure_python(azure_body_t *b, json_object *v, err_t *e)
{
    int  input;

    static const char *const  words[] = { "Inline", "InlineText",
                                          "InlineBase64", NULL };

    input = azure_one_of(b, AZURE_INPUT, words, e);

    if (input == -1) {
        return -1;
    }

    if (input == 2) {
        return azure_decode(b, v, e);
    }

    b->job->code = json_in_copy(v, &b->job->code_len, e);

    return b->job->code != NULL ? 0 : -1;
}


static void
azure_quote(const char *p, buf_t *to)
{
    (void) buf_puts(to, "'");

    for ( /* void */ ; *p != '\0'; p++) {
        (void) (*p == '\'' ? buf_puts(to, "'\\''") : buf_add(to, p, 1));
    }

    (void) buf_puts(to, "'");
}


int
azure_words(json_object *list, buf_t *to, err_t *e)
{
    size_t        i, n;
    json_object  *v;

    n = json_object_array_length(list);

    for (i = 0; i < n; i++) {
        v = json_object_array_get_idx(list, i);

        if (!json_object_is_type(v, json_type_string) || azure_has_nul(v)) {
            return err_set(e, 400, "bad_value", "execCommandAndArgs must be "
                           "an array of strings.");
        }

        (void) buf_puts(to, i == 0 ? "" : " ");
        azure_quote(json_object_get_string(v), to);
    }

    if (n == 0) {
        return err_set(e, 400, "bad_value", "execCommandAndArgs is empty.");
    }

    return to->failed ? err_set(e, 500, "no_memory", "out of memory") : 0;
}


/* which shell the body wants, or a header of the image's: 1 if it is sh */

static int
azure_is_sh(const azure_body_t *b, err_t *e)
{
    const char  *type;

    static const char *const  words[] = { "bash", "sh", NULL };

    type = azure_is_shell(b->req) && b->v[AZURE_SHELL_TYPE] == NULL
           ? request_param(b->req->params, "HTTP_X_SHELL_TYPE") : NULL;

    return type == NULL || *type == '\0'
           ? azure_one_of(b, AZURE_SHELL_TYPE, words, e)
           : azure_word_of(type, words, "X-Shell-Type", e);
}


static int
azure_line(const azure_body_t *b, int sh, buf_t *line, err_t *e)
{
    const char  *command;

    if (b->v[AZURE_COMMAND] == NULL) {
        return azure_words(b->v[AZURE_ARGS], line, e);
    }

    command = json_object_get_string(b->v[AZURE_COMMAND]);

    if (!sh || *command == '\0') {
        (void) buf_puts(line, command);

    } else {
        (void) buf_puts(line, "exec sh -c ");
        azure_quote(command, line);
    }

    return 0;
}


static int
azure_shell(azure_body_t *b, err_t *e)
{
    int    sh;
    buf_t  line;

    sh = azure_is_sh(b, e);

    if (sh == -1) {
        return -1;
    }

    b->job->language = KRN_BASH;
    b->job->note |= AZURE_SHELL;
    memset(&line, 0, sizeof(line));

    if (azure_line(b, sh, &line, e) == -1) {
        buf_free(&line);
        return -1;
    }

    if (buf_add(&line, "", 1) == -1) {
        buf_free(&line);
        return err_set(e, 500, "no_memory", "out of memory");
    }

    b->job->code = line.data;
    b->job->code_len = line.len - 1;

    return 0;
}


/* exactly one thing to run */

static int
azure_run(azure_body_t *b, err_t *e)
{
    int           n, rc;
    json_object  *code;

    code = b->v[AZURE_CODE] != NULL ? b->v[AZURE_CODE] : b->v[AZURE_PYTHON];
    n = (b->v[AZURE_CODE] != NULL) + (b->v[AZURE_PYTHON] != NULL)
        + (b->v[AZURE_COMMAND] != NULL) + (b->v[AZURE_ARGS] != NULL);

    if (n > 1) {
        return err_set(e, 400, "bad_value", "Only one of code, shellCommand "
                       "and execCommandAndArgs can be run.");
    }

    if (azure_is_shell(b->req) && (n == 0 || code != NULL)) {
        return err_set(e, 400, "code_missing", "no command provided in the "
                       "request, at least one of the 'shellCommand' or "
                       "'ExecCommandAndArgs' fields should be provided");
    }

    rc = code != NULL ? azure_python(b, code, e)
         : n != 0 ? azure_shell(b, e) : 0;

    if (rc == 0 && b->job->code_len == 0) {
        rc = err_set(e, 400, "code_missing",
                     "`Code` field is required in the request");
    }

    return rc;
}


/* what is more than may be had is taken as that */

int
azure_seconds(const request_t *req, int64_t seconds, uint64_t *msec, err_t *e)
{
    uint64_t  max;

    max = req->run_max.timeout;
    max = max < AZURE_TIME_MAX ? max : AZURE_TIME_MAX;

    if (seconds < 1) {
        return err_set(e, 400, "bad_value", "timeoutInSeconds must be above "
                       "0.");
    }

    *msec = (uint64_t) seconds > max / 1000 ? max : (uint64_t) seconds * 1000;

    return 0;
}


static int
azure_limits(azure_body_t *b, err_t *e)
{
    int64_t   seconds, chars;
    job_t    *job;

    job = b->job;
    seconds = b->v[AZURE_SECONDS] != NULL
              ? json_object_get_int64(b->v[AZURE_SECONDS])
              : (azure_is_shell(b->req) ? AZURE_TIME_SHELL : AZURE_TIME)
                / 1000;
    chars = b->v[AZURE_LENGTH] == NULL ? AZURE_STREAM
            : json_object_get_int64(b->v[AZURE_LENGTH]);

    if (azure_seconds(b->req, seconds, &job->timeout, e) == -1) {
        return -1;
    }

    if (chars < 1 || chars > INT32_MAX) {
        return err_set(e, 400, "bad_value",
                       "outputStreamsMaxLength must be above 0.");
    }

    job->note |= (uint64_t) chars;
    job->output = b->req->run.output;
    job->box = b->req->box;
    job->own_limits = memcmp(&job->box, &b->req->profile->box,
                             sizeof(job->box)) != 0;

    if (azure_word(b, AZURE_EMPTY, "false")[0] == 't') {
        /* none of the session's variables, and none left behind in it */
        job->context = KRN_CONTEXTS;
        job->fresh = 1;
    }

    if (azure_word(b, AZURE_AS_JUPYTER, "false")[0] == 't') {
        job->note |= AZURE_JUPYTER;
    }

    return 0;
}


/* the oldest client names the session in the body */

static int
azure_session(azure_body_t *b, err_t *e)
{
    const char  *id;

    if ((b->job->note & AZURE_BARE) == 0 || b->v[AZURE_IDENTIFIER] == NULL) {
        return azure_named(b->req, b->job->session, e);
    }

    id = json_object_get_string(b->v[AZURE_IDENTIFIER]);

    if (azure_identifier(id, e) == -1) {
        return -1;
    }

    (void) snprintf(b->job->session, sizeof(b->job->session), "%s", id);

    return 0;
}


static int
azure_object(azure_body_t *b, json_object *o, err_t *e)
{
    if (azure_properties(b, o, e) == -1
        || azure_session(b, e) == -1
        || azure_called(b->req, b->job->called, e) == -1
        || azure_execution(b, e) == -1
        || azure_limits(b, e) == -1)
    {
        return -1;
    }

    return azure_run(b, e);
}


int
azure_parse(const request_t *req, const char *body, size_t len, job_t *job,
    err_t *e)
{
    int            rc;
    json_object   *o;
    azure_body_t   b;

    if (req->type[0] != '\0' && !accept_is(req->type, "application/json")) {
        return err_set(e, 415, "unsupported_type", "The body must be "
                       "application/json.");
    }

    o = json_in(body, len, e);

    if (o == NULL) {
        return -1;
    }

    memset(&b, 0, sizeof(b));
    b.req = req;
    b.job = job;
    rc = azure_object(&b, o, e);
    json_object_put(o);

    return rc;
}
