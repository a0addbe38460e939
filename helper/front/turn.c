
/*
 * In retort-front, as its own uid without any capability.  One lock is held
 * for the lists and for how far each turn is, never while something runs.
 */

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "box.h"
#include "clock.h"
#include "flog.h"
#include "metrics.h"
#include "pool.h"
#include "run.h"
#include "text.h"
#include "turn.h"
#include "wake.h"


typedef struct {
    char     key[TURN_KEY];
    job_t    job;
    exec_t  *x;
    err_t    e;
} turn_one_t;

/* (l) with the lock held, (r) its thread's until it is over */

struct turn_work_s {
    request_t        req;       /* without its views */
    turn_one_t      *ones;      /* those before "ndone" never change again */
    size_t           n;
    size_t           ndone;     /* (l) */
    char             sandbox[JOB_SANDBOX];      /* (l) */
    int              gone;      /* (r) it had a sandbox, which ended */
    int              named;     /* (r) the request's id has its run */
    exec_t          *now;       /* (l) the run that goes on */
    exec_reader_t   *readers;   /* (l) who waits */
    unsigned         refs;      /* (l) requests, and its thread */
    int              told;      /* (l) a request was answered before its end */
    int              cancelled; /* (l) */
    int              over;      /* (l) */
    uint64_t         ended;     /* (l) mono usec */
    turn_work_t     *next;      /* (l) of all, the newest first */
    turn_work_t     *later;     /* (l) of those that wait for a thread */
};


static turn_work_t      *turn_all;
static turn_work_t      *turn_queue;
static pthread_mutex_t   turn_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t    turn_cond = PTHREAD_COND_INITIALIZER;


static void
turn_free(turn_work_t *w)
{
    size_t  i;

    for (i = 0; i < w->n; i++) {
        job_free(&w->ones[i].job);

        if (w->ones[i].x != NULL) {
            exec_release(w->ones[i].x);
        }
    }

    free(w->ones);
    free(w);
}


/* the lock is held: those that nobody will ask for any more */

static void
turn_sweep(void)
{
    unsigned       kept;
    uint64_t       now;
    turn_work_t  **p, *w;

    kept = 0;
    now = clock_mono_us();

    for (p = &turn_all; *p != NULL; /* void */ ) {
        w = *p;

        if (!w->over || w->refs != 0) {
            p = &w->next;
            continue;
        }

        if (w->told && now - w->ended < BOUND_EXEC_KEEP * 1000ull
            && ++kept <= BOUND_TURNS_KEPT)
        {
            p = &w->next;
            continue;
        }

        *p = w->next;
        turn_free(w);
    }
}


static turn_one_t *
turn_one(turn_work_t *w, const char *key)
{
    size_t  i;

    for (i = 0; i < w->n; i++) {
        if (strcmp(w->ones[i].key, key) == 0) {
            return &w->ones[i];
        }
    }

    return NULL;
}


/* the lock is held: the turn in which the first step is, or NULL */

static turn_work_t *
turn_find(const turn_t *t)
{
    turn_work_t  *w;

    for (w = turn_all; w != NULL; w = w->next) {
        if (strcmp(w->req.workspace, t->req->workspace) == 0 && !w->cancelled
            && (t->sandbox[0] == '\0' || w->sandbox[0] == '\0'
                || strcmp(w->sandbox, t->sandbox) == 0)
            && turn_one(w, t->steps[0].key) != NULL)
        {
            return w;
        }
    }

    return NULL;
}


static int
turn_full(const turn_t *t, err_t *e)
{
    unsigned      n, own;
    turn_work_t  *w;

    n = 0;
    own = 0;

    for (w = turn_all; w != NULL; w = w->next) {
        if (!w->over) {
            n++;
            own += strcmp(w->req.workspace, t->req->workspace) == 0;
        }
    }

    if (n < BOUND_TURNS && own < BOUND_TURNS_OWN) {
        return 0;
    }

    (void) err_set(e, 429, "no_capacity", "too many runs are under way");
    e->retry_after = 1;

    return -1;
}


/* takes the jobs */

static turn_work_t *
turn_new(turn_t *t)
{
    size_t        i;
    turn_work_t  *w;

    w = calloc(1, sizeof(turn_work_t));

    if (w == NULL) {
        return NULL;
    }

    w->ones = calloc(t->nsteps, sizeof(turn_one_t));

    if (w->ones == NULL) {
        free(w);
        return NULL;
    }

    w->n = t->nsteps;
    w->named = t->later;
    w->req = *t->req;
    request_detach(&w->req);
    memcpy(w->sandbox, t->sandbox, sizeof(w->sandbox));

    for (i = 0; i < w->n; i++) {
        memcpy(w->ones[i].key, t->steps[i].key, TURN_KEY);
        w->ones[i].job = t->steps[i].job;
        memset(&t->steps[i].job, 0, sizeof(job_t));
    }

    return w;
}


/* the lock is held */

