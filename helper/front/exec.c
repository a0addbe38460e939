
/*
 * In retort-front, as its own uid without any capability.  Ids come from
 * clients and open nothing without the workspace that the web server
 * authenticated.
 *
 * Results that are over are forgotten in the order of their age; when their
 * memory or number is at its bound, those of the workspace that holds the most
 * go first, so nobody can make the results of others go.
 */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "box_id.h"
#include "clock.h"
#include "exec.h"
#include "wake.h"


#define EXEC_HASH  4096         /* a power of two */


struct exec_space_s {
    char           name[REQ_WORKSPACE];
    size_t         bytes;       /* of what is over */
    unsigned       count;
    exec_t        *first;       /* over, the oldest first */
    exec_t        *last;
    exec_space_t  *next;
};


static pthread_mutex_t   exec_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t    exec_idle;
static exec_t           *exec_hash[EXEC_HASH];
static exec_space_t     *exec_spaces;
static size_t            exec_bytes;
static unsigned          exec_count;        /* over and kept */
static unsigned          exec_running;


int
exec_init(void)
{
    int                 rc;
    pthread_condattr_t  attr;

    rc = pthread_condattr_init(&attr);
    rc |= pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    rc |= pthread_cond_init(&exec_idle, &attr);

    return rc == 0 ? 0 : -1;
}


/* FNV-1a; ids that a web server chose badly only make a chain longer */

static exec_t **
exec_chain(const char *id)
{
    uint32_t  sum;

    for (sum = 2166136261u; *id != '\0'; id++) {
        sum = (sum ^ (unsigned char) *id) * 16777619u;
    }

    return &exec_hash[sum & (EXEC_HASH - 1)];
}


static exec_t *
exec_by_id(const char *id)
{
    exec_t  *x;

    for (x = *exec_chain(id); x != NULL; x = x->chain) {
        if (strcmp(x->id, id) == 0) {
            return x;
        }
    }

    return NULL;
}


static void
exec_free(exec_t *x)
{
    outputs_free(&x->res.out);
    free(x->memo);
    exec_input_free(x->input);
    (void) pthread_mutex_destroy(&x->lock);
    free(x);
}


/* with the table's mutex held, as all that follows up to exec_begin() */

static void
exec_unref(exec_t *x)
{
    if (--x->refs == 0) {
        exec_free(x);
    }
}


static void
exec_unlist(exec_t *x)
{
    exec_t  **p;

    if (!x->listed) {
        return;
    }

    for (p = exec_chain(x->id); *p != x; p = &(*p)->chain) { /* void */ }

    *p = x->chain;
    x->listed = 0;
    exec_unref(x);
}


static exec_space_t *
exec_space(const char *name)
{
    exec_space_t  *s;

    for (s = exec_spaces; s != NULL; s = s->next) {
        if (strcmp(s->name, name) == 0) {
            return s;
        }
    }

    s = calloc(1, sizeof(exec_space_t));

    if (s != NULL) {
        (void) snprintf(s->name, sizeof(s->name), "%s", name);
        s->next = exec_spaces;
        exec_spaces = s;
    }

    return s;
}


/* the oldest of a workspace goes */

static void
exec_drop(exec_space_t *s)
{
    exec_t  *x;

    x = s->first;
    s->first = x->later;

    if (s->first == NULL) {
        s->last = NULL;
    }

    s->count--;
    s->bytes -= x->bytes;
    exec_bytes -= x->bytes;
    exec_count--;
    exec_unlist(x);
}


/* who has the most of what there is too much of: nobody else pays for it */

static exec_space_t *
exec_greatest(int many)
{
    exec_space_t  *s, *most;

    most = NULL;

    for (s = exec_spaces; s != NULL; s = s->next) {
        if (s->first != NULL
            && (most == NULL || (many ? s->count > most->count
                                      : s->bytes > most->bytes)))
        {
            most = s;
        }
    }

    return most;
}


static void
exec_sweep(uint64_t now)
{
    exec_space_t  *s, **p;

    for (p = &exec_spaces; *p != NULL; /* void */ ) {
        s = *p;

        while (s->first != NULL
               && now - s->first->ended >= BOUND_EXEC_KEEP * 1000ull)
        {
            exec_drop(s);
        }

        if (s->first == NULL) {
            *p = s->next;
            free(s);

        } else {
            p = &s->next;
        }
    }

    while (exec_bytes > BOUND_EXEC_BYTES || exec_count > BOUND_EXECS) {
        exec_drop(exec_greatest(exec_count > BOUND_EXECS));
    }
}


