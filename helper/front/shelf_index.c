
/*
 * In retort-front.  One lock is held for the list, and never while a file is
 * written or read.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "artifact.h"
#include "bounds.h"
#include "clock.h"
#include "secret.h"
#include "shelf_index.h"


#define SHELF_SLOTS  1024
#define SHELF_BREAK  600        /* seconds between two sweeps, at most */


typedef struct shelf_one_s  shelf_one_t;

struct shelf_one_s {
    char          hex[SHELF_HEX + 1];
    char         *name;
    char         *mime;
    uint64_t      size;
    uint64_t      created;
    uint64_t      expires;
    int           made;
    int           empty;        /* expired: its bytes are gone */
    shelf_one_t  *next;         /* the next older one of its slot */
};


static int               shelf_prefix_len;
static char              shelf_prefix[OUT_ID - SHELF_HEX];
static uint64_t          shelf_last;        /* "created" of the newest */
static shelf_one_t      *shelf_table[SHELF_SLOTS];
static pthread_mutex_t   shelf_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t    shelf_cond = PTHREAD_COND_INITIALIZER;


int
shelf_index_init(const char *node)
{
    shelf_prefix_len = snprintf(shelf_prefix, sizeof(shelf_prefix),
                                "file_%s_", node);

    return shelf_prefix_len > 0
           && (size_t) shelf_prefix_len < sizeof(shelf_prefix) ? 0 : -1;
}


void
shelf_index_id(const char *hex, char id[OUT_ID])
{
    (void) snprintf(id, OUT_ID, "%s%.*s", shelf_prefix, SHELF_HEX, hex);
}


const char *
shelf_index_hex(const char *id)
{
    return id + shelf_prefix_len;
}


static shelf_one_t **
shelf_slot(const char *hex)
{
    char  owner[STORE_OWNER + 1];

    memcpy(owner, hex, STORE_OWNER);
    owner[STORE_OWNER] = '\0';

    return &shelf_table[strtoull(owner, NULL, 16) % SHELF_SLOTS];
}


static int
shelf_owns(const shelf_one_t *one, const char *owner)
{
    return strncmp(one->hex, owner, STORE_OWNER) == 0;
}


static void
shelf_free(shelf_one_t *one)
{
    if (one != NULL) {
        free(one->name);
        free(one->mime);
        free(one);
    }
}


static shelf_one_t *
shelf_make(const char *hex, const shelf_info_t *info)
{
    shelf_one_t  *one;

    one = calloc(1, sizeof(shelf_one_t));

    if (one == NULL) {
        return NULL;
    }

    (void) snprintf(one->hex, sizeof(one->hex), "%.*s", SHELF_HEX, hex);
    one->name = strdup(info->name);
    one->mime = strdup(info->mime);
    one->size = info->size;
    one->created = info->created;
    one->expires = info->expires;
    one->made = info->made;

    if (one->name == NULL || one->mime == NULL) {
        shelf_free(one);
        return NULL;
    }

    return one;
}


/* the lock is held */

static void
shelf_insert(shelf_one_t *one)
{
    shelf_one_t  **p;

    p = shelf_slot(one->hex);

    while (*p != NULL && (*p)->created > one->created) {
        p = &(*p)->next;
    }

    one->next = *p;
    *p = one;
    shelf_last = one->created > shelf_last ? one->created : shelf_last;
}


/* the lock is held: where the file hangs, or would */

static shelf_one_t **
shelf_at(const char *hex)
{
    shelf_one_t  **p;

    for (p = shelf_slot(hex); *p != NULL && strcmp((*p)->hex, hex) != 0;
         p = &(*p)->next) { /* void */ }

    return p;
}


int
shelf_index_add(const char *hex, const shelf_info_t *info, int empty)
{
    shelf_one_t  *one;

    one = shelf_make(hex, info);

    if (one == NULL) {
        return -1;
    }

    one->empty = empty;

    (void) pthread_mutex_lock(&shelf_mutex);
    shelf_insert(one);
    (void) pthread_cond_signal(&shelf_cond);
    (void) pthread_mutex_unlock(&shelf_mutex);

    return 0;
}


void
shelf_index_remove(const char *hex)
{
    shelf_one_t  **p, *one;

    (void) pthread_mutex_lock(&shelf_mutex);
    p = shelf_at(hex);
    one = *p;

    if (one != NULL) {
        *p = one->next;
    }

    (void) pthread_mutex_unlock(&shelf_mutex);
    shelf_free(one);
}


int
shelf_index_has(const char *hex)
{
    int  there;

    (void) pthread_mutex_lock(&shelf_mutex);
    there = *shelf_at(hex) != NULL;
    (void) pthread_mutex_unlock(&shelf_mutex);

    return there;
}


