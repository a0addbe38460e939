
/*
 * In retort-front, as its own uid without any capability.  libfcgi reads the
 * request and ends it; in between, records are made here, since its streams
 * block.
 */

#include <errno.h>
#include <fastcgi.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "bounds.h"
#include "clock.h"
#include "follow.h"
#include "utf8.h"
#include "wake.h"


#define FOLLOW_RECORD  32768    /* content of one record */


static void
follow_record(follow_t *f, const char *p, size_t n)
{
    FCGI_Header  h;

    memset(&h, 0, sizeof(h));
    h.version = FCGI_VERSION_1;
    h.type = FCGI_STDOUT;
    h.requestIdB1 = (unsigned char) (f->id >> 8);
    h.requestIdB0 = (unsigned char) f->id;
    h.contentLengthB1 = (unsigned char) (n >> 8);
    h.contentLengthB0 = (unsigned char) n;

    (void) buf_add(&f->out, &h, sizeof(h));
    (void) buf_add(&f->out, p, n);
}


static void
follow_put(follow_t *f, const buf_t *b)
{
    size_t  at, n;

    for (at = 0; at < b->len; at += n) {
        n = b->len - at < FOLLOW_RECORD ? b->len - at : FOLLOW_RECORD;
        follow_record(f, b->data + at, n);
    }

    if (b->failed) {
        f->out.failed = 1;
    }
}


static void
follow_say(follow_t *f, event_t *ev)
{
    picture_t  *forms;

    forms = NULL;

    if (ev->type == EVENT_ITEM && f->dialect->forms) {
        forms = pictures_forms(f->req, ev->item, &ev->npics);
        ev->pics = forms;
    }

    f->piece.len = 0;

    if (f->call == NULL) {
        f->dialect->event(f->req, f->form, ev, &f->piece);

    } else {
        if (ev->type == EVENT_END && f->call->pictures) {
            f->call->pics = pictures_load(f->req, &ev->res->out,
                                          &f->call->npics);
        }

        f->dialect->call_event(f->call, f->x, ev, &f->piece);
    }

    follow_put(f, &f->piece);
    pictures_free(forms, ev->npics);
}


/* a piece of a stream: whole characters, as long as more may come */

static int
follow_text(const follow_t *f, const out_item_t *item, event_t *ev)
{
    int     open;
    size_t  from, left;

    from = (size_t) (f->at - 1 - item->pos);
    left = (size_t) item->span - from;
    open = item->next == NULL && f->x->state != EXEC_OVER;

    ev->type = EVENT_TEXT;
    ev->text = item->text.data + from;
    ev->len = left < BOUND_PIECE ? left : BOUND_PIECE;

    if (ev->len < left || open) {
        ev->len = utf8_cut(ev->text, ev->len + 1, ev->len);
    }

    ev->id = f->at + ev->len;

    return ev->len != 0;
}


/* the event behind f->at; 0 if there is none yet; the lock is held */

static int
follow_next(const follow_t *f, event_t *ev)
{
    const exec_t  *x;

    x = f->x;
    memset(ev, 0, sizeof(event_t));
    ev->execution = x->id;
    ev->sandbox = x->sandbox;

    if (f->at == 0) {
        ev->type = EVENT_BEGIN;
        ev->id = 1;
        ev->count = x->res.count;
        return x->state != EXEC_WAITING;
    }

    if (f->at > x->res.out.pos + 1) {
        return 0;
    }

    ev->item = outputs_at(&x->res.out, f->at - 1);

    if (ev->item == NULL) {
        ev->type = EVENT_END;
        ev->id = x->res.out.pos + 2;
        ev->res = &x->res;
        ev->memo = x->memo;
        return x->state == EXEC_OVER;
    }

    if (ev->item->type == OUT_STDOUT || ev->item->type == OUT_STDERR) {
        return follow_text(f, ev->item, ev);
    }

    ev->type = EVENT_ITEM;
    ev->id = ev->item->pos + 2;

    return !ev->item->open || x->state == EXEC_OVER;
}


/* a sign of life, if there was none for long */

static void
follow_beat(follow_t *f, uint64_t now)
{
    event_t  ev;

    if (now < f->beat || f->ended) {
        return;
    }

    memset(&ev, 0, sizeof(ev));
    ev.type = EVENT_BEAT;
    follow_say(f, &ev);
    f->beat = now + BOUND_BEAT * 1000;
}


/* renders what there is, about one record of it */

static void
follow_fill(follow_t *f)
{
    event_t   ev;
    uint64_t  now;

    now = clock_mono_us();

    (void) pthread_mutex_lock(&f->x->lock);

    f->ended |= f->x->state == EXEC_OVER && f->at > f->x->res.out.pos + 1;

    while (!f->ended && f->out.len < FOLLOW_RECORD && follow_next(f, &ev)) {
        follow_say(f, &ev);
        f->at = ev.id;
        f->ended = ev.type == EVENT_END;
        f->beat = now + BOUND_BEAT * 1000;
    }

    (void) pthread_mutex_unlock(&f->x->lock);

    follow_beat(f, now);
}


