
/*
 * In retort-front, as its own uid without any capability.  The bytes are of
 * whoever answered for a URL: nobody but the workspace that asked gets them.
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "clock.h"
#include "fetch_cache.h"


typedef struct {
    char       *key;            /* workspace, NUL, URL */
    size_t      key_len;
    char       *data;
    size_t      len;
    uint64_t    until;          /* mono usec */
} fetch_cache_t;


static fetch_cache_t     cache[BOUND_CACHE_FILES];
static size_t            cache_bytes;
static pthread_mutex_t   cache_mutex = PTHREAD_MUTEX_INITIALIZER;


static void
cache_drop(fetch_cache_t *c)
{
    cache_bytes -= c->len + c->key_len;
    free(c->key);
    free(c->data);
    memset(c, 0, sizeof(fetch_cache_t));
}


static void
cache_old(void)
{
    size_t     i;
    uint64_t   now;

    now = clock_mono_us();

    for (i = 0; i < BOUND_CACHE_FILES; i++) {
        if (cache[i].key != NULL && cache[i].until <= now) {
            cache_drop(&cache[i]);
        }
    }
}


static char *
cache_key(const char *workspace, const char *url, size_t *len)
{
    char    *key;
    size_t   n;

    n = strlen(workspace) + 1;
    *len = n + strlen(url);
    key = malloc(*len + 1);

    if (key != NULL) {
        memcpy(key, workspace, n);
        memcpy(key + n, url, *len - n + 1);
    }

    return key;
}


static fetch_cache_t *
cache_find(const char *key, size_t len)
{
    size_t  i;

    for (i = 0; i < BOUND_CACHE_FILES; i++) {
        if (cache[i].key != NULL && cache[i].key_len == len
            && memcmp(cache[i].key, key, len) == 0)
        {
            return &cache[i];
        }
    }

    return NULL;
}


char *
fetch_cache_get(const char *workspace, const char *url, size_t *len)
{
    char           *key, *copy;
    size_t          n;
    fetch_cache_t  *c;

    copy = NULL;
    key = cache_key(workspace, url, &n);

    if (key == NULL) {
        return NULL;
    }

    (void) pthread_mutex_lock(&cache_mutex);

    cache_old();
    c = cache_find(key, n);

    if (c != NULL) {
        copy = malloc(c->len + 1);
    }

    if (copy != NULL) {
        memcpy(copy, c->data, c->len);
        *len = c->len;
    }

    (void) pthread_mutex_unlock(&cache_mutex);
    free(key);

    return copy;
}


/* a free place, if need be of those that would end first; the lock is held */

static fetch_cache_t *
cache_room(size_t need)
{
    size_t          i;
    fetch_cache_t  *c, *first;

    for ( ;; ) {
        c = first = NULL;

        for (i = 0; i < BOUND_CACHE_FILES; i++) {
            if (cache[i].key == NULL) {
                c = &cache[i];

            } else if (first == NULL || cache[i].until < first->until) {
                first = &cache[i];
            }
        }

        if (c != NULL && cache_bytes + need <= BOUND_CACHE_BYTES) {
            return c;
        }

        cache_drop(first);
    }
}


void
fetch_cache_put(const char *workspace, const char *url, const char *data,
    size_t len, uint32_t seconds)
{
    char           *key, *copy;
    size_t          n;
    fetch_cache_t  *c;

    if (seconds == 0 || len > BOUND_CACHE_FILE) {
        return;
    }

    key = cache_key(workspace, url, &n);
    copy = malloc(len + 1);

    if (key == NULL || copy == NULL || n > BOUND_CACHE_FILE) {
        free(key);
        free(copy);
        return;
    }

    memcpy(copy, data, len);
    (void) pthread_mutex_lock(&cache_mutex);

    cache_old();
    c = cache_find(key, n);

    if (c != NULL) {
        cache_drop(c);
    }

    c = cache_room(len + n);
    c->key = key;
    c->key_len = n;
    c->data = copy;
    c->len = len;
    c->until = clock_mono_us()
               + (seconds < BOUND_CACHE_TIME ? seconds : BOUND_CACHE_TIME)
                 * 1000000ULL;
    cache_bytes += len + n;

    (void) pthread_mutex_unlock(&cache_mutex);
}
