
/*
 * In retort-front, as its own uid without any capability.  Messages of a
 * protocol within HTTP: some are answered by their dialect alone, some run.
 */

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "box_id.h"
#include "calls.h"
#include "clock.h"
#include "drain.h"
#include "metrics.h"
#include "place.h"
#include "readers.h"
#include "routes.h"
#include "run.h"
#include "session.h"


static atomic_uint  routes_lasting;


static void
routes_call_fail(routes_t *r, call_t *c, const err_t *e)
{
    metrics_refused(e->code);

    if (e->status == 0) {
        (void) buf_puts(&r->a->lines, "X-Retort-Status: cancelled\r\n");
    }

    r->dialect->call_fail(c, e);
}


/*
 * Runs whose clients may leave are few: beyond that, one that leaves ends its
 * run, or threads would be held for nobody, and past any admission.
 */

static int
routes_call_cell(routes_t *r, call_t *c, exec_t *x, follow_t *f, err_t *e)
{
    int           rc, lasting;
    calls_one_t   one;

    one.x = x;
    one.key = c->key;
    lasting = c->lasting
              && atomic_fetch_add(&routes_lasting, 1) < BOUND_LASTING;

    routes_follow(r, f, 0);
    f->call = c;
    f->lasting = lasting;

    calls_enter(&one);
    rc = run_job(x, r->req, &c->job, lasting ? -1 : r->body->client,
                 c->stream ? f : NULL, e);
    calls_leave(&one);

    if (c->lasting) {
        (void) atomic_fetch_sub(&routes_lasting, 1);
    }

    return rc;
}


static void
routes_call_done(routes_t *r, call_t *c, exec_t *x, follow_t *f)
{
    uint64_t  began;

    metrics_run(r->req, &x->res);
    exec_over(x);

    if (c->stream) {
        if (!f->begun) {
            follow_begin(f, x, 0);
        }

        r->a->end = 1 + (int) x->res.verdict;
        routes_follow_all(r, f);
        return;
    }

    began = clock_mono_us();

    if (c->pictures) {
        c->pics = pictures_load(r->req, &x->res.out, &c->npics);
    }

    answer_run(r->a, x->id, &x->res);
    r->dialect->call_done(c, x);
    metrics_took(METRICS_RENDER, clock_mono_us() - began);
}


/* for who comes back to it */

static void
routes_call_memo(call_t *c, exec_t *x)
{
    if (c->memo.len == 0 || buf_add(&c->memo, "", 1) == -1) {
        return;
    }

    (void) pthread_mutex_lock(&x->lock);
    free(x->memo);
    x->memo = c->memo.data;
    (void) pthread_mutex_unlock(&x->lock);

    memset(&c->memo, 0, sizeof(buf_t));
}


/* NULL, and it is answered */

static exec_t *
routes_call_begin(routes_t *r, call_t *c, err_t *e)
{
    exec_t  *x;

    x = NULL;

    if (drain_check(e) == 0
        && files_load(r->req, r->body->client, c->job.files, &c->job.nfiles, 0,
                      e) == 0)
    {
        x = exec_begin(r->req, &c->job, e);
    }

    if (x == NULL) {
        routes_call_fail(r, c, e);

    } else {
        routes_call_memo(c, x);
    }

    return x;
}


static void
routes_call_run(routes_t *r, call_t *c)
{
    err_t      e;
    exec_t    *x;
    follow_t   f;

    memset(&e, 0, sizeof(e));
    x = routes_call_begin(r, c, &e);

    if (x == NULL) {
        return;
    }

    if (routes_call_cell(r, c, x, &f, &e) == 0) {
        routes_call_done(r, c, x, &f);

    } else {
        follow_free(&f);
        exec_forget(x);
        routes_call_fail(r, c, &e);
    }

    exec_release(x);
}


static void
routes_call_restart(routes_t *r, call_t *c)
{
    err_t  e;

    memset(&e, 0, sizeof(e));

    if (place_restart(r->req, c->job.sandbox, r->body->client, &e) == 0) {
        r->dialect->call_done(c, NULL);

    } else {
        routes_call_fail(r, c, &e);
    }
}


/* it is known before it is told of */

static void
routes_call_task(routes_t *r, call_t *c)
{
    err_t    e;
    exec_t  *x;

    memset(&e, 0, sizeof(e));
    x = routes_call_begin(r, c, &e);

    if (x == NULL) {
        return;
    }

    if (routes_detach(r, x, &c->job, &e) == 0) {
        (void) pthread_mutex_lock(&x->lock);
        r->dialect->call_task(c, x);
        (void) pthread_mutex_unlock(&x->lock);
        return;
    }

    exec_forget(x);
    routes_call_fail(r, c, &e);
    exec_release(x);
}