static void
follow_head(follow_t *f, answer_t *a)
{
    buf_t  head;

    memset(&head, 0, sizeof(head));
    a->status = 200;
    a->streamed = 1;
    a->length = ANSWER_OPEN;
    f->dialect->stream(f->form, a);

    if (answer_head(a, &head) == -1) {
        f->out.failed = 1;
    }

    follow_put(f, &head);
    buf_free(&head);
    answer_free(a);
}


void
follow_begin(follow_t *f, exec_t *x, uint64_t after)
{
    answer_t  a;

    memset(&a, 0, sizeof(a));

    (void) pthread_mutex_lock(&x->lock);

    f->x = x;
    f->at = after;
    f->begun = 1;
    f->beat = clock_mono_us() + BOUND_BEAT * 1000;

    (void) buf_printf(&a.lines, "X-Retort-Execution: %s\r\n", x->id);

    if (x->sandbox[0] != '\0') {
        (void) buf_printf(&a.lines, "X-Retort-Sandbox: %s\r\n", x->sandbox);
    }

    (void) pthread_mutex_unlock(&x->lock);

    follow_head(f, &a);
}


int
follow_waits(const follow_t *f)
{
    return f->fd != -1 && f->sent < f->out.len;
}


static int
follow_push(follow_t *f)
{
    ssize_t        n;
    struct iovec   iov;
    struct msghdr  mh;

    memset(&mh, 0, sizeof(mh));
    mh.msg_iov = &iov;
    mh.msg_iovlen = 1;

    while (f->sent < f->out.len) {
        iov.iov_base = f->out.data + f->sent;
        iov.iov_len = f->out.len - f->sent;
        n = sendmsg(f->fd, &mh, MSG_DONTWAIT|MSG_NOSIGNAL);

        if (n == -1) {
            return errno == EAGAIN || errno == EINTR ? 0 : -1;
        }

        f->sent += (size_t) n;
    }

    f->sent = 0;
    f->out.len = 0;

    return 0;
}


int
follow_some(follow_t *f)
{
    size_t  had;

    if (f->fd == -1) {
        return -1;
    }

    /* also behind a record that had to wait: nobody wakes for the next one */

    do {
        follow_fill(f);
        had = f->out.len;

        if (f->out.failed || follow_push(f) == -1) {
            f->fd = -1;
            return -1;
        }

    } while (had != 0 && f->out.len == 0);

    return 0;
}


/* sleeps until there may be more to do; -1 if the client is gone or stalls */

static int
follow_sleep(follow_t *f, int wake)
{
    int             n;
    uint64_t        now;
    struct pollfd   p[2];

    memset(p, 0, sizeof(p));
    p[0].fd = f->fd;
    p[0].events = POLLIN|POLLRDHUP;
    p[1].fd = wake;
    p[1].events = POLLIN;
    now = clock_mono_us();
    n = f->beat > now ? (int) ((f->beat - now) / 1000 + 1) : 0;

    if (follow_waits(f)) {
        p[0].events |= POLLOUT;
        n = BOUND_SEND_STALL;
    }

    n = poll(p, 2, n);

    if (p[1].revents != 0) {
        wake_clear(wake);
    }

    if (n == 0 && follow_waits(f)) {
        return -1;
    }

    return (p[0].revents & ~POLLOUT) != 0 || wake_cancelled() == WAKE_END
           ? -1 : 0;
}


int
follow_all(follow_t *f)
{
    int            rc;
    exec_reader_t  r;

    exec_follow(f->x, &r);

    rc = follow_some(f);

    while (rc == 0 && (!f->ended || follow_waits(f))) {
        rc = follow_sleep(f, r.wake);

        if (rc == 0) {
            rc = follow_some(f);
        }
    }

    exec_unfollow(f->x, &r);

    return rc;
}


void
follow_open(follow_t *f)
{
    answer_t  a;

    memset(&a, 0, sizeof(a));
    follow_head(f, &a);
}


int
follow_tell(follow_t *f, const buf_t *b)
{
    struct pollfd  p;

    follow_put(f, b);

    do {
        if (f->out.failed || follow_push(f) == -1) {
            return -1;
        }

        p.fd = f->fd;
        p.events = POLLOUT;

    } while (follow_waits(f) && poll(&p, 1, BOUND_SEND_STALL) == 1);

    return follow_waits(f) ? -1 : 0;
}


void
follow_free(follow_t *f)
{
    buf_free(&f->piece);
    buf_free(&f->out);
}
