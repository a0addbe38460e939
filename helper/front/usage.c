
/*
 * In retort-front.  The caller locks, but for the total.  Only owners who
 * have something are in the table, so it is as large as the store is.
 */

#include <stdatomic.h>
#include <stdlib.h>

#include "usage.h"


#define USAGE_SLOTS  4096
#define USAGE_BLOCK  4096       /* bytes that a disk gives at once */


typedef struct usage_s  usage_t;

struct usage_s {
    uint64_t   owner;
    uint64_t   bytes;
    usage_t   *next;
};


static usage_t           *usage_table[USAGE_SLOTS];
static _Atomic uint64_t   usage_sum;


uint64_t
usage_of(uint64_t len)
{
    /* the name costs something, too: empty files fill a store as well */
    return (len / USAGE_BLOCK + 1) * USAGE_BLOCK;
}


/* where the owner's entry hangs, or would */

static usage_t **
usage_find(uint64_t owner)
{
    usage_t  **p;

    for (p = &usage_table[owner % USAGE_SLOTS];
         *p != NULL && (*p)->owner != owner; p = &(*p)->next) { /* void */ }

    return p;
}


uint64_t
usage_get(uint64_t owner)
{
    usage_t  *u;

    u = *usage_find(owner);

    return u != NULL ? u->bytes : 0;
}


int
usage_add(uint64_t owner, uint64_t bytes, uint64_t max)
{
    usage_t   *u, **p;

    p = usage_find(owner);
    u = *p;

    if (bytes > max || (u != NULL && u->bytes > max - bytes)) {
        return -1;
    }

    if (u == NULL) {
        u = calloc(1, sizeof(usage_t));

        if (u == NULL) {
            return -1;
        }

        u->owner = owner;
        *p = u;
    }

    u->bytes += bytes;
    atomic_fetch_add(&usage_sum, bytes);

    return 0;
}


void
usage_drop(uint64_t owner, uint64_t bytes)
{
    usage_t   *u, **p;

    p = usage_find(owner);
    u = *p;

    if (u == NULL) {
        return;
    }

    bytes = bytes < u->bytes ? bytes : u->bytes;
    u->bytes -= bytes;
    atomic_fetch_sub(&usage_sum, bytes);

    if (u->bytes == 0) {
        *p = u->next;
        free(u);
    }
}


uint64_t
usage_total(void)
{
    return atomic_load(&usage_sum);
}
