
/*
 * In retort-front, as its own uid without any capability.  Peers are judged by
 * SO_PEERCRED before a byte of theirs is read, then by what they send.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "bounds.h"
#include "clock.h"
#include "flog.h"
#include "gate.h"
#include "head.h"


typedef enum { CONN_FREE, CONN_WAITS, CONN_BUSY } conn_state_t;

typedef struct {
    int            fd;
    conn_state_t   state;
    uint32_t       turn;        /* this place was taken so often */
    uint64_t       since;       /* a part of a head is there; 0: no byte */
    uint64_t       idle;        /* waiting since */
} conn_t;


/* what epoll says of things that are no connection */

#define GATE_LISTENER  UINT64_MAX
#define GATE_CALL      (UINT64_MAX - 1)

/* one event for each request, or for all that comes until the head is whole */

#define GATE_ONCE  (EPOLLIN|EPOLLRDHUP|EPOLLET|EPOLLONESHOT)
#define GATE_EACH  (EPOLLIN|EPOLLRDHUP|EPOLLET)


static int              gate_epoll = -1;
static int              gate_listener;
static int              gate_event;
static int              gate_closed;
static size_t           gate_nuids;
static unsigned         gate_busy;
static unsigned         gate_parts;     /* connections with "since" */
static const uid_t     *gate_uids;
static conn_t           gate_conns[BOUND_CONNS];
static pthread_cond_t   gate_idle;
static pthread_mutex_t  gate_mutex = PTHREAD_MUTEX_INITIALIZER;


static int
gate_watch(int op, int fd, uint64_t what, uint32_t events)
{
    struct epoll_event  ev;

    memset(&ev, 0, sizeof(ev));
    ev.events = events;
    ev.data.u64 = what;

    return epoll_ctl(gate_epoll, op, fd, &ev);
}


int
gate_init(int listener, const uid_t *uids, size_t nuids)
{
    pthread_condattr_t  attr;

    gate_listener = listener;
    gate_uids = uids;
    gate_nuids = nuids;
    gate_epoll = epoll_create1(EPOLL_CLOEXEC);
    gate_event = eventfd(0, EFD_CLOEXEC|EFD_NONBLOCK);

    if (pthread_condattr_init(&attr) != 0
        || pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) != 0
        || pthread_cond_init(&gate_idle, &attr) != 0
        || gate_epoll == -1 || gate_event == -1
        || fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK)
           == -1
        || gate_watch(EPOLL_CTL_ADD, listener, GATE_LISTENER, GATE_EACH) == -1
        || gate_watch(EPOLL_CTL_ADD, gate_event, GATE_CALL, GATE_EACH) == -1)
    {
        flog(RLOG_ERROR, "gate: %s", strerror(errno));
        return -1;
    }

    return 0;
}


static int
gate_peer(int fd)
{
    size_t         i;
    socklen_t      len;
    struct ucred   who;

    len = sizeof(who);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == -1) {
        return -1;
    }

    for (i = 0; i < gate_nuids; i++) {
        if (gate_uids[i] == who.uid) {
            return 0;
        }
    }

    flog(RLOG_WARN, "gate: uid %u (pid %d) may not connect",
         (unsigned) who.uid, (int) who.pid);

    return -1;
}


/* a peer that stalls must not hold a thread for ever */

static int
gate_stalls(int fd)
{
    struct timeval  in, out;

    in.tv_sec = BOUND_BODY_STALL / 1000;
    in.tv_usec = 0;
    out.tv_sec = BOUND_SEND_STALL / 1000;
    out.tv_usec = 0;

    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &in, sizeof(in)) == -1) {
        return -1;
    }

    return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &out, sizeof(out));
}


/* of this connection, and of no other that has its place before or after */

static uint64_t
gate_what(const conn_t *c)
{
    return (uint64_t) c->turn << 32 | (uint64_t) (c - gate_conns);
}


/* called with the mutex held */

static void
gate_since(conn_t *c, uint64_t since)
{
    gate_parts += (since != 0);
    gate_parts -= (c->since != 0);
    c->since = since;
}


/* called with the mutex held */

static void
gate_forget(conn_t *c)
{
    gate_since(c, 0);
    (void) close(c->fd);
    c->state = CONN_FREE;
    c->fd = -1;
}


/* a free place, if need be that of the connection that is idle the longest */

