
/*
 * In retort-front, as its own uid without any capability.  Anthropic's API as
 * far as it needs no model.  What the client wrote is not believed.
 */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../text.h"
#include "anthropic_talk.h"


#define ANTHROPIC_ID  24        /* characters behind "req_" */


typedef struct {
    int          status;        /* of ours */
    int          http;          /* the vendor's */
    const char  *type;
} anthropic_type_t;


static const anthropic_type_t  anthropic_types[] = {
    { 400, 400, "invalid_request_error" },
    { 401, 401, "authentication_error" },
    { 403, 403, "permission_error" },
    { 404, 404, "not_found_error" },
    { 405, 405, "invalid_request_error" },
    { 406, 400, "invalid_request_error" },
    { 409, 409, "conflict_error" },
    { 410, 400, "invalid_request_error" },
    { 413, 413, "request_too_large" },
    { 415, 400, "invalid_request_error" },
    { 422, 400, "invalid_request_error" },
    { 429, 429, "rate_limit_error" },
    { 499, 499, "api_error" },
    { 503, 529, "overloaded_error" },
    { 504, 504, "timeout_error" },
    { 507, 400, "invalid_request_error" },
    { 0, 500, "api_error" }
};


/* those of ours that the vendor has by the same name */

static const char *const  anthropic_codes[] = {
    "file_not_downloadable", "storage_quota_exceeded", "file_expired", NULL
};


json_object *
anthropic_time(uint64_t wall_us)
{
    char       day[24], text[40];
    time_t     sec;
    struct tm  tm;

    sec = (time_t) (wall_us / 1000000);

    if (gmtime_r(&sec, &tm) == NULL
        || strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
    {
        return NULL;
    }

    (void) snprintf(text, sizeof(text), "%s.%06uZ", day,
                    (unsigned) (wall_us % 1000000));

    return json_object_new_string(text);
}


/* a name for the request, for the people who look for it */

static void
anthropic_request(answer_t *a, char id[ANTHROPIC_ID + 5])
{
    char  hex[33];

    if (text_random(hex) == -1) {
        memset(hex, '0', sizeof(hex));
    }

    (void) snprintf(id, ANTHROPIC_ID + 5, "req_%.*s", ANTHROPIC_ID, hex);
    (void) buf_printf(&a->lines, "request-id: %s\r\n", id);
}


void
anthropic_answer(json_object *o, answer_t *a)
{
    char  id[ANTHROPIC_ID + 5];

    anthropic_request(a, id);
    a->status = 200;
    native_line(&a->body, o);
    a->type = "application/json";
}


/* a worker whose front is gone cuts it off: SDKs know a stream without end */

static int
anthropic_stream(int form, answer_t *a)
{
    char  id[ANTHROPIC_ID + 5];

    (void) form;
    anthropic_request(a, id);
    a->type = "text/event-stream";
    (void) buf_puts(&a->lines, "Cache-Control: no-store\r\n"
                               "X-Accel-Buffering: no\r\n");

    return 1;
}


void
anthropic_fail(const err_t *e, answer_t *a)
{
    char                      id[ANTHROPIC_ID + 5];
    size_t                    i;
    json_object              *o, *error, *details;
    const anthropic_type_t   *t;

    for (t = anthropic_types; t->status != 0 && t->status != e->status; t++) {
        /* void */
    }

    anthropic_request(a, id);
    error = json_object_new_object();
    native_add(error, "type", json_object_new_string(t->type));
    native_add(error, "message", native_string(e->text));

    for (i = 0; anthropic_codes[i] != NULL; i++) {
        if (strcmp(anthropic_codes[i], e->code) == 0) {
            details = json_object_new_object();
            native_add(details, "error_code", native_string(e->code));
            native_add(error, "details", details);
        }
    }

    o = json_object_new_object();
    native_add(o, "type", json_object_new_string("error"));
    native_add(o, "error", error);
    native_add(o, "request_id", native_string(id));

    a->status = t->http;
    a->retry_after = e->retry_after;
    native_line(&a->body, o);
    a->type = "application/json";
}


/* any version is taken, but it has to be told */

int
anthropic_headers(const request_t *req, err_t *e)
{
    const char  *version;

    version = request_param(req->params, "HTTP_ANTHROPIC_VERSION");

    return version != NULL && *version != '\0'
           ? 0 : err_set(e, 400, "bad_value",
                         "anthropic-version: header is required");
}


static const dialect_route_t  anthropic_routes[] = {
    { "POST", "/files", OP_SHELF_POST },
    { "GET", "/files", OP_SHELF_LIST },
    { "GET", "/files/*", OP_SHELF_SHOW },
    { "DELETE", "/files/*", OP_SHELF_DELETE },
    { "GET", "/files/*/content", OP_SHELF_GET },
    { "POST", "/code_execution", OP_TURN },
    { "POST", "/messages", OP_DIALOGUE },
    { NULL, NULL, OP_SHELF_LIST }
};


const dialect_t  dialect_anthropic = {
    .name = "anthropic",
    .routes = anthropic_routes,
    .check = anthropic_headers,
    .fail = anthropic_fail,
    .turn_parse = anthropic_turn_parse,
    .turn_render = anthropic_turn_render,
    .turn_free = anthropic_turn_free,
    .dialogue_parse = anthropic_dialogue_parse,
    .dialogue_next = anthropic_dialogue_next,
    .dialogue_ask = anthropic_dialogue_ask,
    .dialogue_heard = anthropic_dialogue_heard,
    .dialogue_ran = anthropic_dialogue_ran,
    .dialogue_render = anthropic_dialogue_render,
    .dialogue_free = anthropic_dialogue_free,
    .dialogue_piece = anthropic_dialogue_piece,
    .dialogue_say = anthropic_dialogue_say,
    .dialogue_end = anthropic_dialogue_end,
    .stream = anthropic_stream,
    .shelf_field = anthropic_shelf_field,
    .shelf_query = anthropic_shelf_query,
    .shelf_get = anthropic_shelf_get,
    .render_shelf = anthropic_render_shelf,
    .render_shelves = anthropic_render_shelves
};
