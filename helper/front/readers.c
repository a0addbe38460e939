
/*
 * In retort-front, as its own uid without any capability.
 */

#include <pthread.h>
#include <string.h>

#include "readers.h"


static pthread_mutex_t   readers_mutex = PTHREAD_MUTEX_INITIALIZER;
static reader_t         *readers_all;
static unsigned          readers_max;
static unsigned          readers_own;       /* of one workspace */


void
readers_init(unsigned threads)
{
    readers_max = (threads * 3 + 7) / 8;
    readers_own = (threads + 3) / 4;
}


int
readers_enter(reader_t *r, const char *workspace, err_t *e)
{
    unsigned   n, own;
    reader_t  *one;

    n = 0;
    own = 0;
    r->workspace = workspace;

    (void) pthread_mutex_lock(&readers_mutex);

    for (one = readers_all; one != NULL; one = one->next) {
        n++;
        own += strcmp(one->workspace, workspace) == 0;
    }

    if (n < readers_max && own < readers_own) {
        r->next = readers_all;
        readers_all = r;
        (void) pthread_mutex_unlock(&readers_mutex);
        return 0;
    }

    (void) pthread_mutex_unlock(&readers_mutex);
    (void) err_set(e, 429, "no_capacity", "too many requests follow runs, or "
                   "wait for an answer");
    e->retry_after = 1;

    return -1;
}


void
readers_leave(reader_t *r)
{
    reader_t  **p;

    (void) pthread_mutex_lock(&readers_mutex);

    for (p = &readers_all; *p != r; p = &(*p)->next) { /* void */ }

    *p = r->next;
    (void) pthread_mutex_unlock(&readers_mutex);
}
