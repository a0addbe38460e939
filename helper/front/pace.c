
/*
 * In retort-front, as its own uid without any capability.
 */

#include <pthread.h>
#include <time.h>

#include "clock.h"
#include "pace.h"


#define PACE_MOMENT  20000      /* usec; more than making one takes */
#define PACE_FORGET  60000000   /* usec; more than anything takes */


static unsigned         pace_n;
static uint64_t         pace_last;      /* when one began */
static pthread_cond_t   pace_cond;
static pthread_mutex_t  pace_mutex = PTHREAD_MUTEX_INITIALIZER;


int
pace_init(void)
{
    pthread_condattr_t  attr;

    return pthread_condattr_init(&attr) == 0
           && pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0
           && pthread_cond_init(&pace_cond, &attr) == 0 ? 0 : -1;
}


/* an end that was told before its beginning must not be waited for for ever */

void
pace_begin(void)
{
    uint64_t  now;

    now = clock_mono_us();

    (void) pthread_mutex_lock(&pace_mutex);

    if (now > pace_last + PACE_FORGET) {
        pace_n = 0;
    }

    pace_last = now;
    pace_n++;
    (void) pthread_mutex_unlock(&pace_mutex);
}


/* one too many is none: a front that comes in between did not see it begin */

void
pace_end(void)
{
    (void) pthread_mutex_lock(&pace_mutex);

    if (pace_n > 0) {
        pace_n--;
        (void) pthread_cond_broadcast(&pace_cond);
    }

    (void) pthread_mutex_unlock(&pace_mutex);
}


void
pace_wait(unsigned n)
{
    int              rc;
    uint64_t         until;
    struct timespec  ts;

    until = clock_mono_us() + PACE_MOMENT;
    ts.tv_sec = (time_t) (until / 1000000);
    ts.tv_nsec = (long) (until % 1000000) * 1000;

    (void) pthread_mutex_lock(&pace_mutex);

    for (rc = 0; pace_n >= n && rc == 0; /* void */ ) {
        rc = pthread_cond_timedwait(&pace_cond, &pace_mutex, &ts);
    }

    (void) pthread_mutex_unlock(&pace_mutex);
}
