
/*
 * In retort-front, as its own uid without any capability.  Runs: the one that
 * a request brings, and those that went on behind their answers.
 */

#include <string.h>

#include "bounds.h"
#include "box_id.h"
#include "clock.h"
#include "follow.h"
#include "metrics.h"
#include "plan.h"
#include "readers.h"
#include "routes.h"
#include "run.h"
#include "text.h"


/* outputs of a run that is over do not change, and are not read before */

static void
routes_pictures(routes_t *r, const exec_t *x)
{
    answer_t  *a;

    a = r->a;

    if (r->dialect->pictures && x->state == EXEC_OVER) {
        a->pictures = pictures_load(r->req, &x->res.out, &a->npictures);
    }
}


static int
routes_parse(routes_t *r, job_t *job, err_t *e)
{
    int    rc;
    buf_t  body;

    memset(&body, 0, sizeof(body));

    rc = r->body->read(r->body, r->req->run.request, &body, e);

    if (rc == 0) {
        rc = r->dialect->parse(r->req, body.data != NULL ? body.data : "",
                               body.len, job, e);
    }

    buf_free(&body);

    return rc == 0 ? files_load(r->req, r->body->client, job->files,
                                &job->nfiles, job->lenient, e) : -1;
}


void
routes_follow(routes_t *r, follow_t *f, int form)
{
    memset(f, 0, sizeof(follow_t));
    f->req = r->req;
    f->dialect = r->dialect;
    f->form = form;
    f->fd = r->body->client;
    f->id = r->body->id;
}


void
routes_follow_all(routes_t *r, follow_t *f)
{
    if (follow_all(f) == 0) {
        r->a->sent = 1;

    } else {
        r->a->cut = 1;
    }

    follow_free(f);
}


static int
routes_is_stream(const routes_t *r, int form)
{
    int       stream;
    answer_t  a;

    memset(&a, 0, sizeof(a));
    stream = r->dialect->stream != NULL && r->dialect->stream(form, &a);
    answer_free(&a);

    return stream;
}


static int
routes_run(routes_t *r, exec_t *x, const job_t *job, int form, err_t *e)
{
    int        stream;
    follow_t   f;
    uint64_t   began;

    stream = routes_is_stream(r, form);
    routes_follow(r, &f, form);

    if (run_job(x, r->req, job, r->body->client, stream ? &f : NULL, e)
        == -1)
    {
        exec_forget(x);
        follow_free(&f);
        return -1;
    }

    metrics_run(r->req, &x->res);
    exec_over(x);

    if (!stream) {
        began = clock_mono_us();
        answer_run(r->a, x->id, &x->res);
        routes_pictures(r, x);
        r->dialect->render(r->req, form, x, r->a);
        metrics_took(METRICS_RENDER, clock_mono_us() - began);
        return 0;
    }

    if (!f.begun) {
        follow_begin(&f, x, 0);
    }

    r->a->end = 1 + (int) x->res.verdict;
    routes_follow_all(r, &f);

    return 0;
}


/* what can be told at once is an error; the rest goes on behind the answer */

int
routes_detach(routes_t *r, exec_t *x, job_t *job, err_t *e)
{
    box_view_t  view;

    if (job->sandbox[0] != '\0'
        && box_look(job->sandbox, r->req->workspace, &view, e) == -1)
    {
        return -1;
    }

    r->later->req = *r->req;
    request_detach(&r->later->req);

    if (readers_enter(&r->later->place, READERS_DETACHED,
                      r->later->req.workspace, e)
        == -1)
    {
        return -1;
    }

    if (r->dialect->render_exec != NULL) {
        (void) pthread_mutex_lock(&x->lock);
        r->dialect->render_exec(r->req, x, r->a);
        (void) pthread_mutex_unlock(&x->lock);
        r->a->status = 202;
    }

    (void) buf_printf(&r->a->lines, "X-Retort-Execution: %s\r\n", x->id);

    r->later->x = x;
    r->later->plan = r->dialect->plans;
    r->later->job = *job;
    memset(job, 0, sizeof(job_t));

    return 0;
}


void
routes_later(routes_later_t *later)
{
    err_t    e;
    exec_t  *x;

    x = later->x;

    if (x == NULL) {
        return;
    }

    if (later->plan) {
        plan_run(x, &later->req, &later->job);

    } else {
        if (run_job(x, &later->req, &later->job, -1, NULL, &e) == -1) {
            run_refused(x, &e);
        }

        metrics_run(&later->req, &x->res);
    }

    exec_over(x);
    exec_release(x);
    job_free(&later->job);
    later->x = NULL;
    readers_leave(&later->place);
}


int
routes_execute(routes_t *r, err_t *e)
{
    int      rc, form;
    job_t    job;
    exec_t  *x;

    form = r->dialect->form(r->req, e);

    if (form == -1) {
        return -1;
    }

    memset(&job, 0, sizeof(job));
    rc = routes_parse(r, &job, e);

    if (rc == 0 && job.detach && r->req->control) {
        rc = err_set(e, 400, "bad_value", "a run by this socket does not go "
                     "on without its client");
    }

    x = rc == 0 ? exec_begin(r->req, &job, e) : NULL;

    if (x == NULL) {
        job_free(&job);
        return -1;
    }

    if (!job.detach) {
        rc = routes_run(r, x, &job, form, e);

    } else {
        rc = routes_detach(r, x, &job, e);

        if (rc == -1) {
            exec_forget(x);
        }
    }

    job_free(&job);

    if (r->later->x == NULL) {
        exec_release(x);
    }

    return rc;
}


