
/*
 * The counters of a box, read from the files that the broker opened.
 */

#ifndef RETORT_COUNTERS_H
#define RETORT_COUNTERS_H

#include "../protocol/broker.h"


/* "fd" has BRK_COUNTERS; a group that is gone leaves what was there before */

void counters_read(const int *fd, brk_stat_t *stat);


#endif /* RETORT_COUNTERS_H */
