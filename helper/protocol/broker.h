
/*
 * Front and broker: fixed-size structs over one SOCK_SEQPACKET socket, both
 * ends built together.  The front asks (brk_req_t), the broker answers and
 * tells events (brk_ans_t); descriptors travel by SCM_RIGHTS.
 *
 * The front can name a profile and lower limits.  There is no field for a
 * path, a uid, an argument, a mount or a system call.
 *
 * A message of the wrong size, an unknown operation, a descriptor where none
 * belongs: the broker ends that front and starts another.  A request that is
 * well-formed and cannot be done is answered with a code.
 */

#ifndef RETORT_BROKER_H
#define RETORT_BROKER_H

#include <assert.h>

#include "profile.h"


#define BRK_VERSION   2
#define BRK_RECORD_SIZE  512    /* what the front may leave with a box */
#define BRK_BOX_FDS   3         /* kernel channel, stdout, stderr */
#define BRK_FDS       (BRK_BOX_FDS + BRK_COUNTERS)


/*
 * Files of the box's cgroups, open, each with one line of brk_stat_t.  The
 * front reads them by itself, and starts a new peak by writing to that file;
 * nothing else can be done with them.
 */

typedef enum {
    BRK_CPU,
    BRK_CPU_SYSTEM,
    BRK_MEMORY,
    BRK_PEAK,
    BRK_OOM,
    BRK_PROCESSES,
    BRK_COUNTERS
} brk_counter_t;


/*
 * Name, number, when it is allowed, the broker's function; above each, why it
 * is safe when the front is hostile.  HELLO: as the first message and never
 * again.  READY: after it.  BOX: for a box that there is.  ALIVE: and that has
 * a kernel.
 */

#define BRK_OPS(X)                                                            \
    /* tells the version; answered once, then every living box is offered */  \
    X(HELLO, 2, HELLO, front_hello)                                           \
    /* profile by name, limits clamped to its ceilings, slots are counted */  \
    X(SPAWN, 4, READY, front_spawn)                                           \
    /* only boxes that the broker made; id carries a generation */            \
    X(KILL, 6, BOX, front_kill)                                               \
    /* SIGINT or SIGKILL, to the processes inside that box and no other */    \
    X(SIGNAL, 8, ALIVE, front_signal)                                         \
    /* BRK_RECORD_SIZE opaque bytes, kept for the next front, never read */   \
    X(RECORD, 14, BOX, front_record)                                          \
    /* a new interpreter in place of the old one, in the same walls */        \
    X(RESTART, 16, ALIVE, front_restart)


#define BRK_ENUM(name, number, when, run)  BRK_##name = number,

typedef enum {
    BRK_OPS(BRK_ENUM)

    /* events, told by the broker unasked: odd numbers, seq 0 */

    BRK_EV_BOX = 101,           /* after HELLO: a living box, with its fds */
    BRK_EV_BOXES_END = 103,     /* after HELLO: no more boxes */
    BRK_EV_KERNEL_EXIT = 105,   /* interpreter gone, box lives; status and
                                   restored set */
    BRK_EV_BOX_EXIT = 107,      /* box gone, its id is dead; stat is final */
    BRK_EV_DRAIN = 109,         /* service stops: end or cancel what runs */
    BRK_EV_WARM = 111           /* the template of that profile serves */
} brk_op_t;


/* codes of an answer */

typedef enum {
    BRK_OK = 0,
    BRK_EPROFILE,               /* no such profile */
    BRK_EBOX,                   /* no such box (any more) */
    BRK_EFULL,                  /* all slots, or all of this profile, in use */
    BRK_EWARM,                  /* the template is still importing: try again */
    BRK_ESTEP,                  /* a step failed: step and error are set */
    BRK_ESTATE                  /* box not in a state for this */
} brk_code_t;


typedef struct {
    uint64_t  cpu_us;
    uint64_t  cpu_system_us;    /* of that; the kernel may sample it */
    uint64_t  memory_now;       /* bytes */
    uint64_t  memory_peak;      /* bytes, since spawn or the last reset */
    uint32_t  processes;        /* now */
    uint32_t  oom_kills;        /* since spawn */
} brk_stat_t;


typedef struct {
    uint16_t             op;            /* brk_op_t */
    uint16_t             version;       /* BRK_VERSION */
    uint32_t             seq;           /* not 0; echoed in the answer */
    uint64_t             id;            /* box */
    uint32_t             signal;        /* SIGNAL: SIGINT, SIGKILL */
    uint32_t             detail;        /* SIGNAL: the run that it is for,
                                           or as KRN_OTHERS says;
                                           RESTART: 1: no file stays */
    char                 profile[RETORT_PROFILE_NAME];      /* SPAWN */
    retort_box_limits_t  limits;        /* SPAWN; 0: the default */
    uint8_t              record[BRK_RECORD_SIZE];           /* SPAWN, RECORD */
} brk_req_t;


/*
 * BRK_FDS descriptors come with: a good answer to SPAWN, BRK_EV_BOX, and a
 * good answer to RESTART, the counters last.  The receiver owns them.
 *
 * Box id: slot in the low 32 bits, generation in the high ones; never 0.
 */

typedef struct {
    uint16_t             op;            /* of the request, or an event */
    uint16_t             code;          /* brk_code_t */
    uint32_t             seq;
    uint64_t             id;
    uint32_t             step;          /* BRK_ESTEP: init_step_t */
    int32_t              error;         /* BRK_ESTEP: errno */
    int32_t              status;        /* *_EXIT: as from waitpid() */
    uint32_t             restored;      /* EV_KERNEL_EXIT: its snapshot takes
                                           over, on the same descriptors */
    brk_stat_t           stat;          /* EV_*_EXIT */
    char                 profile[RETORT_PROFILE_NAME];      /* EV_BOX, WARM */
    retort_box_limits_t  limits;        /* SPAWN, EV_BOX: those in force */
    uint8_t              record[BRK_RECORD_SIZE];           /* EV_BOX */
} brk_ans_t;


static_assert(sizeof(retort_box_limits_t) == 56, "box limits: no padding");
static_assert(sizeof(brk_stat_t) == 40, "stat: no padding");
static_assert(sizeof(brk_req_t) == 24 + 32 + 56 + 512, "no padding");
static_assert(sizeof(brk_ans_t) == 32 + 40 + 32 + 56 + 512, "no padding");


#endif /* RETORT_BROKER_H */
