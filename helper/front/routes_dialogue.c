
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
#include "routes.h"


typedef struct {
    int    status;
    buf_t  body;
} routes_heard_t;


static int
routes_dialogue_head(void *own, int status, const char *type)
{
    (void) type;
    ((routes_heard_t *) own)->status = status;

    return 0;
}


static int
routes_dialogue_data(void *own, const char *p, size_t n)
{
    routes_heard_t  *h;

    h = own;

    return n <= BOUND_MESSAGE - h->body.len ? buf_add(&h->body, p, n) : -1;
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
routes_dialogue_ask(routes_t *r, dialogue_t *d, const char *model, err_t *e)
{
    int              rc;
    buf_t            ask;
    routes_heard_t   heard;
    endpoint_sink_t  sink;

    memset(&ask, 0, sizeof(ask));
    memset(&heard, 0, sizeof(heard));
    sink.head = routes_dialogue_head;
    sink.data = routes_dialogue_data;
    sink.own = &heard;

    r->dialect->dialogue_ask(d, model, &ask);
    rc = ask.failed ? err_set(e, 500, "no_memory", "out of memory")
         : call_endpoint(d->endpoint, d->headers, ask.data, ask.len,
                         r->body->client, &sink, e);
    buf_free(&ask);

    if (rc == 0) {
        rc = r->dialect->dialogue_heard(d, heard.status,
                                        heard.body.data != NULL
                                        ? heard.body.data : "",
                                        heard.body.len, e);
    }

    buf_free(&heard.body);

    return rc;
}


static int
routes_dialogue_run(routes_t *r, dialogue_t *d, uint64_t until, err_t *e)
{
    int  rc;

    rc = routes_turn_go(r, &d->turn, until, e);

    if (rc == 0) {
        r->dialect->dialogue_ran(d);
    }

    routes_turn_end(&d->turn);
    d->turn.turn.later = 1;

    return rc;
}


static int
routes_dialogue_rounds(routes_t *r, dialogue_t *d, uint64_t until, err_t *e)
{
    int   rc, round;
    char  model[FETCH_TEXT];

    if (routes_dialogue_model(d, model, e) == -1) {
        return -1;
    }

    rc = 0;
    round = 0;

    while (rc == 0) {
        switch (r->dialect->dialogue_next(d, round == BOUND_ROUNDS
                                             || clock_mono_us() >= until))
        {
        case DIALOGUE_ASK:
            round++;
            rc = routes_dialogue_ask(r, d, model, e);
            break;

        case DIALOGUE_RUN:
            rc = routes_dialogue_run(r, d, until, e);
            break;

        default:
            return 0;
        }
    }

    return rc;
}


int
routes_dialogue(routes_t *r, err_t *e)
{
    int          rc;
    buf_t        body;
    uint64_t     until;
    dialogue_t   d;

    memset(&d, 0, sizeof(d));
    memset(&body, 0, sizeof(body));
    d.turn.turn.req = r->req;
    rc = drain_check(e) == 0 ? routes_turn_until(r->req, &until, e) : -1;

    if (rc == 0) {
        rc = r->body->read(r->body, r->req->run.request, &body, e);
    }

    if (rc == 0) {
        rc = r->dialect->dialogue_parse(&d, body.data != NULL ? body.data : "",
                                        body.len, e);
    }

    buf_free(&body);

    if (rc == 0) {
        rc = routes_dialogue_rounds(r, &d, until, e);
    }

    if (rc == 0) {
        r->dialect->dialogue_render(&d, r->a);
    }

    routes_turn_end(&d.turn);
    r->dialect->dialogue_free(&d);

    return rc;
}