static exec_t *
exec_new(const char *id, const char *workspace)
{
    exec_t  *x;

    x = calloc(1, sizeof(exec_t));

    if (x == NULL || pthread_mutex_init(&x->lock, NULL) != 0) {
        free(x);
        return NULL;
    }

    (void) snprintf(x->id, sizeof(x->id), "%s", id);
    (void) snprintf(x->workspace, sizeof(x->workspace), "%s", workspace);
    x->begun = clock_wall_ms();
    x->refs = 2;
    x->listed = 1;
    x->wake = -1;

    return x;
}


/* 0, or -1 if there is one with this id */

static int
exec_list(exec_t *x)
{
    int       taken;
    exec_t  **p;

    (void) pthread_mutex_lock(&exec_mutex);

    taken = exec_by_id(x->id) != NULL;

    if (!taken) {
        p = exec_chain(x->id);
        x->chain = *p;
        *p = x;
        exec_running++;
    }

    (void) pthread_mutex_unlock(&exec_mutex);

    return taken ? -1 : 0;
}


exec_t *
exec_begin(const request_t *req, const job_t *job, err_t *e)
{
    char     id[REQ_EXECUTION];
    exec_t  *x;

    memcpy(id, req->execution, sizeof(id));

    if (job->called[0] != '\0'
        && box_id_run(id, req->workspace, job->session, job->called) == -1)
    {
        (void) err_set(e, 500, "bad_param", "no id for the execution");
        return NULL;
    }

    x = exec_new(id, req->workspace);

    if (x == NULL) {
        (void) err_set(e, 500, "no_memory", "out of memory");
        return NULL;
    }

    memcpy(x->called, job->called, sizeof(x->called));
    memcpy(x->session, job->session, sizeof(x->session));
    x->note = job->note;
    x->memo = job->memo != NULL ? strdup(job->memo) : NULL;
    x->wake = wake_fd();

    if (exec_list(x) == -1) {
        exec_free(x);

        if (job->called[0] != '\0') {
            (void) err_set(e, 409, "execution_exists", "there is an execution "
                           "of this name");
            return NULL;
        }

        (void) err_set(e, 500, "bad_param", "RETORT_EXECUTION was used before");
        return NULL;
    }

    return x;
}


void
exec_lost(const char *id, const char *workspace, const char *sandbox)
{
    exec_t  *x;

    x = exec_new(id, workspace);

    if (x == NULL) {
        return;
    }

    if (exec_list(x) == -1) {
        exec_free(x);
        return;
    }

    x->res.verdict = VERDICT_LOST;
    x->res.fate = *sandbox != '\0' ? STATE_KEPT : STATE_GONE;
    (void) snprintf(x->res.sandbox, sizeof(x->res.sandbox), "%s", sandbox);
    outputs_error(&x->res.out, "Lost", "Lost: The service's own process died; "
                  "what the code did is unknown.");
    exec_over(x);
    exec_release(x);
}


void
exec_tell(const exec_t *x)
{
    const exec_reader_t  *r;

    for (r = x->readers; r != NULL; r = r->next) {
        wake_post(r->wake);
    }
}


void
exec_placed(exec_t *x, const char *sandbox)
{
    (void) pthread_mutex_lock(&x->lock);
    x->state = EXEC_RUNNING;
    (void) snprintf(x->sandbox, sizeof(x->sandbox), "%s", sandbox);
    exec_tell(x);
    (void) pthread_mutex_unlock(&x->lock);
}


static void
exec_end(exec_t *x)
{
    (void) pthread_mutex_lock(&x->lock);
    x->state = EXEC_OVER;
    x->wake = -1;
    exec_tell(x);
    (void) pthread_mutex_unlock(&x->lock);
}


static void
exec_ended(void)
{
    if (--exec_running == 0) {
        (void) pthread_cond_broadcast(&exec_idle);
    }
}


