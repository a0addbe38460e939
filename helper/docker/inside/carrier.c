
/*
 * The thread beside pid 1 in a container.  It has descriptors of its own, so
 * that the kernel and what it starts never have the stream, and it forks
 * nothing, locks nothing and allocates nothing, so that pid 1 can be forked.
 *
 * What the kernel wrote to its pipes before it sent a packet goes out before
 * that packet, and what it wrote after it, after it.  The bytes are a tenant's;
 * of them nothing is read here but whether a packet asks for its pipes.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../init/seal.h"
#include "../carry.h"
#include "carrier.h"
#include "fdpass.h"


#define CARRIER_IN     0
#define CARRIER_PIPES  2        /* stdout and stderr */

enum { CARRIER_POLL_IN, CARRIER_POLL_OUT, CARRIER_POLL_FD, CARRIER_POLLS =
       CARRIER_POLL_FD + CARRY_INIT };


typedef struct {
    carry_t   carry;
    int       fd[CARRY_INIT + 1];       /* by type; -1: closed */

    /* a packet that waits for what was printed before it */
    int       held;             /* its type; 0: none, CARRY_OUT: pipes alone */
    size_t    held_len;
    size_t    before[CARRIER_PIPES];
    char      packet[CARRY_PACKET];
} carrier_t;


static carrier_t          carrier;
static int                carrier_theirs[TPL_FDS];
static pthread_barrier_t  carrier_apart;


/* the pairs by type; pid 1's ends in the order in which it wants them */

static int
carrier_pairs(carrier_t *c, int *theirs)
{
    int  i, pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, pair) == -1) {
        return -1;
    }

    c->fd[CARRY_CHANNEL] = pair[0];
    theirs[0] = pair[1];

    for (i = 0; i < CARRIER_PIPES; i++) {
        if (pipe2(pair, O_CLOEXEC) == -1
            || fcntl(pair[0], F_SETFL, O_NONBLOCK) == -1)
        {
            return -1;
        }

        c->fd[CARRY_OUT + i] = pair[0];
        theirs[1 + i] = pair[1];
    }

    return 0;
}


static void
carrier_close(carrier_t *c, int type)
{
    if (c->fd[type] != -1) {
        (void) close(c->fd[type]);
        c->fd[type] = -1;
    }
}


/* pid 1 gets ends of its own, as it does from a broker */

static void
carrier_restart(carrier_t *c, const init_msg_t *msg)
{
    int  i, theirs[INIT_RESTART_FDS];

    for (i = CARRY_CHANNEL; i <= CARRY_ERR; i++) {
        carrier_close(c, i);
    }

    c->held = 0;
    carry_turn(&c->carry, c->carry.in.head.turn);

    if (carrier_pairs(c, theirs) == -1
        || fd_send(c->fd[CARRY_INIT], msg, sizeof(*msg), theirs,
                   INIT_RESTART_FDS)
           == -1)
    {
        _exit(1);
    }

    for (i = 0; i < INIT_RESTART_FDS; i++) {
        (void) close(theirs[i]);
    }
}


static void
carrier_frame(carrier_t *c)
{
    init_msg_t  msg;

    if (c->carry.in.head.type == CARRY_CHANNEL) {
        if (carry_keep(&c->carry) == -1) {
            _exit(1);
        }

        return;
    }

    if (c->carry.in.head.type != CARRY_INIT) {
        _exit(1);
    }

    memcpy(&msg, c->carry.in.data, sizeof(msg));

    if (msg.op == INIT_RESTART) {
        carrier_restart(c, &msg);

    } else if (fd_send(c->fd[CARRY_INIT], &msg, sizeof(msg), NULL, 0) == -1) {
        _exit(1);
    }
}


/* the end of the stream is the end of the container */

static void
carrier_read(carrier_t *c)
{
    int          rc;
    char         bytes[16384];
    size_t       len;
    ssize_t      n;
    const char  *p;

    n = read(CARRIER_IN, bytes, sizeof(bytes));

    if (n == -1 && (errno == EINTR || errno == EAGAIN)) {
        return;
    }

    if (n <= 0) {
        _exit(0);
    }

    p = bytes;
    len = (size_t) n;

    while ((rc = carry_feed(&c->carry, &p, &len)) == 1) {
        carrier_frame(c);
    }

    if (rc == -1) {
        _exit(1);
    }
}


