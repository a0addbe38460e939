
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
    uint64_t       since;       /* the head's first bytes; 0: none yet */
    uint64_t       idle;        /* waiting since */
} conn_t;


/* a thread that waits for its turn at the gate */

typedef struct gate_turn_s {
    struct gate_turn_s  *next;
    pthread_cond_t       cond;
    int                  called;
} gate_turn_t;


/* what epoll says of things that are no connection */

#define GATE_LISTENER  UINT64_MAX
#define GATE_CLOSE     (UINT64_MAX - 1)


static int              gate_epoll = -1;
static int              gate_listener;
static int              gate_event;
static int              gate_closed;
static int              gate_taken;     /* somebody stands there */
static size_t           gate_nuids;
static unsigned         gate_busy;
static const uid_t     *gate_uids;
static conn_t           gate_conns[BOUND_CONNS];
static pthread_cond_t   gate_idle;
static pthread_mutex_t  gate_mutex = PTHREAD_MUTEX_INITIALIZER;
static gate_turn_t     *gate_turns;     /* under gate_stand */
static pthread_mutex_t  gate_stand = PTHREAD_MUTEX_INITIALIZER;


static int
gate_watch(int fd, uint64_t what, uint32_t events)
{
    struct epoll_event  ev;

    memset(&ev, 0, sizeof(ev));
    ev.events = events;
    ev.data.u64 = what;

    return epoll_ctl(gate_epoll, EPOLL_CTL_ADD, fd, &ev);
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
        || gate_watch(listener, GATE_LISTENER, EPOLLIN) == -1
        || gate_watch(gate_event, GATE_CLOSE, EPOLLIN) == -1)
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


/* called with the mutex held */

static void
gate_forget(conn_t *c)
{
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
        c->state = CONN_WAITS;
        c->since = 0;
        c->idle = clock_mono_us();
        rc = gate_watch(fd, (uint64_t) (c - gate_conns),
                        EPOLLIN|EPOLLRDHUP|EPOLLET);

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

        if (fd == -1) {
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
                flog(RLOG_ERROR, "gate: accept: %s", strerror(errno));
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


/* what the connection has so far, without taking it */

static head_t
gate_head(conn_t *c)
{
    head_t                rc;
    ssize_t               n;
    static unsigned char  bytes[BOUND_HEAD];    /* of who stands at the gate */

    n = recv(c->fd, bytes, sizeof(bytes), MSG_PEEK|MSG_DONTWAIT);

    if (n == -1) {
        return errno == EAGAIN || errno == EINTR ? HEAD_MORE : HEAD_BAD;
    }

    if (n == 0) {
        return HEAD_BAD;
    }

    if (c->since == 0) {
        c->since = clock_mono_us();
    }

    rc = head_check(bytes, (size_t) n);

    /* a key to sign links with is among the params */
    explicit_bzero(bytes, (size_t) n);

    return rc;
}


/* the connection's number if a request is complete, else -1 */

static int
gate_look(uint64_t what, uint32_t events, int *fd)
{
    int       conn;
    head_t    head;
    conn_t   *c;

    conn = -1;
    c = &gate_conns[what];

    (void) pthread_mutex_lock(&gate_mutex);

    if (c->state == CONN_WAITS && !gate_closed) {
        head = gate_head(c);

        if (head == HEAD_WHOLE) {
            (void) epoll_ctl(gate_epoll, EPOLL_CTL_DEL, c->fd, NULL);
            c->state = CONN_BUSY;
            gate_busy++;
            *fd = c->fd;
            conn = (int) what;

        } else if (head == HEAD_BAD || (events & (EPOLLRDHUP|EPOLLHUP))) {
            if (c->since != 0) {
                flog(RLOG_WARN, "gate: a connection without a whole request");
            }

            gate_forget(c);
        }
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

    for (i = 0; i < BOUND_CONNS; i++) {
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


/* the last one that came is the first one called: its memory is warm */

static void
gate_step_up(void)
{
    gate_turn_t  turn = { NULL, PTHREAD_COND_INITIALIZER, 0 };

    (void) pthread_mutex_lock(&gate_stand);

    if (gate_taken) {
        turn.next = gate_turns;
        gate_turns = &turn;

        while (!turn.called) {
            (void) pthread_cond_wait(&turn.cond, &gate_stand);
        }
    }

    gate_taken = 1;
    (void) pthread_mutex_unlock(&gate_stand);
}


static void
gate_step_down(void)
{
    gate_turn_t  *turn;

    (void) pthread_mutex_lock(&gate_stand);

    turn = gate_turns;
    gate_taken = (turn != NULL);

    if (turn != NULL) {
        gate_turns = turn->next;
        turn->called = 1;
        (void) pthread_cond_signal(&turn->cond);
    }

    (void) pthread_mutex_unlock(&gate_stand);
}


int
gate_next(int *fd)
{
    int                 n, conn;
    struct epoll_event  ev;

    conn = -1;
    gate_step_up();

    while (conn == -1) {
        n = epoll_wait(gate_epoll, &ev, 1, gate_clock());

        if (n != 1) {
            continue;
        }

        if (ev.data.u64 == GATE_CLOSE) {
            /* stays readable: the next one sees it, too */
            break;
        }

        if (ev.data.u64 == GATE_LISTENER) {
            gate_accept();

        } else {
            conn = gate_look(ev.data.u64, ev.events, fd);
        }
    }

    gate_step_down();

    return conn;
}


static void
gate_leave(int conn, int again)
{
    conn_t  *c;

    (void) pthread_mutex_lock(&gate_mutex);

    c = &gate_conns[conn];
    c->state = CONN_WAITS;
    c->since = 0;
    c->idle = clock_mono_us();

    if (!again || gate_closed
        || gate_watch(c->fd, (uint64_t) conn, EPOLLIN|EPOLLRDHUP|EPOLLET)
           == -1)
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
    ssize_t   n;
    uint64_t  one;

    one = 1;

    (void) pthread_mutex_lock(&gate_mutex);
    gate_closed = 1;
    (void) pthread_mutex_unlock(&gate_mutex);

    n = write(gate_event, &one, sizeof(one));
    (void) n;
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
