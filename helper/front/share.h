
/*
 * Who has had how many of the sandboxes lately, so that a workspace that asks
 * without a pause does not leave the others none.  Who calls holds the pool's
 * mutex; "now" is clock_mono_us().
 */

#ifndef FRONT_SHARE_H
#define FRONT_SHARE_H

#include <stdint.h>


/*
 * How many of "ready" sandboxes a workspace leaves to others: none if it has
 * had no more than would be its share if one more workspace came; if it has had
 * nearly all, all but such a share of them, or a quarter if nobody else has had
 * one.
 */

uint32_t share_leaves(const char *workspace, uint32_t ready, uint64_t now);

/* have others had some just now, and it more than if all had had as many? */

int share_exceeds(const char *workspace, uint64_t now);

/* it is given one */

void share_took(const char *workspace, uint64_t now);


#endif /* FRONT_SHARE_H */