static void
routes_call_look(routes_t *r, call_t *c)
{
    err_t    e;
    exec_t  *x;

    memset(&e, 0, sizeof(e));
    x = exec_find(c->key, r->req->workspace, &e);

    if (x == NULL) {
        r->dialect->call_fail(c, &e);
        return;
    }

    (void) pthread_mutex_lock(&x->lock);

    if (c->pictures && x->state == EXEC_OVER) {
        c->pics = pictures_load(r->req, &x->res.out, &c->npics);
    }

    r->dialect->call_look(c, x);
    (void) pthread_mutex_unlock(&x->lock);
    routes_call_memo(c, x);

    if (c->cancel) {
        exec_cancel(x);
    }

    exec_release(x);
}


int
routes_call(routes_t *r, err_t *e)
{
    buf_t   body;
    call_t  c;

    memset(&body, 0, sizeof(body));
    memset(&c, 0, sizeof(c));

    if (r->body->read(r->body, r->req->run.request, &body, e) == -1) {
        buf_free(&body);
        return -1;
    }

    c.req = r->req;
    c.a = r->a;
    c.body = body.data != NULL ? body.data : "";
    c.len = body.len;

    switch (r->dialect->call(&c)) {

    case CALL_RUN:
        routes_call_run(r, &c);
        break;

    case CALL_TASK:
        routes_call_task(r, &c);
        break;

    case CALL_LOOK:
        routes_call_look(r, &c);
        break;

    case CALL_FILES:
        routes_call_files(r, &c);
        break;

    case CALL_TALK:
        routes_talk(r, &c);
        break;

    case CALL_TELL:
        calls_tell(c.key, r->req->workspace, c.body, c.len);
        break;

    case CALL_RESTART:
        routes_call_restart(r, &c);
        break;

    case CALL_CANCEL:
        (void) calls_cancel(c.key, r->req->workspace);
        break;

    default:
        break;
    }

    r->dialect->call_free(&c);
    pictures_free(c.pics, c.npics);
    job_free(&c.job);
    buf_free(&c.memo);
    buf_free(&body);

    return 0;
}


static int
routes_call_rest(routes_t *r, call_t *c, exec_t *x, uint64_t after, err_t *e)
{
    int       rc;
    follow_t  f;
    reader_t  reader;

    (void) pthread_mutex_lock(&x->lock);
    rc = x->memo != NULL ? r->dialect->call_again(c, x->memo) : -1;
    (void) pthread_mutex_unlock(&x->lock);

    if (rc == -1) {
        return err_set(e, 404, "not_found", "no such stream");
    }

    if (readers_enter(&reader, READERS_FOLLOW, r->req->workspace, e) == -1) {
        return -1;
    }

    routes_follow(r, &f, 0);
    f.call = c;
    follow_begin(&f, x, after);
    routes_follow_all(r, &f);
    readers_leave(&reader);

    return 0;
}


/* without a place to go on from there is no stream here */

int
routes_call_resume(routes_t *r, err_t *e)
{
    int        rc;
    char       id[REQ_EXECUTION];
    call_t     c;
    exec_t    *x;
    uint64_t   after;

    memset(&c, 0, sizeof(c));
    c.req = r->req;
    c.a = r->a;
    (void) snprintf(r->allow, sizeof(r->allow), "POST, DELETE");

    rc = r->dialect->call_resume(&c, id, &after, e);
    x = rc == 0 ? exec_find(id, r->req->workspace, e) : NULL;
    rc = x != NULL ? routes_call_rest(r, &c, x, after, e) : -1;

    if (x != NULL) {
        exec_release(x);
    }

    r->dialect->call_free(&c);
    pictures_free(c.pics, c.npics);

    return rc;
}


/* the sandbox that it had by default goes with it, if there is one */

int
routes_call_end(routes_t *r, err_t *e)
{
    char         id[JOB_SANDBOX];
    err_t        none;
    const char  *session;

    session = r->dialect->call_session(r->req);

    if (*session == '\0') {
        return err_set(e, 400, "bad_request", "the session is not named");
    }

    if (session_end(session, r->req->workspace) == -1) {
        return err_set(e, 404, "session_not_found", "no such session");
    }

    if (box_id_session(id, r->req->workspace, session) == 0) {
        (void) box_delete(id, r->req->workspace, &none);
    }

    r->a->status = 204;

    return 0;
}
