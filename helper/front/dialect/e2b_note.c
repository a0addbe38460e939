
/*
 * In retort-front, as its own uid without any capability.  E2B: metadata,
 * variables and contexts of a sandbox, which the front holds as one text
 * beside it.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "e2b.h"
#include "native.h"


int
e2b_note(const request_t *req, const char *sandbox, e2b_note_t *n, err_t *e)
{
    int    rc;
    buf_t  text;

    n->o = NULL;
    memset(&text, 0, sizeof(text));
    rc = box_note_read(sandbox, req->workspace, &text, &n->version, e);

    if (rc == 0) {
        n->o = text.len != 0 ? json_in(text.data, text.len, e)
                             : json_object_new_object();
        rc = n->o != NULL ? 0 : -1;
    }

    buf_free(&text);

    return rc;
}


void
e2b_note_free(e2b_note_t *n)
{
    json_object_put(n->o);
    n->o = NULL;
}


static void
e2b_note_text(json_object *o, buf_t *to)
{
    memset(to, 0, sizeof(buf_t));
    native_line(to, json_object_get(o));
}


int
e2b_note_write(const request_t *req, const char *sandbox, const e2b_note_t *n,
    err_t *e)
{
    int    rc;
    buf_t  text;

    e2b_note_text(n->o, &text);
    rc = text.failed ? err_set(e, 500, "no_memory", "out of memory")
         : box_note_write(sandbox, req->workspace, &text, n->version, e);
    buf_free(&text);

    return rc;
}


int
e2b_note_new(json_object *metadata, json_object *env, box_wish_t *wish,
    err_t *e)
{
    json_object  *o;

    o = json_object_new_object();

    if (metadata != NULL) {
        native_add(o, "metadata", json_object_get(metadata));
    }

    if (env != NULL) {
        native_add(o, "env", json_object_get(env));
    }

    e2b_note_text(o, &wish->note);
    json_object_put(o);

    if (wish->note.failed || wish->note.len > BOUND_NOTE) {
        return err_set(e, 400, "too_large", "\"metadata\" and \"envVars\" have "
                       "more than %d bytes", BOUND_NOTE);
    }

    return 0;
}


json_object *
e2b_note_contexts(const e2b_note_t *n)
{
    json_object  *v;

    if (!json_object_object_get_ex(n->o, "contexts", &v)) {
        v = json_object_new_array();
        native_add(n->o, "contexts", v);
    }

    return v;
}


static const char *
e2b_note_string(json_object *o, const char *key)
{
    json_object  *v;

    return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v)
                                                 : "";
}


int
e2b_context(const e2b_note_t *n, const char *id, e2b_context_t *c, err_t *e)
{
    size_t        i;
    json_object  *all, *one, *v;

    memset(c, 0, sizeof(e2b_context_t));
    all = e2b_note_contexts(n);

    for (i = 0; i < json_object_array_length(all); i++) {
        one = json_object_array_get_idx(all, i);

        if (strcmp(e2b_note_string(one, "id"), id) != 0) {
            continue;
        }

        (void) snprintf(c->id, sizeof(c->id), "%s", id);
        (void) snprintf(c->cwd, sizeof(c->cwd), "%s",
                        e2b_note_string(one, "cwd"));
        (void) json_object_object_get_ex(one, "number", &v);
        c->number = (uint32_t) json_object_get_int64(v);
        c->language = strcmp(e2b_note_string(one, "language"), "bash") == 0
                      ? KRN_BASH : KRN_PYTHON;

        return 0;
    }

    if (strcmp(id, E2B_DEFAULT) == 0) {
        (void) snprintf(c->id, sizeof(c->id), "%s", id);
        (void) snprintf(c->cwd, sizeof(c->cwd), "%s", E2B_HOME);
        return 0;
    }

    return err_set(e, 404, "context_not_found", "Context %.64s not found", id);
}
