
/*
 * In retort-front, as its own uid without any capability.  The native API:
 * files of a session as JSON.  Names were checked before they came here.
 */

#include <string.h>

#include "../file_type.h"
#include "native.h"


static json_object *
native_file_url(const request_t *req, const char *sandbox, const char *name)
{
    buf_t         url;
    json_object  *v;

    memset(&url, 0, sizeof(url));
    (void) buf_printf(&url, "%s/sandboxes/%s/files/",
                      req->script != NULL ? req->script : "", sandbox);
    file_url(&url, name);
    (void) buf_add(&url, "", 1);

    v = url.failed ? NULL : native_string(url.data);
    buf_free(&url);

    return v;
}


static json_object *
native_file_one(const files_ask_t *ask, const file_info_t *f)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "name", native_string(f->name));
    native_add(o, "type", json_object_new_string(f->folder ? "folder"
                                                           : "file"));
    if (f->folder) {
        native_add(o, "modified_at", native_time(f->modified));
        return o;
    }

    native_add(o, "size", native_number(f->size));
    native_add(o, "mime", json_object_new_string(file_type(f->name)));

    if (f->modified != 0) {
        native_add(o, "modified_at", native_time(f->modified));
    }

    if (f->sha256[0] != '\0') {
        native_add(o, "sha256", json_object_new_string(f->sha256));
    }

    native_add(o, "url", native_file_url(ask->req, ask->sandbox, f->name));

    return o;
}


void
native_render_file(const files_ask_t *ask, const file_info_t *file,
    answer_t *a)
{
    native_write(native_file_one(ask, file), a);
    a->form = NULL;
}


void
native_render_files(const files_ask_t *ask, const file_infos_t *files,
    answer_t *a)
{
    size_t        i;
    json_object  *o, *all;

    all = json_object_new_array();

    for (i = 0; i < files->n; i++) {
        (void) json_object_array_add(all,
                                     native_file_one(ask, &files->file[i]));
    }

    o = json_object_new_object();
    native_add(o, "files", all);
    native_add(o, "truncated", json_object_new_boolean(files->truncated));
    native_write(o, a);
    a->form = NULL;
}


static json_object *
native_change(const request_t *req, const result_t *res,
    const out_change_t *c)
{
    json_object               *o;
    static const char *const   changes[] = { "", "created", "changed",
                                             "deleted" };

    o = json_object_new_object();
    native_add(o, "name", native_string(c->name));
    native_add(o, "change", json_object_new_string(changes[c->change]));

    if (c->change == KRN_DELETED) {
        return o;
    }

    native_add(o, "size", native_number(c->size));
    native_add(o, "mime", json_object_new_string(file_type(c->name)));
    native_add(o, "sha256", c->sha256[0] != '\0'
                            ? json_object_new_string(c->sha256) : NULL);

    if (res->sandbox[0] != '\0') {
        native_add(o, "url", native_file_url(req, res->sandbox, c->name));
    }

    return o;
}


json_object *
native_changes(const request_t *req, const result_t *res)
{
    size_t        i;
    json_object  *all;

    all = json_object_new_array();

    for (i = 0; i < res->out.nchanges; i++) {
        (void) json_object_array_add(all,
                                     native_change(req, res,
                                                   &res->out.changes[i]));
    }

    return all;
}
