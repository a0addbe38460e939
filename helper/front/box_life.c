
/*
 * In retort-front, as its own uid without any capability.  How a box begins
 * and ends.  The broker is believed; a record of an earlier front is checked.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audit.h"
#include "bounds.h"
#include "box_id.h"
#include "box_table.h"
#include "broker_client.h"
#include "clock.h"
#include "exec.h"
#include "flog.h"
#include "lib/counters.h"
#include "pace.h"
#include "pool.h"
#include "protocol/init.h"
#include "record.h"
#include "settings.h"
#include "text.h"
#include "wake.h"


#define BOX_STEP_TEXT(name, text)  text,

static const char *const  box_steps[] = { INIT_STEPS(BOX_STEP_TEXT) };

static unsigned           box_warms;        /* templates that became warm */
static pthread_cond_t     box_warm_cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t    box_warm_mutex = PTHREAD_MUTEX_INITIALIZER;


/* was it the engine, or what stands between, and not a step of sealing? */

static int
box_engine(const retort_profile_t *p, const brk_ans_t *ans)
{
    if (p->backend != RETORT_BACKEND_DOCKER) {
        return 0;
    }

    return ans->step == STEP_ENGINE || ans->step == STEP_TIME
           || ans->step == STEP_TEMPLATE
           || (ans->step == STEP_KERNEL && ans->error == ECHILD);
}


static int
box_refused(const retort_profile_t *p, const brk_ans_t *ans, err_t *e)
{
    const char  *step;

    switch (ans->code) {

    case BRK_EPROFILE:
        return err_set(e, 500, "unknown_profile",
                       "the profile does not exist");

    case BRK_EFULL:
        (void) err_set(e, 429, "no_capacity", "all sandboxes are in use");
        e->retry_after = 1;
        return -1;

    case BRK_EWARM:
        (void) err_set(e, 503, "warming",
                       "the interpreter is still loading its modules");
        e->retry_after = 1;
        return -1;

    case BRK_ESTEP:
        if (box_engine(p, ans)) {
            (void) err_set(e, 503, "engine_away",
                           "the container engine did not start a sandbox");
            e->retry_after = 1;
            return -1;
        }

        step = ans->step < STEP_MAX ? box_steps[ans->step] : "unknown";
        flog(RLOG_ERROR, "sandbox: step \"%s\" failed: %s", step,
             strerror(ans->error));
        return err_set(e, 500, "sandbox_failed",
                       "the sandbox could not be sealed: step \"%s\"", step);

    default:
        flog(RLOG_ERROR, "sandbox: the broker answered %u", ans->code);
        return err_set(e, 500, "sandbox_failed",
                       "the sandbox could not be made");
    }
}


void
box_fds(box_t *box, const int *fds)
{
    int  i;

    memcpy(box->fd, fds, sizeof(box->fd));

    for (i = 0; i < BRK_BOX_FDS; i++) {
        (void) fcntl(fds[i], F_SETFL, fcntl(fds[i], F_GETFL) | O_NONBLOCK);
    }
}


/* owns the descriptors if it succeeds */

static box_t *
box_make(const brk_ans_t *ans, const int *fds, const retort_profile_t *p)
{
    int     rc;
    box_t  *box;

    box = calloc(1, sizeof(box_t));
    if (box == NULL) {
        return NULL;
    }

    box->id = ans->id;
    box->profile = p;
    box->limits = ans->limits;
    box->stat = ans->stat;

    /* an interpreter of its own, before any code, and a thread that carries */
    if (ans->op == BRK_SPAWN && p->backend == RETORT_BACKEND_DOCKER) {
        box->base = ans->stat.memory_now;
    }

    box->created = clock_wall_ms();
    box->made = clock_mono_us();
    box->wake = -1;
    box->owned = 1;
    box->refs = 1;
    box_fds(box, fds);

    (void) pthread_mutex_lock(&box_mutex);
    rc = box_enlist(box);

    (void) pthread_mutex_unlock(&box_mutex);

    if (rc == -1) {
        /* the descriptors are still the caller's */
        free(box);
        return NULL;
    }

    return box;
}


static void
box_kill(uint64_t id)
{
    brk_req_t  req;

    pace_begin();
    brk_request(&req, BRK_KILL, id);
    brk_post(&req);
}


