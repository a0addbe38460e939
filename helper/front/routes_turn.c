
/*
 * In retort-front, as its own uid without any capability.  A request for
 * several runs in one sandbox: answered when they are over, or when it has
 * taken so long that the client shall ask again.
 */

#include <string.h>

#include "bounds.h"
#include "clock.h"
#include "drain.h"
#include "metrics.h"
#include "routes.h"
#include "text.h"
#include "turn.h"


int
routes_turn_until(const request_t *req, uint64_t *until, err_t *e)
{
    uint64_t     msec;
    const char  *text;

    msec = BOUND_TURN_TIME;
    text = request_param(req->params, "RETORT_LIMIT_TURN");

    if (text != NULL && (text_number(text, &msec) == -1 || msec == 0)) {
        return err_set(e, 500, "bad_param",
                       "RETORT_LIMIT_TURN is not a number above 0");
    }

    *until = clock_mono_us() + msec * 1000;

    return 0;
}


static int
routes_turn_parse(routes_t *r, turn_call_t *c, err_t *e)
{
    int    rc;
    buf_t  body;

    memset(&body, 0, sizeof(body));
    rc = r->body->read(r->body, r->req->run.request, &body, e);

    if (rc == 0) {
        rc = r->dialect->turn_parse(c, body.data != NULL ? body.data : "",
                                    body.len, e);
    }

    buf_free(&body);

    return rc;
}


/* is the sandbox that the client names there? */

static int
routes_turn_box(routes_t *r, turn_call_t *c, err_t *e)
{
    if (c->handle[0] == '\0') {
        return 0;
    }

    if (c->turn.sandbox[0] == '\0') {
        (void) err_set(e, 404, "not_found", "%s", "");

    } else if (box_look(c->turn.sandbox, r->req->workspace, &c->box, e) == 0) {
        return 0;
    }

    return err_set(e, e->status, e->code, "Container `%.120s` %s.", c->handle,
                   e->status == 410 ? "has expired" : "not found");
}


/* the sandbox has the files before anything runs in it */

static int
routes_turn_files(routes_t *r, turn_call_t *c, err_t *e)
{
    if (files_load(r->req, r->body->client, c->files, &c->nfiles, 0, e)
        == -1)
    {
        return -1;
    }

    if (c->turn.nsteps != 0) {
        c->turn.steps[0].job.files = c->files;
        c->turn.steps[0].job.nfiles = c->nfiles;
        c->files = NULL;
        c->nfiles = 0;
    }

    return 0;
}


/* if nothing at all can run, each step says so in its own words */

static int
routes_turn_run(routes_t *r, turn_call_t *c, uint64_t until, err_t *e)
{
    size_t  i;

    if (turn_begin(&c->turn, e) == 0) {
        return turn_wait(&c->turn, r->body->client, until, e);
    }

    if (e->status != 429 && e->status != 503) {
        return -1;
    }

    c->turn.whole = 1;

    for (i = 0; i < c->turn.nsteps; i++) {
        c->turn.steps[i].done = 1;
        c->turn.steps[i].e = *e;
    }

    return 0;
}


/* the client's own mistake, which no step can be blamed for */

static int
routes_turn_refused(const turn_call_t *c, err_t *e)
{
    const turn_step_t  *first;

    first = &c->turn.steps[0];

    if (c->turn.nsteps == 0 || !first->done || first->x != NULL
        || first->e.status != 400)
    {
        return 0;
    }

    *e = first->e;

    return -1;
}


static void
routes_turn_look(routes_t *r, turn_call_t *c)
{
    err_t          e;
    size_t         i;
    const exec_t  *last;

    if (c->turn.sandbox[0] == '\0'
        || box_look(c->turn.sandbox, r->req->workspace, &c->box, &e) == -1)
    {
        memset(&c->box, 0, sizeof(c->box));
    }

    last = NULL;

    for (i = 0; i < c->turn.nsteps; i++) {
        if (c->turn.steps[i].done && c->turn.steps[i].x != NULL) {
            last = c->turn.steps[i].x;
        }
    }

    if (last != NULL) {
        buf_free(&r->a->lines);
        answer_run(r->a, last->id, &last->res);
    }
}


int
routes_turn_go(routes_t *r, turn_call_t *c, uint64_t until, err_t *e)
{
    int  rc;

    /* what goes on, or is over, has what it needs, or had it */

    if (!turn_known(&c->turn)
        && (routes_turn_box(r, c, e) == -1
            || routes_turn_files(r, c, e) == -1))
    {
        return -1;
    }

    c->turn.whole = 1;
    rc = c->turn.nsteps != 0 ? routes_turn_run(r, c, until, e) : 0;

    if (rc == 0) {
        rc = routes_turn_refused(c, e);
    }

    if (rc == 0) {
        routes_turn_look(r, c);
    }

    return rc;
}


void
routes_turn_end(turn_call_t *c)
{
    size_t  i;

    turn_end(&c->turn);

    for (i = 0; i < c->turn.nsteps; i++) {
        job_free(&c->turn.steps[i].job);
    }

    job_files_free(c->files, c->nfiles);
    c->files = NULL;
    c->nfiles = 0;
}


int
routes_turn(routes_t *r, err_t *e)
{
    int          rc;
    uint64_t     until;
    turn_call_t  c;

    memset(&c, 0, sizeof(c));
    c.turn.req = r->req;
    rc = routes_turn_until(r->req, &until, e);

    if (rc == 0) {
        rc = routes_turn_parse(r, &c, e);
    }

    if (rc == 0) {
        rc = drain_check(e) == 0 ? routes_turn_go(r, &c, until, e) : -1;
    }

    if (rc == 0) {
        r->dialect->turn_render(&c, r->a);
    }

    routes_turn_end(&c);
    r->dialect->turn_free(&c);

    return rc;
}
