
/*
 * Requests that wait for a sandbox that is made, in the order in which they are
 * served.  Who calls holds the pool's mutex; places are the waiters' own.
 */

#ifndef FRONT_LINE_H
#define FRONT_LINE_H

#include <stdint.h>


typedef struct line_wait_s  line_wait_t;

struct line_wait_s {
    line_wait_t  *next;
    uint32_t      leaves;       /* to other workspaces; set by who joins */
    uint32_t      overtaken;    /* by so many of them */
};

typedef struct {
    line_wait_t  *first;
    uint32_t      n;
} line_t;


/*
 * In the order in which they come, but who leaves less to others goes before
 * who leaves more; as often as it leaves some, so that nobody waits for ever.
 */

void line_join(line_t *l, line_wait_t *w);

/* how many of those that are ready are not for "w" */

uint32_t line_before(const line_t *l, const line_wait_t *w);

/* not 0: there is one behind it, for whom there are fewer before it now */

int line_leave(line_t *l, const line_wait_t *w);


#endif /* FRONT_LINE_H */
