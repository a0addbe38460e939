
/*
 * In retort-front, as its own uid without any capability.  A model that the
 * operator named is asked, what it wants is run, and it is told, until it has
 * no more to ask for.  What it says is checked like a client's.
 */

#include <string.h>

#include "bounds.h"
#include "clock.h"
#include "drain.h"
#include "endpoint.h"
#include "metrics.h"
#include "routes.h"


/* a request, and what the model says just now */

typedef struct {
    routes_t    *r;
    dialogue_t   d;
    uint64_t     until;
    follow_t     f;             /* the client that is told as it comes */
    int          begun;         /* its answer's head is out */
    buf_t        piece;         /* for it */
    int          status;
    int          live;          /* it says it in events, */
    buf_t        body;          /* or at once */
    size_t       said;          /* bytes */
    err_t        why;           /* it is not listened to any more */
} routes_dialogue_t;


/* what is in "piece"; 0, or -1 and "e" */

static int
routes_dialogue_tell(routes_dialogue_t *t, err_t *e)
{
    int  rc;

    if (t->piece.len == 0 && !t->piece.failed) {
        return 0;
    }

    if (!t->begun) {
        t->begun = 1;
        follow_open(&t->f);
    }

    rc = follow_tell(&t->f, &t->piece);
    t->piece.len = 0;

    return rc == 0 ? 0 : err_set(e, 0, "cancelled", "the client is gone");
}


/* nothing was said for long */

static int
routes_dialogue_beat(void *own)
{
    err_t           e;
    routes_dialogue_t  *t;

    t = own;
    t->r->dialect->dialogue_say(&t->d, 1, &t->piece);

    return routes_dialogue_tell(t, &e);
}


static int
routes_dialogue_head(void *own, int status, const char *type)
{
    routes_dialogue_t  *t;

    t = own;
    t->status = status;
    t->live = t->d.stream && status == 200
              && strcmp(type, "text/event-stream") == 0;

    return 0;
}


static int
routes_dialogue_data(void *own, const char *p, size_t n)
{
    int             rc;
    routes_dialogue_t  *t;

    t = own;

    if (n > BOUND_MESSAGE - t->said) {
        return -1;
    }

    t->said += n;

    if (!t->live) {
        return buf_add(&t->body, p, n);
    }

    /* what came before it went wrong is told as well */

    rc = t->r->dialect->dialogue_piece(&t->d, p, n, &t->piece, &t->why);

    return routes_dialogue_tell(t, &t->why) == 0 ? rc : -1;
}


/* no endpoint of that name: the operator offers no model here */

static int
routes_dialogue_model(const dialogue_t *d, char model[FETCH_TEXT], err_t *e)
{
    if (endpoint_model(d->endpoint, model, e) == 0) {
        return 0;
    }

    return strcmp(e->code, "endpoint_unknown") == 0
           ? err_set(e, 404, "no_model", "there is no model behind this "
                     "address") : -1;
}


static int
routes_dialogue_call(routes_dialogue_t *t, const buf_t *ask, err_t *e)
{
    int              rc;
    dialogue_t      *d;
    endpoint_sink_t  sink;

    d = &t->d;
    sink.head = routes_dialogue_head;
    sink.data = routes_dialogue_data;
    sink.own = t;
    t->said = 0;
    t->live = 0;
    memset(&t->why, 0, sizeof(err_t));

    rc = call_endpoint(d->endpoint, d->headers, ask->data, ask->len,
                       t->r->body->client, &sink, e);

    if (rc == -1 && t->why.code[0] != '\0') {
        *e = t->why;
    }

    if (rc == 0) {
        rc = t->r->dialect->dialogue_heard(d, t->status,
                                           t->live ? NULL
                                           : t->body.data != NULL
                                           ? t->body.data : "",
                                           t->body.len, e);
    }

    return rc;
}


