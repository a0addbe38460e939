
/*
 * In retort-front, as its own uid without any capability.  Where a job runs:
 * finds, makes, and lets go of the sandbox.
 */

#include <stdio.h>
#include <string.h>

#include "audit.h"
#include "bounds.h"
#include "box_id.h"
#include "clock.h"
#include "drain.h"
#include "flog.h"
#include "metrics.h"
#include "pace.h"
#include "place.h"
#include "pool.h"
#include "restore.h"
#include "tail.h"
#include "verdict.h"
#include "wake.h"


#define PLACE_TRIES  4         /* a session that ends while it is found */


/* boxes that only wait must not stand in a request's way */

static box_t *
place_make_way(const request_t *req, const retort_box_limits_t *limits,
    err_t *e)
{
    box_t  *box;

    box = NULL;
    pool_claim();

    while (box == NULL && e->status == 429 && pool_evict() == 0) {
        box = box_spawn(req->profile, limits, e);
    }

    pool_unclaim();

    return box;
}


static box_t *
place_spawn(const request_t *req, const retort_box_limits_t *limits, err_t *e)
{
    box_t  *box;

    pace_begin();
    box = box_spawn(req->profile, limits, e);
    pace_end();

    if (box == NULL && e->status == 429 && limits == NULL) {
        box = pool_last(req->profile);
    }

    if (box == NULL && e->status == 429) {
        box = place_make_way(req, limits, e);
    }

    if (box != NULL) {
        /* there was no place at first */
        memset(e, 0, sizeof(err_t));
    }

    return box;
}


/* meanwhile it disturbs nobody who makes sandboxes */

static void
place_pace(const request_t *req)
{
    if (req->running == 0 || !pool_exceeds(req->workspace)) {
        return;
    }

    pool_leave();
    pace_wait(req->running);
    pool_enter();
}


box_t *
place_fresh(const request_t *req, const retort_box_limits_t *limits, err_t *e)
{
    box_t  *box;

    place_pace(req);
    box = pool_again(req->profile, limits, req->workspace);

    if (box == NULL && limits == NULL) {
        box = pool_take(req->profile, req->workspace);
    }

    if (box == NULL) {
        box = place_spawn(req, limits, e);
    }

    if (box != NULL) {
        box_own(box);
    }

    return box;
}


/* an interpreter that died between two cells has a successor; that is told */

static int
place_revive(run_t *r, err_t *e)
{
    box_fate_t  fate;
    const char  *why;

    box_news(r->box, &r->news);

    if (!r->news.kernel_gone) {
        return 0;
    }

    fate = r->news.gone || r->box->profile->life == RETORT_LIFE_EXIT
           ? STATE_GONE : restore(r->box, &why);

    if (fate == STATE_GONE) {
        return box_expired(e);
    }

    r->box->risen = (fate == STATE_RESTORED);

    if (fate == STATE_LOST) {
        r->box->lost = why;
    }

    return 0;
}


static int
place_known(run_t *r, const char *sandbox, err_t *e)
{
    r->box = box_acquire(sandbox, r->req->workspace, r->client,
                         clock_mono_us() + r->job->timeout * 1000, e);
    r->res->queue_us = clock_mono_us() - r->req->started;

    if (r->box != NULL && place_revive(r, e) == -1) {
        box_release(r->box);
        r->box = NULL;
    }

    return r->box != NULL ? 0 : -1;
}


/* a new box under the session's id; 1 if another request was faster */

static int
place_named(run_t *r, const char *id, err_t *e)
{
    int        rc;
    uint64_t   began;

    if (drain_check(e) == -1) {
        return -1;
    }

    began = clock_mono_us();
    r->box = place_fresh(r->req, r->job->own_limits ? &r->job->box : NULL, e);

    if (r->box == NULL) {
        return -1;
    }

    rc = box_keep_as(r->box, id, r->req->workspace, r->job->session,
                     r->req->run.ttl);

    if (rc == 1) {
        box_end(r->box);
        r->box = NULL;
        return 1;
    }

    r->fresh = 1;
    r->res->create_us = clock_mono_us() - began;
    metrics_took(METRICS_CREATE, r->res->create_us);

    return 0;
}


/* the client's own name for a sandbox: there is one after this */

static int
place_session(run_t *r, err_t *e)
{
    int   rc, tries;
    char  id[JOB_SANDBOX];

    if (box_id_session(id, r->req->workspace, r->job->session) == -1) {
        return err_set(e, 500, "sandbox_failed", "no id for the session");
    }

    for (tries = 0; tries < PLACE_TRIES; tries++) {
        if (place_known(r, id, e) == 0) {
            return 0;
        }

        if (e->status != 404 && e->status != 410) {
            return -1;
        }

        memset(e, 0, sizeof(err_t));
        rc = place_named(r, id, e);

        if (rc != 1) {
            return rc;
        }
    }

    (void) err_set(e, 429, "sandbox_busy", "the session comes and goes");
    e->retry_after = 1;

    return -1;
}


box_t *
place_take(const request_t *req, const char *sandbox, const char *session,
    int client, err_t *e)
{
    int        rc;
    job_t      job;
    run_t      r;
    result_t   res;

    memset(&job, 0, sizeof(job));
    memset(&r, 0, sizeof(r));
    memset(&res, 0, sizeof(res));
    job.timeout = req->run.timeout;
    job.box = req->box;
    job.own_limits = memcmp(&job.box, &req->profile->box, sizeof(job.box)) != 0;
    (void) snprintf(job.session, sizeof(job.session), "%s", session);
    r.req = req;
    r.job = &job;
    r.res = &res;
    r.client = client;

    rc = *session != '\0' ? place_session(&r, e)
                          : place_known(&r, sandbox, e);

    return rc == 0 ? r.box : NULL;
}


