
/*
 * In retort-front, as its own uid without any capability.  Containers between
 * two sessions of one workspace.
 *
 * A session that ends leaves a container with a warmed interpreter that never
 * read a byte of it: pid 1.  That one ends all others, has the folders emptied
 * and forks a kernel, which takes milliseconds; to make a container takes many
 * times that.  One container has one session at a time, so that the limits of
 * a session are those of its container, and another workspace's never.
 *
 * The box_t of the old session is gone with it.  What rests is another one of
 * the same id, which belongs to nobody, and has its workspace in "user".
 */

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bounds.h"
#include "box_table.h"
#include "broker_client.h"
#include "clock.h"
#include "drain.h"
#include "wake.h"


/* "": nobody used it yet, or for nobody knows whom */

static const char *
box_whose(const box_t *box)
{
    return box->sandbox[0] != '\0' ? box->workspace : box->user;
}


static int
box_may_rest(const box_t *box)
{
    return box->profile->reuse != 0 && !box->resting && !box->doomed
           && !drain_is() && *box_whose(box) != '\0'
           && clock_mono_us() - box->made < BOUND_REUSE * 1000ULL;
}


int
box_rest(box_t *box)
{
    box_t      *rest;
    brk_req_t   req;

    rest = box_may_rest(box) ? calloc(1, sizeof(box_t)) : NULL;

    if (rest == NULL) {
        return -1;
    }

    rest->id = box->id;
    rest->profile = box->profile;
    rest->limits = box->limits;
    rest->created = box->created;
    rest->made = box->made;
    (void) snprintf(rest->user, sizeof(rest->user), "%s", box_whose(box));
    memset(rest->fd, -1, sizeof(rest->fd));
    rest->wake = -1;
    rest->owned = 1;
    rest->resting = 1;

    /* into the place that the old one leaves */
    box_unlist(box);
    (void) box_enlist(rest);

    /* to a front that comes in between it is of no use */
    brk_request(&req, BRK_RECORD, rest->id);
    brk_post(&req);
    brk_request(&req, BRK_RESTART, rest->id);
    req.detail = 1;
    brk_post_event(&req);

    return 0;
}


void
box_rested(const brk_ans_t *ans, const int *fds, int nfd)
{
    int     i;
    box_t  *box;

    (void) pthread_mutex_lock(&box_mutex);

    box = box_by_id(ans->id);

    if (box != NULL && box->resting && !box->doomed && ans->code == BRK_OK
        && nfd == BRK_FDS)
    {
        box_fds(box, fds);
        nfd = 0;
        box->kernel_gone = 0;
        box->restored = 0;

        if (box_grant(box)) {
            /* it is somebody's: nobody lines up for it any more */
            box->resting = 0;

        } else {
            box->owned = 0;
            box->expires = clock_mono_us() + box->profile->reuse * 1000ULL;
            box_alarm(box->expires);
        }

    } else if (box != NULL) {
        box_drop(box);
    }

    (void) pthread_mutex_unlock(&box_mutex);

    for (i = 0; i < nfd; i++) {
        (void) close(fds[i]);
    }
}


/* the mutex is held; "p" NULL: any; one that is empty already is better */

static box_t *
box_resting(const retort_profile_t *p, const retort_box_limits_t *limits,
    const char *workspace)
{
    size_t   i;
    box_t   *box, *best;

    best = NULL;

    for (i = 0; i < box_size; i++) {
        box = box_table[i];

        if (box == NULL || !box->resting || box->doomed || box->waiters != NULL
            || (p != NULL && (box->profile != p
                              || strcmp(box->user, workspace) != 0
                              || memcmp(&box->limits, limits,
                                        sizeof(box->limits)) != 0)))
        {
            continue;
        }

        if (best == NULL || best->owned > box->owned
            || (best->owned == box->owned && box->expires < best->expires))
        {
            best = box;
        }
    }

    return best;
}


static box_t *
box_wake(const retort_profile_t *p, const retort_box_limits_t *limits,
    const char *workspace)
{
    box_t  *box;
    err_t   e;

    (void) pthread_mutex_lock(&box_mutex);

    box = box_resting(p, limits, workspace);

    if (box != NULL && !box->owned) {
        box->owned = 1;
        box->wake = wake_fd();
        box->refs++;

    } else if (box != NULL
               && box_wait(box, -1, clock_mono_us() + BOUND_REST_TIME * 1000,
                           0, &e)
                  == -1)
    {
        box = NULL;
    }

    if (box != NULL) {
        box->resting = 0;
        box->expires = 0;
        box->user[0] = '\0';
        box->created = clock_wall_ms();
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return box;
}


box_t *
box_reuse(const retort_profile_t *p, const retort_box_limits_t *limits,
    const char *workspace)
{
    return p->reuse == 0 ? NULL
           : box_wake(p, limits != NULL ? limits : &p->box, workspace);
}


box_t *
box_rouse(void)
{
    return box_wake(NULL, NULL, NULL);
}
