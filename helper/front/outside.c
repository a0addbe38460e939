
/*
 * In retort-front, as its own uid without any capability.  The channel is from
 * retortd; what comes back over a conversation has passed through a process
 * that reads what hostile servers write.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bounds.h"
#include "clock.h"
#include "fdpass.h"
#include "flog.h"
#include "outside.h"
#include "wake.h"


static int  outside_channel = -1;


int
outside_init(int channel)
{
    int  flags;

    flags = fcntl(channel, F_GETFL);

    if (flags == -1 || fcntl(channel, F_SETFL, flags|O_NONBLOCK) == -1) {
        flog(RLOG_ERROR, "the channel to retort-fetch: %s", strerror(errno));
        return -1;
    }

    outside_channel = channel;

    return 0;
}


static int
outside_away(err_t *e)
{
    flog(RLOG_ERROR, "retort-fetch is away");

    return err_set(e, 503, "fetch_away", "retort-fetch is away: nothing can "
                   "be fetched or called until the service starts again");
}


static int
outside_open(err_t *e)
{
    int           busy, pair[2];
    fetch_open_t  open;

    if (outside_channel == -1) {
        return outside_away(e);
    }

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC|SOCK_NONBLOCK, 0, pair)
        == -1)
    {
        return err_set(e, 500, "fetch_failed", "no more descriptors");
    }

    /* its end waits, ours never does but in poll() */

    memset(&open, 0, sizeof(open));
    open.version = FETCH_VERSION;

    if (fcntl(pair[1], F_SETFL, 0) != -1
        && fd_send(outside_channel, &open, sizeof(open), &pair[1], 1) == 0)
    {
        (void) close(pair[1]);
        return pair[0];
    }

    busy = errno == EAGAIN;
    (void) close(pair[0]);
    (void) close(pair[1]);

    if (busy) {
        (void) err_set(e, 503, "fetch_busy", "too much is fetched at once");
        e->retry_after = 1;
        return -1;
    }

    return outside_away(e);
}


/* until our end can be read or written; 0, or -1 and "e" */

static int
outside_wait(outside_t *o, short events, err_t *e)
{
    uint64_t       now;
    struct pollfd  p[3];

    memset(p, 0, sizeof(p));
    p[0].fd = o->fd;
    p[0].events = events;
    p[1].fd = o->client;
    p[1].events = POLLIN|POLLRDHUP;
    p[2].fd = wake_fd();
    p[2].events = POLLIN;

    for ( ;; ) {
        now = clock_mono_us();

        if (now >= o->until) {
            return err_set(e, 504, "fetch_timeout", "it took too long");
        }

        (void) poll(p, 3, (int) ((o->until - now) / 1000) + 1);

        if (p[2].revents != 0) {
            wake_clear(p[2].fd);
        }

        if (p[1].revents != 0 || wake_cancelled() != WAKE_GO_ON) {
            return err_set(e, 0, "cancelled", "the client is gone");
        }

        if (p[0].revents != 0) {
            return 0;
        }
    }
}


static int
outside_say(outside_t *o, const char *p, size_t len, err_t *e)
{
    size_t  n;

    while (len != 0) {
        n = len < FETCH_PAYLOAD ? len : FETCH_PAYLOAD;

        if (fd_send(o->fd, p, n, NULL, 0) == 0) {
            p += n;
            len -= n;

        } else if (errno == EPIPE || errno == ECONNRESET) {
            /* it has answered already, or will not: that is heard */
            return 0;

        } else if (errno != EAGAIN) {
            return outside_away(e);

        } else if (outside_wait(o, POLLOUT, e) == -1) {
            return -1;
        }
    }

    return 0;
}


int
outside_ask(outside_t *o, const fetch_req_t *req, const char *head,
    const char *body, int client, err_t *e)
{
    o->client = client;
    o->until = clock_mono_us() + BOUND_OUTSIDE_TIME * 1000ULL;
    o->fd = outside_open(e);

    if (o->fd == -1) {
        return -1;
    }

    if (outside_say(o, (const char *) req, sizeof(*req), e) == 0
        && outside_say(o, head, req->head, e) == 0
        && outside_say(o, body, req->len, e) == 0)
    {
        return 0;
    }

    outside_end(o);

    return -1;
}


int
outside_hear(outside_t *o, outside_msg_t *m, err_t *e)
{
    int      reset;
    ssize_t  n;

    for (reset = 0; ; ) {
        if (outside_wait(o, POLLIN, e) == -1) {
            return -1;
        }

        n = fd_recv(o->fd, m, sizeof(*m), NULL, NULL, MSG_DONTWAIT);

        /* what it has not read is told before what it wrote */

        if (n != -1 || (errno != EAGAIN && (errno != ECONNRESET || reset++)))
        {
            break;
        }
    }

    if (n < (ssize_t) sizeof(m->head)
        || m->head.len > FETCH_PAYLOAD
        || (size_t) n != sizeof(m->head) + m->head.len
        || (m->head.op != FETCH_DATA && m->head.len != 0))
    {
        flog(RLOG_ERROR, "retort-fetch %s", n <= 0 ? "has lost a request"
                                                   : "broke the protocol");
        return err_set(e, 502, "fetch_lost", "retort-fetch has lost the "
                       "request");
    }

    m->head.type[FETCH_TYPE - 1] = '\0';
    m->head.text[FETCH_TEXT - 1] = '\0';

    return 0;
}


void
outside_end(outside_t *o)
{
    (void) close(o->fd);
}
