
/*
 * Sandboxes that an earlier front left with the broker.
 */

#ifndef FRONT_ADOPT_H
#define FRONT_ADOPT_H

#include "protocol/broker.h"


/* before the boxes are offered; 0 or -1 */

int adopt_init(const retort_settings_t *s);

/* BRK_EV_BOX; owns the descriptors */

void adopt_box(const brk_ans_t *ans, const int *fds, int nfd);

/*
 * A thread: brings all of them back into step.  What the dead front ran is
 * interrupted and its output dropped; a kernel that does not answer gets a
 * successor.  Requests for a box wait until it is ready.
 */

void *adopt_thread(void *unused);


#endif /* FRONT_ADOPT_H */
