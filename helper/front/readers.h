
/*
 * Clients that follow a run in a request of their own, and executions that
 * wait for what their client will say.  Each holds a thread for long and needs
 * no admission: so they have three of eight threads at most, and those of one
 * workspace two of eight.  Runs that go on without their client hold one as
 * well.  And whatever else is asked may wait for a session or for slow bytes:
 * of these a workspace has three times as many as it leaves threads to others.
 */

#ifndef FRONT_READERS_H
#define FRONT_READERS_H

#include "err.h"


typedef enum {
    READERS_FOLLOW,
    READERS_DETACHED,           /* BOUND_DETACHED, and half of them */
    READERS_REST,
    READERS_KINDS
} readers_kind_t;

typedef struct reader_s  reader_t;

struct reader_s {
    readers_kind_t   kind;
    const char      *workspace;
    reader_t        *next;
};


/* once, before threads start */

void readers_init(unsigned threads);

/*
 * "r" and "workspace" stay where they are until readers_leave().  0; or -1
 * and "e": there are too many.
 */

int readers_enter(reader_t *r, readers_kind_t kind, const char *workspace,
    err_t *e);
void readers_leave(reader_t *r);


#endif /* FRONT_READERS_H */
