
/*
 * In retort-front, as its own uid without any capability.  Ids come from
 * clients and open nothing without the workspace that the web server
 * authenticated.
 */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bounds.h"
#include "box_id.h"
#include "box_table.h"
#include "clock.h"
#include "wake.h"


pthread_mutex_t  box_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t   box_clock;
box_t          **box_table;
size_t           box_size;


int
box_init(const retort_settings_t *s)
{
    pthread_condattr_t  attr;

    if (pthread_condattr_init(&attr) != 0
        || pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) != 0
        || pthread_cond_init(&box_clock, &attr) != 0)
    {
        return -1;
    }

    /* a box that was killed may be told to be gone after its successor came */
    box_size = (size_t) s->nslots * 2;
    box_id_init(s->node);
    box_table = calloc(box_size, sizeof(box_t *));

    return box_table != NULL ? 0 : -1;
}


size_t
box_max(void)
{
    return box_size;
}


int
box_enlist(box_t *box)
{
    size_t  i;

    for (i = 0; i < box_size; i++) {
        if (box_table[i] == NULL) {
            box_table[i] = box;
            box->listed = 1;
            box->refs++;
            return 0;
        }
    }

    return -1;
}


void
box_unlist(box_t *box)
{
    size_t       i;
    box_wait_t  *w;

    if (!box->listed) {
        return;
    }

    for (i = 0; i < box_size; i++) {
        if (box_table[i] == box) {
            box_table[i] = NULL;
        }
    }

    box->listed = 0;

    for (w = box->waiters; w != NULL; w = w->next) {
        wake_post(w->wake);
    }

    box_unref(box);
}


box_t *
box_by_id(uint64_t id)
{
    size_t  i;

    for (i = 0; i < box_size; i++) {
        if (box_table[i] != NULL && box_table[i]->id == id) {
            return box_table[i];
        }
    }

    return NULL;
}


box_t *
box_by_name(const char *sandbox, const char *workspace, err_t *e)
{
    size_t   i;
    box_t   *box;

    for (i = 0; i < box_size; i++) {
        box = box_table[i];

        if (box != NULL && box->sandbox[0] != '\0' && !box->doomed
            && strcmp(box->sandbox, sandbox) == 0
            && strcmp(box->workspace, workspace) == 0)
        {
            return box;
        }
    }

    if (box_id_ours(sandbox, workspace)) {
        (void) box_expired(e);

    } else {
        (void) err_set(e, 404, "sandbox_not_found", "no such sandbox");
    }

    return NULL;
}


int
box_expired(err_t *e)
{
    return err_set(e, 410, "sandbox_expired",
                   "the sandbox ended and its state is gone");
}


uint64_t
box_due(const box_t *box, uint64_t now)
{
    uint64_t  due;

    due = UINT64_MAX;

    if (box->profile->life == RETORT_LIFE_TIMED && box->end == 0) {
        due = now + box->ttl * 1000;
    }

    return box->dies != 0 && box->dies < due ? box->dies : due;
}


uint64_t
box_due_wall(const box_t *box, uint64_t due, uint64_t now)
{
    if (box->dies != 0 && due == box->dies) {
        /* the same in every answer */
        return box->dies_wall;
    }

    return clock_wall_ms() + (due > now ? due - now : 0) / 1000;
}


void
box_unref(box_t *box)
{
    int  i;

    if (--box->refs != 0) {
        return;
    }

    for (i = 0; i < BRK_FDS; i++) {
        if (box->fd[i] != -1) {
            (void) close(box->fd[i]);
        }
    }

    buf_free(&box->note);
    free(box);
}


int
box_grant(box_t *box)
{
    box_wait_t  *w;

    w = box->waiters;

    if (w == NULL) {
        return 0;
    }

    box->waiters = w->next;
    box->nwaiters--;
    box->owned = 1;
    box->wake = w->wake;
    w->granted = 1;
    wake_post(w->wake);

    return 1;
}


static void
box_line_up(box_t *box, box_wait_t *w, int first)
{
    box_wait_t  **p;

    for (p = &box->waiters; !first && *p != NULL; p = &(*p)->next) {
        /* void */
    }

    w->next = *p;
    *p = w;
    box->nwaiters++;
    box->refs++;
}


