
/*
 * In retort-front, as its own uid without any capability.  Messages of a
 * protocol within HTTP: some are answered by their dialect alone, some run.
 */

#include <stdatomic.h>
#include <string.h>

#include "bounds.h"
#include "box_id.h"
#include "calls.h"
#include "clock.h"
#include "drain.h"
#include "metrics.h"
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
routes_call_cell(routes_t *r, call_t *c, exec_t *x, err_t *e)
{
    int           rc, lasting;
    calls_one_t   one;

    one.x = x;
    one.key = c->key;
    lasting = c->lasting
              && atomic_fetch_add(&routes_lasting, 1) < BOUND_LASTING;

    calls_enter(&one);
    rc = run_job(x, r->req, &c->job, lasting ? -1 : r->body->client, NULL, e);
    calls_leave(&one);

    if (c->lasting) {
        (void) atomic_fetch_sub(&routes_lasting, 1);
    }

    return rc;
}


static void
routes_call_done(routes_t *r, call_t *c, exec_t *x)
{
    uint64_t  began;

    metrics_run(r->req, &x->res);
    exec_over(x);
    began = clock_mono_us();

    if (c->pictures) {
        c->pics = pictures_load(r->req, &x->res.out, &c->npics);
    }

    answer_run(r->a, x->id, &x->res);
    r->dialect->call_done(c, x);
    metrics_took(METRICS_RENDER, clock_mono_us() - began);
}


static void
routes_call_run(routes_t *r, call_t *c)
{
    err_t    e;
    exec_t  *x;

    memset(&e, 0, sizeof(e));
    x = NULL;

    if (drain_check(&e) == 0
        && files_load(r->req, c->job.files, c->job.nfiles, &e) == 0)
    {
        x = exec_begin(r->req, &c->job, &e);
    }

    if (x == NULL) {
        routes_call_fail(r, c, &e);
        return;
    }

    if (routes_call_cell(r, c, x, &e) == 0) {
        routes_call_done(r, c, x);

    } else {
        exec_forget(x);
        routes_call_fail(r, c, &e);
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

    case CALL_CANCEL:
        (void) calls_cancel(c.key, r->req->workspace);
        break;

    default:
        break;
    }

    r->dialect->call_free(&c);
    pictures_free(c.pics, c.npics);
    job_free(&c.job);
    buf_free(&body);

    return 0;
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
