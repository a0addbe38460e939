
/*
 * Sealed sandboxes that wait for a request.
 */

#ifndef FRONT_POOL_H
#define FRONT_POOL_H

#include "box.h"


#define POOL_MAKERS  4      /* threads; a template makes one box at a time */


/* before threads; 0 or -1 */

int pool_init(const retort_settings_t *s);

/*
 * A box that had a session of this workspace before, with these limits (NULL:
 * the defaults), owned by the caller; else NULL.
 */

box_t *pool_again(const retort_profile_t *p, const retort_box_limits_t *limits,
    const char *workspace);

/*
 * A box with the default limits, owned by the caller: one that is ready, or
 * the next to be, if it is not for others who wait or are to come; else NULL.
 */

box_t *pool_take(const retort_profile_t *p, const char *workspace);

/* has it had more than its part lately, beside others? */

int pool_exceeds(const char *workspace);

/* one that is ready, whoever it is left for: there can be no other; or NULL */

box_t *pool_last(const retort_profile_t *p);

/*
 * Ends one waiting box of any profile so that its place is free, and waits for
 * its end.  0, or -1 if none waits.  Between claim and unclaim nothing that is
 * free is taken by a refill.
 */

int pool_evict(void);
void pool_claim(void);
void pool_unclaim(void);

/* a request begins, and is answered: refilling keeps out of its way */

void pool_enter(void);
void pool_leave(void);

/* a box or its interpreter ended; if it waited, another takes its place */

void pool_lost(uint64_t id);

/* something changed that may let a refill succeed */

void pool_kick(void);

/* a box of this profile was sealed, so its template works */

void pool_proved(const retort_profile_t *p);

/* how many wait, and whether a box of this profile was ever sealed */

void pool_look(const retort_profile_t *p, uint32_t *ready, int *proved);

/* the first profile whose template has not made a box yet, or NULL */

const char *pool_missing(void);

/* the threads that refill, and how many there should be */

unsigned pool_makers(void);

void *pool_thread(void *unused);


#endif /* FRONT_POOL_H */
