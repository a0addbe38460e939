
/*
 * In retort-front, as its own uid without any capability.  Boxes as who runs
 * the service sees them: those of all workspaces.
 */

#include <stdio.h>
#include <string.h>

#include "box_all.h"
#include "box_table.h"
#include "broker_client.h"
#include "lib/counters.h"


/* the mutex is held; an owner that nothing can wake is the pool */

static box_use_t
box_use(const box_t *box)
{
    if (!box->owned || box->resting) {
        return BOX_IDLE;
    }

    return box->wake == -1 && box->sandbox[0] == '\0' ? BOX_READY : BOX_BUSY;
}


static int
box_shown(const box_t *box)
{
    return box != NULL && !box->doomed && !box->gone;
}


size_t
box_all(box_line_t *lines, size_t max)
{
    size_t       i, n;
    box_t       *box;
    box_line_t  *l;

    n = 0;

    (void) pthread_mutex_lock(&box_mutex);

    for (i = 0; i < box_size && n < max; i++) {
        box = box_table[i];

        if (!box_shown(box)) {
            continue;
        }

        l = &lines[n++];
        box_view(box, &l->view);
        l->id = box->id;
        l->use = box_use(box);
        l->kept = box->sandbox[0] != '\0';
        memcpy(l->workspace, l->kept ? box->workspace : box->user,
               sizeof(l->workspace));
        memcpy(l->execution, box->execution, sizeof(l->execution));

        if (!l->kept) {
            (void) snprintf(l->view.sandbox, sizeof(l->view.sandbox),
                            "box_%llx", (unsigned long long) box->id);
            l->view.expires = 0;
        }
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return n;
}


void
box_count(const retort_profile_t *p, box_counts_t *c)
{
    size_t        i;
    const box_t  *box;

    memset(c, 0, sizeof(box_counts_t));

    (void) pthread_mutex_lock(&box_mutex);

    for (i = 0; i < box_size; i++) {
        box = box_table[i];

        if (!box_shown(box) || box->profile != p) {
            continue;
        }

        c->use[box_use(box)]++;

        if (box->sandbox[0] != '\0') {
            c->sessions++;
            c->sessions_busy += box->owned != 0;
            c->memory += box->owned ? 0 : box->stat.memory_now;
        }
    }

    (void) pthread_mutex_unlock(&box_mutex);
}


int
box_usage(uint64_t id, brk_stat_t *stat)
{
    box_t  *box;

    memset(stat, 0, sizeof(brk_stat_t));

    (void) pthread_mutex_lock(&box_mutex);

    box = box_by_id(id);

    if (box != NULL) {
        counters_read(box->fd + BRK_BOX_FDS, stat);
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return box != NULL ? 0 : -1;
}


int
box_kill_line(const box_line_t *l, err_t *e)
{
    box_t      *box;
    brk_req_t   req;
    brk_ans_t   ans;

    /* nobody finds it from now on; its end wakes the run that is in it */

    (void) pthread_mutex_lock(&box_mutex);
    box = box_by_id(l->id);

    /* the same, and not the next session in its place */
    if (box != NULL
        && strcmp(box->sandbox, l->kept ? l->view.sandbox : "") != 0)
    {
        box = NULL;
    }

    if (box != NULL) {
        box->doomed = 1;
    }

    (void) pthread_mutex_unlock(&box_mutex);

    brk_request(&req, BRK_KILL, l->id);

    if (box == NULL || brk_call(&req, &ans, NULL) == -1 || ans.code != BRK_OK) {
        return err_set(e, 404, "sandbox_not_found", "no such sandbox");
    }

    return 0;
}
