
/*
 * How a run ended: what every dialect renders.
 */

#ifndef FRONT_RESULT_H
#define FRONT_RESULT_H

#include <stdint.h>

#include "job.h"
#include "output.h"


#define VERDICTS(X)                                                           \
    X(OK, "ok")                                                               \
    X(ERROR, "error")                                                         \
    X(TIMEOUT, "timeout")                                                     \
    X(OOM, "oom")                                                             \
    X(KILLED, "killed")                                                       \
    X(CANCELLED, "cancelled")                                                 \
    X(LOST, "lost")

#define VERDICT_ENUM(name, text)  VERDICT_##name,

typedef enum { VERDICTS(VERDICT_ENUM) VERDICT_MAX } verdict_t;


typedef enum {
    STATE_KEPT,                 /* the sandbox lives, variables alive */
    STATE_RESTORED,             /* it lives, variables as before the cell */
    STATE_LOST,                 /* it lives with a new interpreter */
    STATE_GONE                  /* there is no sandbox any more */
} box_fate_t;


typedef struct {
    outputs_t    out;
    verdict_t    verdict;
    box_fate_t   fate;
    const char  *fate_why;              /* STATE_LOST: the reason; or NULL */
    krn_language_t  language;
    int          exit_code;             /* bash */
    uint32_t     count;                 /* runs of the sandbox, with it */
    char         sandbox[JOB_SANDBOX];  /* "" if it is gone */
    uint64_t     expires;               /* wall msec, 0 if it is gone */

    uint64_t     wall_us;
    uint64_t     cpu_us;
    uint64_t     cpu_system_us;         /* of that */
    uint64_t     memory_peak;
    uint64_t     written;               /* bytes, as the sandbox counts */
    uint32_t     processes;             /* that it left running */

    uint64_t     queue_us;              /* until there was a place */
    uint64_t     create_us;             /* until there was a sandbox */
    uint64_t     first_byte_us;
    uint64_t     run_us;
} result_t;


const char *verdict_text(verdict_t v);
const char *fate_text(box_fate_t f);


#endif /* FRONT_RESULT_H */
