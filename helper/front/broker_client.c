
/*
 * In retort-front, as its own uid without any capability.  The broker is the
 * one peer that is believed; its answers are checked for size and count only.
 *
 * Any thread sends, one thread reads.  A caller waits in a slot whose number
 * is the low part of the message's seq.  A slot that was given up is free
 * again when its late answer comes.
 */

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bounds.h"
#include "broker_client.h"
#include "flog.h"
#include "lib/fdpass.h"


#define BRK_SLOTS   256
#define BRK_NOBODY  BRK_SLOTS       /* the slot number of brk_post() */
#define BRK_EVENT   (BRK_SLOTS + 1) /* and of brk_post_event() */
#define BRK_SHIFT   512


typedef enum { SLOT_FREE, SLOT_WAITS, SLOT_ANSWERED, SLOT_LEFT } brk_slot_e;

typedef struct {
    brk_slot_e       state;
    uint32_t         seq;
    int              fds[BRK_FDS];
    int              nfd;
    brk_ans_t        ans;
    pthread_cond_t   cond;
} brk_slot_t;


static int              brk_sock = -1;
static uint32_t         brk_turn;
static brk_event_pt     brk_event;
static brk_slot_t       brk_slots[BRK_SLOTS];
static pthread_mutex_t  brk_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t   brk_free = PTHREAD_COND_INITIALIZER;


void
brk_request(brk_req_t *req, brk_op_t op, uint64_t id)
{
    memset(req, 0, sizeof(brk_req_t));
    req->op = (uint16_t) op;
    req->version = BRK_VERSION;
    req->id = id;
}


static void
brk_gone(const char *why)
{
    flog(RLOG_ERROR, "broker: %s", why);
    _exit(1);
}


/* reads one message; ends the process if there is none or a broken one */

static void
brk_read(brk_ans_t *ans, int *fds, int *nfd)
{
    ssize_t  n;

    *nfd = BRK_FDS;
    n = fd_recv(brk_sock, ans, sizeof(brk_ans_t), fds, nfd, 0);

    if (n == 0) {
        brk_gone("closed the connection");
    }

    if (n != (ssize_t) sizeof(brk_ans_t)
        || (*nfd != 0 && *nfd != BRK_FDS))
    {
        brk_gone(n == -1 ? strerror(errno) : "message of a wrong size");
    }
}


static void
brk_close(const int *fds, int nfd)
{
    while (nfd > 0) {
        (void) close(fds[--nfd]);
    }
}


static void
brk_answer(const brk_ans_t *ans, const int *fds, int nfd)
{
    uint32_t     i;
    brk_slot_t  *slot;

    i = ans->seq % BRK_SHIFT;

    if (i == BRK_EVENT) {
        brk_event(ans, fds, nfd);
        return;
    }

    if (i >= BRK_SLOTS) {
        brk_close(fds, nfd);
        return;
    }

    slot = &brk_slots[i];

    (void) pthread_mutex_lock(&brk_mutex);

    if (slot->seq == ans->seq && slot->state == SLOT_WAITS) {
        slot->ans = *ans;
        slot->nfd = nfd;
        memcpy(slot->fds, fds, sizeof(int) * (size_t) nfd);
        slot->state = SLOT_ANSWERED;
        (void) pthread_cond_signal(&slot->cond);
        nfd = 0;

    } else if (slot->seq == ans->seq && slot->state == SLOT_LEFT) {
        slot->state = SLOT_FREE;
        (void) pthread_cond_signal(&brk_free);
    }

    (void) pthread_mutex_unlock(&brk_mutex);

    brk_close(fds, nfd);
}


static void
brk_dispatch(void)
{
    int        nfd, fds[BRK_FDS];
    brk_ans_t  ans;

    brk_read(&ans, fds, &nfd);

    if (ans.seq == 0) {
        brk_event(&ans, fds, nfd);
        return;
    }

    brk_answer(&ans, fds, nfd);
}


int
brk_hello(int sock, brk_event_pt event)
{
    int                 i, nfd, fds[BRK_FDS];
    brk_req_t           req;
    brk_ans_t           ans;
    pthread_condattr_t  attr;

    brk_sock = sock;
    brk_event = event;

    (void) pthread_condattr_init(&attr);
    (void) pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);

    for (i = 0; i < BRK_SLOTS; i++) {
        (void) pthread_cond_init(&brk_slots[i].cond, &attr);
    }

    brk_request(&req, BRK_HELLO, 0);
    req.seq = BRK_NOBODY;

    if (fd_send(sock, &req, sizeof(req), NULL, 0) == -1) {
        flog(RLOG_ERROR, "broker: %s", strerror(errno));
        return -1;
    }

    brk_read(&ans, fds, &nfd);
    brk_close(fds, nfd);

    if (ans.op != BRK_HELLO || ans.code != BRK_OK) {
        flog(RLOG_ERROR, "broker: hello refused, code %u", ans.code);
        return -1;
    }

    return 0;
}