static void
carrier_write(carrier_t *c)
{
    size_t       len;
    ssize_t      n;
    const char  *bytes;

    carry_settle(&c->carry);
    len = carry_out(&c->carry, &bytes);

    if (len == 0) {
        return;
    }

    n = write(CARRIER_OUT, bytes, len);

    if (n == -1 && errno != EAGAIN && errno != EINTR) {
        _exit(0);
    }

    carry_gone(&c->carry, n > 0 ? (size_t) n : 0);
}


/* what is first goes to the kernel, as far as it takes it */

static void
carrier_deliver(carrier_t *c)
{
    const char    *data;
    carry_head_t  head;

    while (carry_first(&c->carry, &head, &data)) {
        if (head.len == 0) {
            carrier_close(c, CARRY_CHANNEL);

        } else if (c->fd[CARRY_CHANNEL] != -1
                   && send(c->fd[CARRY_CHANNEL], data, head.len,
                           MSG_DONTWAIT|MSG_NOSIGNAL)
                      == -1
                   && (errno == EAGAIN || errno == EINTR))
        {
            return;
        }

        carry_next(&c->carry);
    }
}


/* how many bytes went on: 0 if there are none just now, or none any more */

static size_t
carrier_pipe(carrier_t *c, int type, size_t most)
{
    char     bytes[16384];
    ssize_t  n;

    if (c->fd[type] == -1) {
        return 0;
    }

    n = read(c->fd[type], bytes, most < sizeof(bytes) ? most : sizeof(bytes));

    if (n == -1) {
        return 0;
    }

    carry_put(&c->carry, (carry_type_t) type, bytes, (size_t) n);

    if (n == 0) {
        carrier_close(c, type);
    }

    return (size_t) n;
}


static void
carrier_measure(carrier_t *c)
{
    int  i, have;

    for (i = 0; i < CARRIER_PIPES; i++) {
        have = 0;
        (void) ioctl(c->fd[CARRY_OUT + i], FIONREAD, &have);
        c->before[i] = have > 0 ? (size_t) have : 0;
    }
}


/* takes one packet, if there is one */

static int
carrier_hold(carrier_t *c, int type)
{
    ssize_t  n;

    n = recv(c->fd[type], c->packet, sizeof(c->packet),
             MSG_DONTWAIT|MSG_TRUNC);

    if (n == -1 && (errno == EAGAIN || errno == EINTR || errno == EBADF)) {
        return 0;
    }

    if (n > (ssize_t) sizeof(c->packet) || (n <= 0 && type == CARRY_INIT)) {
        _exit(1);
    }

    c->held = type;
    c->held_len = n > 0 ? (size_t) n : 0;

    return 1;
}


/*
 * What is in the pipes, and what pid 1 says, is behind the packets that are
 * there by now: first it is looked how much there is, then for a packet.  One
 * that asks for the pipes is behind what is in them.
 */

static void
carrier_take(carrier_t *c, const struct pollfd *pfd)
{
    int         i;
    krn_head_t  head;

    carrier_measure(c);

    if (carrier_hold(c, CARRY_CHANNEL)) {
        memcpy(&head, c->packet, sizeof(head));
        carrier_measure(c);

        if (head.type != KRN_SYNC) {
            memset(c->before, 0, sizeof(c->before));
        }

        return;
    }

    for (i = 0; i < CARRIER_PIPES; i++) {
        c->before[i] += (pfd[CARRY_OUT + i - 1].revents & POLLHUP) != 0;
    }

    if (pfd[CARRY_INIT - 1].revents == 0 || !carrier_hold(c, CARRY_INIT)) {
        c->held = CARRY_OUT;
    }
}


static void
carrier_release(carrier_t *c)
{
    int     i;
    size_t  n;

    for (i = 0; i < CARRIER_PIPES; i++) {
        while (c->before[i] != 0) {
            if (!carry_may(&c->carry, CARRY_PACKET)) {
                return;
            }

            n = carrier_pipe(c, CARRY_OUT + i, c->before[i]);
            c->before[i] = (n == 0) ? 0 : c->before[i] - n;
        }
    }

    if (c->held != CARRY_OUT) {
        if (!carry_may(&c->carry, CARRY_PACKET)) {
            return;
        }

        carry_put(&c->carry, (carry_type_t) c->held, c->packet, c->held_len);

        if (c->held_len == 0) {
            carrier_close(c, c->held);
        }
    }

    c->held = 0;
}


