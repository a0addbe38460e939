
/*
 * In retort-front, as its own uid without any capability.  The native API:
 * files that a request brings along, or names.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../bounds.h"
#include "../data_url.h"
#include "../file_name.h"
#include "../file_type.h"
#include "../json_in.h"
#include "../text.h"
#include "native.h"


typedef struct {
    job_file_t  *file;
    char         type[DATA_URL_TYPE];   /* of a data URL */
} native_input_t;


static int
native_input_name(void *to, json_object *v, err_t *e)
{
    size_t       len;
    job_file_t  *f;

    f = ((native_input_t *) to)->file;
    f->name = json_in_copy(v, &len, e);

    if (f->name == NULL) {
        return -1;
    }

    if (!job_file_name(f->name, len)) {
        return err_set(e, 400, "bad_value", "\"files.name\" must be a relative "
                       "path without \"..\"");
    }

    return 0;
}


static int
native_input_once(const job_file_t *f, err_t *e)
{
    if (f->data == NULL && f->id == NULL && f->url == NULL) {
        return 0;
    }

    return err_set(e, 400, "bad_value", "a file has one of \"text\", "
                   "\"content_base64\", \"url\" and \"file_id\"");
}


static int
native_input_text(void *to, json_object *v, err_t *e)
{
    job_file_t  *f;

    f = ((native_input_t *) to)->file;

    if (native_input_once(f, e) == -1) {
        return -1;
    }

    f->data = json_in_copy(v, &f->len, e);

    return f->data != NULL ? 0 : -1;
}


static int
native_input_base64(void *to, json_object *v, err_t *e)
{
    size_t       len;
    job_file_t  *f;

    if (native_input_text(to, v, e) == -1) {
        return -1;
    }

    f = ((native_input_t *) to)->file;

    /* three bytes for four characters: it fits where they were */

    if (text_base64(f->data, f->len, (unsigned char *) f->data, &len) == -1) {
        return err_set(e, 400, "bad_value",
                       "\"files.content_base64\" is not base64");
    }

    f->len = len;

    return 0;
}


/* it is fetched later; its name is known now */

static int
native_input_web(native_input_t *in, json_object *v, err_t *e)
{
    size_t       len;
    job_file_t  *f;

    f = in->file;

    if (native_input_once(f, e) == -1) {
        return -1;
    }

    f->url = json_in_copy(v, &len, e);

    return f->url != NULL ? 0 : -1;
}


static int
native_input_url(void *to, json_object *v, err_t *e)
{
    data_url_t       u;
    job_file_t      *f;
    native_input_t  *in;

    in = to;

    if (file_name_is_web(json_object_get_string(v))) {
        return native_input_web(in, v, e);
    }

    if (strncasecmp(json_object_get_string(v), "data:", 5) != 0) {
        return err_set(e, 400, "bad_value", "\"files.url\" must be a data, "
                       "http or https URL");
    }

    if (native_input_text(to, v, e) == -1) {
        return -1;
    }

    f = in->file;

    if (data_url(f->data, f->len, &u) == -1) {
        return err_set(e, 400, "bad_value",
                       "\"files.url\" is a malformed data URL");
    }

    f->len = u.len;
    memcpy(in->type, u.type, sizeof(in->type));

    return 0;
}


static int
native_input_id(void *to, json_object *v, err_t *e)
{
    size_t       len;
    job_file_t  *f;

    f = ((native_input_t *) to)->file;

    if (native_input_once(f, e) == -1) {
        return -1;
    }

    f->id = json_in_copy(v, &len, e);

    return f->id != NULL ? 0 : -1;
}


static const json_in_key_t  native_input_keys[] = {
    { "name", JSON_IN_STRING, native_input_name },
    { "text", JSON_IN_STRING, native_input_text },
    { "content_base64", JSON_IN_STRING, native_input_base64 },
    { "url", JSON_IN_STRING, native_input_url },
    { "file_id", JSON_IN_STRING, native_input_id },
    { NULL, JSON_IN_STRING, NULL }
};


/* what has no name is called by its place in the list, and its type */

static int
native_input_call(native_input_t *in, size_t number, err_t *e)
{
    char         name[48];
    const char  *ext;

    ext = in->file->id != NULL ? strrchr(in->file->id, '.')
                               : file_extension(in->type);

    if (ext == NULL || strlen(ext) > 8) {
        ext = ".bin";
    }

    (void) snprintf(name, sizeof(name), "file-%zu%s", number, ext);
    in->file->name = strdup(name);

    if (in->file->name == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    return job_file_name(name, strlen(name))
           ? 0 : err_set(e, 404, "file_not_found", "no such file_id");
}


/* an object, or a URL alone */

static int
native_input_read(native_input_t *in, json_object *v, err_t *e)
{
    if (json_object_is_type(v, json_type_string)) {
        return native_input_url(in, v, e);
    }

    if (!json_object_is_type(v, json_type_object)) {
        return err_set(e, 400, "bad_value",
                       "\"files\" must be an array of objects or URLs");
    }

    return json_in_keys(v, native_input_keys, "files.", in, e);
}


static int
native_input(job_file_t *f, size_t number, json_object *v, err_t *e)
{
    native_input_t  in;

    memset(&in, 0, sizeof(in));
    in.file = f;

    if (native_input_read(&in, v, e) == -1) {
        return -1;
    }

    if (f->data == NULL && f->id == NULL && f->url == NULL) {
        return err_set(e, 400, "bad_value", "a file needs \"text\", "
                       "\"content_base64\", \"url\" or \"file_id\"");
    }

    if (f->name == NULL && f->url != NULL) {
        f->name = file_name_url(f->url);
    }

    if (f->name != NULL) {
        return 0;
    }

    if (f->id == NULL && f->url == NULL && in.type[0] == '\0') {
        return err_set(e, 400, "bad_value", "a file needs \"name\"");
    }

    return native_input_call(&in, number, e);
}


int
native_inputs(json_object *v, job_file_t **files, size_t *nfiles, err_t *e)
{
    size_t  i, n;

    n = json_object_array_length(v);

    if (n > BOUND_FILES) {
        return err_set(e, 400, "bad_value", "\"files\" has more than %d",
                       BOUND_FILES);
    }

    *files = calloc(n + 1, sizeof(job_file_t));

    if (*files == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    *nfiles = n;

    for (i = 0; i < n; i++) {
        if (native_input(&(*files)[i], i + 1, json_object_array_get_idx(v, i),
                         e)
            == -1)
        {
            return -1;
        }
    }

    return 0;
}
