
/*
 * Inside of shelf.c: what is known of all its files, in memory, with a lock of
 * its own.  A file is known by the digits of its name on the disk, the first
 * ones of which stand for its owner.
 */

#ifndef FRONT_SHELF_INDEX_H
#define FRONT_SHELF_INDEX_H

#include "shelf.h"


#define SHELF_HEX  32


/* before all else: the node, which stands in ids; 0 or -1 */

int shelf_index_init(const char *node);

/* of a file that "hex" names; "info" is that of its id */

void shelf_index_id(const char *hex, char id[OUT_ID]);

/* of an id that shelf_index_id() made */

const char *shelf_index_hex(const char *id);

/* one more; "empty": it has expired, and its bytes are gone; 0 or -1 */

int shelf_index_add(const char *hex, const shelf_info_t *info, int empty);

/* it is not there any more */

void shelf_index_remove(const char *hex);

int shelf_index_has(const char *hex);

/* how many the owner has */

size_t shelf_index_count(const char *owner);

/* the time (wall usec), or a little later: never twice the same */

uint64_t shelf_index_now(void);

/*
 * One that has expired, and is said to be empty from then on, or that was
 * empty for long enough: 1.  0 if there is none before "next" (wall seconds).
 */

int shelf_index_due(char hex[SHELF_HEX + 1], shelf_info_t *info, int *empty,
    uint64_t *next);

/* sleeps until "next", or until there is one more */

void shelf_index_wait(uint64_t next);


#endif /* FRONT_SHELF_INDEX_H */
