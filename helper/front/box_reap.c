
/*
 * In retort-front, as its own uid without any capability.  Who sees to it that
 * sessions end when they are due.
 */

#include <time.h>

#include "box_table.h"
#include "broker_client.h"
#include "clock.h"
#include "flog.h"


#define REAP_MANY   32          /* sessions that end at once */
#define REAP_PAUSE  5000        /* usec until the next ones do */


static uint64_t  reap_next = UINT64_MAX;    /* when it wakes up */


void
box_alarm(uint64_t when)
{
    if (when < reap_next) {
        (void) pthread_cond_signal(&box_clock);
    }
}


/* the mutex is held; what runs in a session of age ends with it */

static void
box_expire(box_t *box)
{
    brk_req_t  req;

    if (!box->resting) {
        flog(RLOG_INFO, "sandbox %s expired", box->sandbox);
    }

    if (box->owned) {
        box->doomed = 1;
        box->aged = 1;
        brk_request(&req, BRK_KILL, box->id);
        brk_post(&req);
        return;
    }

    box_drop(box);
}


/*
 * The mutex is held; ends what is due, some at a time, since who reads what the
 * broker says of each needs it, too; tells when the next one is.
 */

static uint64_t
box_reap(uint64_t now)
{
    size_t    i;
    box_t    *box;
    unsigned  ended;
    uint64_t  end, next;

    ended = 0;
    next = UINT64_MAX;

    for (i = 0; i < box_size; i++) {
        box = box_table[i];

        if (box == NULL || box->doomed) {
            continue;
        }

        end = box->owned ? box->dies : box->expires;

        if (end != 0 && end <= now) {
            if (ended++ == REAP_MANY) {
                return now + REAP_PAUSE;
            }

            box_expire(box);

        } else if (end != 0 && end < next) {
            next = end;
        }
    }

    return next;
}


void *
box_reaper(void *unused)
{
    struct timespec  ts;

    (void) unused;
    (void) pthread_mutex_lock(&box_mutex);

    for ( ;; ) {
        reap_next = box_reap(clock_mono_us());

        if (reap_next == UINT64_MAX) {
            (void) pthread_cond_wait(&box_clock, &box_mutex);
            continue;
        }

        ts.tv_sec = (time_t) (reap_next / 1000000);
        ts.tv_nsec = (long) (reap_next % 1000000) * 1000;
        (void) pthread_cond_timedwait(&box_clock, &box_mutex, &ts);
    }

    return NULL;
}
