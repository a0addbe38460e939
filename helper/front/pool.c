
/*
 * In retort-front, as its own uid without any capability.
 *
 * Refilling uses the cores that requests leave idle: it begins when a box is
 * taken, and gives way for a moment if each core has a request or another box
 * that is made.
 * A request that finds nothing ready takes what is being made, if nobody else
 * waits for it: that is ready sooner than a box of its own.  A workspace that
 * has had more than its share lately leaves the last ones to others.
 */

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bounds.h"
#include "broker_client.h"
#include "clock.h"
#include "flog.h"
#include "line.h"
#include "pace.h"
#include "pool.h"
#include "share.h"
#include "wake.h"


#define POOL_GIVE_WAY  20000        /* usec */
#define POOL_BACK_OFF  1000000      /* usec after a box could not be sealed */
#define POOL_START     2000         /* msec, until its interpreter says so */


typedef struct {
    const retort_profile_t  *profile;
    box_t                  **boxes;
    line_t                   line;      /* requests, for what is made */
    uint32_t                 n;
    uint32_t                 making;    /* by the threads here */
    int                      proved;
    int                      blocked;   /* no place until a kick */
    uint64_t                 not_before;
} pool_t;


static pool_t           pools[RETORT_PROFILES_MAX];
static uint32_t         npools;
static unsigned         pool_busy;
static unsigned         pool_cores;
static unsigned         pool_claims;
static pthread_cond_t   pool_cond;
static pthread_cond_t   pool_made = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t  pool_mutex = PTHREAD_MUTEX_INITIALIZER;


static unsigned
pool_count_cores(void)
{
    int        n;
    cpu_set_t  set;

    if (sched_getaffinity(0, sizeof(set), &set) == -1) {
        return 1;
    }

    n = CPU_COUNT(&set);

    return n > 0 ? (unsigned) n : 1;
}


unsigned
pool_makers(void)
{
    return pool_cores < POOL_MAKERS ? pool_cores : POOL_MAKERS;
}


int
pool_init(const retort_settings_t *s)
{
    pool_t              *p;
    pthread_condattr_t   attr;

    if (pthread_condattr_init(&attr) != 0
        || pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) != 0
        || pthread_cond_init(&pool_cond, &attr) != 0)
    {
        return -1;
    }

    pool_cores = pool_count_cores();

    for (npools = 0; npools < s->nprofiles; npools++) {
        p = &pools[npools];
        p->profile = &s->profile[npools];
        p->boxes = calloc((size_t) p->profile->ready + POOL_MAKERS,
                          sizeof(box_t *));

        if (p->boxes == NULL) {
            return -1;
        }
    }

    return 0;
}


static pool_t *
pool_of(const retort_profile_t *profile)
{
    uint32_t  i;

    for (i = 0; i < npools; i++) {
        if (pools[i].profile == profile) {
            return &pools[i];
        }
    }

    return NULL;
}


static int
pool_dead(box_t *box)
{
    box_t  news;

    box_news(box, &news);

    return news.kernel_gone || news.gone || news.doomed;
}


/*
 * Its end may be known here before the broker has told it, or have been told
 * before anybody here knew its number.
 */

static int
pool_hung_up(const box_t *box)
{
    struct pollfd  p;

    p.fd = box->fd[BOX_CHANNEL];
    p.events = POLLRDHUP;
    p.revents = 0;

    return poll(&p, 1, 0) != 0;
}


/*
 * The mutex is held.  The oldest, which is warm; or the newest, whose own
 * warming up is then spared, for who would wait for one to be made anyhow.
 */

static box_t *
pool_pick(pool_t *p, int newest)
{
    box_t  *box;

    if (p->n == 0) {
        return NULL;
    }

    p->n--;

    if (newest) {
        return p->boxes[p->n];
    }

    box = p->boxes[0];
    memmove(p->boxes, p->boxes + 1, p->n * sizeof(box_t *));

    return box;
}


