
/*
 * Part of retort-docker, in the relay: carries between the ends of a box and
 * the stream of its container.  What comes out of there is hostile.  By now
 * there is no call left for anything but this.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "carry.h"
#include "docker.h"
#include "fdpass.h"
#include "log.h"


#define LINK_READ   65536
#define LINK_HEAD   8           /* of the engine: stream, 0 0 0, length */
#define LINK_LOG    900         /* bytes of a container's own log */
#define LINK_TOLD   256         /* words of its pid 1 that nobody asked for */

enum { LINK_POLL_LINK, LINK_POLL_FD,
       LINK_POLLS = LINK_POLL_FD + CARRY_INIT };


typedef struct {
    carry_t        carry;
    int            link;
    int            fd[CARRY_INIT + 1];  /* by type; -1: closed */
    int            usage[CG_DIRS];
    int            ready;
    unsigned       told;        /* since it was last spoken to */
    size_t         done;        /* bytes of the first frame that are gone */

    /* the engine's own frames */
    unsigned char  head[LINK_HEAD];
    size_t         head_len;
    uint32_t       left;

    size_t         log_len;
    char           log[LINK_LOG];
} link_t;


static link_t  link_one;


static void
link_end(link_t *l, const char *why)
{
    if (!l->ready && l->log_len != 0) {
        rlog(RLOG_ERROR, "container: %.*s", (int) l->log_len, l->log);
    }

    rlog(RLOG_WARN, "container: %s", why);

    if (!l->ready) {
        relay_fail(l->fd[CARRY_INIT], STEP_ENGINE, EPIPE);
    }

    _exit(1);
}


static void
link_close(link_t *l, int type)
{
    if (l->fd[type] != -1) {
        (void) close(l->fd[type]);
        l->fd[type] = -1;
    }
}


/* a pipe's write end is ours alone: nobody else waits for it differently */

static void
link_take(link_t *l, int channel, int out, int err)
{
    l->fd[CARRY_CHANNEL] = channel;
    l->fd[CARRY_OUT] = out;
    l->fd[CARRY_ERR] = err;

    if (fcntl(out, F_SETFL, O_NONBLOCK) == -1
        || fcntl(err, F_SETFL, O_NONBLOCK) == -1)
    {
        link_end(l, "a pipe is none");
    }
}


static void
link_command(link_t *l)
{
    int         i, nfd, fds[INIT_RESTART_FDS];
    ssize_t     n;
    init_msg_t  msg;

    nfd = INIT_RESTART_FDS;
    n = fd_recv(l->fd[CARRY_INIT], &msg, sizeof(msg), fds, &nfd, 0);

    if (n != (ssize_t) sizeof(msg)) {
        _exit(0);
    }

    if (msg.op == INIT_RESTART && nfd == INIT_RESTART_FDS) {
        for (i = CARRY_CHANNEL; i <= CARRY_ERR; i++) {
            link_close(l, i);
        }

        l->done = 0;
        carry_turn(&l->carry, (uint8_t) (l->carry.turn + 1));
        link_take(l, fds[0], fds[1], fds[2]);

    } else if (nfd != 0) {
        _exit(1);
    }

    l->told = 0;
    carry_urgent(&l->carry, &msg);
}


/* what pid 1 says; with the first READY its counters are told of */

static void
link_tell(link_t *l, const char *data)
{
    int         i;
    init_msg_t  msg;

    /* each costs the broker and the front more than it costs a container */
    if (++l->told > LINK_TOLD) {
        link_end(l, "tells too much");
    }

    memcpy(&msg, data, sizeof(msg));
    i = (msg.op == INIT_READY && !l->ready) ? CG_DIRS : 0;

    if (fd_send(l->fd[CARRY_INIT], &msg, sizeof(msg), l->usage, i) == -1) {
        _exit(1);
    }

    l->ready |= (msg.op == INIT_READY);

    while (i-- > 0) {
        (void) close(l->usage[i]);
    }
}


/* nobody reads that end any more: the bytes are dropped */

static int
link_put(link_t *l, const carry_head_t *head, const char *data)
{
    int      fd;
    ssize_t  n;

    fd = l->fd[head->type];

    if (head->type == CARRY_INIT) {
        link_tell(l, data);
        return 0;
    }

    if (fd == -1 || head->len == 0) {
        link_close(l, head->type);
        return 0;
    }

    n = head->type == CARRY_CHANNEL
        ? send(fd, data, head->len, MSG_DONTWAIT|MSG_NOSIGNAL)
        : write(fd, data + l->done, head->len - l->done);

    if (n == -1) {
        return errno == EAGAIN || errno == EINTR ? -1 : 0;
    }

    l->done += (size_t) n;

    return l->done == head->len ? 0 : -1;
}


static void
link_deliver(link_t *l)
{
    const char    *data;
    carry_head_t  head;

    while (carry_first(&l->carry, &head, &data)
           && link_put(l, &head, data) == 0)
    {
        l->done = 0;
        carry_next(&l->carry);
    }
}


