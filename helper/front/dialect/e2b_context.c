
/*
 * In retort-front, as its own uid without any capability.  E2B: contexts.
 * Each is a namespace and a working folder in the one interpreter of its
 * sandbox, by a number that only we and the kernel know.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text.h"
#include "e2b.h"
#include "native.h"


#define E2B_TRIES  8            /* while others change the same note */


typedef enum { E2B_CREATED, E2B_REMOVED, E2B_RESTARTED } e2b_did_t;

typedef struct {
    e2b_did_t        did;
    e2b_context_t    context;
} e2b_call_t;


static json_object *
e2b_context_json(const e2b_context_t *c)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "id", native_string(c->id));
    native_add(o, "language", native_string(c->language == KRN_BASH
                                            ? "bash" : "python"));
    native_add(o, "cwd", native_string(c->cwd));

    return o;
}


/* 1 above all that there are: no number is ever given twice in a sandbox */

static uint32_t
e2b_context_number(const e2b_note_t *n)
{
    int64_t       next;
    json_object  *v;

    next = json_object_object_get_ex(n->o, "next", &v)
           ? json_object_get_int64(v) : 1;
    native_add(n->o, "next", json_object_new_int64(next + 1));

    return (uint32_t) next;
}


static int
e2b_context_add(const e2b_note_t *n, e2b_context_t *c, err_t *e)
{
    json_object  *all, *one;

    all = e2b_note_contexts(n);
    c->number = e2b_context_number(n);

    if (json_object_array_length(all) >= E2B_CONTEXTS
        || c->number > KRN_CONTEXTS)
    {
        (void) err_set(e, 429, "too_many_contexts", "a sandbox has at most %d "
                       "contexts, and %d in its life", E2B_CONTEXTS,
                       KRN_CONTEXTS);
        return -1;
    }

    one = e2b_context_json(c);
    native_add(one, "number", json_object_new_int64(c->number));
    (void) json_object_array_add(all, one);

    return 0;
}


static int
e2b_context_drop(const e2b_note_t *n, e2b_context_t *c, err_t *e)
{
    size_t        i;
    json_object  *all, *v;

    all = e2b_note_contexts(n);

    for (i = 0; i < json_object_array_length(all); i++) {
        if (json_object_object_get_ex(json_object_array_get_idx(all, i), "id",
                                      &v)
            && strcmp(json_object_get_string(v), c->id) == 0)
        {
            (void) json_object_array_del_idx(all, i, 1);
            return 0;
        }
    }

    return err_set(e, 404, "context_not_found", "Context %s not found", c->id);
}


/* adds it to the note, or takes it out */

static int
e2b_context_change(const request_t *req, e2b_context_t *c,
    int (*change)(const e2b_note_t *n, e2b_context_t *c, err_t *e), err_t *e)
{
    int         rc, tries;
    e2b_note_t  n;

    for (tries = 0; tries < E2B_TRIES; tries++) {
        if (e2b_note(req, e2b_inside(req), &n, e) == -1) {
            return -1;
        }

        rc = change(&n, c, e);

        if (rc == 0) {
            rc = e2b_note_write(req, e2b_inside(req), &n, e);
        }

        e2b_note_free(&n);

        if (rc != 1) {
            return rc;
        }
    }

    (void) err_set(e, 429, "sandbox_busy", "the contexts change all the time");
    e->retry_after = 1;

    return -1;
}


static int
e2b_context_language(void *to, json_object *v, err_t *e)
{
    return e2b_job_language(json_object_get_string(v),
                            &((e2b_context_t *) to)->language, e);
}


static int
e2b_context_cwd(void *to, json_object *v, err_t *e)
{
    size_t          n;
    e2b_context_t  *c;

    c = to;
    n = (size_t) json_object_get_string_len(v);

    if (n == 0 || n >= sizeof(c->cwd)
        || strlen(json_object_get_string(v)) != n)
    {
        return err_set(e, 400, "bad_value", "\"cwd\" is no folder");
    }

    memcpy(c->cwd, json_object_get_string(v), n + 1);

    return 0;
}


static const json_in_key_t  e2b_context_keys[] = {
    { "language", JSON_IN_STRING, e2b_context_language },
    { "cwd", JSON_IN_STRING, e2b_context_cwd },
    { NULL, JSON_IN_STRING, NULL }
};


/* a run that makes the namespace anew; it goes to its folder, if it has one */

