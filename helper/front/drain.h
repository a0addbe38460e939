
/*
 * No new work: who runs the service takes this machine out of use.
 */

#ifndef FRONT_DRAIN_H
#define FRONT_DRAIN_H

#include "err.h"


/* from any thread; a new front begins with it off */

void drain_set(int on);
int drain_is(void);

/* 0, or -1 and "e" if new work is refused */

int drain_check(err_t *e);


#endif /* FRONT_DRAIN_H */
