
/*
 * In retort-front, as its own uid without any capability.  Azure's dynamic
 * sessions: executions, in each of their shapes.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../file_type.h"
#include "../literal.h"
#include "../markdown.h"
#include "../utf8.h"
#include "azure.h"
#include "native.h"


#define AZURE_HOST      256
#define AZURE_VERSIONS                                                        \
    "2024-02-02-preview, 2024-08-02-preview, 2024-10-02-preview, "            \
    "2025-02-02-preview, 2025-10-02-preview"


/* the first characters of a text, none of them cut */

static json_object *
azure_head(buf_t *text, uint64_t chars)
{
    size_t        at;
    buf_t         clean;
    json_object  *v;

    memset(&clean, 0, sizeof(clean));
    utf8_clean(&clean, text->data, text->len);
    buf_free(text);

    for (at = 0; at < clean.len && chars != 0; chars--) {
        at += utf8_char(clean.data + at, clean.len - at);
    }

    v = json_object_new_string_len(clean.data != NULL ? clean.data : "",
                                   (int) at);
    buf_free(&clean);

    return v;
}


json_object *
azure_stdout(const result_t *res, uint64_t chars)
{
    buf_t  text;

    memset(&text, 0, sizeof(text));
    outputs_join(&res->out, OUT_STDOUT, &text);

    return azure_head(&text, chars);
}


/* what was said, then what the run ended with; of a shell that is its code */

json_object *
azure_stderr(const result_t *res, uint64_t chars)
{
    buf_t              text;
    const out_item_t  *item;

    memset(&text, 0, sizeof(text));
    outputs_join(&res->out, OUT_STDERR, &text);
    item = outputs_last(&res->out, OUT_ERROR);

    if (item == NULL
        || (res->language == KRN_BASH && res->verdict == VERDICT_ERROR))
    {
        return azure_head(&text, chars);
    }

    if (text.len != 0 && text.data[text.len - 1] != '\n') {
        (void) buf_puts(&text, "\n");
    }

    if (item->traceback.len != 0) {
        markdown_no_ansi(&text, item->traceback.data, item->traceback.len);

    } else {
        (void) buf_add(&text, item->message.data, item->message.len);
    }

    return azure_head(&text, chars);
}


static json_object *
azure_picture(const picture_t *pics, size_t n)
{
    json_object  *o;

    while (n != 0 && (pics[n - 1].base64.len == 0
                      || strncmp(pics[n - 1].artifact->mime, "image/", 6)
                         != 0))
    {
        n--;
    }

    if (n == 0) {
        return NULL;
    }

    o = json_object_new_object();
    native_add(o, "type", json_object_new_string("image"));
    native_add(o, "format",
               native_string(pics[n - 1].artifact->mime + strlen("image/")));
    native_add(o, "base64_data",
               native_bytes(pics[n - 1].base64.data, pics[n - 1].base64.len));

    return o;
}


/*
 * The last expression's value, if it is data; else the last picture, because
 * plotting functions have values that nobody wants; else how Python shows it.
 */

json_object *
azure_value(const result_t *res, const picture_t *pics, size_t npics)
{
    json_object       *v;
    const out_item_t  *item;

    item = outputs_last(&res->out, OUT_RESULT);

    if (item != NULL
        && literal_json(item->text.data, item->text.len, &v) == 0)
    {
        return v;
    }

    v = azure_picture(pics, npics);

    if (v == NULL && item != NULL && item->text.len != 0) {
        v = native_bytes(item->text.data, item->text.len);
    }

    return v;
}


/* as Jupyter says an execute_result: all forms of it by their types */

static json_object *
azure_bundle(const result_t *res, const picture_t *pics, size_t npics)
{
    size_t             i;
    json_object       *o, *data;
    const out_item_t  *item;

    item = outputs_last(&res->out, OUT_RESULT);
    data = json_object_new_object();

    if (item != NULL) {
        native_add(data, "text/plain", native_bytes(item->text.data,
                                                    item->text.len));
    }

    for (i = 0; i < npics; i++) {
        if (pics[i].base64.len != 0) {
            native_add(data, pics[i].artifact->mime,
                       native_bytes(pics[i].base64.data,
                                    pics[i].base64.len));
        }
    }

    if (json_object_object_length(data) == 0) {
        json_object_put(data);
        return NULL;
    }

    o = json_object_new_object();
    native_add(o, "data", data);
    native_add(o, "metadata", json_object_new_object());

    return o;
}


const char *
azure_cause(verdict_t v)
{
    return v == VERDICT_TIMEOUT ? "Timeout"
           : v == VERDICT_OOM ? "OutOfMemory"
           : v == VERDICT_KILLED ? "ConnectionClosed"
           : v == VERDICT_LOST ? "ConnectionError" : NULL;
}


