
/*
 * In retort-front, as its own uid without any capability.
 *
 * libfcgi reads a connection that the gate accepted: with ipcFd set and
 * keepConnection not 0 FCGX_Accept_r() takes that connection.  When it gives
 * one up it closes it itself; "detached" makes that a plain close, without
 * waiting for the peer.  Connections are otherwise never closed by libfcgi.
 */

#include <fcgiapp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "answer.h"
#include "bounds.h"
#include "clock.h"
#include "flog.h"
#include "gate.h"
#include "metrics.h"
#include "pool.h"
#include "request.h"
#include "routes.h"
#include "serve.h"
#include "wake.h"


#define SERVE_DRAIN       1048576   /* bytes of a body that nobody wants */
#define SERVE_DRAIN_TIME  5000      /* msec, before and after the answer */
#define SERVE_CHUNK       8176


typedef struct {
    routes_body_t   base;           /* first: what routes.c sees */
    FCGX_Stream    *in;
    FCGX_Stream    *out;
    int             ended;          /* the stream's end was seen */
} serve_body_t;


int
serve_init(void)
{
    return FCGX_Init() == 0 ? 0 : -1;
}


/* bytes of the body, at most what one read gives; 0 at the end, -1 error */

static int
serve_some(routes_body_t *base, char *p, size_t size)
{
    int            c, n, left;
    serve_body_t  *b;

    b = (serve_body_t *) base;
    c = FCGX_GetChar(b->in);

    if (c == EOF) {
        b->ended = (FCGX_GetError(b->in) == 0);
        return b->ended ? 0 : -1;
    }

    *p = (char) c;
    left = (int) (b->in->stop - b->in->rdNext);
    n = left < (int) size - 1 ? left : (int) size - 1;

    return 1 + FCGX_GetStr(p + 1, n, b->in);
}


static int
serve_too_large(uint64_t max, err_t *e)
{
    return err_set(e, 413, "too_large", "a body has at most %llu bytes",
                   (unsigned long long) max);
}


static int
serve_read(routes_body_t *base, uint64_t max, buf_t *body, err_t *e)
{
    int        n;
    char       part[SERVE_CHUNK];
    uint64_t   until;

    if (base->length > max) {
        return serve_too_large(max, e);
    }

    until = clock_mono_us() + BOUND_BODY_TIME * 1000;

    for (n = serve_some(base, part, sizeof(part)); n > 0;
         n = serve_some(base, part, sizeof(part)))
    {
        if ((uint64_t) n > max - body->len) {
            return serve_too_large(max, e);
        }

        if (clock_mono_us() > until) {
            return err_set(e, 0, "cancelled", "the body took too long");
        }

        (void) buf_add(body, part, (size_t) n);
    }

    if (n == -1) {
        return err_set(e, 0, "cancelled", "the body did not come");
    }

    if (base->length != 0 && base->length != body->len) {
        return err_set(e, 400, "bad_length",
                       "the body is not as long as CONTENT_LENGTH says");
    }

    if (body->failed) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    return 0;
}


/* a body that nobody wanted, so that the next request can be found */

static void
serve_rest(serve_body_t *b)
{
    int       n;
    char      part[SERVE_CHUNK];
    size_t    all;
    uint64_t  until;

    until = clock_mono_us() + SERVE_DRAIN_TIME * 1000;

    for (all = 0; !b->ended && all < SERVE_DRAIN; all += (size_t) n) {
        n = serve_some(&b->base, part, sizeof(part));

        if (n <= 0 || clock_mono_us() > until) {
            return;
        }
    }
}


/*
 * Some web servers send the end of a body that is none on its own, behind the
 * params.  Until it is read, it looks like a client that says more than it has
 * to, or goes away.
 */

static void
serve_no_body(serve_body_t *b, const request_t *r)
{
    const char  *length;

    length = request_param(r->params, "CONTENT_LENGTH");

    if (strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0
        || strcmp(r->method, "DELETE") == 0
        || (length != NULL && strcmp(length, "0") == 0))
    {
        serve_rest(b);
    }
}


static int
serve_write(routes_body_t *base, const void *p, size_t len)
{
    int            n;
    size_t         at;
    uint64_t       until;
    serve_body_t  *b;

    b = (serve_body_t *) base;
    until = clock_mono_us() + BOUND_SEND_TIME * 1000;

    for (at = 0; at < len; at += (size_t) n) {
        n = len - at < SERVE_CHUNK ? (int) (len - at) : SERVE_CHUNK;

        if (FCGX_PutStr((const char *) p + at, n, b->out) != n
            || clock_mono_us() > until)
        {
            return -1;
        }
    }

    return 0;
}


