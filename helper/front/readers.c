
/*
 * In retort-front, as its own uid without any capability.
 */

#include <pthread.h>
#include <string.h>

#include "bounds.h"
#include "readers.h"


#define READERS_LEFT  3         /* so often what is left is a workspace's */


typedef struct {
    unsigned     max;
    unsigned     own;           /* of one workspace; 0: by what is left */
    const char  *text;
    reader_t    *all;
} readers_t;


static pthread_mutex_t  readers_mutex = PTHREAD_MUTEX_INITIALIZER;

static readers_t        readers_of[READERS_KINDS] = {
    { 0, 0, "too many requests follow runs, or wait for an answer", NULL },
    { BOUND_DETACHED, BOUND_DETACHED_OWN,
      "too many runs go on without their clients", NULL },
    { 0, 0, "too many requests of this workspace are under way", NULL }
};


void
readers_init(unsigned threads)
{
    readers_of[READERS_FOLLOW].max = (threads * 3 + 7) / 8;
    readers_of[READERS_FOLLOW].own = (threads + 3) / 4;
    readers_of[READERS_REST].max = threads;
}


int
readers_enter(reader_t *r, readers_kind_t kind, const char *workspace, err_t *e)
{
    unsigned    n, own;
    reader_t   *one;
    readers_t  *of;

    n = 0;
    own = 0;
    of = &readers_of[kind];
    r->kind = kind;
    r->workspace = workspace;

    (void) pthread_mutex_lock(&readers_mutex);

    for (one = of->all; one != NULL; one = one->next) {
        n++;
        own += strcmp(one->workspace, workspace) == 0;
    }

    if (n < of->max && own < (of->own != 0 ? of->own
                               : READERS_LEFT * (of->max - n)))
    {
        r->next = of->all;
        of->all = r;
        (void) pthread_mutex_unlock(&readers_mutex);
        return 0;
    }

    (void) pthread_mutex_unlock(&readers_mutex);
    (void) err_set(e, 429, "no_capacity", "%s", of->text);
    e->retry_after = 1;

    return -1;
}


void
readers_leave(reader_t *r)
{
    reader_t  **p;

    (void) pthread_mutex_lock(&readers_mutex);

    for (p = &readers_of[r->kind].all; *p != r; p = &(*p)->next) { /* void */ }

    *p = r->next;
    (void) pthread_mutex_unlock(&readers_mutex);
}