static void
box_close(const int *fds)
{
    int  i;

    for (i = 0; i < BRK_FDS; i++) {
        (void) close(fds[i]);
    }
}


void
box_warm(void)
{
    (void) pthread_mutex_lock(&box_warm_mutex);

    box_warms++;
    (void) pthread_cond_broadcast(&box_warm_cond);

    (void) pthread_mutex_unlock(&box_warm_mutex);
}


static unsigned
box_warm_count(void)
{
    unsigned  n;

    (void) pthread_mutex_lock(&box_warm_mutex);
    n = box_warms;
    (void) pthread_mutex_unlock(&box_warm_mutex);

    return n;
}


/* 0 as soon as one became warm after "seen" was counted, -1 after "until" */

static int
box_warm_wait(unsigned seen, uint64_t until)
{
    int              rc;
    struct timespec  ts;

    ts.tv_sec = (time_t) (until / 1000000);
    ts.tv_nsec = (long) (until % 1000000) * 1000;
    rc = 0;

    (void) pthread_mutex_lock(&box_warm_mutex);

    while (box_warms == seen && rc == 0) {
        rc = pthread_cond_clockwait(&box_warm_cond, &box_warm_mutex,
                                    CLOCK_MONOTONIC, &ts);
    }

    (void) pthread_mutex_unlock(&box_warm_mutex);

    return rc == 0 ? 0 : -1;
}


/*
 * A request that comes while a template loads its modules, after a start or
 * because the last one died, waits for it: the client did nothing wrong.
 */

static int
box_ask(brk_req_t *req, brk_ans_t *ans, int *fds)
{
    int       rc;
    unsigned  seen;
    uint64_t  until;

    until = clock_mono_us() + BOUND_WARM_TIME * 1000;

    do {
        seen = box_warm_count();
        rc = brk_call(req, ans, fds);
    } while (rc == 0 && ans->code == BRK_EWARM
             && box_warm_wait(seen, until) == 0);

    return rc;
}


box_t *
box_spawn(const retort_profile_t *p, const retort_box_limits_t *limits,
    err_t *e)
{
    int        fds[BRK_FDS];
    box_t     *box;
    brk_req_t  req;
    brk_ans_t  ans;

    brk_request(&req, BRK_SPAWN, 0);
    (void) snprintf(req.profile, sizeof(req.profile), "%s", p->name);

    if (limits != NULL) {
        req.limits = *limits;
    }

    if (box_ask(&req, &ans, fds) == -1) {
        (void) err_set(e, 503, "broker_away", "the broker did not answer");
        e->retry_after = 1;
        return NULL;
    }

    if (ans.code != BRK_OK) {
        (void) box_refused(p, &ans, e);
        return NULL;
    }

    box = box_make(&ans, fds, p);

    if (box == NULL) {
        box_close(fds);
        box_kill(ans.id);
        (void) err_set(e, 500, "sandbox_failed", "no memory for the sandbox");
        return NULL;
    }

    pool_proved(p);

    return box;
}


void
box_record(const box_t *box, const char *workspace, const char *execution)
{
    record_t   r;
    brk_req_t  req;

    memset(&r, 0, sizeof(r));
    memcpy(r.sandbox, box->sandbox, sizeof(r.sandbox));
    (void) snprintf(r.execution, sizeof(r.execution), "%s", execution);
    (void) snprintf(r.workspace, sizeof(r.workspace), "%s", workspace);
    memcpy(r.name, box->name, sizeof(r.name));
    r.created = box->created;
    r.ttl = box->ttl;
    r.end = box->end;
    memcpy(r.marks, box->marks, sizeof(r.marks));

    brk_request(&req, BRK_RECORD, box->id);
    record_write(&r, req.record);
    brk_post(&req);
}


int
box_keep(box_t *box, const char *workspace, uint64_t ttl, err_t *e)
{
    char  id[JOB_SANDBOX];

    if (box_id_make(id, workspace) == -1
        || box_keep_as(box, id, workspace, "", ttl) != 0)
    {
        return err_set(e, 500, "sandbox_failed", "no random number");
    }

    return 0;
}


/* the mutex is held, or there are no threads yet: by its age, or as was said */