static call_do_t
e2b_context_run(call_t *c, const e2b_context_t *x, err_t *e)
{
    buf_t         code;
    job_t        *job;
    json_object  *v;

    job = &c->job;
    e2b_job(c->req, job);
    job->context = x->number;
    job->fresh = 1;
    memset(&code, 0, sizeof(code));

    /* a string of JSON is one of Python, too */
    v = native_string(x->cwd);
    (void) buf_printf(&code, "__import__('os').chdir(%s)\n",
                      json_object_to_json_string_ext(v,
                          JSON_C_TO_STRING_PLAIN
                          |JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(v);

    job->code = code.data;
    job->code_len = code.len;

    if (code.failed) {
        (void) err_set(e, 500, "no_memory", "out of memory");
        return CALL_ANSWERED;
    }

    (void) snprintf(job->sandbox, sizeof(job->sandbox), "%s",
                    e2b_inside(c->req));

    return CALL_RUN;
}


static call_do_t
e2b_contexts_list(call_t *c, err_t *e)
{
    size_t          i;
    e2b_note_t      n;
    json_object    *all, *known, *v;
    e2b_context_t   one;

    if (e2b_note(c->req, e2b_inside(c->req), &n, e) == -1) {
        return CALL_ANSWERED;
    }

    all = json_object_new_array();
    known = e2b_note_contexts(&n);

    if (e2b_context(&n, E2B_DEFAULT, &one, e) == 0) {
        (void) json_object_array_add(all, e2b_context_json(&one));
    }

    for (i = 0; i < json_object_array_length(known); i++) {
        if (json_object_object_get_ex(json_object_array_get_idx(known, i),
                                      "id", &v)
            && e2b_context(&n, json_object_get_string(v), &one, e) == 0)
        {
            (void) json_object_array_add(all, e2b_context_json(&one));
        }
    }

    e2b_note_free(&n);
    native_write(all, c->a);
    c->a->form = NULL;
    c->a->status = 200;

    return CALL_ANSWERED;
}


static call_do_t
e2b_contexts_create(call_t *c, e2b_call_t *own, err_t *e)
{
    int             rc;
    char            hex[33];
    json_object    *o;
    e2b_context_t  *x;

    x = &own->context;
    own->did = E2B_CREATED;
    (void) snprintf(x->cwd, sizeof(x->cwd), "%s", E2B_HOME);
    o = e2b_body(c->req, c->body, c->len, e);

    if (o == NULL) {
        return CALL_ANSWERED;
    }

    rc = e2b_keys(o, e2b_context_keys, x, e);
    json_object_put(o);

    if (rc == 0 && text_random(hex) == -1) {
        rc = err_set(e, 500, "no_memory", "no random number");
    }

    if (rc == 0) {
        (void) snprintf(x->id, sizeof(x->id), "%s", hex);
        rc = e2b_context_change(c->req, x, e2b_context_add, e);
    }

    return rc == 0 ? e2b_context_run(c, x, e) : CALL_ANSWERED;
}


/* "/contexts/ID" or "/contexts/ID/restart" */

static call_do_t
e2b_contexts_one(call_t *c, e2b_call_t *own, err_t *e)
{
    int          rc;
    char         id[E2B_CONTEXT];
    size_t       len;
    e2b_note_t   n;
    const char  *p;

    p = c->req->path + sizeof("/contexts/") - 1;
    len = strcspn(p, "/");
    own->did = p[len] == '/' ? E2B_RESTARTED : E2B_REMOVED;
    (void) snprintf(id, sizeof(id), "%.*s", (int) len, p);

    if (e2b_note(c->req, e2b_inside(c->req), &n, e) == -1) {
        return CALL_ANSWERED;
    }

    rc = e2b_context(&n, id, &own->context, e);
    e2b_note_free(&n);

    if (rc == -1) {
        return CALL_ANSWERED;
    }

    if (own->context.number == 0 && own->did == E2B_REMOVED) {
        (void) err_set(e, 400, "bad_value", "the default context cannot be "
                       "removed");
        return CALL_ANSWERED;
    }

    if (own->context.number == 0) {
        (void) snprintf(c->job.sandbox, sizeof(c->job.sandbox), "%s",
                        e2b_inside(c->req));
        return CALL_RESTART;
    }

    if (own->did == E2B_REMOVED) {
        if (e2b_context_change(c->req, &own->context, e2b_context_drop, e)
            == -1)
        {
            return CALL_ANSWERED;
        }

        (void) snprintf(own->context.cwd, E2B_CWD, "%s", E2B_HOME);
    }

    return e2b_context_run(c, &own->context, e);
}


call_do_t
e2b_call(call_t *c)
{
    err_t        e;
    call_do_t    what;
    e2b_call_t  *own;

    memset(&e, 0, sizeof(e));
    own = calloc(1, sizeof(e2b_call_t));
    c->own = own;

    if (own == NULL) {
        (void) err_set(&e, 500, "no_memory", "out of memory");
        what = CALL_ANSWERED;

    } else if (c->req->path[sizeof("/contexts") - 1] == '/') {
        what = e2b_contexts_one(c, own, &e);

    } else if (strcmp(c->req->method, "GET") == 0) {
        what = e2b_contexts_list(c, &e);

    } else {
        what = e2b_contexts_create(c, own, &e);
    }

    if (e.status != 0) {
        e2b_call_fail(c, &e);
    }

    return what;
}


void
e2b_call_done(call_t *c, const exec_t *x)
{
    err_t        e;
    e2b_call_t  *own;

    own = c->own;

    if (own->did != E2B_CREATED) {
        c->a->status = 204;
        return;
    }

    if (x->res.verdict == VERDICT_OK) {
        native_write(e2b_context_json(&own->context), c->a);
        c->a->form = NULL;
        c->a->status = 200;
        return;
    }

    (void) e2b_context_change(c->req, &own->context, e2b_context_drop, &e);
    (void) err_set(&e, 400, "bad_value", "\"cwd\" is no folder of the "
                   "sandbox");
    e2b_fail(&e, c->a);
}


void
e2b_call_fail(call_t *c, const err_t *e)
{
    err_t  told;

    told = *e;
    e2b_retell(c->req, &told);
    e2b_fail(&told, c->a);
}


void
e2b_call_free(call_t *c)
{
    free(c->own);
}
