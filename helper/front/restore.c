
/*
 * In retort-front, as its own uid without any capability.  A snapshot is the
 * tenant's as much as the kernel was: what it says is dropped, only the echo
 * of KRN_RESET counts, and its time is bounded.
 */

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "bounds.h"
#include "clock.h"
#include "flog.h"
#include "kernel_io.h"
#include "restore.h"
#include "wake.h"


/* 1 if it has come into step, 0 not yet, -1 never */

static int
restore_read(box_t *box, krn_in_t *in)
{
    int         turn;
    char        packet[KRN_PACKET + 1];
    ssize_t     n;
    krn_feed_t  fed;

    for (turn = 0; turn < BOUND_TURN; turn++) {
        n = recv(box->fd[BOX_CHANNEL], packet, sizeof(packet), MSG_DONTWAIT);

        if (n <= 0) {
            return n == 0 ? -1 : 0;
        }

        fed = krn_in_resume(in, packet, (size_t) n);

        if (fed == KRN_WHOLE && in->head.type == KRN_RESET
            && in->head.run == box->run)
        {
            box->behind = in->head.a;
            return 1;
        }
    }

    return 0;
}


/* the alarm is a mono usec; -1 if it is over */

static int
restore_poll(const box_t *box, int writes, uint64_t alarm)
{
    int            i;
    uint64_t       now;
    struct pollfd  p[BRK_BOX_FDS + 1];

    now = clock_mono_us();

    if (now >= alarm) {
        return -1;
    }

    memset(p, 0, sizeof(p));

    for (i = 0; i < BRK_BOX_FDS; i++) {
        p[i].fd = box->fd[i];
        p[i].events = POLLIN;
    }

    if (writes) {
        p[BOX_CHANNEL].events |= POLLOUT;
    }

    p[i].fd = wake_fd();
    p[i].events = POLLIN;

    (void) poll(p, BRK_BOX_FDS + 1, (int) ((alarm - now) / 1000 + 1));

    if (p[i].revents != 0) {
        wake_clear(wake_fd());
    }

    return 0;
}


/* NULL, or what went wrong */

static const char *
restore_wait(box_t *box)
{
    int        rc;
    box_t      news;
    krn_in_t   in;
    uint64_t   alarm;
    krn_out_t  out;

    alarm = clock_mono_us() + BOUND_RESTORE_TIME * 1000;
    memset(&in, 0, sizeof(in));
    krn_out(&out, KRN_RESET, box->run, 0);

    do {
        rc = krn_out_push(&out, box->fd[BOX_CHANNEL]);
        box_news(box, &news);

        if (rc == -1 || news.kernel_gone || news.gone) {
            return "the snapshot ended while it took over";
        }

        if (restore_poll(box, rc == 0, alarm) == -1) {
            return "the snapshot did not take over in time";
        }

        krn_dry(box->fd[BOX_STDOUT]);
        krn_dry(box->fd[BOX_STDERR]);
        rc = restore_read(box, &in);

        if (rc == -1) {
            return "the snapshot closed its channel";
        }
    } while (rc == 0);

    return NULL;
}


const char *
restore_behind(const box_t *box)
{
    static const char *const  text[] = {
        NULL,
        "the run before this one is undone as well",
        "the two runs before this one are undone as well",
        "the three runs before this one are undone as well",
        "several runs before this one are undone as well"
    };

    return text[box->behind < 4 ? box->behind : 4];
}


box_fate_t
restore(box_t *box, const char **why)
{
    *why = NULL;

    if (box_succeeds(box)) {
        *why = restore_wait(box);

        if (*why == NULL) {
            box_stat(box, &box->stat);
            *why = restore_behind(box);
            return STATE_RESTORED;
        }

    } else if (box->profile->snapshot) {
        *why = "there was no snapshot to go back to";

    } else {
        *why = "its profile has snapshots off";
    }

    flog(RLOG_INFO, "sandbox %s: its variables are lost: %s", box->sandbox,
         *why);

    if (box_restart(box) == -1) {
        return STATE_GONE;
    }

    box_stat(box, &box->stat);

    return STATE_LOST;
}
