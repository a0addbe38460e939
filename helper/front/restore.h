
/*
 * A kernel is gone: the session goes on with its snapshot, if that takes over
 * in time, or with a new interpreter.
 */

#ifndef FRONT_RESTORE_H
#define FRONT_RESTORE_H

#include "box.h"
#include "result.h"


/*
 * For the owner, after box_news() said that the kernel is gone and the box is
 * not.  STATE_RESTORED, STATE_LOST and "why", or STATE_GONE: there is no box.
 * Restored with a "why": more than the last run is undone, since runs came in
 * rapid succession.
 */

box_fate_t restore(box_t *box, const char **why);

/* the same text again, or NULL */

const char *restore_behind(const box_t *box);


#endif /* FRONT_RESTORE_H */