static void
link_frames(link_t *l, const char *bytes, size_t len)
{
    int  rc;

    while ((rc = carry_feed(&l->carry, &bytes, &len)) == 1) {
        if (carry_keep(&l->carry) == -1) {
            rc = -1;
            break;
        }
    }

    if (rc == -1) {
        link_end(l, "broke the protocol");
    }
}


/* what a library complains of while it is loaded, for the operator */

static void
link_log(link_t *l, const char *bytes, size_t len)
{
    len = len < LINK_LOG - l->log_len ? len : LINK_LOG - l->log_len;
    memcpy(l->log + l->log_len, bytes, len);
    l->log_len += len;
}


static void
link_bytes(link_t *l, const char *p, size_t len)
{
    size_t  n;

    while (len != 0) {
        if (l->left == 0) {
            l->head[l->head_len++] = (unsigned char) *p++;
            len--;

            if (l->head_len == LINK_HEAD) {
                l->head_len = 0;
                l->left = (uint32_t) l->head[4] << 24
                          | (uint32_t) l->head[5] << 16
                          | (uint32_t) l->head[6] << 8 | l->head[7];
            }

            continue;
        }

        n = len < l->left ? len : l->left;

        if (l->head[0] == 1) {
            link_frames(l, p, n);

        } else {
            link_log(l, p, n);
        }

        l->left -= (uint32_t) n;
        p += n;
        len -= n;
    }
}


static void
link_read(link_t *l)
{
    ssize_t      n;
    static char  bytes[LINK_READ];

    n = read(l->link, bytes, sizeof(bytes));

    if (n == -1 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }

    if (n <= 0) {
        link_end(l, "is gone");
    }

    link_bytes(l, bytes, (size_t) n);
}


static void
link_write(link_t *l)
{
    size_t       len;
    ssize_t      n;
    const char  *bytes;

    carry_settle(&l->carry);
    len = carry_out(&l->carry, &bytes);
    n = len == 0 ? 0 : send(l->link, bytes, len, MSG_DONTWAIT|MSG_NOSIGNAL);

    if (n == -1 && errno != EAGAIN && errno != EINTR) {
        link_end(l, "is gone");
    }

    carry_gone(&l->carry, n > 0 ? (size_t) n : 0);
}


static void
link_channel(link_t *l)
{
    ssize_t      n;
    static char  packet[CARRY_PACKET];

    n = recv(l->fd[CARRY_CHANNEL], packet, sizeof(packet), MSG_DONTWAIT);

    if (n == -1 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }

    l->told = 0;
    carry_put(&l->carry, CARRY_CHANNEL, packet, n > 0 ? (size_t) n : 0);

    if (n <= 0) {
        link_close(l, CARRY_CHANNEL);
    }
}


/*
 * What is first in the queue is waited for; the broker is heard as long as
 * there is room for what it says.
 */

static void
link_poll(link_t *l, struct pollfd *pfd)
{
    int            i;
    short          events[CARRY_INIT + 1];
    const char     *data;
    carry_head_t   head;

    memset(events, 0, sizeof(events));
    events[CARRY_CHANNEL] = carry_may(&l->carry, CARRY_PACKET) ? POLLIN : 0;
    events[CARRY_INIT] = carry_may_urgent(&l->carry) ? POLLIN : 0;

    if (carry_first(&l->carry, &head, &data)) {
        events[head.type] |= POLLOUT;
    }

    pfd[LINK_POLL_LINK].fd = l->link;
    pfd[LINK_POLL_LINK].events = carry_out(&l->carry, &data) != 0
                                 ? POLLIN|POLLOUT : POLLIN;

    for (i = CARRY_CHANNEL; i <= CARRY_INIT; i++) {
        pfd[LINK_POLL_FD + i - 1].fd = events[i] != 0 ? l->fd[i] : -1;
        pfd[LINK_POLL_FD + i - 1].events = events[i];
    }

    if (poll(pfd, LINK_POLLS, -1) == -1 && errno != EINTR) {
        _exit(1);
    }
}


void
link_run(const link_fds_t *fds)
{
    link_t         *l;
    struct pollfd  pfd[LINK_POLLS];

    l = &link_one;
    carry_init(&l->carry);
    l->link = fds->link;
    l->fd[CARRY_INIT] = fds->init;
    memcpy(l->usage, fds->usage, sizeof(l->usage));
    link_take(l, fds->channel, fds->out, fds->err);

    for ( ;; ) {
        link_poll(l, pfd);

        if ((pfd[LINK_POLL_FD + CARRY_INIT - 1].revents & ~POLLOUT)
            && carry_may_urgent(&l->carry))
        {
            link_command(l);
        }

        if (pfd[LINK_POLL_LINK].revents & ~POLLOUT) {
            link_read(l);
        }

        link_deliver(l);

        if ((pfd[LINK_POLL_FD].revents & ~POLLOUT)
            && l->fd[CARRY_CHANNEL] != -1
            && carry_may(&l->carry, CARRY_PACKET))
        {
            link_channel(l);
        }

        link_write(l);
    }
}
