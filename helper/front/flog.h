
/*
 * lib/log.h with the execution's id in front of the text.
 */

#ifndef FRONT_FLOG_H
#define FRONT_FLOG_H

#include "lib/log.h"


/* the execution that this thread works for, "" for none; copied */

void flog_execution(const char *id);

void flog(rlog_level_t level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));


#endif /* FRONT_FLOG_H */