int
brk_boxes(void)
{
    int        nfd, fds[BRK_FDS];
    brk_ans_t  ans;

    for ( ;; ) {
        brk_read(&ans, fds, &nfd);

        if (ans.op == BRK_EV_BOXES_END) {
            brk_close(fds, nfd);
            return 0;
        }

        if (ans.seq != 0) {
            flog(RLOG_ERROR, "broker: an answer before the boxes' end");
            brk_close(fds, nfd);
            return -1;
        }

        brk_event(&ans, fds, nfd);
    }
}


void *
brk_reader(void *unused)
{
    (void) unused;

    for ( ;; ) {
        brk_dispatch();
    }

    return NULL;
}


/* called with the mutex held */

static uint32_t
brk_take(void)
{
    uint32_t  i;

    for ( ;; ) {
        for (i = 0; i < BRK_SLOTS; i++) {
            if (brk_slots[i].state == SLOT_FREE) {
                brk_slots[i].state = SLOT_WAITS;
                return i;
            }
        }

        (void) pthread_cond_wait(&brk_free, &brk_mutex);
    }
}


/* called with the mutex held; never 0, for the turn is never 0 */

static uint32_t
brk_seq(uint32_t slot)
{
    brk_turn = brk_turn % (UINT32_MAX / BRK_SHIFT - 1) + 1;

    return brk_turn * BRK_SHIFT + slot;
}


static void
brk_send(const brk_req_t *req)
{
    if (fd_send(brk_sock, req, sizeof(brk_req_t), NULL, 0) == -1) {
        brk_gone(strerror(errno));
    }
}


static void
brk_until(struct timespec *ts)
{
    (void) clock_gettime(CLOCK_MONOTONIC, ts);
    ts->tv_sec += BOUND_BROKER_TIME / 1000;
}


/* called with the mutex held; gives the slot back or up */

static int
brk_wait(brk_slot_t *slot, brk_ans_t *ans, int *fds, int *nfd)
{
    int              rc;
    struct timespec  until;

    rc = 0;
    brk_until(&until);

    while (slot->state == SLOT_WAITS && rc == 0) {
        rc = pthread_cond_timedwait(&slot->cond, &brk_mutex, &until);
    }

    if (slot->state != SLOT_ANSWERED) {
        slot->state = SLOT_LEFT;
        return -1;
    }

    *ans = slot->ans;
    *nfd = slot->nfd;
    memcpy(fds, slot->fds, sizeof(slot->fds));
    slot->state = SLOT_FREE;
    (void) pthread_cond_signal(&brk_free);

    return 0;
}


int
brk_call(const brk_req_t *req, brk_ans_t *ans, int *fds)
{
    int          rc, nfd, got[BRK_FDS];
    uint32_t     i;
    brk_req_t    out;

    out = *req;
    nfd = 0;

    (void) pthread_mutex_lock(&brk_mutex);

    i = brk_take();
    out.seq = brk_slots[i].seq = brk_seq(i);
    brk_send(&out);
    rc = brk_wait(&brk_slots[i], ans, got, &nfd);

    (void) pthread_mutex_unlock(&brk_mutex);

    if (rc == -1) {
        flog(RLOG_ERROR, "broker: no answer to operation %u", out.op);
        return -1;
    }

    if (fds != NULL && nfd == BRK_FDS && ans->code == BRK_OK) {
        memcpy(fds, got, sizeof(got));
        return 0;
    }

    brk_close(got, nfd);

    if (fds != NULL && ans->code == BRK_OK) {
        flog(RLOG_ERROR, "broker: an answer without descriptors");
        return -1;
    }

    return 0;
}


static void
brk_post_as(const brk_req_t *req, uint32_t slot)
{
    brk_req_t  out;

    out = *req;

    (void) pthread_mutex_lock(&brk_mutex);

    out.seq = brk_seq(slot);
    brk_send(&out);

    (void) pthread_mutex_unlock(&brk_mutex);
}


void
brk_post(const brk_req_t *req)
{
    brk_post_as(req, BRK_NOBODY);
}


void
brk_post_event(const brk_req_t *req)
{
    brk_post_as(req, BRK_EVENT);
}