static int
serve_whole(serve_body_t *b, const answer_t *a)
{
    int    rc;
    buf_t  all;

    memset(&all, 0, sizeof(all));
    rc = answer_write(a, &all);

    if (rc == 0) {
        rc = serve_write(&b->base, all.data, all.len);
    }

    buf_free(&all);

    return rc;
}


/* a request that is never ended says that its answer is not whole */

static int
serve_cut(serve_body_t *b)
{
    (void) shutdown(b->base.client, SHUT_WR);

    return -1;
}


static int
serve_answer(FCGX_Request *q, const retort_settings_t *s, uint64_t started,
    int control, routes_later_t *later)
{
    int            rc;
    err_t          e;
    answer_t       a;
    request_t      req;
    serve_body_t   body;

    memset(&a, 0, sizeof(a));
    memset(&req, 0, sizeof(req));
    memset(&body, 0, sizeof(body));
    req.started = started;
    req.control = control;

    rc = request_parse(&req, q->envp, s, &e);
    request_wipe(q->envp);
    flog_execution(req.execution);

    body.base.read = serve_read;
    body.base.some = serve_some;
    body.base.write = serve_write;
    body.base.length = req.length;
    body.base.client = q->ipcFd;
    body.base.id = (unsigned) q->requestId;
    body.in = q->in;
    body.out = q->out;

    if (rc == 0) {
        serve_no_body(&body, &req);
        routes_serve(&req, &body.base, &a, later);

    } else {
        flog(RLOG_WARN, "request refused: %s", e.text);
        routes_unread(&req, &e, &a);
    }

    link_wipe(&req.link);
    metrics_answer(a.sent || a.cut ? 200 : a.status);
    serve_rest(&body);
    rc = a.cut ? serve_cut(&body) : a.sent ? 0 : serve_whole(&body, &a);
    FCGX_SetExitStatus(a.end, q->out);
    answer_free(&a);

    return rc == 0 && body.ended ? 0 : -1;
}


/* what the peer is still sending must not turn our answer into an error */

static void
serve_linger(int fd)
{
    char      part[SERVE_CHUNK];
    ssize_t   n;
    uint64_t  until;

    if (shutdown(fd, SHUT_WR) == -1) {
        return;
    }

    until = clock_mono_us() + SERVE_DRAIN_TIME * 1000;

    do {
        n = recv(fd, part, sizeof(part), 0);
    } while (n > 0 && clock_mono_us() < until);
}


/* 1: it may send another request, 0: it may not, -1: it was closed */

static int
serve_request(int fd, const retort_settings_t *s, int control,
    routes_later_t *later)
{
    int           keep, clean;
    uint64_t      started;
    FCGX_Request  q;

    wake_begin();
    started = clock_mono_us();

    (void) FCGX_InitRequest(&q, -1, 0);
    q.ipcFd = fd;
    q.keepConnection = 1;
    q.detached = 1;

    if (FCGX_Accept_r(&q) != 0) {
        flog(RLOG_WARN, "gate: libfcgi gave a connection up");
        return -1;
    }

    clean = (serve_answer(&q, s, started, control, later) == 0);
    keep = q.keepConnection && clean;
    keep &= (FCGX_FClose(q.err) == 0);
    keep &= (FCGX_FClose(q.out) == 0);
    keep &= (FCGX_GetError(q.in) == 0);
    FCGX_Free(&q, 0);

    if (!keep && !clean) {
        serve_linger(fd);
    }

    return keep;
}


static void
serve_one(int conn, int fd, const retort_settings_t *s)
{
    routes_later_t  later;

    memset(&later, 0, sizeof(later));

    switch (serve_request(fd, s, 0, &later)) {

    case 1:
        gate_return(conn);
        break;

    case 0:
        gate_drop(conn);
        break;

    default:
        gate_lost(conn);
    }

    routes_later(&later);
}


void
serve_control(int fd, const retort_settings_t *s)
{
    routes_later_t  later;

    memset(&later, 0, sizeof(later));
    pool_enter();

    if (serve_request(fd, s, 1, &later) != -1) {
        (void) close(fd);
    }

    pool_leave();
    routes_later(&later);
    flog_execution("");
}


void *
serve_thread(void *settings)
{
    int  fd, conn;

    for (conn = gate_next(&fd); conn != -1; conn = gate_next(&fd)) {
        pool_enter();
        serve_one(conn, fd, settings);
        pool_leave();
        flog_execution("");
    }

    return NULL;
}
