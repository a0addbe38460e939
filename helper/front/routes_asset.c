
/*
 * In retort-front, as its own uid without any capability.  What an execution
 * of several rounds has left, by the name that its answer gives.
 */

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "artifact.h"
#include "dialect/ubik.h"
#include "file_type.h"
#include "routes.h"


#define ASSET_LINES                                                           \
    "X-Content-Type-Options: nosniff\r\n"                                     \
    "Content-Security-Policy: sandbox; default-src 'none'\r\n"                \
    "Cache-Control: no-store\r\n"


/* its file in the store, if one of this list is called so */

static int
asset_in(json_object *memo, const char *list, const char *name,
    char file[OUT_FILE])
{
    size_t        i;
    json_object  *all, *one;

    if (!json_object_object_get_ex(memo, list, &all)) {
        return -1;
    }

    for (i = 0; i < json_object_array_length(all); i++) {
        one = json_object_array_get_idx(all, i);

        if (strcmp(ubik_text(one, "name"), name) == 0) {
            (void) snprintf(file, OUT_FILE, "%s", ubik_text(one, "file"));
            return 0;
        }
    }

    return -1;
}


static int
asset_find(routes_t *r, const char *name, char file[OUT_FILE], err_t *e)
{
    int           rc;
    exec_t       *x;
    json_object  *memo;

    x = exec_find(r->id, r->req->workspace, e);

    if (x == NULL) {
        return -1;
    }

    (void) pthread_mutex_lock(&x->lock);
    memo = ubik_memo(x->memo);
    rc = r->dialect->owns(r->req, x) ? 0 : -1;
    (void) pthread_mutex_unlock(&x->lock);

    if (rc == 0) {
        rc = asset_in(memo, "artifacts", name, file) == 0
             ? 0 : asset_in(memo, "files", name, file);
    }

    json_object_put(memo);
    exec_release(x);

    return rc == 0 ? 0 : err_set(e, 404, "not_found", "Asset not found");
}


static int
asset_send(routes_t *r, int fd, uint64_t size)
{
    int       rc;
    char      part[16384];
    buf_t     head;
    ssize_t   n;

    memset(&head, 0, sizeof(head));
    rc = answer_write(r->a, &head);

    if (rc == 0) {
        rc = r->body->write(r->body, head.data, head.len);
    }

    buf_free(&head);

    while (rc == 0 && size != 0) {
        n = read(fd, part, size < sizeof(part) ? (size_t) size : sizeof(part));

        if (n == -1 && errno == EINTR) {
            continue;
        }

        rc = n > 0 ? r->body->write(r->body, part, (size_t) n) : -1;
        size -= rc == 0 ? (uint64_t) n : 0;
    }

    return rc;
}


/* behind the tool: EXECUTION/NAME */

int
routes_asset(routes_t *r, err_t *e)
{
    int          fd;
    char         file[OUT_FILE];
    size_t       n;
    uint64_t     size;
    const char  *name, *tool, *uuid;

    n = strcspn(r->rest, "/");
    name = r->rest + n + (r->rest[n] == '/');

    if (!ubik_tool(r->id, &tool, &uuid) || n >= sizeof(r->id)
        || *name == '\0')
    {
        return err_set(e, 404, "not_found", "Asset not found");
    }

    memcpy(r->id, r->rest, n);
    r->id[n] = '\0';

    if (asset_find(r, name, file, e) == -1) {
        return -1;
    }

    fd = artifact_open(file, r->req->workspace, &size);

    if (fd == -1) {
        return err_set(e, 404, "not_found", "Asset has expired");
    }

    r->a->status = 200;
    r->a->type = file_type(file);
    r->a->streamed = 1;
    r->a->length = size;
    r->a->sent = 1;
    file_disposition(&r->a->lines, name);
    (void) buf_puts(&r->a->lines, ASSET_LINES);

    if (asset_send(r, fd, size) == -1) {
        r->a->cut = 1;
    }

    (void) close(fd);

    return 0;
}