static void
carrier_poll(carrier_t *c, struct pollfd *pfd)
{
    int            i, may;
    const char    *data;
    carry_head_t   head;
    struct pollfd  *p;

    may = (c->held == 0 && carry_may(&c->carry, CARRY_PACKET));
    pfd[CARRIER_POLL_IN].fd = CARRIER_IN;
    pfd[CARRIER_POLL_IN].events = POLLIN;
    pfd[CARRIER_POLL_OUT].fd = carry_out(&c->carry, &data) != 0
                               ? CARRIER_OUT : -1;
    pfd[CARRIER_POLL_OUT].events = POLLOUT;

    for (i = CARRY_CHANNEL; i <= CARRY_INIT; i++) {
        p = &pfd[CARRIER_POLL_FD + i - 1];
        p->events = may ? POLLIN : 0;

        if (i == CARRY_CHANNEL && carry_first(&c->carry, &head, &data)) {
            p->events |= POLLOUT;
        }

        p->fd = p->events != 0 ? c->fd[i] : -1;
    }

    if (poll(pfd, CARRIER_POLLS, -1) == -1 && errno != EINTR) {
        _exit(1);
    }
}


static void
carrier_turn(carrier_t *c, struct pollfd *pfd)
{
    int  i, said;

    if (pfd[CARRIER_POLL_IN].revents != 0) {
        carrier_read(c);
    }

    carrier_deliver(c);
    said = 0;

    for (i = CARRIER_POLL_FD; i < CARRIER_POLLS; i++) {
        said |= pfd[i].revents & ~POLLOUT;
    }

    if (said && c->held == 0 && carry_may(&c->carry, CARRY_PACKET)) {
        carrier_take(c, pfd + CARRIER_POLL_FD);
    }

    /* what is written makes room, of which nobody tells later */

    do {
        if (c->held != 0) {
            carrier_release(c);
        }

        carrier_write(c);
    } while (c->held != 0 && carry_may(&c->carry, CARRY_PACKET));
}


static void *
carrier_main(void *data)
{
    int            i;
    carrier_t      *c = data;
    struct pollfd  pfd[CARRIER_POLLS];

    if (unshare(CLONE_FILES) == -1) {
        _exit(1);
    }

    for (i = 0; i < TPL_FDS; i++) {
        (void) close(carrier_theirs[i]);
    }

    (void) close(1);
    (void) close(2);
    (void) pthread_barrier_wait(&carrier_apart);

    for ( ;; ) {
        carrier_poll(c, pfd);
        carrier_turn(c, pfd);
    }

    return NULL;
}


/* all signals are pid 1's */

static int
carrier_start(carrier_t *c)
{
    int             rc, pair[2];
    sigset_t        all, was;
    pthread_t       thread;
    pthread_attr_t  attr;

    carry_init(&c->carry);

    if (carrier_pairs(c, carrier_theirs + 1) == -1
        || socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, pair) == -1
        || fcntl(CARRIER_OUT, F_SETFL, O_NONBLOCK) == -1
        || pthread_barrier_init(&carrier_apart, NULL, 2) != 0
        || pthread_attr_init(&attr) != 0
        || pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) != 0)
    {
        return -1;
    }

    c->fd[CARRY_INIT] = pair[0];
    carrier_theirs[0] = pair[1];
    sigfillset(&all);
    (void) sigprocmask(SIG_SETMASK, &all, &was);
    rc = pthread_create(&thread, &attr, carrier_main, c);
    (void) sigprocmask(SIG_SETMASK, &was, NULL);

    if (rc == 0) {
        (void) pthread_barrier_wait(&carrier_apart);
    }

    return rc == 0 ? 0 : -1;
}


int
carrier_open(void)
{
    return dup2(1, CARRIER_OUT) == -1 || dup2(2, 1) == -1
           || chmod("/workspace", 0500) == -1 || clearenv() != 0 ? -1 : 0;
}


int
carrier_run(const init_hooks_t *hooks)
{
    size_t     got;
    ssize_t    n;
    tpl_req_t  req;

    for (got = 0; got < sizeof(req); got += (size_t) n) {
        n = read(CARRIER_IN, (char *) &req + got, sizeof(req) - got);

        if (n <= 0) {
            return 1;
        }
    }

    if (carrier_start(&carrier) == -1
        || template_place(CARRIER_OUT, carrier_theirs) == -1)
    {
        return 1;
    }

    init_carried = 1;
    hooks->before_fork();
    carrier_seal(&req);
    pid1_run(&req, hooks);

    return 1;
}
