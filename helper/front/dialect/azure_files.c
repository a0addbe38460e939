
/*
 * In retort-front, as its own uid without any capability.  Azure's dynamic
 * sessions: files.  Names were checked before they came here.
 */

#include <stdio.h>
#include <string.h>

#include "../clock.h"
#include "../file_type.h"
#include "azure.h"
#include "native.h"


/* older clients are used to seven digits */

static json_object *
azure_time(uint64_t wall_ms)
{
    char    text[CLOCK_TEXT + 4];
    size_t  n;

    clock_text(wall_ms != 0 ? wall_ms : clock_wall_ms(), text);
    n = strlen(text);
    memcpy(text + n - 1, "0000Z", sizeof("0000Z"));

    return json_object_new_string(text);
}


/* its folder, relative to the one that was asked for */

static json_object *
azure_directory(const files_ask_t *ask, const char *name)
{
    size_t  n, skip;

    skip = strlen(ask->folder);
    skip += skip != 0;
    n = (size_t) (file_base(name) - name);
    n -= n != 0;

    return n > skip ? native_bytes(name + skip, n - skip)
           : json_object_new_string(azure_is_image(ask->req) ? "." : "");
}


static json_object *
azure_file_one(const files_ask_t *ask, const file_info_t *f)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "name", native_string(file_base(f->name)));
    native_add(o, "directory", azure_directory(ask, f->name));
    native_add(o, "type",
               json_object_new_string(f->folder ? "directory" : "file"));
    native_add(o, "contentType", json_object_new_string(file_type(f->name)));
    native_add(o, "sizeInBytes", native_number(f->size));
    native_add(o, "lastModifiedAt", azure_time(f->modified));

    return o;
}


/* each object has a number */

static json_object *
azure_id_object(int *next)
{
    char          text[16];
    json_object  *o;

    (void) snprintf(text, sizeof(text), "%d", ++*next);
    o = json_object_new_object();
    native_add(o, "$id", json_object_new_string(text));

    return o;
}


static void
azure_files_old(const file_infos_t *files, answer_t *a)
{
    int           next;
    size_t        i;
    json_object  *o, *all, *one, *in;

    next = 0;
    o = azure_id_object(&next);
    all = json_object_new_array();

    for (i = 0; i < files->n; i++) {
        if (files->file[i].folder) {
            continue;
        }

        one = azure_id_object(&next);
        in = azure_id_object(&next);
        native_add(in, "filename", native_string(files->file[i].name));
        native_add(in, "size", native_number(files->file[i].size));
        native_add(in, "lastModifiedTime",
                   azure_time(files->file[i].modified));
        native_add(in, "last_modified_time",
                   azure_time(files->file[i].modified));
        native_add(one, "properties", in);
        (void) json_object_array_add(all, one);
    }

    native_add(o, "value", all);
    azure_write(o, a);
}


void
azure_render_file(const files_ask_t *ask, const file_info_t *file,
    answer_t *a)
{
    azure_write(azure_file_one(ask, file), a);
}


/* an upload is answered with its file, by the image with a list as well */

void
azure_render_files(const files_ask_t *ask, const file_infos_t *files,
    answer_t *a)
{
    int           post;
    size_t        i;
    json_object  *o, *all;

    a->status = 200;
    post = strcmp(ask->req->method, "POST") == 0;

    if (post ? strcmp(ask->req->path, "/files/upload") == 0
             : azure_is_old(ask->req) && !azure_is_image(ask->req))
    {
        azure_files_old(files, a);
        return;
    }

    if (post && files->n == 1 && !azure_is_image(ask->req)) {
        azure_render_file(ask, &files->file[0], a);
        return;
    }

    all = json_object_new_array();

    for (i = 0; i < files->n; i++) {
        (void) json_object_array_add(all,
                                     azure_file_one(ask, &files->file[i]));
    }

    if (azure_is_image(ask->req)) {
        azure_write(all, a);
        return;
    }

    o = json_object_new_object();
    native_add(o, "value", all);
    native_add(o, "nextLink", NULL);
    azure_write(o, a);
}
