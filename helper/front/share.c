
/*
 * In retort-front, as its own uid without any capability.
 *
 * What was taken in the last second is estimated from two counters, of this
 * second and of the one before.  Workspaces are told apart by a digest of their
 * names: two with the same one count as one, which costs them a wait at most,
 * and the table cannot grow.
 */

#include <stddef.h>

#include "share.h"


#define SHARE_SECOND  1000000
#define SHARE_PLACES  1024      /* a power of two */
#define SHARE_FIRST   4         /* of what is ready: for who comes first */
#define SHARE_MOMENT  250000    /* usec; who took one lately may do so again */


typedef struct {
    uint64_t  second;           /* the one that "now" counts */
    uint32_t  now;
    uint32_t  before;           /* in the second before it */
} share_t;

typedef struct {
    const share_t  *who;
    uint64_t        when;
} share_take_t;


static share_t  share_of[SHARE_PLACES];
static share_t  share_all;
static share_t  share_takers;       /* how many; "before": not since */

static share_take_t  share_last;    /* of all */
static share_take_t  share_other;   /* the last one of another workspace */


static share_t *
share_find(const char *workspace)
{
    uint32_t  hash;

    for (hash = 5381; *workspace != '\0'; workspace++) {
        hash = hash * 33 + (unsigned char) *workspace;
    }

    return &share_of[hash % SHARE_PLACES];
}


static void
share_turn(share_t *s, uint64_t now)
{
    uint64_t  second;

    second = now / SHARE_SECOND;

    if (second != s->second) {
        s->before = second == s->second + 1 ? s->now : 0;
        s->now = 0;
        s->second = second;
    }
}


static uint64_t
share_count(share_t *s, uint64_t now)
{
    share_turn(s, now);

    return s->now + s->before * (SHARE_SECOND - now % SHARE_SECOND)
                    / SHARE_SECOND;
}


/* a part of one is one */

static uint64_t
share_count_takers(uint64_t now)
{
    share_turn(&share_takers, now);

    return share_takers.now + (share_takers.before
                               * (SHARE_SECOND - now % SHARE_SECOND)
                               + SHARE_SECOND - 1) / SHARE_SECOND;
}


/*
 * Beside others all but what would be its share if one more came: they may ask
 * several times until it is filled again.
 */

static uint64_t
share_kept(uint32_t ready, uint64_t takers)
{
    return takers > 1 ? ready - ready / (takers + 1) : ready / SHARE_FIRST;
}


uint32_t
share_leaves(const char *workspace, uint32_t ready, uint64_t now)
{
    uint64_t  mine, all, takers;

    mine = share_count(share_find(workspace), now);
    all = share_count(&share_all, now);
    takers = share_count_takers(now);

    /* what stands ready may be taken at once, by whom it may be */
    mine = mine > ready ? mine - ready : 0;

    /* the three may be of different moments, if a clock was read earlier */
    mine = mine < all ? mine : all;

    if (takers == 0 || mine * (takers + 1) <= all) {
        return 0;
    }

    /* as much of it as it is above its share; rounded up */
    all *= takers;

    return (uint32_t) (((mine * (takers + 1) - all / takers)
                        * share_kept(ready, takers) + all - 1) / all);
}


int
share_exceeds(const char *workspace, uint64_t now)
{
    share_t             *s;
    const share_take_t  *other;

    s = share_find(workspace);
    other = share_last.who == s ? &share_other : &share_last;

    return other->who != NULL && now < other->when + SHARE_MOMENT
           && share_count(s, now) * share_count_takers(now)
              > share_count(&share_all, now);
}


void
share_took(const char *workspace, uint64_t now)
{
    share_t  *s;

    s = share_find(workspace);
    share_turn(s, now);
    share_turn(&share_all, now);
    share_turn(&share_takers, now);

    if (s->now == 0) {
        share_takers.now++;
        share_takers.before -= (s->before != 0 && share_takers.before != 0);
    }

    share_all.now++;
    s->now++;

    if (share_last.who != s) {
        share_other = share_last;
        share_last.who = s;
    }

    share_last.when = now;
}
