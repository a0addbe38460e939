
/*
 * What was fetched a moment ago, for the same workspace and the same URL: a
 * small table, bounded in bytes, entries and time.
 */

#ifndef FRONT_FETCH_CACHE_H
#define FRONT_FETCH_CACHE_H

#include <stddef.h>
#include <stdint.h>


/* a copy, which becomes the caller's; NULL if there is none */

char *fetch_cache_get(const char *workspace, const char *url, size_t *len);

/* copies; "seconds" is how long it is good.  What does not fit is not kept */

void fetch_cache_put(const char *workspace, const char *url, const char *data,
    size_t len, uint32_t seconds);


#endif /* FRONT_FETCH_CACHE_H */