static void
box_step_out(box_t *box, box_wait_t *w)
{
    box_wait_t  **p;

    for (p = &box->waiters; *p != NULL; p = &(*p)->next) {
        if (*p == w) {
            *p = w->next;
            box->nwaiters--;
            break;
        }
    }
}


/* sleeps until woken, the client is gone, or the time is over */

static int
box_sleep(int wake, int client, uint64_t until)
{
    uint64_t       now;
    struct pollfd  p[2];

    now = clock_mono_us();

    if (now >= until) {
        return -1;
    }

    memset(p, 0, sizeof(p));
    p[0].fd = wake;
    p[0].events = POLLIN;
    p[1].fd = client;
    p[1].events = POLLIN|POLLRDHUP;

    (void) poll(p, 2, (int) ((until - now) / 1000 + 1));

    if (p[0].revents != 0) {
        wake_clear(wake);
    }

    return (p[1].revents != 0 || wake_cancelled() != WAKE_GO_ON) ? 1 : 0;
}


int
box_wait(box_t *box, int client, uint64_t until, int first, err_t *e)
{
    int         rc;
    box_wait_t  w;

    e->retry_after = 1;

    if (box->nwaiters >= BOUND_WAITERS) {
        return -1;
    }

    memset(&w, 0, sizeof(w));
    w.wake = wake_fd();
    box_line_up(box, &w, first);

    for (rc = 0; !w.granted && box->listed && rc == 0; /* void */ ) {
        (void) pthread_mutex_unlock(&box_mutex);
        rc = box_sleep(w.wake, client, until);
        (void) pthread_mutex_lock(&box_mutex);
    }

    if (w.granted) {
        return 0;
    }

    box_step_out(box, &w);

    if (rc == 1) {
        (void) err_set(e, 0, "cancelled", "the client is gone");

    } else if (!box->listed) {
        (void) box_expired(e);
    }

    box_unref(box);

    return -1;
}


/* with the mutex held */

static void
box_ask_end(const box_t *box)
{
    if (box->owned && box->wake != -1) {
        wake_cancel(box->wake);
    }
}


static box_t *
box_take(const char *sandbox, const char *workspace, int client,
    uint64_t until, int first, err_t *e)
{
    box_t  *box;

    (void) pthread_mutex_lock(&box_mutex);

    box = box_by_name(sandbox, workspace, e);

    if (box != NULL && first) {
        box_ask_end(box);
    }

    if (box != NULL && !box->owned) {
        box->owned = 1;
        box->wake = wake_fd();
        box->refs++;

    } else if (box != NULL) {
        (void) err_set(e, 429, "sandbox_busy",
                       "the sandbox is busy with earlier requests");

        if (box_wait(box, client, until, first, e) == -1) {
            box = NULL;

        } else {
            memset(e, 0, sizeof(err_t));
        }
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return box;
}


box_t *
box_acquire(const char *sandbox, const char *workspace, int client,
    uint64_t until, err_t *e)
{
    return box_take(sandbox, workspace, client, until, 0, e);
}


box_t *
box_seize(const char *sandbox, const char *workspace, int client,
    uint64_t until, err_t *e)
{
    return box_take(sandbox, workspace, client, until, 1, e);
}


int
box_interrupt(const char *sandbox, const char *workspace, err_t *e)
{
    box_t  *box;

    (void) pthread_mutex_lock(&box_mutex);

    box = box_by_name(sandbox, workspace, e);

    if (box != NULL) {
        box_ask_end(box);
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return box != NULL ? 0 : -1;
}


void
box_own(box_t *box)
{
    (void) pthread_mutex_lock(&box_mutex);
    box->wake = wake_fd();
    (void) pthread_mutex_unlock(&box_mutex);
}


void
box_mark(box_t *box, const char *workspace, const char *execution)
{
    (void) pthread_mutex_lock(&box_mutex);
    (void) snprintf(box->user, sizeof(box->user), "%s", workspace);
    (void) snprintf(box->execution, sizeof(box->execution), "%s", execution);
    (void) pthread_mutex_unlock(&box_mutex);
}


void
box_news(box_t *box, box_t *copy)
{
    (void) pthread_mutex_lock(&box_mutex);
    copy->gone = box->gone;
    copy->doomed = box->doomed;
    copy->kernel_gone = box->kernel_gone;
    copy->status = box->status;
    copy->aged = box->aged;
    copy->last = box->last;
    (void) pthread_mutex_unlock(&box_mutex);
}
