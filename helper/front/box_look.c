
/*
 * In retort-front, as its own uid without any capability.  What clients see of
 * their workspace's boxes, and how they end one.
 */

#include <string.h>

#include "box_table.h"
#include "broker_client.h"
#include "clock.h"


void
box_view(const box_t *box, box_view_t *v)
{
    uint64_t  now;

    memset(v, 0, sizeof(box_view_t));
    memcpy(v->sandbox, box->sandbox, sizeof(v->sandbox));
    memcpy(v->profile, box->profile->name, sizeof(v->profile));
    v->limits = box->limits;
    memcpy(v->name, box->name, sizeof(v->name));
    v->created = box->created;
    v->busy = box->owned;
    v->used = box->owned ? clock_wall_ms() : box->used;

    now = clock_mono_us();
    v->expires = box_due_wall(box, box->owned ? box_due(box, now)
                                              : box->expires, now);
}


int
box_look(const char *sandbox, const char *workspace, box_view_t *view,
    err_t *e)
{
    box_t  *box;

    (void) pthread_mutex_lock(&box_mutex);

    box = box_by_name(sandbox, workspace, e);

    if (box != NULL) {
        box_view(box, view);
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return box != NULL ? 0 : -1;
}


int
box_touch(const char *sandbox, const char *workspace, err_t *e)
{
    box_t  *box;

    (void) pthread_mutex_lock(&box_mutex);

    box = box_by_name(sandbox, workspace, e);

    if (box != NULL && !box->owned) {
        /* later than before, so nobody has to be woken for it */
        box->expires = box_due(box, clock_mono_us());
        box->used = clock_wall_ms();
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return box != NULL ? 0 : -1;
}


int
box_delete(const char *sandbox, const char *workspace, err_t *e)
{
    box_t      *box;
    brk_req_t   req;

    (void) pthread_mutex_lock(&box_mutex);

    box = box_by_name(sandbox, workspace, e);

    if (box != NULL && box->owned) {
        brk_request(&req, BRK_KILL, box->id);
        brk_post(&req);

        /* nobody finds it any more; its end wakes the run that is in it */
        box->doomed = 1;

    } else if (box != NULL) {
        box_drop(box);
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return box != NULL ? 0 : -1;
}


size_t
box_list(const char *workspace, box_view_t *views, size_t max)
{
    size_t  i, n;
    box_t  *box;

    n = 0;

    (void) pthread_mutex_lock(&box_mutex);

    for (i = 0; i < box_size; i++) {
        box = box_table[i];

        if (box == NULL || box->sandbox[0] == '\0' || box->doomed
            || strcmp(box->workspace, workspace) != 0)
        {
            continue;
        }

        if (n < max) {
            box_view(box, &views[n]);
        }

        n++;
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return n < max ? n : max;
}
