
/*
 * The channel to the front, from the sandbox's side.  Runs in the kernel
 * process, as the sandbox's uid, next to tenant code that could do all of
 * this by itself; so nothing here protects anybody but this session.  The
 * front is believed, but a packet that breaks the protocol ends the process.
 */

#include "retort.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../../helper/init/init.h"
#include "fdpass.h"


static PyThread_type_lock  wire_mutex;
static uint32_t            wire_run;
static uint32_t            wire_reset_run;
static int                 wire_active;
static uint32_t            wire_undone;     /* runs, as the front has to know */
static int                 wire_told;       /* it does if it asks for a run */
static int                 wire_mute;       /* a reset waits for the end */
static int                 wire_child;
static int                 wire_kept;      /* this fork is no tenant's */


static void
wire_atfork_child(void)
{
    if (wire_kept) {
        return;
    }

    interrupt_forked();
    wire_child = 1;
    wire_active = 0;
    (void) close(KRN_FD);
    out_forget();
}


void
wire_start(void)
{
    wire_mutex = PyThread_allocate_lock();

    if (wire_mutex == NULL
        || fcntl(KRN_FD, F_SETFD, FD_CLOEXEC) == -1
        || pthread_atfork(NULL, NULL, wire_atfork_child) != 0)
    {
        _exit(KERN_EXIT_FATAL);
    }
}


int
wire_forked(void)
{
    return wire_child;
}


void
wire_keep(int on)
{
    wire_kept = on;
}


void
wire_renew(void)
{
    wire_kept = 0;
    wire_active = 0;
    wire_mute = 0;
    out_forget();

    /* a thread that is gone may have held the other one */
    wire_mutex = PyThread_allocate_lock();

    if (wire_mutex == NULL) {
        _exit(KERN_EXIT_FATAL);
    }
}


int
wire_running(void)
{
    return wire_active;
}


void
wire_lock(void)
{
    if (wire_mutex == NULL || wire_child
        || PyThread_acquire_lock(wire_mutex, NOWAIT_LOCK))
    {
        return;
    }

    Py_BEGIN_ALLOW_THREADS
    (void) PyThread_acquire_lock(wire_mutex, WAIT_LOCK);
    Py_END_ALLOW_THREADS
}


void
wire_unlock(void)
{
    if (wire_mutex != NULL && !wire_child) {
        PyThread_release_lock(wire_mutex);
    }
}


/*
 * A full socket means a front that is busy or gone for the moment: wait, and
 * let other threads run.  A signal does not cut a message in two.
 */

static void
wire_put(struct msghdr *mh)
{
    ssize_t  n;

    n = sendmsg(KRN_FD, mh, MSG_NOSIGNAL|MSG_DONTWAIT);

    while (n == -1 && (errno == EAGAIN || errno == EINTR)) {
        Py_BEGIN_ALLOW_THREADS
        n = sendmsg(KRN_FD, mh, MSG_NOSIGNAL);
        Py_END_ALLOW_THREADS
    }

    if (n == -1) {
        _exit(KERN_EXIT_GONE);
    }
}


/* the bytes of all parts from "skip" on, at most KRN_PAYLOAD of them */

static size_t
wire_slice(struct iovec *iov, size_t *niov, const wire_part_t *parts,
    int nparts, size_t skip)
{
    int     i;
    size_t  n, len;

    len = 0;

    for (i = 0; i < nparts && len < KRN_PAYLOAD; i++) {
        if (skip >= parts[i].len) {
            skip -= parts[i].len;
            continue;
        }

        n = parts[i].len - skip;
        n = n < KRN_PAYLOAD - len ? n : KRN_PAYLOAD - len;
        iov[*niov].iov_base = (char *) parts[i].data + skip;
        iov[*niov].iov_len = n;
        (*niov)++;
        len += n;
        skip = 0;
    }

    return len;
}