const char *
azure_status(const exec_t *x)
{
    if (x->state != EXEC_OVER) {
        return x->state == EXEC_WAITING ? "NotStarted" : "Running";
    }

    return x->res.verdict == VERDICT_OK ? "Succeeded"
           : x->res.verdict == VERDICT_CANCELLED ? "Canceled" : "Failed";
}


static uint64_t
azure_chars(const exec_t *x)
{
    return x->note != 0 ? x->note & AZURE_CHARS : AZURE_STREAM;
}


/* "key" is what the value is called, NULL if there is none; adds to "o" */

static json_object *
azure_result(json_object *o, const exec_t *x, const answer_t *a,
    const char *key, json_object *nothing)
{
    json_object  *v;

    native_add(o, "stdout", azure_stdout(&x->res, azure_chars(x)));
    native_add(o, "stderr", azure_stderr(&x->res, azure_chars(x)));

    if (key != NULL) {
        v = (x->note & AZURE_JUPYTER)
            ? azure_bundle(&x->res, a->pictures, a->npictures)
            : azure_value(&x->res, a->pictures, a->npictures);
        native_add(o, key, v != NULL ? v : json_object_get(nothing));
    }

    native_add(o, "executionTimeInMilliseconds",
               native_number(x->res.wall_us / 1000));
    json_object_put(nothing);

    return o;
}


/* the clients of those days cannot do with a null */

static void
azure_old(const exec_t *x, answer_t *a)
{
    json_object  *o, *in;

    in = json_object_new_object();
    native_add(in, "$id", json_object_new_string(
                   x->note & AZURE_BARE ? "1" : "2"));
    native_add(in, "status", json_object_new_string(
                   x->res.verdict == VERDICT_OK ? "Success" : "Failure"));
    (void) azure_result(in, x, a, "result", json_object_new_string(""));

    if (x->note & AZURE_BARE) {
        azure_write(in, a);
        return;
    }

    o = json_object_new_object();
    native_add(o, "$id", json_object_new_string("1"));
    native_add(o, "properties", in);
    azure_write(o, a);
}


/* Python has none of its own */

int
azure_exit(const result_t *res)
{
    if (res->language == KRN_PYTHON) {
        return res->verdict != VERDICT_OK;
    }

    return res->verdict == VERDICT_OK || res->verdict == VERDICT_ERROR
           ? res->exit_code : -1;
}


/* of shells, the status is the exit code */

static void
azure_shell(const request_t *req, const exec_t *x, answer_t *a)
{
    char          name[JOB_SESSION], code[16];
    json_object  *o;

    azure_told(req, name);
    (void) snprintf(code, sizeof(code), "%d", azure_exit(&x->res));
    o = json_object_new_object();
    native_add(o, "identifier", native_string(name));
    native_add(o, "status", native_string(code));
    native_add(o, "result", azure_result(json_object_new_object(), x, a,
                                         NULL, NULL));
    azure_write(o, a);
}


static void
azure_image_shell(const request_t *req, const exec_t *x, answer_t *a)
{
    int           ran;
    char          name[JOB_SESSION];
    verdict_t     v;
    json_object  *o;

    v = x->res.verdict;
    ran = (v == VERDICT_OK || v == VERDICT_ERROR);
    azure_told(req, name);
    o = json_object_new_object();
    native_add(o, "status", json_object_new_string(
                   v == VERDICT_OK ? "Succeeded" : "Failed"));
    native_add(o, "errorName", native_string(
                   ran ? "" : v == VERDICT_TIMEOUT ? "ExecutionTimeout"
                   : "CommandStartError"));
    native_add(o, "errorMessage", native_string(ran ? "" : verdict_text(v)));
    native_add(o, "exitCode", json_object_new_int(azure_exit(&x->res)));
    native_add(o, "identifier", native_string(name));
    native_add(o, "result", azure_result(json_object_new_object(), x, a,
                                         NULL, NULL));
    azure_write(o, a);
}


static const char *
azure_id(const request_t *req, const exec_t *x, const answer_t *a)
{
    return strcmp(req->method, "GET") == 0 ? a->asked
           : x->called[0] != '\0' ? x->called : x->id;
}


/* where to ask again; nothing of the Host but what a name may have */