/* of one that an earlier front began only its sandbox is known */

static int
routes_exec_is_in(const routes_t *r, const exec_t *x, const char *session)
{
    char  id[JOB_SANDBOX];

    if (x->session[0] != '\0' || x->res.verdict != VERDICT_LOST) {
        return strcmp(x->session, session) == 0;
    }

    return box_id_session(id, r->req->workspace, session) == 0
           && strcmp(id, x->res.sandbox) == 0;
}


/* by its id, if it is there for this request */

static exec_t *
routes_exec_own(routes_t *r, err_t *e)
{
    int      owns;
    exec_t  *x;

    x = exec_find(r->id, r->req->workspace, e);

    if (x == NULL || r->dialect->owns == NULL) {
        return x;
    }

    (void) pthread_mutex_lock(&x->lock);
    owns = r->dialect->owns(r->req, x);
    (void) pthread_mutex_unlock(&x->lock);

    if (owns) {
        return x;
    }

    exec_release(x);
    (void) err_set(e, 404, "execution_not_found", "no such execution");

    return NULL;
}


/* by its id, or by the client's name for it in a session that it names, too */

static exec_t *
routes_exec_find(routes_t *r, err_t *e)
{
    char     id[REQ_EXECUTION], box[JOB_SANDBOX], session[JOB_SESSION];
    err_t    none;
    exec_t  *x;

    if (r->dialect->named == NULL) {
        return routes_exec_own(r, e);
    }

    if (r->dialect->named(r->req, session, e) == -1) {
        return NULL;
    }

    if (box_id_run(id, r->req->workspace, session, r->id) == -1
        || box_id_session(box, r->req->workspace, session) == -1)
    {
        (void) err_set(e, 500, "sandbox_failed", "no id for the execution");
        return NULL;
    }

    /* who asks for a run in it uses it */
    (void) box_touch(box, r->req->workspace, &none);

    x = exec_find(text_is_id(r->id, "exec") ? r->id : id, r->req->workspace,
                  e);

    if (x != NULL && !routes_exec_is_in(r, x, session)) {
        exec_release(x);
        (void) err_set(e, 404, "execution_not_found", "no such execution in "
                       "this session");
        return NULL;
    }

    return x;
}


int
routes_exec_show(routes_t *r, err_t *e)
{
    exec_t  *x;

    x = routes_exec_find(r, e);

    if (x == NULL) {
        return -1;
    }

    (void) pthread_mutex_lock(&x->lock);
    routes_pictures(r, x);
    r->dialect->render_exec(r->req, x, r->a);
    (void) pthread_mutex_unlock(&x->lock);

    r->a->status = 200;
    exec_release(x);

    return 0;
}


/* the last event that the client saw: of the query, or of its own memory */

static int
routes_after(const request_t *req, uint64_t *after, err_t *e)
{
    char         number[24];
    size_t       n;
    const char  *p;

    *after = 0;
    p = req->last;
    n = strlen(p);

    if (strncmp(req->query, "after=", 6) == 0) {
        p = req->query + 6;
        n = strcspn(p, "&");
    }

    if (n == 0) {
        return 0;
    }

    if (n < sizeof(number)) {
        memcpy(number, p, n);
        number[n] = '\0';

        if (text_number(number, after) == 0) {
            return 0;
        }
    }

    return err_set(e, 400, "bad_value", "\"after\" and Last-Event-ID are the "
                   "id of an event");
}


/* all of it: a browser that is told so does not ask again */

static int
routes_seen(exec_t *x, uint64_t after)
{
    int  seen;

    (void) pthread_mutex_lock(&x->lock);
    seen = x->state == EXEC_OVER && after > x->res.out.pos + 1;
    (void) pthread_mutex_unlock(&x->lock);

    return seen;
}


static int
routes_events(routes_t *r, exec_t *x, int form, err_t *e)
{
    uint64_t  after;
    follow_t  f;
    reader_t  reader;

    if (routes_after(r->req, &after, e) == -1) {
        return -1;
    }

    if (!routes_is_stream(r, form)) {
        return err_set(e, 406, "not_acceptable", "events are "
                       "text/event-stream or application/x-ndjson");
    }

    if (routes_seen(x, after)) {
        r->a->status = 204;
        return 0;
    }

    if (readers_enter(&reader, READERS_FOLLOW, r->req->workspace, e) == -1) {
        return -1;
    }

    routes_follow(r, &f, form);
    follow_begin(&f, x, after);
    routes_follow_all(r, &f);
    readers_leave(&reader);

    return 0;
}


int
routes_exec_events(routes_t *r, err_t *e)
{
    int      rc, form;
    exec_t  *x;

    form = r->dialect->form(r->req, e);
    x = form != -1 ? routes_exec_own(r, e) : NULL;

    if (x == NULL) {
        return -1;
    }

    rc = routes_events(r, x, form, e);
    exec_release(x);

    return rc;
}


int
routes_exec_cancel(routes_t *r, err_t *e)
{
    exec_t  *x;

    x = exec_find(r->id, r->req->workspace, e);

    if (x == NULL) {
        return -1;
    }

    exec_cancel(x);
    r->a->status = exec_wait(x, clock_mono_us() + BOUND_CANCEL_TIME * 1000)
                   == EXEC_OVER ? 200 : 202;

    (void) pthread_mutex_lock(&x->lock);
    r->dialect->render_exec(r->req, x, r->a);
    (void) pthread_mutex_unlock(&x->lock);

    exec_release(x);

    return 0;
}
