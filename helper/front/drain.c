
/*
 * In retort-front, as its own uid without any capability.  Set by the control
 * socket alone.
 */

#include <stdatomic.h>

#include "drain.h"


#define DRAIN_RETRY  10         /* seconds until a client may come again */


static atomic_int  drain_on;


void
drain_set(int on)
{
    atomic_store(&drain_on, on);
}


int
drain_is(void)
{
    return atomic_load(&drain_on);
}


int
drain_check(err_t *e)
{
    if (!drain_is()) {
        return 0;
    }

    (void) err_set(e, 503, "draining",
                   "this machine takes no new work: it will be stopped");
    e->retry_after = DRAIN_RETRY;

    return -1;
}
