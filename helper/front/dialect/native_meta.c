
/*
 * In retort-front, as its own uid without any capability.  The native API:
 * what there is in a sandbox.  The manifest is root's, written by auto/image;
 * lines are "word value".
 */

#include <string.h>

#include "native.h"


/* the value of a line that begins with "word"; NULL if it is another one */

const char *
native_meta_value(const char *line, size_t len, const char *word, size_t *n)
{
    size_t  head;

    head = strlen(word);

    if (len <= head || strncmp(line, word, head) != 0 || line[head] != ' ') {
        return NULL;
    }

    *n = len - head - 1;

    return line + head + 1;
}


/* "name version" */

void
native_meta_pair(json_object *all, const char *p, size_t n)
{
    size_t        name;
    const char   *space;
    json_object  *o;

    space = memchr(p, ' ', n);
    name = space != NULL ? (size_t) (space - p) : n;

    o = json_object_new_object();
    native_add(o, "name", native_bytes(p, name));
    native_add(o, "version", space == NULL ? NULL
               : native_bytes(space + 1, n - name - 1));
    (void) json_object_array_add(all, o);
}


static void
meta_line(json_object *o, const char *line, size_t len)
{
    size_t       i, n;
    const char  *v;

    static const struct {
        const char  *word;
        const char  *key;
    } keys[] = {
        { "image", "image" }, { "profile", "image_profile" },
        { "built", "built_at" }, { "python", "python" }
    };

    for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        v = native_meta_value(line, len, keys[i].word, &n);

        if (v != NULL) {
            native_add(o, keys[i].key, native_bytes(v, n));
        }
    }

    v = native_meta_value(line, len, "module", &n);

    if (v != NULL) {
        native_meta_pair(json_object_object_get(o, "modules"), v, n);
    }

    v = native_meta_value(line, len, "package", &n);

    if (v != NULL) {
        native_meta_pair(json_object_object_get(o, "packages"), v, n);
    }
}


static void
meta_limit(json_object *o, const char *key, uint64_t v, uint64_t max,
    uint64_t unit)
{
    json_object  *pair;

    pair = json_object_new_object();

    if (unit == 1) {
        native_add(pair, "default", native_number(v));
        native_add(pair, "max", native_number(max));

    } else {
        native_add(pair, "default",
                   json_object_new_double((double) v / (double) unit));
        native_add(pair, "max",
                   json_object_new_double((double) max / (double) unit));
    }

    native_add(o, key, pair);
}


/* as this location has them */

static json_object *
meta_limits(const request_t *r)
{
    json_object  *o;

    o = json_object_new_object();
    meta_limit(o, "memory_bytes", r->box.memory, r->box_max.memory, 1);
    meta_limit(o, "disk_bytes", r->box.disk, r->box_max.disk, 1);
    meta_limit(o, "processes", r->box.processes, r->box_max.processes, 1);
    meta_limit(o, "cpu", r->box.cpu, r->box_max.cpu, 1000);
    meta_limit(o, "files", r->box.files, r->box_max.files, 1);
    meta_limit(o, "timeout", r->run.timeout, r->run_max.timeout, 1000);
    meta_limit(o, "output_bytes", r->run.output, r->run_max.output, 1);
    meta_limit(o, "ttl", r->run.ttl, r->run_max.ttl, 1000);

    return o;
}


void
native_render_meta(const request_t *req, const char *manifest, size_t len,
    answer_t *a)
{
    size_t        n;
    const char   *line, *end;
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "profile", native_string(req->profile->name));
    native_add(o, "python", NULL);
    native_add(o, "limits", meta_limits(req));
    native_add(o, "modules", json_object_new_array());
    native_add(o, "packages", json_object_new_array());
    end = manifest + len;

    for (line = manifest; line < end; line += n + 1) {
        for (n = 0; line + n < end && line[n] != '\n'; n++) {
            /* void */
        }

        meta_line(o, line, n);
    }

    native_write(o, a);
}
