
/*
 * Where a job runs.
 */

#ifndef FRONT_PLACE_H
#define FRONT_PLACE_H

#include "box.h"
#include "request.h"


/*
 * A fresh box, from the pool if it may have the default limits (NULL), owned
 * by the caller.  NULL and "e" if there is none.
 */

box_t *place_fresh(const request_t *req, const retort_box_limits_t *limits,
    err_t *e);

/*
 * Ends what runs in a kept box and gives it a new interpreter, before all who
 * wait for it.  0, or -1 and "e".
 */

int place_restart(const request_t *req, const char *sandbox, int client,
    err_t *e);

/*
 * The workspace's box of that id with a living interpreter, owned by the
 * caller; with a "session" that is not "" the one of this name instead, which
 * is made if there is none.  Waits for its turn as long as a run may take;
 * "client" is watched meanwhile unless it is -1.  NULL and "e", as
 * box_acquire().
 */

box_t *place_take(const request_t *req, const char *sandbox,
    const char *session, int client, err_t *e);


#endif /* FRONT_PLACE_H */