static int
place_find(run_t *r, err_t *e)
{
    uint64_t      began;
    const job_t  *job;

    job = r->job;
    began = clock_mono_us();

    if (job->session[0] != '\0') {
        return place_session(r, e);
    }

    if (job->sandbox[0] != '\0') {
        return place_known(r, job->sandbox, e);
    }

    r->fresh = 1;
    r->res->queue_us = began - r->req->started;
    r->box = place_fresh(r->req, job->own_limits ? &job->box : NULL, e);

    if (r->box != NULL && job->keep
        && box_keep(r->box, r->req->workspace, r->req->run.ttl, e) == -1)
    {
        box_end(r->box);
        r->box = NULL;
    }

    if (r->box == NULL) {
        return -1;
    }

    r->res->create_us = clock_mono_us() - began;
    metrics_took(METRICS_CREATE, r->res->create_us);

    return 0;
}


/*
 * What happened before this run, and is worse than what it did itself.  If
 * nobody reads that, the next run tells it, and what became of this one.
 */

static void
place_untold(run_t *r)
{
    int          risen;
    box_t       *box;
    result_t    *res;
    const char  *lost;

    box = r->box;
    res = r->res;
    risen = box->risen || res->fate == STATE_RESTORED;
    lost = res->fate == STATE_LOST ? res->fate_why : box->lost;

    if (r->unread && res->fate == STATE_RESTORED) {
        /* itself */
        box->behind++;
    }

    if (box->risen && res->fate == STATE_KEPT) {
        res->fate = STATE_RESTORED;
        res->fate_why = restore_behind(box);
    }

    if (box->lost != NULL) {
        res->fate = STATE_LOST;
        res->fate_why = box->lost;
    }

    box->risen = r->unread && risen;
    box->lost = r->unread ? lost : NULL;
}


static void
place_leave(run_t *r)
{
    box_t     *box;
    result_t  *res;

    box = r->box;
    res = r->res;

    if (box->sandbox[0] == '\0'
        || (r->fresh && res->verdict == VERDICT_CANCELLED))
    {
        res->fate = STATE_GONE;
    }

    if (res->fate == STATE_GONE) {
        box_end(box);
        return;
    }

    if (r->job->detach) {
        box_record(box, box->workspace, "");
    }

    place_untold(r);

    (void) snprintf(res->sandbox, sizeof(res->sandbox), "%s", box->sandbox);
    res->expires = box_expiry(box);
    box_release(box);
}


int
place_restart(const request_t *req, const char *sandbox, int client, err_t *e)
{
    box_t  *box;

    box = box_seize(sandbox, req->workspace, client,
                    clock_mono_us() + BOUND_CANCEL_TIME * 1000, e);

    if (box == NULL) {
        return -1;
    }

    if (box_restart(box) == -1) {
        box_end(box);
        return err_set(e, 410, "sandbox_expired",
                       "the sandbox ended and its state is gone");
    }

    box_stat(box, &box->stat);
    box_release(box);

    return 0;
}


void
run_refused(exec_t *x, const err_t *e)
{
    x->res.verdict = e->status == 0 ? VERDICT_CANCELLED : VERDICT_ERROR;
    x->res.fate = x->res.sandbox[0] != '\0' ? STATE_KEPT : STATE_GONE;

    (void) pthread_mutex_lock(&x->lock);
    outputs_error(&x->res.out, e->code, e->text);
    (void) pthread_mutex_unlock(&x->lock);
}


/* an input file was refused, nothing ran */

static int
place_undo(run_t *r)
{
    box_t  *box;

    box = r->box;

    /* what a session's threads said meanwhile, and readers may look at */
    (void) pthread_mutex_lock(&r->x->lock);
    spool_end(&r->spool, &r->res->out.whole, "nothing ran");
    outputs_free(&r->res->out);
    (void) pthread_mutex_unlock(&r->x->lock);

    if (r->fresh) {
        box_end(box);
        return -1;
    }

    if (r->job->detach) {
        box_record(box, box->workspace, "");
    }

    (void) snprintf(r->res->sandbox, sizeof(r->res->sandbox), "%s",
                    box->sandbox);
    r->res->expires = box_expiry(box);
    box_release(box);

    return -1;
}


int
run_job(exec_t *x, const request_t *req, const job_t *job, int client,
    follow_t *f, err_t *e)
{
    run_t  r;

    memset(&r, 0, sizeof(r));
    memset(e, 0, sizeof(err_t));
    outputs_init(&x->res.out, job->output);
    x->res.language = job->language;

    r.req = req;
    r.job = job;
    r.x = x;
    r.res = &x->res;
    r.err = e;
    r.client = client;
    r.follow = f;

    if (place_find(&r, e) == -1) {
        return -1;
    }

    if (f != NULL && f->lasting) {
        /* it is written to, and may go */
        r.client = f->fd;
    }

    if (audit_begin(&r, e) == -1) {
        return place_undo(&r);
    }

    box_mark(r.box, req->workspace, x->id);

    if (job->mark != 0) {
        box_begins(r.box, job->mark);
    }

    if (job->detach || job->mark != 0) {
        box_record(r.box, req->workspace, job->detach ? x->id : "");
    }

    if (!job->shelve) {
        spool_init(&r.spool, req);
        tail_init(&x->res.out, spool_write, &r.spool);
    }

    run_cell(&r);

    if (e->status != 0) {
        audit_none(&r);
        return place_undo(&r);
    }

    verdict_reach(&r);
    audit_run(&r);
    place_leave(&r);

    return 0;
}
