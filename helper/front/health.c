
/*
 * In retort-front, as its own uid without any capability.
 */

#include <string.h>

#include "drain.h"
#include "err.h"
#include "health.h"
#include "pool.h"
#include "routes.h"


/* the last component of the whole path */

static const char *
health_path(const request_t *req)
{
    const char  *path, *slash;

    path = strcmp(req->path, "") == 0 || strcmp(req->path, "/") == 0
           ? req->script : req->path;
    slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}


static void
health_startup(answer_t *a)
{
    err_t        e;
    const char  *missing;

    if (drain_check(&e) == -1) {
        routes_refuse(&e, a);
        return;
    }

    missing = pool_missing();

    if (missing != NULL) {
        (void) err_set(&e, 503, "starting",
                       "profile \"%s\" has not made a sandbox yet", missing);
        e.retry_after = 1;
        routes_refuse(&e, a);
        return;
    }

    a->status = 200;
    a->type = "application/json";
    (void) buf_puts(&a->body, "{\"status\":\"ready\"}\n");
}


void
health_serve(const request_t *req, answer_t *a)
{
    err_t        e;
    const char  *path;

    path = health_path(req);

    if (strcmp(path, "health") != 0 && strcmp(path, "startup") != 0) {
        (void) err_set(&e, 404, "not_found", "no such path");
        routes_refuse(&e, a);
        return;
    }

    if (strcmp(req->method, "GET") != 0 && strcmp(req->method, "HEAD") != 0) {
        (void) err_set(&e, 405, "method_not_allowed", "allowed here: GET");
        routes_refuse(&e, a);
        (void) buf_puts(&a->lines, "Allow: GET, HEAD\r\n");
        return;
    }

    if (strcmp(path, "startup") == 0) {
        health_startup(a);
        return;
    }

    a->status = 200;
    a->type = "application/json";
    (void) buf_puts(&a->body, "{\"status\":\"ok\"}\n");
}
