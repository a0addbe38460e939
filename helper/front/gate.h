
/*
 * Connections of the web server: accepted, checked, and handed to a thread only
 * when the head of a request is there.
 *
 * All threads that have nothing to do stand at the gate; each leaves with a
 * request.  So a connection that says nothing, or little by little, or waits
 * between two requests, holds no thread.
 */

#ifndef FRONT_GATE_H
#define FRONT_GATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>


/*
 * "listener" is a listening Unix stream socket; peers must run as one of
 * "uids", which lives on.  0, or -1 (logged).
 */

int gate_init(int listener, const uid_t *uids, size_t nuids);

/*
 * A connection with a request, owned by the caller until it is given back by
 * its number.  -1: the gate is closed.
 */

int gate_next(int *fd);

/* it may send another request */

void gate_return(int conn);

/* ends it */

void gate_drop(int conn);

/* its descriptor was closed by somebody else */

void gate_lost(int conn);

/* no new connection, no new request; from any thread */

void gate_close(void);

/* connections, and those of them that are in work */

void gate_count(unsigned *conns, unsigned *busy);

/* waits until none is in work, or until "until" (mono usec); how many are */

unsigned gate_busy_wait(uint64_t until);


#endif /* FRONT_GATE_H */
