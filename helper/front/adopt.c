
/*
 * In retort-front, as its own uid without any capability.  The kernels' side
 * is as hostile as ever: everything they say is dropped, and only the echo of
 * KRN_RESET counts.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adopt.h"
#include "bounds.h"
#include "box.h"
#include "clock.h"
#include "flog.h"
#include "kernel_io.h"
#include "wake.h"


#define ADOPT_ECHO   100        /* msec for a kernel that is idle */
#define ADOPT_GRACE  3000       /* msec after a SIGINT: nobody reads that cell's
                                 * answer, but a kill costs variables */
#define ADOPT_READ   65536


typedef struct {
    box_t      *box;            /* NULL: done */
    krn_in_t    in;
    krn_out_t   out;
    int         stage;          /* 0 asked, 1 SIGINT, 2 SIGKILL */
    int         echoed;
    int         closed[BRK_BOX_FDS];
    int         risen;          /* a snapshot was asked, not the kernel */
    uint64_t    alarm;
} adopt_t;


static const retort_settings_t  *adopt_settings;
static adopt_t                  *adopts;
static size_t                    nadopts;


int
adopt_init(const retort_settings_t *s)
{
    adopt_settings = s;
    adopts = calloc(s->nslots, sizeof(adopt_t));

    return adopts != NULL ? 0 : -1;
}


void
adopt_box(const brk_ans_t *ans, const int *fds, int nfd)
{
    box_t  *box;

    if (nfd != BRK_FDS) {
        flog(RLOG_ERROR, "broker: a box without descriptors");
        return;
    }

    box = box_adopt(ans, fds, adopt_settings);

    if (box == NULL) {
        return;
    }

    if (nadopts == adopt_settings->nslots) {
        box_end(box);
        return;
    }

    flog(RLOG_INFO, "sandbox %s found again", box->sandbox);
    adopts[nadopts++].box = box;
}


/* at most what a pipe holds, so that nobody can keep us here */

static void
adopt_dry(adopt_t *a, box_fd_t which)
{
    char     bytes[ADOPT_READ];
    int      turn;
    ssize_t  n;

    for (turn = 0; turn < 16 && !a->closed[which]; turn++) {
        n = read(a->box->fd[which], bytes, sizeof(bytes));

        if (n <= 0) {
            a->closed[which] = (n == 0);
            return;
        }
    }
}


/* it ended: while there was no front, or just now, which will be told */

static void
adopt_hang_up(adopt_t *a)
{
    a->closed[BOX_CHANNEL] = 1;
    a->alarm = clock_mono_us() + BOUND_GRACE * 1000;
}


static void
adopt_read(adopt_t *a)
{
    int         fd, turn;
    char        packet[KRN_PACKET + 1];
    ssize_t     n;
    krn_feed_t  fed;

    fd = a->box->fd[BOX_CHANNEL];

    for (turn = 0; turn < BOUND_TURN && !a->echoed && !a->closed[BOX_CHANNEL];
         turn++)
    {
        n = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);

        if (n == 0 || (n == -1 && errno == ECONNRESET)) {
            adopt_hang_up(a);
            return;
        }

        if (n == -1) {
            return;
        }

        /* the first packet may belong to a message begun for the dead front */
        fed = krn_in_resume(&a->in, packet, (size_t) n);

        if (fed == KRN_WHOLE && a->in.head.type == KRN_RESET
            && a->in.head.run == a->box->run)
        {
            a->echoed = 1;
            a->box->behind = a->in.head.a;

            /* the front before this one may not have come to tell it */
            a->box->risen |= (a->in.head.a != 0);
        }

        if (fed == KRN_WHOLE && a->in.head.type == KRN_SYNC) {
            krn_out(&a->out, KRN_ACK, a->in.head.run, 0);
            (void) krn_out_push(&a->out, fd);
        }
    }
}


static void
adopt_done(adopt_t *a)
{
    adopt_dry(a, BOX_STDOUT);
    adopt_dry(a, BOX_STDERR);
    buf_free(&a->in.body);

    box_stat(a->box, &a->box->stat);
    box_release(a->box);
    a->box = NULL;
}


static void
adopt_renew(adopt_t *a)
{
    box_t  *box;

    box = a->box;

    if (box->profile->life == RETORT_LIFE_EXIT || box_restart(box) == -1) {
        box_end(box);
        buf_free(&a->in.body);
        a->box = NULL;
        return;
    }

    box->lost = "its interpreter ended while the service was away";
    box->risen = 0;
    adopt_done(a);
}


