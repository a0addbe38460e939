
/*
 * Runs that are under way, by the name that their client gave them.
 */

#ifndef FRONT_CALLS_H
#define FRONT_CALLS_H

#include "exec.h"


typedef struct calls_one_s  calls_one_t;

struct calls_one_s {
    exec_t        *x;
    const char    *key;
    calls_one_t   *next;
};


/*
 * "one" is the caller's, with x and key set, and stays where it is until
 * calls_leave().  An empty key is a name that nobody can say.
 */

void calls_enter(calls_one_t *one);
void calls_leave(calls_one_t *one);

/* cancels those that this workspace calls so; how many */

unsigned calls_cancel(const char *key, const char *workspace);


#endif /* FRONT_CALLS_H */