static conn_t *
gate_place(void)
{
    size_t   i;
    conn_t  *c, *oldest;

    oldest = NULL;

    for (i = 0; i < BOUND_CONNS; i++) {
        c = &gate_conns[i];

        if (c->state == CONN_FREE) {
            return c;
        }

        if (c->state == CONN_WAITS
            && (oldest == NULL || c->idle < oldest->idle))
        {
            oldest = c;
        }
    }

    if (oldest != NULL) {
        gate_forget(oldest);
    }

    return oldest;
}


static int
gate_admit(int fd)
{
    int      rc;
    conn_t  *c;

    rc = -1;

    (void) pthread_mutex_lock(&gate_mutex);

    c = gate_closed ? NULL : gate_place();

    if (c != NULL) {
        c->fd = fd;
        c->turn++;
        c->state = CONN_WAITS;
        c->idle = clock_mono_us();
        rc = gate_watch(EPOLL_CTL_ADD, fd, gate_what(c), GATE_ONCE);

        if (rc == -1) {
            c->state = CONN_FREE;
        }
    }

    (void) pthread_mutex_unlock(&gate_mutex);

    return rc;
}


static void
gate_accept(void)
{
    int  fd;

    for ( ;; ) {
        fd = accept4(gate_listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd == -1 && (errno == EINTR || errno == ECONNABORTED)) {
            continue;
        }

        if (fd == -1) {
            if (errno != EAGAIN) {
                flog(RLOG_ERROR, "gate: accept: %s", strerror(errno));
                (void) gate_watch(EPOLL_CTL_MOD, gate_listener, GATE_LISTENER,
                                  GATE_EACH);
            }

            return;
        }

        if (gate_peer(fd) == -1 || gate_stalls(fd) == -1
            || gate_admit(fd) == -1)
        {
            (void) close(fd);
        }
    }
}


/* what the connection has so far, without taking it; "got": how much */

static head_t
gate_head(conn_t *c, size_t *got)
{
    head_t                rc;
    ssize_t               n;
    static unsigned char  bytes[BOUND_HEAD];    /* of who has the mutex */

    *got = 0;
    n = recv(c->fd, bytes, sizeof(bytes), MSG_PEEK|MSG_DONTWAIT);

    if (n == -1) {
        return errno == EAGAIN || errno == EINTR ? HEAD_MORE : HEAD_BAD;
    }

    if (n == 0) {
        return HEAD_BAD;
    }

    *got = (size_t) n;
    rc = head_check(bytes, *got);

    /* a key to sign links with is among the params */
    explicit_bzero(bytes, *got);

    return rc;
}


static void
gate_take(conn_t *c)
{
    if (c->since != 0) {
        gate_since(c, 0);
        (void) gate_watch(EPOLL_CTL_MOD, c->fd, gate_what(c), EPOLLET);
    }

    c->state = CONN_BUSY;
    gate_busy++;
}


/* from now on each further part of the head is told, until it is late */

static void
gate_part(conn_t *c, size_t got)
{
    if (c->since != 0) {
        return;
    }

    if (got != 0) {
        gate_since(c, clock_mono_us());
    }

    (void) gate_watch(EPOLL_CTL_MOD, c->fd, gate_what(c),
                      got != 0 ? GATE_EACH : GATE_ONCE);
}


/* called with the mutex held; 1 if a request is complete */

static int
gate_judge(conn_t *c, uint32_t events)
{
    head_t  head;
    size_t  got;

    head = gate_head(c, &got);

    if (head == HEAD_WHOLE) {
        gate_take(c);
        return 1;
    }

    if (head == HEAD_BAD || (events & (EPOLLRDHUP|EPOLLHUP))) {
        if (got != 0 || c->since != 0) {
            flog(RLOG_WARN, "gate: a connection without a whole request");
        }

        gate_forget(c);

    } else {
        gate_part(c, got);
    }

    return 0;
}


/* the connection's number if a request is complete, else -1 */

static int
gate_look(uint64_t what, uint32_t events, int *fd)
{
    int      conn;
    conn_t  *c;

    conn = -1;

    (void) pthread_mutex_lock(&gate_mutex);

    c = &gate_conns[(uint32_t) what];

    if (gate_what(c) == what && c->state == CONN_WAITS && !gate_closed
        && gate_judge(c, events))
    {
        conn = (int) (c - gate_conns);
        *fd = c->fd;
    }

    (void) pthread_mutex_unlock(&gate_mutex);

    return conn;
}


/* ends what is late; msec until the next can be, -1: nothing waits */