static box_t *
pool_pop(pool_t *p)
{
    box_t  *box;

    (void) pthread_mutex_lock(&pool_mutex);
    box = pool_pick(p, 0);
    (void) pthread_mutex_unlock(&pool_mutex);

    return box;
}


/* the mutex is held; none may be wanted, but that it can be is shown once */

static uint32_t
pool_wish(const pool_t *p)
{
    return p->line.n + (p->proved || p->profile->ready != 0
                         ? p->profile->ready : 1);
}


/* the mutex is held; one that wants a box now, or when one will */

static pool_t *
pool_wanting(uint64_t now, uint64_t *when)
{
    pool_t    *p;
    uint32_t   i;

    *when = UINT64_MAX;

    for (i = 0; i < npools && pool_claims == 0; i++) {
        p = &pools[i];

        if (p->n + p->making >= pool_wish(p) || p->blocked) {
            continue;
        }

        if (p->not_before <= now) {
            return p;
        }

        if (p->not_before < *when) {
            *when = p->not_before;
        }
    }

    return NULL;
}


/* the mutex is held; wakes one that refills, which wakes the next */

static void
pool_call(void)
{
    uint64_t  when;

    if (pool_wanting(clock_mono_us(), &when) != NULL || when != UINT64_MAX) {
        (void) pthread_cond_signal(&pool_cond);
    }
}


/*
 * One that is ready, or is made and nobody who goes before waits for: else who
 * asks much would leave nothing to who asks once.
 */

static box_t *
pool_pop_made(pool_t *p, const char *workspace)
{
    box_t        *box;
    uint32_t      before;
    line_wait_t   w;

    (void) pthread_mutex_lock(&pool_mutex);

    w.leaves = share_leaves(workspace, p->profile->ready, clock_mono_us());
    line_join(&p->line, &w);
    before = line_before(&p->line, &w);

    while (before >= p->n && before < p->n + p->making) {
        (void) pthread_cond_wait(&pool_made, &pool_mutex);
        before = line_before(&p->line, &w);
    }


    if (line_leave(&p->line, &w)) {
        (void) pthread_cond_broadcast(&pool_made);
    }

    box = before < p->n ? pool_pick(p, w.leaves != 0) : NULL;
    share_took(workspace, clock_mono_us());
    pool_call();

    (void) pthread_mutex_unlock(&pool_mutex);

    return box;
}


/* 0: it is dead, and gone now */

static int
pool_own(box_t *box)
{
    if (pool_dead(box) || pool_hung_up(box)) {
        box_end(box);
        return 0;
    }

    box_own(box);

    return 1;
}


box_t *
pool_take(const retort_profile_t *profile, const char *workspace)
{
    box_t   *box;
    pool_t  *p;

    p = pool_of(profile);

    for (box = pool_pop_made(p, workspace); box != NULL;
         box = pool_pop_made(p, workspace))
    {
        if (pool_own(box)) {
            return box;
        }
    }

    return NULL;
}


int
pool_exceeds(const char *workspace)
{
    int  rc;

    (void) pthread_mutex_lock(&pool_mutex);
    rc = share_exceeds(workspace, clock_mono_us());
    (void) pthread_mutex_unlock(&pool_mutex);

    return rc;
}


box_t *
pool_last(const retort_profile_t *profile)
{
    box_t   *box;
    pool_t  *p;

    p = pool_of(profile);

    for (box = pool_pop(p); box != NULL; box = pool_pop(p)) {
        if (pool_own(box)) {
            return box;
        }
    }

    return NULL;
}


box_t *
pool_again(const retort_profile_t *profile, const retort_box_limits_t *limits,
    const char *workspace)
{
    box_t  *box;

    for (box = box_reuse(profile, limits, workspace); box != NULL;
         box = box_reuse(profile, limits, workspace))
    {
        if (!pool_dead(box) && !pool_hung_up(box)) {
            /* what it counts is counted on from here */
            box_stat(box, &box->stat);
            return box;
        }

        box_end(box);
    }

    return NULL;
}


