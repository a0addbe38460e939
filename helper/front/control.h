
/*
 * The control socket: root's, and its group's, way to the front.  It has
 * threads of its own, so that it answers when all others are busy.
 */

#ifndef FRONT_CONTROL_H
#define FRONT_CONTROL_H

#include <sys/types.h>


#define CONTROL_THREADS  4
#define CONTROL_RUNS     2      /* of them, at most, for "retortctl run" */


/* before threads: who else but root may come by it */

void control_init(gid_t gid);

/* a thread of the control socket; "settings" is a retort_settings_t */

void *control_thread(void *settings);

/* a run by it begins: 0, or -1 if there are enough; and its end */

int control_run_begin(void);
void control_run_end(void);


#endif /* FRONT_CONTROL_H */