static void
box_age(box_t *box)
{
    uint64_t  now, end, left;

    end = box->profile->alive != 0 ? box->created + box->profile->alive : 0;

    if (box->end != 0 && (end == 0 || box->end < end)) {
        end = box->end;
    }

    if (end == 0) {
        return;
    }

    now = clock_wall_ms();
    left = end > now ? end - now : 0;

    /* the clock may have been set back since it was made */
    if (box->profile->alive != 0 && left > box->profile->alive) {
        left = box->profile->alive;
        end = now + left;
    }

    box->dies_wall = end;
    box->dies = clock_mono_us() + left * 1000;
    box_alarm(box->dies);
}


/* the mutex is held; from now on, for this front and a later one */

static void
box_relive(box_t *box)
{
    if (!box->owned) {
        box->expires = box_due(box, clock_mono_us());
        box_alarm(box->expires);
    }

    box_record(box, box->workspace, box->owned ? box->execution : "");
}


int
box_live(const char *sandbox, const char *workspace, uint64_t ttl, err_t *e)
{
    box_t  *box;

    (void) pthread_mutex_lock(&box_mutex);

    box = box_by_name(sandbox, workspace, e);

    if (box != NULL) {
        box->ttl = ttl;
        box_relive(box);
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return box != NULL ? 0 : -1;
}


int
box_end_in(const char *sandbox, const char *workspace, uint64_t in,
    int extend, err_t *e)
{
    box_t     *box;
    uint64_t   end;

    (void) pthread_mutex_lock(&box_mutex);

    box = box_by_name(sandbox, workspace, e);
    end = clock_wall_ms() + in;

    if (box != NULL && (!extend || box->end < end)) {
        box->end = end;
        box_age(box);
        box_relive(box);
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return box != NULL ? 0 : -1;
}


int
box_keep_as(box_t *box, const char *id, const char *workspace,
    const char *name, uint64_t ttl)
{
    int    taken;
    err_t  e;

    (void) pthread_mutex_lock(&box_mutex);
    taken = box_by_name(id, workspace, &e) != NULL;

    if (!taken) {
        memcpy(box->sandbox, id, sizeof(box->sandbox));
        (void) snprintf(box->workspace, sizeof(box->workspace), "%s",
                        workspace);
        (void) snprintf(box->name, sizeof(box->name), "%s", name);
        box->ttl = ttl;
        box->created = clock_wall_ms();
        box_age(box);
    }

    (void) pthread_mutex_unlock(&box_mutex);

    if (taken) {
        return 1;
    }

    /* written before the first run: its order on the socket is enough */
    box_record(box, workspace, "");

    return 0;
}


box_t *
box_adopt(const brk_ans_t *ans, const int *fds, const retort_settings_t *s)
{
    box_t                    *box;
    record_t                  r;
    const retort_profile_t   *p;

    p = NULL;

    if (memchr(ans->profile, '\0', sizeof(ans->profile)) != NULL) {
        p = settings_profile(s, ans->profile);
    }

    box = NULL;

    if (p != NULL && record_read(&r, ans->record) == 0) {
        if (r.execution[0] != '\0') {
            exec_lost(r.execution, r.workspace, r.sandbox);
            audit_lost(r.execution, r.workspace, r.sandbox);
        }

        box = r.sandbox[0] != '\0' ? box_make(ans, fds, p) : NULL;
    }

    if (box == NULL) {
        box_close(fds);
        box_kill(ans->id);
        return NULL;
    }

    memcpy(box->sandbox, r.sandbox, sizeof(box->sandbox));
    memcpy(box->workspace, r.workspace, sizeof(box->workspace));
    memcpy(box->name, r.name, sizeof(box->name));
    memcpy(box->marks, r.marks, sizeof(box->marks));
    memcpy(box->past, r.marks, sizeof(box->past));
    box->ttl = r.ttl;
    box->created = r.created;
    box->end = r.end;
    box_age(box);

    return box;
}


/* the owner's reference stays */

void
box_drop(box_t *box)
{
    if (box->listed && !box->gone) {
        if (box_rest(box) == 0) {
            return;
        }

        box_kill(box->id);
    }

    box_unlist(box);
}


void
box_end(box_t *box)
{
    (void) pthread_mutex_lock(&box_mutex);
    box_drop(box);
    box_unref(box);
    (void) pthread_mutex_unlock(&box_mutex);
}


/* the mutex is held; is there nothing left to go on with? */

static int
box_over(const box_t *box)
{
    return box->gone
           || (box->kernel_gone && box->profile->life == RETORT_LIFE_EXIT);
}


void
box_release(box_t *box)
{
    (void) pthread_mutex_lock(&box_mutex);

    if (box->sandbox[0] == '\0' || box->doomed || box_over(box)) {
        box_drop(box);
        box_unref(box);
        (void) pthread_mutex_unlock(&box_mutex);
        return;
    }

    box->execution[0] = '\0';

    if (!box_grant(box)) {
        box->owned = 0;
        box->wake = -1;
        box->used = clock_wall_ms();
        box->expires = box_due(box, clock_mono_us());
        box_alarm(box->expires);
    }

    box_unref(box);

    (void) pthread_mutex_unlock(&box_mutex);
}


int
box_restart(box_t *box)
{
    int        i, fds[BRK_FDS];
    brk_req_t  req;
    brk_ans_t  ans;

    brk_request(&req, BRK_RESTART, box->id);

    if (brk_call(&req, &ans, fds) == -1 || ans.code != BRK_OK) {
        flog(RLOG_WARN, "sandbox: no new interpreter");
        (void) pthread_mutex_lock(&box_mutex);
        box_drop(box);
        (void) pthread_mutex_unlock(&box_mutex);
        return -1;
    }

    (void) pthread_mutex_lock(&box_mutex);

    for (i = 0; i < BRK_FDS; i++) {
        (void) close(box->fd[i]);
    }

    box_fds(box, fds);
    box->kernel_gone = 0;
    box->restored = 0;

    (void) pthread_mutex_unlock(&box_mutex);

    return 0;
}


int
box_succeeds(box_t *box)
{
    int  restored;

    (void) pthread_mutex_lock(&box_mutex);

    restored = box->restored && !box->gone;

    if (restored) {
        box->kernel_gone = 0;
        box->restored = 0;
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return restored;
}


void
box_next_run(box_t *box)
{
    box->run = box->run % INT32_MAX + 1;
}


void
box_signal(const box_t *box, int sig, uint32_t run)
{
    brk_req_t  req;

    brk_request(&req, BRK_SIGNAL, box->id);
    req.signal = (uint32_t) sig;
    req.detail = run;
    brk_post(&req);
}


/* where the peak cannot begin anew it is that of the box's life */

void
box_stat(const box_t *box, brk_stat_t *stat)
{
    counters_read(box->fd + BRK_BOX_FDS, stat);

    if (stat->memory_peak != stat->memory_now) {
        (void) !write(box->fd[BRK_BOX_FDS + BRK_PEAK], "0", 1);
    }
}


uint64_t
box_expiry(const box_t *box)
{
    uint64_t  now;

    now = clock_mono_us();

    return box_due_wall(box, box_due(box, now), now);
}


void
box_event(const brk_ans_t *ans, const int *fds, int nfd)
{
    box_t  *box;

    if (nfd == BRK_FDS) {
        /* what is of use is offered before the threads start: see adopt.c */
        box_close(fds);
        box_kill(ans->id);
    }

    (void) pthread_mutex_lock(&box_mutex);

    box = box_by_id(ans->id);

    if (box == NULL && ans->op == BRK_EV_BOX_EXIT) {
        /* it was told to */
        pace_end();
    }

    if (box != NULL
        && (ans->op == BRK_EV_KERNEL_EXIT || ans->op == BRK_EV_BOX_EXIT))
    {
        box->kernel_gone = 1;
        box->restored = (ans->op == BRK_EV_KERNEL_EXIT && ans->restored);
        box->gone = (ans->op == BRK_EV_BOX_EXIT);
        box->status = ans->status;
        box->last = ans->stat;

        if (box->wake != -1) {
            wake_post(box->wake);
        }

        if (box->gone) {
            box_unlist(box);

        } else if (!box->owned && box_over(box)) {
            box_drop(box);
        }
    }

    (void) pthread_mutex_unlock(&box_mutex);

    pool_lost(ans->id);

    if (ans->op == BRK_EV_BOX_EXIT) {
        /* there is a place again */
        pool_kick();
    }
}