static void
pool_end_wait(box_t *box)
{
    box_t          news;
    uint64_t       until, now;
    brk_req_t      req;
    brk_ans_t      ans;
    struct pollfd  p;

    box_own(box);
    brk_request(&req, BRK_KILL, box->id);

    if (brk_call(&req, &ans, NULL) == 0 && ans.code == BRK_OK) {
        now = clock_mono_us();
        until = now + BOUND_EXIT_TIME * 1000;
        p.fd = wake_fd();
        p.events = POLLIN;

        for (box_news(box, &news); !news.gone && now < until;
             box_news(box, &news))
        {
            (void) poll(&p, 1, (int) ((until - now) / 1000 + 1));
            wake_clear(p.fd);
            now = clock_mono_us();
        }
    }

    box_end(box);
}


int
pool_evict(void)
{
    box_t     *box;
    uint32_t   i;

    box = box_rouse();

    if (box != NULL) {
        pool_end_wait(box);
        return 0;
    }

    for (i = 0; i < npools; i++) {
        box = pool_pop(&pools[i]);

        if (box != NULL) {
            pool_end_wait(box);
            return 0;
        }
    }

    return -1;
}


void
pool_claim(void)
{
    (void) pthread_mutex_lock(&pool_mutex);
    pool_claims++;
    (void) pthread_mutex_unlock(&pool_mutex);
}


void
pool_unclaim(void)
{
    (void) pthread_mutex_lock(&pool_mutex);
    pool_claims--;
    (void) pthread_mutex_unlock(&pool_mutex);

    pool_kick();
}


void
pool_enter(void)
{
    (void) pthread_mutex_lock(&pool_mutex);
    pool_busy++;
    (void) pthread_mutex_unlock(&pool_mutex);
}


void
pool_leave(void)
{
    (void) pthread_mutex_lock(&pool_mutex);
    pool_busy--;
    (void) pthread_mutex_unlock(&pool_mutex);

    pool_kick();
}


void
pool_kick(void)
{
    uint32_t  i;

    (void) pthread_mutex_lock(&pool_mutex);

    for (i = 0; i < npools; i++) {
        pools[i].blocked = 0;
    }

    pool_call();
    (void) pthread_mutex_unlock(&pool_mutex);
}


void
pool_proved(const retort_profile_t *profile)
{
    (void) pthread_mutex_lock(&pool_mutex);
    pool_of(profile)->proved = 1;
    (void) pthread_mutex_unlock(&pool_mutex);
}


void
pool_look(const retort_profile_t *profile, uint32_t *ready, int *proved)
{
    pool_t  *p;

    p = pool_of(profile);

    (void) pthread_mutex_lock(&pool_mutex);
    *ready = p->n;
    *proved = p->proved;
    (void) pthread_mutex_unlock(&pool_mutex);
}


const char *
pool_missing(void)
{
    uint32_t     i;
    const char  *name;

    name = NULL;

    (void) pthread_mutex_lock(&pool_mutex);

    for (i = 0; i < npools && name == NULL; i++) {
        if (!pools[i].proved) {
            name = pools[i].profile->name;
        }
    }

    (void) pthread_mutex_unlock(&pool_mutex);

    return name;
}


/* the mutex is held; one that dies as soon as it is made is not made at once */

static box_t *
pool_remove(pool_t *p, uint64_t id)
{
    box_t     *box;
    uint32_t   i;

    for (i = 0; i < p->n; i++) {
        box = p->boxes[i];

        if (box->id != id) {
            continue;
        }

        p->boxes[i] = p->boxes[--p->n];

        if (clock_wall_ms() - box->created < POOL_BACK_OFF / 1000) {
            p->not_before = clock_mono_us() + POOL_BACK_OFF;
        }

        return box;
    }

    return NULL;
}