void
wire_send(uint8_t type, uint32_t a, uint32_t b, const wire_part_t *parts,
    int nparts)
{
    int            i;
    size_t         n, sent, total;
    krn_head_t     head;
    struct iovec   iov[1 + KRN_PARTS];
    struct msghdr  mh;

    if (wire_mute || wire_child) {
        return;
    }

    memset(&head, 0, sizeof(head));
    head.version = KRN_VERSION;
    head.type = type;
    head.run = wire_run;
    head.a = a;
    head.b = b;
    total = 0;

    for (i = 0; i < nparts; i++) {
        head.part[i] = (uint32_t) parts[i].len;
        total += parts[i].len;
    }

    sent = 0;

    do {
        memset(&mh, 0, sizeof(mh));
        mh.msg_iov = iov;
        mh.msg_iovlen = 1;
        iov[0].iov_base = &head;
        iov[0].iov_len = sizeof(head);
        n = wire_slice(iov, &mh.msg_iovlen, parts, nparts, sent);
        head.len = (uint16_t) n;
        wire_put(&mh);
        head.type = KRN_MORE;
        sent += n;
    } while (sent < total);
}


int
wire_waiting(int timeout)
{
    int            rc;
    struct pollfd  pfd;

    pfd.fd = KRN_FD;
    pfd.events = POLLIN;

    Py_BEGIN_ALLOW_THREADS
    rc = poll(&pfd, 1, timeout);
    Py_END_ALLOW_THREADS

    return rc == 1;
}


int
wire_asked(void)
{
    struct pollfd  pfd;

    pfd.fd = KRN_FD;
    pfd.events = POLLIN;

    return poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLIN);
}


void
wire_receive(wire_packet_t *packet)
{
    int      error;
    ssize_t  n;

    Py_BEGIN_ALLOW_THREADS
    n = fd_recv(KRN_FD, packet, sizeof(*packet), NULL, NULL, 0);
    error = errno;
    Py_END_ALLOW_THREADS

    if (n == 0 || (n == -1 && error != EMSGSIZE)) {
        _exit(KERN_EXIT_GONE);
    }

    if (n < (ssize_t) sizeof(krn_head_t)
        || packet->head.version != KRN_VERSION
        || (size_t) n != sizeof(krn_head_t) + packet->head.len)
    {
        _exit(KERN_EXIT_WIRE);
    }
}


static uint64_t
wire_total(const krn_head_t *head)
{
    int       i;
    uint64_t  total;

    total = 0;

    for (i = 0; i < KRN_PARTS; i++) {
        total += head->part[i];
    }

    return total;
}


int
wire_body(wire_packet_t *packet, wire_take_pt take, void *data)
{
    uint32_t  run;
    uint64_t  left;

    run = packet->head.run;
    left = wire_total(&packet->head);

    for ( ;; ) {
        if (packet->head.len > left || (packet->head.len == 0 && left != 0)) {
            _exit(KERN_EXIT_WIRE);
        }

        take(data, packet->payload, packet->head.len);
        left -= packet->head.len;

        if (left == 0) {
            return 0;
        }

        wire_receive(packet);

        if (packet->head.type == KRN_RESET) {
            return -1;
        }

        if (packet->head.type != KRN_MORE || packet->head.run != run) {
            _exit(KERN_EXIT_WIRE);
        }
    }
}


static int
wire_pending(int fd)
{
    int  n;

    return ioctl(fd, FIONREAD, &n) == 0 && n > 0;
}


void
wire_sync(void)
{
    static wire_packet_t  packet;       /* under the lock */

    if (wire_mute || wire_child
        || !(init_carried || wire_pending(1) || wire_pending(2)))
    {
        return;
    }

    wire_send(KRN_SYNC, 0, 0, NULL, 0);

    do {
        wire_receive(&packet);

        if (packet.head.type == KRN_RESET) {
            wire_mute = 1;
            wire_reset_run = packet.head.run;
            return;
        }

        if (packet.head.type != KRN_ACK || packet.head.len != 0) {
            _exit(KERN_EXIT_WIRE);
        }
    } while (packet.head.run != wire_run);
}


void
wire_begin(uint32_t run)
{
    wire_run = run;
    wire_active = 1;
    wire_undone = wire_told ? 0 : wire_undone;
    wire_told = 1;
}


void
wire_as(uint32_t run)
{
    wire_run = run;
}


void
wire_end(void)
{
    wire_active = 0;

    if (wire_mute) {
        wire_reset(wire_reset_run);
    }
}


void
wire_undo(uint32_t runs)
{
    wire_undone = (wire_told ? 0 : wire_undone) + runs;
    wire_told = 0;
}


void
wire_reset(uint32_t run)
{
    wire_mute = 0;
    wire_told = 0;
    wire_run = run;
    interrupt_reset(run);
    wire_lock();
    wire_send(KRN_RESET, wire_undone, 0, NULL, 0);
    wire_unlock();
}
