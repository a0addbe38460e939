
/*
 * In retort-front, as its own uid without any capability.  Sessions of
 * clients: a bounded table.  Who opens too many loses his own oldest ones.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "clock.h"
#include "request.h"
#include "session.h"
#include "text.h"


#define SESSION_CHAINS  1024


typedef struct session_s  session_t;

struct session_s {
    char         id[SESSION_ID];
    char         workspace[REQ_WORKSPACE];
    char         version[SESSION_VERSION];
    uint64_t     idle;          /* msec */
    uint64_t     used;          /* mono usec */
    unsigned     calls;         /* under way: it does not rest */
    session_t   *chain;
};


static pthread_mutex_t   session_mutex = PTHREAD_MUTEX_INITIALIZER;
static session_t        *session_chains[SESSION_CHAINS];


static session_t **
session_chain(const char *id)
{
    const char  *p;
    unsigned     hash;

    hash = 5381;

    for (p = id; *p != '\0'; p++) {
        hash = hash * 33 + (unsigned char) *p;
    }

    return &session_chains[hash % SESSION_CHAINS];
}


static void
session_drop(session_t **p)
{
    session_t  *s;

    s = *p;
    *p = s->chain;
    free(s);
}


static session_t **
session_find(const char *id, const char *workspace)
{
    session_t  **p;

    for (p = session_chain(id); *p != NULL; p = &(*p)->chain) {
        if (strcmp((*p)->id, id) == 0) {
            break;
        }
    }

    if (*p == NULL || strcmp((*p)->workspace, workspace) != 0) {
        return NULL;
    }

    if ((*p)->calls == 0
        && clock_mono_us() - (*p)->used > (*p)->idle * 1000)
    {
        session_drop(p);
        return NULL;
    }

    return p;
}


/* room for one more: of a workspace (NULL: of all) the least used one goes */

static void
session_room(const char *workspace, unsigned max)
{
    size_t       i;
    unsigned     n;
    session_t  **p, **oldest;

    oldest = NULL;
    n = 0;

    for (i = 0; i < SESSION_CHAINS; i++) {
        for (p = &session_chains[i]; *p != NULL; p = &(*p)->chain) {
            if (workspace != NULL && strcmp((*p)->workspace, workspace) != 0) {
                continue;
            }

            n++;

            if (oldest == NULL || (*p)->used < (*oldest)->used) {
                oldest = p;
            }
        }
    }

    if (n >= max) {
        session_drop(oldest);
    }
}


int
session_open(const char *workspace, const char *version, uint64_t idle,
    char id[SESSION_ID])
{
    char         hex[33];
    session_t   *s, **p;

    s = calloc(1, sizeof(session_t));

    if (s == NULL || text_random(hex) == -1) {
        free(s);
        return -1;
    }

    (void) snprintf(s->id, sizeof(s->id), "mcp_%s", hex);
    (void) snprintf(s->workspace, sizeof(s->workspace), "%s", workspace);
    (void) snprintf(s->version, sizeof(s->version), "%s", version);
    s->idle = idle;
    s->used = clock_mono_us();
    memcpy(id, s->id, SESSION_ID);

    (void) pthread_mutex_lock(&session_mutex);

    session_room(workspace, BOUND_SESSIONS_OWN);
    session_room(NULL, BOUND_SESSIONS);

    p = session_chain(s->id);
    s->chain = *p;
    *p = s;

    (void) pthread_mutex_unlock(&session_mutex);

    return 0;
}


int
session_live(const char *id, const char *workspace,
    char version[SESSION_VERSION])
{
    session_t  **p;

    (void) pthread_mutex_lock(&session_mutex);

    p = session_find(id, workspace);

    if (p != NULL) {
        (*p)->used = clock_mono_us();
        memcpy(version, (*p)->version, SESSION_VERSION);
    }

    (void) pthread_mutex_unlock(&session_mutex);

    return p != NULL;
}


void
session_enter(const char *id, const char *workspace)
{
    session_t  **p;

    (void) pthread_mutex_lock(&session_mutex);

    p = session_find(id, workspace);

    if (p != NULL) {
        (*p)->calls++;
    }

    (void) pthread_mutex_unlock(&session_mutex);
}


void
session_leave(const char *id, const char *workspace)
{
    session_t  **p;

    (void) pthread_mutex_lock(&session_mutex);

    p = session_find(id, workspace);

    if (p != NULL && (*p)->calls != 0) {
        (*p)->calls--;
        (*p)->used = clock_mono_us();
    }

    (void) pthread_mutex_unlock(&session_mutex);
}


int
session_end(const char *id, const char *workspace)
{
    session_t  **p;

    (void) pthread_mutex_lock(&session_mutex);

    p = session_find(id, workspace);

    if (p != NULL) {
        session_drop(p);
    }

    (void) pthread_mutex_unlock(&session_mutex);

    return p != NULL ? 0 : -1;
}