static int
gate_clock(void)
{
    size_t     i;
    uint64_t   now, end, next;
    conn_t    *c;

    now = clock_mono_us();
    next = UINT64_MAX;

    (void) pthread_mutex_lock(&gate_mutex);

    for (i = 0; gate_parts != 0 && i < BOUND_CONNS; i++) {
        c = &gate_conns[i];

        if (c->state != CONN_WAITS || c->since == 0) {
            continue;
        }

        end = c->since + BOUND_HEAD_TIME * 1000;

        if (end <= now) {
            flog(RLOG_WARN, "gate: a request that never became whole");
            gate_forget(c);

        } else if (end < next) {
            next = end;
        }
    }

    (void) pthread_mutex_unlock(&gate_mutex);

    return next == UINT64_MAX ? -1 : (int) ((next - now) / 1000 + 1);
}


/* wakes one of those who stand at the gate */

static void
gate_call(void)
{
    ssize_t   n;
    uint64_t  one;

    one = 1;
    n = write(gate_event, &one, sizeof(one));
    (void) n;
}


/* who leaves for good, or no longer looks at the clock, has one follow it */

static void
gate_follow(void)
{
    int  wanted;

    (void) pthread_mutex_lock(&gate_mutex);
    wanted = gate_closed || gate_parts != 0;
    (void) pthread_mutex_unlock(&gate_mutex);

    if (wanted) {
        gate_call();
    }
}


static int
gate_is_closed(void)
{
    int  closed;

    (void) pthread_mutex_lock(&gate_mutex);
    closed = gate_closed;
    (void) pthread_mutex_unlock(&gate_mutex);

    return closed;
}


/*
 * All who have nothing to do stand here.  The kernel wakes the one that came
 * last, whose memory is warm, and nobody hands anything over.
 */

int
gate_next(int *fd)
{
    int                 n, conn;
    struct epoll_event  ev;

    conn = -1;

    while (conn == -1 && !gate_is_closed()) {
        n = epoll_wait(gate_epoll, &ev, 1, gate_clock());

        if (n != 1 || ev.data.u64 == GATE_CALL) {
            continue;
        }

        if (ev.data.u64 == GATE_LISTENER) {
            gate_accept();

        } else {
            conn = gate_look(ev.data.u64, ev.events, fd);
        }
    }

    gate_follow();

    return conn;
}


static void
gate_leave(int conn, int again)
{
    conn_t  *c;

    (void) pthread_mutex_lock(&gate_mutex);

    c = &gate_conns[conn];
    c->state = CONN_WAITS;
    c->idle = clock_mono_us();

    if (!again || gate_closed
        || gate_watch(EPOLL_CTL_MOD, c->fd, gate_what(c), GATE_ONCE) == -1)
    {
        gate_forget(c);
    }

    gate_busy--;
    (void) pthread_cond_signal(&gate_idle);

    (void) pthread_mutex_unlock(&gate_mutex);
}


void
gate_return(int conn)
{
    gate_leave(conn, 1);
}


void
gate_drop(int conn)
{
    gate_leave(conn, 0);
}


void
gate_lost(int conn)
{
    (void) pthread_mutex_lock(&gate_mutex);

    gate_conns[conn].state = CONN_FREE;
    gate_busy--;
    (void) pthread_cond_signal(&gate_idle);

    (void) pthread_mutex_unlock(&gate_mutex);
}


void
gate_close(void)
{
    (void) pthread_mutex_lock(&gate_mutex);
    gate_closed = 1;
    (void) pthread_mutex_unlock(&gate_mutex);

    gate_call();
}


void
gate_count(unsigned *conns, unsigned *busy)
{
    size_t  i;

    *conns = 0;

    (void) pthread_mutex_lock(&gate_mutex);

    for (i = 0; i < BOUND_CONNS; i++) {
        *conns += gate_conns[i].state != CONN_FREE;
    }

    *busy = gate_busy;

    (void) pthread_mutex_unlock(&gate_mutex);
}


unsigned
gate_busy_wait(uint64_t until)
{
    int              rc;
    unsigned         busy;
    struct timespec  ts;

    ts.tv_sec = (time_t) (until / 1000000);
    ts.tv_nsec = (long) (until % 1000000) * 1000;
    rc = 0;

    (void) pthread_mutex_lock(&gate_mutex);

    while (gate_busy != 0 && rc == 0) {
        rc = pthread_cond_timedwait(&gate_idle, &gate_mutex, &ts);
    }

    busy = gate_busy;

    (void) pthread_mutex_unlock(&gate_mutex);

    return busy;
}