size_t
shelf_index_count(const char *owner)
{
    size_t        n;
    shelf_one_t  *one;

    n = 0;
    (void) pthread_mutex_lock(&shelf_mutex);

    for (one = *shelf_slot(owner); one != NULL; one = one->next) {
        n += (size_t) shelf_owns(one, owner);
    }

    (void) pthread_mutex_unlock(&shelf_mutex);

    return n;
}


uint64_t
shelf_index_now(void)
{
    uint64_t  now;

    now = clock_wall_ms() * 1000;

    (void) pthread_mutex_lock(&shelf_mutex);
    now = now > shelf_last ? now : shelf_last + 1;
    shelf_last = now;
    (void) pthread_mutex_unlock(&shelf_mutex);

    return now;
}


static void
shelf_tell(const shelf_one_t *one, shelf_info_t *info)
{
    shelf_index_id(one->hex, info->id);
    (void) snprintf(info->name, sizeof(info->name), "%s", one->name);
    (void) snprintf(info->mime, sizeof(info->mime), "%s", one->mime);
    info->size = one->size;
    info->created = one->created;
    info->expires = one->expires;
    info->made = one->made;
}


int
shelf_look(const char *id, const char *workspace, shelf_info_t *info,
    err_t *e)
{
    char          owner[STORE_OWNER + 1];
    size_t        n;
    shelf_one_t  *one;

    one = NULL;
    n = (size_t) shelf_prefix_len;

    if (strncmp(id, shelf_prefix, n) == 0
        && secret_hex(owner, STORE_OWNER, ARTIFACT_OWNER, workspace) == 0
        && strncmp(id + n, owner, STORE_OWNER) == 0)
    {
        (void) pthread_mutex_lock(&shelf_mutex);
        one = *shelf_at(id + n);

        if (one != NULL) {
            shelf_tell(one, info);
        }

        (void) pthread_mutex_unlock(&shelf_mutex);
    }

    return one != NULL ? 0 : err_set(e, 404, "file_not_found",
                                     "File `%.80s` not found.", id);
}


static int
shelf_fits(const shelf_one_t *one, const char *owner, const shelf_ask_t *ask)
{
    return shelf_owns(one, owner) && one->created < ask->before
           && one->created > ask->after;
}


size_t
shelf_list(const char *workspace, const shelf_ask_t *ask, shelf_info_t *list,
    int *more)
{
    char          owner[STORE_OWNER + 1];
    size_t        n, all, skip;
    shelf_one_t  *one;

    *more = 0;

    if (secret_hex(owner, STORE_OWNER, ARTIFACT_OWNER, workspace) == -1) {
        return 0;
    }

    n = 0;
    all = 0;
    (void) pthread_mutex_lock(&shelf_mutex);

    for (one = *shelf_slot(owner); one != NULL; one = one->next) {
        all += (size_t) shelf_fits(one, owner, ask);
    }

    *more = all > ask->max;
    skip = *more && ask->last ? all - ask->max : 0;

    for (one = *shelf_slot(owner); one != NULL && n < ask->max;
         one = one->next)
    {
        if (!shelf_fits(one, owner, ask)) {
            continue;
        }

        if (skip != 0) {
            skip--;

        } else {
            shelf_tell(one, &list[n++]);
        }
    }

    (void) pthread_mutex_unlock(&shelf_mutex);

    return n;
}


/* the lock is held: the first whose time has come; "next" is of the others */

static shelf_one_t *
shelf_due(uint64_t now, uint64_t *next)
{
    size_t        i;
    uint64_t      end;
    shelf_one_t  *one;

    *next = now + SHELF_BREAK;

    for (i = 0; i < SHELF_SLOTS; i++) {
        for (one = shelf_table[i]; one != NULL; one = one->next) {
            if (one->expires == 0) {
                continue;
            }

            end = one->expires + (one->empty ? BOUND_SHELF_PAST : 0);

            if (end <= now) {
                return one;
            }

            *next = end < *next ? end : *next;
        }
    }

    return NULL;
}


int
shelf_index_due(char hex[SHELF_HEX + 1], shelf_info_t *info, int *empty,
    uint64_t *next)
{
    shelf_one_t  *one;

    (void) pthread_mutex_lock(&shelf_mutex);
    one = shelf_due(clock_wall_ms() / 1000, next);

    if (one != NULL) {
        *empty = one->empty;
        one->empty = 1;
        memcpy(hex, one->hex, sizeof(one->hex));
        shelf_tell(one, info);
    }

    (void) pthread_mutex_unlock(&shelf_mutex);

    return one != NULL;
}


void
shelf_index_wait(uint64_t next)
{
    uint64_t         now;
    struct timespec  until;

    now = clock_wall_ms() / 1000;
    (void) clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t) (next > now ? next - now : 0) + 1;

    (void) pthread_mutex_lock(&shelf_mutex);
    (void) pthread_cond_clockwait(&shelf_cond, &shelf_mutex, CLOCK_MONOTONIC,
                                  &until);
    (void) pthread_mutex_unlock(&shelf_mutex);
}
