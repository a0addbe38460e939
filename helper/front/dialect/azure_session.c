
/*
 * In retort-front, as its own uid without any capability.  Azure's dynamic
 * sessions: sessions themselves, and what there is in them.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../file_type.h"
#include "../text.h"
#include "azure.h"
#include "native.h"


#define AZURE_HEX   32          /* digits at the end of a sandbox's id */
#define AZURE_PAGE  100         /* sessions in one answer */


/* stands for the container: the id's digits, as such ids are written */

void
azure_guid(const char *sandbox, char guid[AZURE_GUID])
{
    const char  *hex;

    hex = strrchr(sandbox, '_');

    if (hex == NULL || strlen(hex + 1) != AZURE_HEX) {
        guid[0] = '\0';
        return;
    }

    hex++;
    (void) snprintf(guid, AZURE_GUID, "%.8s-%.4s-%.4s-%.4s-%.12s", hex,
                    hex + 8, hex + 12, hex + 16, hex + 20);
}


static json_object *
azure_box(const box_view_t *view)
{
    char          guid[AZURE_GUID];
    json_object  *o;

    azure_guid(view->sandbox, guid);
    o = json_object_new_object();
    native_add(o, "identifier", native_string(view->name));
    native_add(o, "expireAt", native_time(view->expires));
    native_add(o, "createdAt", native_time(view->created));
    native_add(o, "lastAccessedAt", native_time(view->used));
    native_add(o, "etag", native_string(guid));

    return o;
}


void
azure_render_box(const request_t *req, const box_view_t *view, answer_t *a)
{
    (void) req;

    azure_write(azure_box(view), a);
}


/* where the rest of a list is */

static json_object *
azure_next(const request_t *req, uint64_t skip, uint64_t page)
{
    char          text[64];
    buf_t         url;
    json_object  *v;

    if (file_query(req->query, "api-version", text, sizeof(text)) == -1) {
        text[0] = '\0';
    }

    memset(&url, 0, sizeof(url));
    azure_base(req, &url);
    file_url(&url, req->path);
    (void) buf_puts(&url, "?api-version=");
    file_url(&url, text);
    (void) buf_printf(&url, "&skip=%" PRIu64, skip);

    if (page != AZURE_PAGE) {
        (void) buf_printf(&url, "&maxpagesize=%" PRIu64, page);
    }

    v = native_bytes(url.data, url.len);
    buf_free(&url);

    return v;
}


static int
azure_number(const request_t *req, const char *key, uint64_t otherwise,
    uint64_t *to, err_t *e)
{
    char  text[16];

    *to = otherwise;

    if (file_query(req->query, key, text, sizeof(text)) == 0
        && (text[0] == '\0' || text_number(text, to) == 0))
    {
        return 0;
    }

    return err_set(e, 400, "bad_value", "%s must be a whole number.", key);
}


void
azure_render_boxes(const request_t *req, const box_view_t *views, size_t n,
    answer_t *a)
{
    err_t         e;
    size_t        i;
    uint64_t      at, skip, page;
    json_object  *o, *all;

    at = 0;

    if (azure_number(req, "skip", 0, &skip, &e) == -1
        || azure_number(req, "maxpagesize", AZURE_PAGE, &page, &e) == -1)
    {
        azure_fail(&e, a);
        return;
    }

    page = page == 0 || page > AZURE_PAGE ? AZURE_PAGE : page;

    all = json_object_new_array();

    for (i = 0; i < n; i++) {
        if (views[i].name[0] == '\0') {
            /* no session of Azure's */
            continue;
        }

        if (at >= skip && at - skip < page) {
            (void) json_object_array_add(all, azure_box(&views[i]));
        }

        at++;
    }

    o = json_object_new_object();
    native_add(o, "sessions", all);
    native_add(o, "nextLink", at > skip && at - skip > page
                              ? azure_next(req, skip + page, page) : NULL);
    azure_write(o, a);
}


void
azure_ended(const request_t *req, answer_t *a)
{
    err_t  e;
    char   name[JOB_SESSION];

    if (strcmp(req->method, "POST") != 0 || azure_named(req, name, &e) == -1) {
        return;
    }

    a->status = 200;
    a->type = "text/plain; charset=utf-8";
    (void) buf_printf(&a->body, "Session %s in session pool %s stopped.", name,
                      req->profile->name);
}


static void
azure_meta_line(json_object *o, const char *line, size_t len)
{
    size_t        n;
    const char   *p;
    json_object  *v;

    p = native_meta_value(line, len, "python", &n);

    if (p != NULL) {
        v = json_object_new_object();
        native_add(v, "name", json_object_new_string("python"));
        native_add(v, "version", native_bytes(p, n));
        (void) json_object_array_add(json_object_object_get(o, "runtimes"), v);
    }

    p = native_meta_value(line, len, "module", &n);

    if (p != NULL) {
        native_meta_pair(json_object_object_get(o, "preInstalledPackages"), p,
                         n);
    }

    p = native_meta_value(line, len, "built", &n);

    if (p != NULL) {
        native_add(o, "createdAt", native_bytes(p, n));
        native_add(o, "lastUpdatedAt", native_bytes(p, n));
    }
}


static json_object *
azure_kernel(void)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "name", json_object_new_string("retort-kernel"));
    native_add(o, "version", json_object_new_string("1"));
    native_add(o, "projectUrl", json_object_new_string("https://ipython.org"));
    native_add(o, "description",
               json_object_new_string("IPython's cells in a sandbox"));

    return o;
}


void
azure_render_meta(const request_t *req, const char *manifest, size_t len,
    answer_t *a)
{
    size_t        n;
    const char   *line, *end;
    json_object  *o;

    (void) req;

    o = json_object_new_object();
    native_add(o, "runtimes", json_object_new_array());
    native_add(o, "preInstalledPackages", json_object_new_array());
    native_add(o, "createdAt", native_time(0));
    native_add(o, "lastUpdatedAt", native_time(0));
    end = manifest + len;

    for (line = manifest; line < end; line += n + 1) {
        for (n = 0; line + n < end && line[n] != '\n'; n++) {
            /* void */
        }

        azure_meta_line(o, line, n);
    }

    native_add(o, "jupyterKernel", azure_kernel());
    azure_write(o, a);
}