static int
routes_dialogue_ask(routes_dialogue_t *t, const char *model, err_t *e)
{
    int    rc;
    buf_t  ask;

    memset(&ask, 0, sizeof(ask));
    t->r->dialect->dialogue_ask(&t->d, model, &ask);
    rc = ask.failed ? err_set(e, 500, "no_memory", "out of memory")
                    : routes_dialogue_call(t, &ask, e);
    buf_free(&ask);
    buf_free(&t->body);

    return rc;
}


static int
routes_dialogue_run(routes_dialogue_t *t, err_t *e)
{
    int          rc;
    dialogue_t  *d;

    d = &t->d;

    if (d->stream) {
        d->turn.turn.beat = routes_dialogue_beat;
        d->turn.turn.beats = t;
    }

    rc = routes_turn_go(t->r, &d->turn, t->until, e);

    if (rc == 0) {
        t->r->dialect->dialogue_ran(d);
    }

    routes_turn_end(&d->turn);
    d->turn.turn.later = 1;

    return rc;
}


/* a stream has what was said before anything else is waited for */

static int
routes_dialogue_step(routes_dialogue_t *t, const char *model,
    dialogue_do_t what, err_t *e)
{
    int  rc;

    rc = what == DIALOGUE_ASK ? routes_dialogue_ask(t, model, e)
                              : routes_dialogue_run(t, e);

    if (rc == 0 && t->d.stream) {
        t->r->dialect->dialogue_say(&t->d, 0, &t->piece);
        rc = routes_dialogue_tell(t, e);
    }

    return rc;
}


static int
routes_dialogue_rounds(routes_dialogue_t *t, err_t *e)
{
    int            rc, round;
    char           model[FETCH_TEXT];
    dialogue_do_t  what;

    if (routes_dialogue_model(&t->d, model, e) == -1) {
        return -1;
    }

    round = 0;

    do {
        what = t->r->dialect->dialogue_next(&t->d, round == BOUND_ROUNDS
                                            || clock_mono_us() >= t->until);
        round += what == DIALOGUE_ASK;
        rc = what != DIALOGUE_OVER ? routes_dialogue_step(t, model, what, e)
                                   : 1;
    } while (rc == 0);

    return rc == 1 ? 0 : -1;
}


/* the rest of a stream, or why there is none */

static void
routes_dialogue_end(routes_dialogue_t *t, const err_t *e)
{
    err_t  gone;

    if (e != NULL) {
        metrics_refused(e->code);
    }

    if (e == NULL || e->status != 0) {
        t->r->dialect->dialogue_end(&t->d, e, &t->piece);
    }

    if ((e == NULL || e->status != 0) && routes_dialogue_tell(t, &gone) == 0) {
        t->r->a->sent = 1;

    } else {
        t->r->a->cut = 1;
    }
}


static int
routes_dialogue_serve(routes_dialogue_t *t, err_t *e)
{
    int        rc;
    buf_t      body;
    routes_t  *r;

    r = t->r;
    memset(&body, 0, sizeof(body));
    rc = drain_check(e) == 0 ? routes_turn_until(r->req, &t->until, e) : -1;

    if (rc == 0) {
        rc = r->body->read(r->body, r->req->run.request, &body, e);
    }

    if (rc == 0) {
        rc = r->dialect->dialogue_parse(&t->d, body.data != NULL ? body.data
                                               : "", body.len, e);
    }

    buf_free(&body);

    if (rc == 0) {
        rc = routes_dialogue_rounds(t, e);
    }

    if (t->begun || (rc == 0 && t->d.stream)) {
        routes_dialogue_end(t, rc == 0 ? NULL : e);
        return 0;
    }

    if (rc == 0) {
        r->dialect->dialogue_render(&t->d, r->a);
    }

    return rc;
}


int
routes_dialogue(routes_t *r, err_t *e)
{
    int            rc;
    routes_dialogue_t  t;

    memset(&t, 0, sizeof(t));
    t.r = r;
    t.d.turn.turn.req = r->req;
    routes_follow(r, &t.f, 0);

    rc = routes_dialogue_serve(&t, e);

    routes_turn_end(&t.d.turn);
    r->dialect->dialogue_free(&t.d);
    follow_free(&t.f);
    buf_free(&t.piece);

    return rc;
}