void
pool_lost(uint64_t id)
{
    box_t     *box;
    uint32_t   i;

    box = NULL;

    (void) pthread_mutex_lock(&pool_mutex);

    for (i = 0; i < npools && box == NULL; i++) {
        box = pool_remove(&pools[i], id);
    }

    (void) pthread_mutex_unlock(&pool_mutex);

    if (box != NULL) {
        flog(RLOG_WARN, "sandbox: one that waited ended");
        box_end(box);
        pool_kick();
    }
}


static void
pool_sleep(uint64_t until)
{
    struct timespec  ts;

    if (until == UINT64_MAX) {
        (void) pthread_cond_wait(&pool_cond, &pool_mutex);
        return;
    }

    ts.tv_sec = (time_t) (until / 1000000);
    ts.tv_nsec = (long) (until % 1000000) * 1000;
    (void) pthread_cond_timedwait(&pool_cond, &pool_mutex, &ts);
}


/* the mutex is held; who waits for what is made does nothing himself */

static unsigned
pool_working(void)
{
    unsigned  n;
    uint32_t  i, idle;

    n = pool_busy;
    idle = 0;

    for (i = 0; i < npools; i++) {
        n += pools[i].making;
        idle += pools[i].line.n;
    }

    return n > idle ? n - idle : 0;
}


/* waits until a box is wanted and nobody is disturbed by making it */

static pool_t *
pool_next(void)
{
    pool_t    *p;
    uint64_t   when, now, until;

    until = 0;

    (void) pthread_mutex_lock(&pool_mutex);

    for ( ;; ) {
        now = clock_mono_us();
        p = pool_wanting(now, &when);

        if (p == NULL) {
            until = 0;
            pool_sleep(when);
            continue;
        }

        until = until == 0 ? now + POOL_GIVE_WAY : until;

        if (pool_working() < pool_cores || now >= until) {
            break;
        }

        pool_sleep(until);
    }

    p->making++;
    pool_call();

    (void) pthread_mutex_unlock(&pool_mutex);

    return p;
}


/* the mutex is held */

static void
pool_failed(pool_t *p, const err_t *e)
{
    if (e->status == 429) {
        p->blocked = 1;

    } else {
        p->not_before = clock_mono_us() + POOL_BACK_OFF;
    }
}


/* the mutex is held; places for those who wait, while they do not wake up */

static uint32_t
pool_spare(const pool_t *p)
{
    return p->line.n < POOL_MAKERS ? p->line.n : POOL_MAKERS;
}


/* the box, if it is not wanted any more */

static box_t *
pool_put(pool_t *p, box_t *box, const err_t *e)
{
    (void) pthread_mutex_lock(&pool_mutex);

    if (box == NULL) {
        pool_failed(p, e);

    } else if (pool_dead(box) || pool_hung_up(box)) {
        p->not_before = clock_mono_us() + POOL_BACK_OFF;

    } else if (p->n < p->profile->ready + pool_spare(p)) {
        p->boxes[p->n++] = box;
        box = NULL;
    }

    p->making--;
    (void) pthread_cond_broadcast(&pool_made);

    (void) pthread_mutex_unlock(&pool_mutex);

    return box;
}


/*
 * With its interpreter started: else several start at once, and a request that
 * takes the first of them waits for them all.
 */

static box_t *
pool_make(const retort_profile_t *profile, err_t *e)
{
    box_t          *box;
    struct pollfd   p;

    pace_begin();
    box = box_spawn(profile, NULL, e);

    if (box != NULL) {
        p.fd = box->fd[BOX_CHANNEL];
        p.events = POLLIN;
        (void) poll(&p, 1, POOL_START);
    }

    pace_end();

    return box;
}


void *
pool_thread(void *unused)
{
    err_t    e;
    box_t   *box;
    pool_t  *p;

    (void) unused;

    for ( ;; ) {
        p = pool_next();
        box = pool_put(p, pool_make(p->profile, &e), &e);

        if (box != NULL) {
            box_end(box);
        }
    }

    return NULL;
}
