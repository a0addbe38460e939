
/*
 * How many bytes of the artifact store each owner has.
 */

#ifndef FRONT_USAGE_H
#define FRONT_USAGE_H

#include <stddef.h>
#include <stdint.h>


/* what a file of "len" bytes takes on a disk, its name included */

uint64_t usage_of(uint64_t len);

uint64_t usage_get(uint64_t owner);

/* adds, if it is not more than "max" then; 0, or -1 (also: no memory) */

int usage_add(uint64_t owner, uint64_t bytes, uint64_t max);

void usage_drop(uint64_t owner, uint64_t bytes);

/* of all owners; for any thread */

uint64_t usage_total(void);


#endif /* FRONT_USAGE_H */