static int
turn_start(turn_t *t, err_t *e)
{
    turn_work_t  *w, **p;

    if (turn_full(t, e) == -1) {
        return -1;
    }

    w = turn_new(t);

    if (w == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    w->refs = 2;
    w->next = turn_all;
    turn_all = w;
    t->work = w;

    for (p = &turn_queue; *p != NULL; p = &(*p)->later) { /* void */ }

    *p = w;
    (void) pthread_cond_signal(&turn_cond);

    return 0;
}


static int
turn_again(turn_t *t, turn_work_t *w, err_t *e)
{
    size_t  i;

    for (i = 0; i < t->nsteps; i++) {
        if (turn_one(w, t->steps[i].key) == NULL) {
            return err_set(e, 409, "conflict", "some of these blocks run in a "
                           "turn that goes on, and some do not");
        }
    }

    w->refs++;
    t->work = w;

    return 0;
}


int
turn_known(const turn_t *t)
{
    int  known;

    (void) pthread_mutex_lock(&turn_mutex);
    known = t->nsteps != 0 && turn_find(t) != NULL;
    (void) pthread_mutex_unlock(&turn_mutex);

    return known;
}


int
turn_begin(turn_t *t, err_t *e)
{
    int           rc;
    turn_work_t  *w;

    (void) pthread_mutex_lock(&turn_mutex);

    turn_sweep();
    w = turn_find(t);
    rc = w != NULL ? turn_again(t, w, e) : turn_start(t, e);

    (void) pthread_mutex_unlock(&turn_mutex);

    return rc;
}


/* the lock is held: the caller's view */

static void
turn_tell(turn_t *t)
{
    size_t        i;
    turn_one_t   *one;
    turn_work_t  *w;

    w = t->work;
    t->whole = 1;
    memcpy(t->sandbox, w->sandbox, sizeof(t->sandbox));

    for (i = 0; i < t->nsteps; i++) {
        one = turn_one(w, t->steps[i].key);
        t->steps[i].done = (size_t) (one - w->ones) < w->ndone;
        t->whole &= t->steps[i].done;

        if (t->steps[i].done) {
            t->steps[i].x = one->x;
            t->steps[i].e = one->e;
        }
    }

    /* so that a container is told of before its first run is over */

    if (w->now != NULL && w->sandbox[0] == '\0') {
        (void) pthread_mutex_lock(&w->now->lock);
        memcpy(t->sandbox, w->now->sandbox, sizeof(t->sandbox));
        (void) pthread_mutex_unlock(&w->now->lock);
    }
}


/* the lock is held: nobody waits any more, and nobody was told to come back */

static void
turn_leave(turn_work_t *w)
{
    if (w->over || w->told || w->readers != NULL) {
        return;
    }

    w->cancelled = 1;

    if (w->now != NULL) {
        exec_cancel(w->now);
    }
}


static void
turn_unfollow(turn_work_t *w, exec_reader_t *r)
{
    exec_reader_t  **p;

    for (p = &w->readers; *p != r; p = &(*p)->next) { /* void */ }

    *p = r->next;
}


/* 0, or -1 if the client is gone */

static int
turn_sleep(int client, int wake, uint64_t until)
{
    uint64_t        now, left;
    struct pollfd   p[2];

    memset(p, 0, sizeof(p));
    p[0].fd = client;
    p[0].events = POLLIN|POLLRDHUP;
    p[1].fd = wake;
    p[1].events = POLLIN;

    now = clock_mono_us();
    left = until > now ? (until - now) / 1000 + 1 : 0;
    (void) poll(p, 2, left < INT32_MAX ? (int) left : INT32_MAX);

    if (p[1].revents != 0) {
        wake_clear(wake);
    }

    return p[0].revents != 0 ? -1 : 0;
}


/* the lock is not held: 0, or -1 if the client is gone */

static int
turn_pause(const turn_t *t, int client, int wake, uint64_t until,
    uint64_t *beat)
{
    if (t->beat == NULL || *beat >= until) {
        return turn_sleep(client, wake, until);
    }

    if (turn_sleep(client, wake, *beat) == -1) {
        return -1;
    }

    if (clock_mono_us() < *beat) {
        return 0;
    }

    *beat = clock_mono_us() + BOUND_BEAT * 1000;

    return t->beat(t->beats);
}


int
turn_wait(turn_t *t, int client, uint64_t until, err_t *e)
{
    int             rc;
    uint64_t        beat;
    turn_work_t    *w;
    exec_reader_t   r;

    rc = 0;
    w = t->work;
    r.wake = wake_fd();
    beat = clock_mono_us() + BOUND_BEAT * 1000;

    (void) pthread_mutex_lock(&turn_mutex);
    r.next = w->readers;
    w->readers = &r;

    while (!w->over && rc == 0 && clock_mono_us() < until) {
        (void) pthread_mutex_unlock(&turn_mutex);
        rc = turn_pause(t, client, r.wake, until, &beat);
        (void) pthread_mutex_lock(&turn_mutex);
    }

    turn_unfollow(w, &r);

    if (rc == 0) {
        w->told |= !w->over;
        turn_tell(t);

    } else {
        turn_leave(w);
    }

    (void) pthread_mutex_unlock(&turn_mutex);

    return rc == 0 ? 0 : err_set(e, 0, "cancelled", "the client is gone");
}


void
turn_end(turn_t *t)
{
    if (t->work == NULL) {
        return;
    }

    (void) pthread_mutex_lock(&turn_mutex);
    t->work->refs--;
    turn_sweep();
    (void) pthread_mutex_unlock(&turn_mutex);
    t->work = NULL;
}


/* each run has an id of its own; the first has the request's */

static int
turn_name(turn_work_t *w)
{
    char   hex[33];
    char  *p;

    p = strrchr(w->req.execution, '_');

    if (p == NULL || strlen(p + 1) != 32 || text_random(hex) == -1) {
        return -1;
    }

    memcpy(p + 1, hex, 32);

    return 0;
}


/* what a later front knows it by; never 0 */

static uint32_t
turn_mark(const turn_one_t *one)
{
    const char  *p;
    uint32_t     mark;

    mark = 2166136261u;

    for (p = one->key; *p != '\0'; p++) {
        mark = (mark ^ (unsigned char) *p) * 16777619u;
    }

    return mark != 0 ? mark : 1;
}


static exec_t *
turn_exec(turn_work_t *w, turn_one_t *one)
{
    exec_t  *x;

    if (w->gone) {
        (void) err_set(&one->e, 503, "sandbox_gone", "the sandbox ended");
        return NULL;
    }

    one->job.mark = turn_mark(one);

    if (w->sandbox[0] != '\0'
        && box_began(w->sandbox, w->req.workspace, one->job.mark))
    {
        (void) err_set(&one->e, 503, "run_lost", "The service's own process "
                       "died; what the code did is unknown.");
        return NULL;
    }

    if (w->named && turn_name(w) == -1) {
        (void) err_set(&one->e, 500, "bad_param", "no id for the run");
        return NULL;
    }

    w->named = 1;

    memcpy(one->job.sandbox, w->sandbox, JOB_SANDBOX);
    one->job.keep = w->sandbox[0] == '\0';

    wake_begin();
    x = exec_begin(&w->req, &one->job, &one->e);

    if (x == NULL) {
        return NULL;
    }

    flog_execution(x->id);
    (void) pthread_mutex_lock(&turn_mutex);
    w->now = x;

    if (w->cancelled) {
        exec_cancel(x);
    }

    (void) pthread_mutex_unlock(&turn_mutex);

    return x;
}


static void
turn_ran(turn_work_t *w, const result_t *res)
{
    metrics_run(&w->req, res);
    w->gone = res->sandbox[0] == '\0';

    (void) pthread_mutex_lock(&turn_mutex);

    if (!w->gone) {
        memcpy(w->sandbox, res->sandbox, sizeof(w->sandbox));
    }

    (void) pthread_mutex_unlock(&turn_mutex);
}


static void
turn_step(turn_work_t *w, turn_one_t *one)
{
    int      rc;
    exec_t  *x;

    x = turn_exec(w, one);

    if (x == NULL) {
        return;
    }

    w->req.started = clock_mono_us();
    rc = run_job(x, &w->req, &one->job, -1, NULL, &one->e);

    if (rc == 0) {
        turn_ran(w, &x->res);
        exec_over(x);

    } else {
        exec_forget(x);
    }

    (void) pthread_mutex_lock(&turn_mutex);
    w->now = NULL;

    one->x = rc == 0 ? x : NULL;
    (void) pthread_mutex_unlock(&turn_mutex);

    if (rc == -1) {
        exec_release(x);
    }
}


static void
turn_wake(turn_work_t *w)
{
    exec_reader_t  *r;

    for (r = w->readers; r != NULL; r = r->next) {
        wake_post(r->wake);
    }
}


static void
turn_run(turn_work_t *w)
{
    size_t  i;
    int     stop;

    for (i = 0; i < w->n; i++) {
        (void) pthread_mutex_lock(&turn_mutex);
        stop = w->cancelled;
        (void) pthread_mutex_unlock(&turn_mutex);

        if (stop) {
            (void) err_set(&w->ones[i].e, 0, "cancelled", "nobody waits");

        } else {
            turn_step(w, &w->ones[i]);
        }

        job_free(&w->ones[i].job);

        (void) pthread_mutex_lock(&turn_mutex);
        w->ndone = i + 1;
        (void) pthread_mutex_unlock(&turn_mutex);
    }

    (void) pthread_mutex_lock(&turn_mutex);
    w->over = 1;
    w->ended = clock_mono_us();
    w->refs--;
    turn_wake(w);
    turn_sweep();
    (void) pthread_mutex_unlock(&turn_mutex);
}


void *
turn_thread(void *unused)
{
    turn_work_t  *w;

    (void) unused;

    for ( ;; ) {
        (void) pthread_mutex_lock(&turn_mutex);

        while (turn_queue == NULL) {
            (void) pthread_cond_wait(&turn_cond, &turn_mutex);
        }

        w = turn_queue;
        turn_queue = w->later;
        (void) pthread_mutex_unlock(&turn_mutex);

        pool_enter();
        turn_run(w);
        pool_leave();
        flog_execution("");
    }

    return NULL;
}
