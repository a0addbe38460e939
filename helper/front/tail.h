
/*
 * The end of streams that are longer than their budget: three quarters of it
 * are their head, which outputs take as it comes; the last quarter is a tail
 * that is held back until the run is over, when it becomes items at the end.
 */

#ifndef FRONT_TAIL_H
#define FRONT_TAIL_H

#include "output.h"


/* before the first byte: the budget is split; "spill" as in output.h */

void tail_init(outputs_t *o, void (*spill)(void *to, const char *p, size_t n),
    void *to);

/* bytes that the head does not take any more */

void tail_stream(outputs_t *o, out_type_t type, const char *p, size_t n,
    uint64_t now);

/* the run is over: what is held becomes items, with a mark if any were cut */

void tail_finish(outputs_t *o);

void tail_free(outputs_t *o);

/* the line that stands where so many bytes of so many were cut */

void tail_mark(buf_t *to, uint64_t cut, uint64_t all);


#endif /* FRONT_TAIL_H */