static void
exec_retain(exec_t *x, exec_space_t *s)
{
    if (s->last != NULL) {
        s->last->later = x;

    } else {
        s->first = x;
    }

    s->last = x;
    s->count++;
    s->bytes += x->bytes;
    exec_bytes += x->bytes;
    exec_count++;
}


void
exec_over(exec_t *x)
{
    uint64_t       now;
    exec_space_t  *s;

    exec_end(x);
    now = clock_mono_us();

    (void) pthread_mutex_lock(&exec_mutex);

    x->bytes = sizeof(exec_t) + outputs_size(&x->res.out)
               + (x->memo != NULL ? strlen(x->memo) : 0);
    x->ended = now;
    s = exec_space(x->workspace);

    if (s != NULL) {
        exec_retain(x, s);
        exec_sweep(now);

    } else {
        exec_unlist(x);
    }

    exec_ended();

    (void) pthread_mutex_unlock(&exec_mutex);
}


void
exec_forget(exec_t *x)
{
    exec_end(x);

    (void) pthread_mutex_lock(&exec_mutex);
    exec_unlist(x);
    exec_ended();
    (void) pthread_mutex_unlock(&exec_mutex);
}


exec_t *
exec_find(const char *id, const char *workspace, err_t *e)
{
    exec_t  *x;

    (void) pthread_mutex_lock(&exec_mutex);

    exec_sweep(clock_mono_us());
    x = exec_by_id(id);

    if (x != NULL && strcmp(x->workspace, workspace) == 0) {
        x->refs++;

    } else {
        x = NULL;
        (void) err_set(e, 404, "execution_not_found",
                       "no such execution, or its result is kept no longer");
    }

    (void) pthread_mutex_unlock(&exec_mutex);

    return x;
}


void
exec_release(exec_t *x)
{
    (void) pthread_mutex_lock(&exec_mutex);
    exec_unref(x);
    (void) pthread_mutex_unlock(&exec_mutex);
}


void
exec_cancel(exec_t *x)
{
    (void) pthread_mutex_lock(&x->lock);

    if (x->wake != -1) {
        wake_cancel(x->wake);
    }

    (void) pthread_mutex_unlock(&x->lock);
}


void
exec_follow(exec_t *x, exec_reader_t *r)
{
    r->wake = wake_fd();

    (void) pthread_mutex_lock(&x->lock);
    r->next = x->readers;
    x->readers = r;
    (void) pthread_mutex_unlock(&x->lock);
}


void
exec_unfollow(exec_t *x, exec_reader_t *r)
{
    exec_reader_t  **p;

    (void) pthread_mutex_lock(&x->lock);

    for (p = &x->readers; *p != NULL; p = &(*p)->next) {
        if (*p == r) {
            *p = r->next;
            break;
        }
    }

    (void) pthread_mutex_unlock(&x->lock);
}


static exec_state_t
exec_state(exec_t *x)
{
    exec_state_t  state;

    (void) pthread_mutex_lock(&x->lock);
    state = x->state;
    (void) pthread_mutex_unlock(&x->lock);

    return state;
}


exec_state_t
exec_wait(exec_t *x, uint64_t until)
{
    uint64_t        now;
    exec_state_t    state;
    exec_reader_t   r;
    struct pollfd   p;

    exec_follow(x, &r);

    p.fd = r.wake;
    p.events = POLLIN;
    state = exec_state(x);

    for (now = clock_mono_us(); state != EXEC_OVER && now < until;
         now = clock_mono_us())
    {
        (void) poll(&p, 1, (int) ((until - now) / 1000 + 1));
        wake_clear(r.wake);
        state = exec_state(x);
    }

    exec_unfollow(x, &r);

    return state;
}


unsigned
exec_busy_wait(uint64_t until)
{
    int              rc;
    unsigned         n;
    struct timespec  ts;

    ts.tv_sec = (time_t) (until / 1000000);
    ts.tv_nsec = (long) (until % 1000000) * 1000;

    (void) pthread_mutex_lock(&exec_mutex);

    for (rc = 0; exec_running != 0 && rc == 0; /* void */ ) {
        rc = pthread_cond_timedwait(&exec_idle, &exec_mutex, &ts);
    }

    n = exec_running;
    (void) pthread_mutex_unlock(&exec_mutex);

    return n;
}
