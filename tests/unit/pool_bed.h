
/*
 * A pool of which a test says when a sandbox is made, and when who waits for
 * one gets as far as to take it.
 */

#ifndef UNIT_POOL_BED_H
#define UNIT_POOL_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <time.h>

#include "front/broker_client.h"
#include "front/pool.h"
#include "front/wake.h"


#define BOXES     64
#define PATIENCE  60            /* seconds */


static unsigned         asked;          /* makers that came for a box */
static unsigned         allowed;        /* boxes that may be made */
static unsigned         made;
static unsigned         ended;
static unsigned         asleep;         /* waiters, in the line */
static int              awake;          /* they may go on */
static int              over;           /* makers end */
static int              channel;
static box_t            boxes[BOXES];
static pthread_cond_t   changed = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t  lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  *idle_cond;      /* the pool's own */
static pthread_mutex_t *pool_lock;

static _Thread_local int  waits;


static int
wait_on(pthread_cond_t *cond, pthread_mutex_t *mutex, time_t seconds)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);
    ts.tv_sec += seconds;

    return pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &ts);
}


static void
count(unsigned *n)
{
    (void) pthread_mutex_lock(&lock);
    (*n)++;
    (void) pthread_cond_broadcast(&changed);
    (void) pthread_mutex_unlock(&lock);
}


static void
wait_for(const unsigned *n, unsigned least)
{
    int  rc;

    (void) pthread_mutex_lock(&lock);

    for (rc = 0; *n < least && rc == 0; /* void */ ) {
        rc = wait_on(&changed, &lock, PATIENCE);
    }

    (void) pthread_mutex_unlock(&lock);

    assert_int_equal(rc, 0);
}


/* of the pool: a waiter whose box came is not the next to get the lock */

int
pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    (void) pthread_mutex_lock(&lock);

    if (!waits) {
        idle_cond = cond;
        pool_lock = mutex;
    }

    if (over && !waits) {
        (void) pthread_mutex_unlock(&lock);
        (void) pthread_mutex_unlock(mutex);
        pthread_exit(NULL);
    }

    (void) pthread_mutex_unlock(&lock);

    if (waits) {
        count(&asleep);
    }

    (void) wait_on(cond, mutex, PATIENCE);

    if (!waits) {
        return 0;
    }

    (void) pthread_mutex_unlock(mutex);
    (void) pthread_mutex_lock(&lock);

    while (!awake) {
        (void) wait_on(&changed, &lock, PATIENCE);
    }

    (void) pthread_mutex_unlock(&lock);
    (void) pthread_mutex_lock(mutex);

    return 0;
}


/* a box is made as soon as the test allows it */

box_t *
box_spawn(const retort_profile_t *p, const retort_box_limits_t *limits,
    err_t *e)
{
    box_t  *box;

    (void) p;
    (void) limits;
    (void) e;

    (void) pthread_mutex_lock(&lock);

    asked++;
    (void) pthread_cond_broadcast(&changed);

    while (made == allowed && !over) {
        (void) wait_on(&changed, &lock, PATIENCE);
    }

    if (over) {
        (void) pthread_mutex_unlock(&lock);
        pthread_exit(NULL);
    }

    box = &boxes[made++];
    box->fd[BOX_CHANNEL] = channel;
    (void) pthread_mutex_unlock(&lock);

    return box;
}


void
box_end(box_t *box)
{
    box->gone = 1;
    count(&ended);
}


void
box_own(box_t *box)
{
    /* "refs": how many were given it */
    (void) __atomic_add_fetch(&box->refs, 1, __ATOMIC_SEQ_CST);
}


void
box_news(box_t *box, box_t *copy)
{
    memset(copy, 0, sizeof(box_t));
    copy->gone = box->gone;
}


/* what else the pool is linked with */

void
box_stat(const box_t *box, brk_stat_t *s)
{
    (void) box;
    (void) s;
}


box_t *
box_rouse(void)
{
    return NULL;
}


int
wake_fd(void)
{
    return -1;
}


void
wake_clear(int fd)
{
    (void) fd;
}


box_t *
box_reuse(const retort_profile_t *p, const retort_box_limits_t *limits,
    const char *workspace)
{
    (void) p;
    (void) limits;
    (void) workspace;

    return NULL;
}


void
brk_request(brk_req_t *req, brk_op_t op, uint64_t id)
{
    (void) req;
    (void) op;
    (void) id;
}


int
brk_call(const brk_req_t *req, brk_ans_t *ans, int *fds)
{
    (void) req;
    (void) ans;
    (void) fds;

    return -1;
}

#endif /* UNIT_POOL_BED_H */
