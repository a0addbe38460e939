
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
 */

box_fate_t restore(box_t *box, const char **why);


#endif /* FRONT_RESTORE_H */
