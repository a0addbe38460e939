
/*
 * In retort-front, as its own uid without any capability.  Talks: answers in
 * pieces that are no run's, with pauses and with questions to the client.
 * Only fixtures for a protocol's conformance suite are any, so that each may
 * hold a thread for a while.
 */

#include <poll.h>
#include <string.h>

#include "bounds.h"
#include "calls.h"
#include "clock.h"
#include "routes.h"
#include "wake.h"


/* sleeps; -1 if the client is gone or the service ends */

static int
routes_talk_pause(const routes_t *r, calls_ear_t *ear, int msec)
{
    uint64_t        now, until;
    struct pollfd   p[2];

    until = clock_mono_us() + (uint64_t) msec * 1000;
    memset(p, 0, sizeof(p));
    p[0].fd = r->body->client;
    p[0].events = POLLIN|POLLRDHUP;
    p[1].fd = wake_fd();
    p[1].events = POLLIN;

    for (now = clock_mono_us(); now < until; now = clock_mono_us()) {
        if (ear != NULL && calls_heard(ear)) {
            return 0;
        }

        (void) poll(p, 2, (int) ((until - now) / 1000 + 1));

        if (p[1].revents != 0) {
            wake_clear(p[1].fd);
        }

        if (p[0].revents != 0 || wake_cancelled() == WAKE_END) {
            return -1;
        }
    }

    return 0;
}


/* what the dialect says next; the ear is open before its question is out */

static int
routes_talk_more(routes_t *r, call_t *c, follow_t *f, buf_t *heard)
{
    int           n, rc;
    buf_t         piece;
    calls_ear_t   ear;

    memset(&piece, 0, sizeof(piece));
    memset(&ear, 0, sizeof(ear));

    n = r->dialect->call_talk(c, &piece, heard->data);
    buf_free(heard);

    ear.key = c->key;
    ear.workspace = r->req->workspace;
    ear.wake = wake_fd();
    calls_listen(&ear);

    rc = follow_tell(f, &piece);

    if (rc == 0 && n != CALL_TALK_END) {
        rc = routes_talk_pause(r, n == CALL_TALK_HEAR ? &ear : NULL,
                               n == CALL_TALK_HEAR ? BOUND_TALK : n);
    }

    calls_deaf(&ear);
    *heard = ear.text;
    buf_free(&piece);

    return rc == 0 && n != CALL_TALK_END ? 1 : rc;
}


void
routes_talk(routes_t *r, call_t *c)
{
    int       rc;
    buf_t     heard;
    follow_t  f;

    memset(&heard, 0, sizeof(heard));
    routes_follow(r, &f, 0);
    follow_open(&f);

    do {
        rc = routes_talk_more(r, c, &f, &heard);
    } while (rc == 1);

    if (rc == 0) {
        r->a->sent = 1;

    } else {
        r->a->cut = 1;
    }

    buf_free(&heard);
    follow_free(&f);
}
