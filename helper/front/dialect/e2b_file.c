
/*
 * In retort-front, as its own uid without any capability.  E2B: files by their
 * paths, as its clients say them.  /home/user is another name of /workspace in
 * every sandbox.
 */

#include <stdio.h>
#include <string.h>

#include "../file_type.h"
#include "e2b.h"
#include "native.h"


static const char *
e2b_file_below(const char *path, const char *folder)
{
    size_t  n;

    n = strlen(folder);

    return strncmp(path, folder, n) == 0 && path[n] == '/' ? path + n + 1
                                                            : NULL;
}


/* relative to /workspace; what it may be is checked by who opens it */

static int
e2b_file_name(const char *path, char *name, size_t size, err_t *e)
{
    int          n;
    const char  *p;

    p = path;

    if (*path == '/') {
        p = e2b_file_below(path, E2B_HOME);

        if (p == NULL) {
            p = e2b_file_below(path, "/workspace");
        }
    }

    if (p == NULL) {
        return err_set(e, 400, "bad_name", "files are below " E2B_HOME " here");
    }

    n = snprintf(name, size, "%s", p);

    return n > 0 && (size_t) n < size
           ? 0 : err_set(e, 400, "bad_name", "the path is %s",
                         n == 0 ? "empty" : "too long");
}


static int
e2b_file_query(const request_t *req, char *path, size_t size, err_t *e)
{
    return file_query(req->query, "path", path, size) == 0
           ? 0 : err_set(e, 400, "bad_name", "\"path\" is malformed");
}


int
e2b_file(const request_t *req, const char *rest, dialect_file_t *f, err_t *e)
{
    char  path[BOUND_FILE_NAME + 1];

    (void) rest;

    if (f->op == OP_FILE_POST) {
        return 0;
    }

    if (e2b_file_query(req, path, sizeof(path), e) == -1) {
        return -1;
    }

    return e2b_file_name(path, f->name, sizeof(f->name), e);
}


/* a file of a form: by the query, or by what the part calls it */

int
e2b_file_part(const request_t *req, const char *file, char *name, size_t size,
    err_t *e)
{
    char  path[BOUND_FILE_NAME + 1];

    if (e2b_file_query(req, path, sizeof(path), e) == -1) {
        return -1;
    }

    return e2b_file_name(path[0] != '\0' ? path : file, name, size, e);
}


void
e2b_render_files(const files_ask_t *ask, const file_infos_t *files,
    answer_t *a)
{
    buf_t         path;
    size_t        i;
    json_object  *all, *one;

    (void) ask;
    all = json_object_new_array();

    for (i = 0; i < files->n; i++) {
        memset(&path, 0, sizeof(path));
        (void) buf_printf(&path, E2B_HOME "/%s", files->file[i].name);

        one = json_object_new_object();
        native_add(one, "name", native_string(file_base(files->file[i].name)));
        native_add(one, "type", native_string("file"));
        native_add(one, "path", native_bytes(path.data, path.len));
        (void) json_object_array_add(all, one);
        buf_free(&path);
    }

    native_write(all, a);
    a->form = NULL;
    a->status = 200;
}