/* the kernel is dead; what takes over is asked anew, once */

static void
adopt_succeed(adopt_t *a)
{
    if (a->risen || !box_succeeds(a->box)) {
        adopt_renew(a);
        return;
    }

    a->risen = 1;
    a->echoed = 0;
    a->box->risen = 1;
    a->alarm = clock_mono_us() + BOUND_RESTORE_TIME * 1000;
    krn_out(&a->out, KRN_RESET, a->box->run, 0);

    if (krn_out_push(&a->out, a->box->fd[BOX_CHANNEL]) != 1) {
        adopt_renew(a);
    }
}


static void
adopt_late(adopt_t *a, uint64_t now)
{
    if (a->closed[BOX_CHANNEL] || a->risen) {
        adopt_renew(a);
        return;
    }

    switch (a->stage++) {

    case 0:
        box_signal(a->box, SIGINT, KRN_OTHERS | a->box->run);
        a->alarm = now + ADOPT_GRACE * 1000;
        break;

    case 1:
        box_signal(a->box, SIGKILL, 0);
        a->alarm = now + BOUND_KILL_TIME * 1000;
        break;

    default:
        box_end(a->box);
        buf_free(&a->in.body);
        a->box = NULL;
        break;
    }
}


static void
adopt_step(adopt_t *a)
{
    box_t     news;
    uint64_t  now;

    if (a->box == NULL) {
        return;
    }

    adopt_read(a);
    adopt_dry(a, BOX_STDOUT);
    adopt_dry(a, BOX_STDERR);
    box_news(a->box, &news);

    if (news.gone) {
        box_end(a->box);
        buf_free(&a->in.body);
        a->box = NULL;

    } else if (news.kernel_gone) {
        adopt_succeed(a);

    } else if (a->echoed && (a->stage < 2 || a->risen)) {
        /* a SIGKILL on its way would meet the next run */
        adopt_done(a);

    } else {
        now = clock_mono_us();

        if (now >= a->alarm) {
            adopt_late(a, now);
        }
    }
}


static void
adopt_ask(adopt_t *a)
{
    a->alarm = clock_mono_us() + ADOPT_ECHO * 1000;
    box_own(a->box);
    a->box->run = (uint32_t) (clock_mono_us() >> 10);
    box_next_run(a->box);

    krn_out(&a->out, KRN_RESET, a->box->run, 0);

    if (krn_out_push(&a->out, a->box->fd[BOX_CHANNEL]) == 0) {
        a->stage = 1;
        a->alarm = 0;
    }
}


/* descriptors of all that are not done; msec until the first alarm */

static int
adopt_wait(struct pollfd *p, nfds_t *n)
{
    int        j;
    size_t     i;
    uint64_t   now, next;

    next = UINT64_MAX;
    *n = 0;
    p[*n].fd = wake_fd();
    p[(*n)++].events = POLLIN;

    for (i = 0; i < nadopts; i++) {
        if (adopts[i].box == NULL) {
            continue;
        }

        for (j = 0; j < BRK_BOX_FDS; j++) {
            p[*n].fd = adopts[i].closed[j] ? -1 : adopts[i].box->fd[j];
            p[(*n)++].events = POLLIN;
        }

        next = adopts[i].alarm < next ? adopts[i].alarm : next;
    }

    now = clock_mono_us();

    return next <= now ? 0 : (int) ((next - now) / 1000 + 1);
}


void *
adopt_thread(void *unused)
{
    int             msec;
    nfds_t          n;
    size_t          i;
    struct pollfd  *p;

    (void) unused;

    p = calloc(nadopts * BRK_BOX_FDS + 1, sizeof(struct pollfd));

    for (i = 0; i < nadopts; i++) {
        if (p == NULL) {
            box_end(adopts[i].box);
            continue;
        }

        adopt_ask(&adopts[i]);
    }

    for (n = 2; p != NULL && n > 1; /* void */ ) {
        msec = adopt_wait(p, &n);

        if (n > 1) {
            (void) poll(p, n, msec);
        }

        wake_clear(wake_fd());

        for (i = 0; i < nadopts; i++) {
            adopt_step(&adopts[i]);
        }
    }

    free(p);

    return NULL;
}
