
/*
 * In retort-front, as its own uid without any capability.  The native API
 * about itself: openapi.json as it stands beside this file, with the prefix of
 * the location.
 */

#include "native.h"


static const char  native_openapi[] = {
#include "openapi.h"
};


void
native_render_openapi(const request_t *req, answer_t *a)
{
    json_object  *server;

    server = json_object_new_object();
    native_add(server, "url", native_string(
                   req->script != NULL && *req->script != '\0' ? req->script
                                                               : "/"));

    (void) buf_puts(&a->body, "{\"servers\":[");
    native_line(&a->body, server);
    (void) buf_puts(&a->body, "],");

    /* the document is an object: the rest of it goes on behind the brace */
    (void) buf_add(&a->body, native_openapi + 1, sizeof(native_openapi) - 1);

    a->status = 200;
    a->type = "application/json";
}
