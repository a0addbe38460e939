
/*
 * Inside of box.c and the files of its name: the table, its lock.
 */

#ifndef FRONT_BOX_TABLE_H
#define FRONT_BOX_TABLE_H

#include <pthread.h>

#include "box.h"


struct box_wait_s {
    int          wake;
    int          granted;
    box_wait_t  *next;
};


extern pthread_mutex_t  box_mutex;
extern pthread_cond_t   box_clock;      /* an earlier expiry than known */
extern box_t          **box_table;      /* box_size places, NULL if free */
extern size_t           box_size;


/* all with the mutex held */

/* 0, or -1 if there is no place */
int box_enlist(box_t *box);

/* takes it out of the table and wakes all who wait for it */
void box_unlist(box_t *box);

box_t *box_by_id(uint64_t id);

/* NULL and "e": not found, or one that has ended */
box_t *box_by_name(const char *sandbox, const char *workspace, err_t *e);

/* when it ends (mono usec) if nobody uses it after "now" */
uint64_t box_due(const box_t *box, uint64_t now);

/* that as wall msec */
uint64_t box_due_wall(const box_t *box, uint64_t due, uint64_t now);

/* drops one reference; the last one closes and frees */
void box_unref(box_t *box);

/* lets the first who waits own it; 0 if nobody does */
int box_grant(box_t *box);

/*
 * Waits for it in the line, or before it; called and left with the mutex held,
 * which is free meanwhile.  0: owned now; -1 and "e", as box_acquire().
 */
int box_wait(box_t *box, int client, uint64_t until, int first, err_t *e);

/* it belongs to nobody any more: ends it, or puts it to rest */
void box_drop(box_t *box);

/* these descriptors are its from now on */
void box_fds(box_t *box, const int *fds);

/* one ends at "when" (mono usec), and who sees to it may sleep longer */
void box_alarm(uint64_t when);

/*
 * A container whose session is over is emptied and waits for the next one of
 * its workspace, under another box_t.  0, or -1 if this one has to end.
 */
int box_rest(box_t *box);

void box_view(const box_t *box, box_view_t *v);


#endif /* FRONT_BOX_TABLE_H */