void
azure_base(const request_t *req, buf_t *to)
{
    const char  *host, *scheme;

    host = request_param(req->params, "HTTP_HOST");
    scheme = request_param(req->params, "REQUEST_SCHEME");

    if (host != NULL && strlen(host) < AZURE_HOST
        && strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789.-_:[]") == strlen(host))
    {
        (void) buf_printf(to, "%s://%s",
                          scheme != NULL && strcmp(scheme, "https") == 0
                          ? "https" : "http", host);
    }

    file_url(to, req->script);
}


static void
azure_location(const request_t *req, const char *id, const char *name,
    answer_t *a)
{
    char  text[64];

    if (file_query(req->query, "api-version", text, sizeof(text)) == -1) {
        text[0] = '\0';
    }

    (void) buf_printf(&a->lines, "operation-id: %s\r\nOperation-Location: ",
                      id);

    azure_base(req, &a->lines);
    (void) buf_printf(&a->lines, "/executions/%s?api-version=", id);
    file_url(&a->lines, text);
    (void) buf_puts(&a->lines, "&identifier=");
    file_url(&a->lines, name);
    (void) buf_puts(&a->lines, "\r\n");
}


static json_object *
azure_error(const char *code, json_object *message)
{
    json_object  *o, *inner;

    inner = json_object_new_object();
    native_add(inner, "code", native_string(code));
    native_add(inner, "message", message);
    o = json_object_new_object();
    native_add(o, "error", inner);

    return o;
}


/* what is no fault of the code: how it was ended, or why it never ran */

static json_object *
azure_fault(const exec_t *x)
{
    int                status;
    err_t              e;
    verdict_t          v;
    const out_item_t  *item;

    v = x->res.verdict;

    if (azure_cause(v) != NULL) {
        return azure_error(azure_cause(v), native_string(
                               v == VERDICT_TIMEOUT
                               ? "The execution exceeded its time limit."
                               : v == VERDICT_OOM
                               ? "The execution exceeded its memory limit."
                               : v == VERDICT_KILLED
                               ? "The execution ended its interpreter."
                               : "The execution was lost."));
    }

    item = outputs_last(&x->res.out, OUT_ERROR);

    if (v != VERDICT_ERROR || x->sandbox[0] != '\0' || item == NULL) {
        return NULL;
    }

    (void) err_set(&e, 503, "", "%s", "");
    (void) snprintf(e.code, sizeof(e.code), "%.*s", (int) item->name.len,
                    item->name.data);

    return azure_error(azure_code(&e, &status),
                       native_bytes(item->message.data, item->message.len));
}


/* the image says at once under which name a run can be asked for */

static json_object *
azure_not_yet(const char *id)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "stdout", native_string(id));
    native_add(o, "stderr", native_string(""));
    native_add(o, "executionResult", NULL);
    native_add(o, "executionTimeInMilliseconds", json_object_new_int(0));

    return o;
}


static const char *
azure_type(const request_t *req, const exec_t *x)
{
    static const char *const  words[] = { "Synchronous", "Asynchronous",
                                          "synchronous", "asynchronous" };

    return words[(azure_is_image(req) ? 2 : 0)
                 + ((x->note & AZURE_ASYNC) != 0 ? 1 : 0)];
}


static void
azure_resource(const request_t *req, const exec_t *x, answer_t *a)
{
    int           begun;
    char          name[JOB_SESSION];
    const char   *id;
    json_object  *o, *fault;

    /* an answer to a request that does not wait says so in any case */
    begun = x->state != EXEC_OVER && strcmp(req->method, "POST") == 0;
    azure_told(req, name);
    id = azure_id(req, x, a);

    o = json_object_new_object();
    native_add(o, "id", native_string(id));
    native_add(o, "identifier", native_string(name));
    native_add(o, "executionType", native_string(azure_type(req, x)));
    native_add(o, "status", native_string(
                   !begun ? azure_status(x)
                   : azure_is_image(req) ? "NotStarted" : "Running"));

    fault = x->state == EXEC_OVER ? azure_fault(x) : NULL;

    if (fault != NULL) {
        native_add(o, "error", fault);
    }

    if (x->state == EXEC_OVER) {
        native_add(o, "result", azure_result(json_object_new_object(), x, a,
                                         "executionResult", NULL));

    } else if (begun && azure_is_image(req)) {
        native_add(o, "result", azure_not_yet(id));
    }

    azure_write(o, a);
    azure_location(req, id, name, a);
}


static void
azure_shape(const request_t *req, const exec_t *x, answer_t *a)
{
    if (x->note & (AZURE_WRAPPED|AZURE_BARE)) {
        azure_old(x, a);

    } else if (azure_is_shell(req)) {
        azure_image_shell(req, x, a);

    } else if ((x->note & AZURE_SHELL) && x->state == EXEC_OVER) {
        azure_shell(req, x, a);

    } else {
        azure_resource(req, x, a);
    }

    if (!azure_is_image(req)) {
        (void) buf_puts(&a->lines, "api-supported-versions: " AZURE_VERSIONS
                        "\r\n");
    }
}


void
azure_render(const request_t *req, int form, const exec_t *x, answer_t *a)
{
    char  guid[AZURE_GUID];

    (void) form;

    a->status = 200;
    azure_shape(req, x, a);
    azure_guid(x->res.sandbox, guid);

    if (!azure_is_image(req) && guid[0] != '\0') {
        (void) buf_printf(&a->lines, "x-ms-new-allocation: %s\r\n"
                          "x-ms-session-guid: %s\r\n",
                          x->res.create_us != 0 ? "true" : "false", guid);
    }
}


void
azure_render_exec(const request_t *req, const exec_t *x, answer_t *a)
{
    azure_shape(req, x, a);
}
