
/*
 * Broker and template, broker and pid 1 of a sandbox: fixed-size structs over
 * SOCK_SEQPACKET.  Both ends are built together.
 */

#ifndef RETORT_INIT_H
#define RETORT_INIT_H

#include <assert.h>
#include <stdint.h>

#include "profile.h"


/*
 * The steps that seal a sandbox, in their order.  A step that fails ends that
 * sandbox; its name reaches the client, the errno reaches the log.
 */

#define INIT_STEPS(X)                                                         \
    X(NONE, "none")                                                           \
    X(CGROUP, "cgroup")                                                       \
    X(CHANNEL, "channel")                                                     \
    X(TEMPLATE, "template")                                                   \
    X(CLONE, "clone")                                                         \
    X(ATTACH, "cgroup attach")                                                \
    X(IDMAP, "id map")                                                        \
    X(GO, "go")                                                               \
    X(CGROUPNS, "cgroup namespace")                                           \
    X(IDS, "ids")                                                             \
    X(NSLIMITS, "namespace limits")                                           \
    X(PRIVATE, "private mounts")                                              \
    X(ROOT, "root overlay")                                                   \
    X(PROC, "proc")                                                           \
    X(DEV, "dev")                                                             \
    X(WORKSPACE, "workspace")                                                 \
    X(TMP, "tmp")                                                             \
    X(SHM, "shm")                                                             \
    X(PIVOT, "pivot")                                                         \
    X(HOSTNAME, "hostname")                                                   \
    X(SESSION, "session")                                                     \
    X(RLIMITS, "rlimits")                                                     \
    X(CAPS, "capabilities")                                                   \
    X(NNP, "no_new_privs")                                                    \
    X(LANDLOCK, "landlock")                                                   \
    X(FDS, "descriptors")                                                     \
    X(SECCOMP, "seccomp")                                                     \
    X(KERNEL, "kernel")                                                       \
    X(TIME, "time")                                                           \
    X(ENGINE, "container engine")

#define INIT_STEP_ENUM(name, text)  STEP_##name,

typedef enum { INIT_STEPS(INIT_STEP_ENUM) STEP_MAX } init_step_t;


/* broker to template: make a sandbox */

typedef struct {
    uint64_t             id;
    retort_box_limits_t  limits;
} tpl_req_t;

/* with it: pid 1's socket, kernel channel, stdout and stderr (write ends) */

#define TPL_FDS  4


/* template to broker; with a pidfd if error is 0 */

typedef struct {
    uint64_t  id;
    int32_t   pid;              /* 0 and id 0: the template is warm */
    int32_t   error;
} tpl_ans_t;


/* broker and pid 1; even numbers ask, odd ones tell */

typedef enum {
    INIT_GO = 2,                /* ids are mapped, limits set: enter the
                                   groups whose files come with it; seal */
    INIT_SIGNAL = 4,            /* step: signal for the kernel; arg: its run,
                                   or as KRN_OTHERS says */
    INIT_RESTART = 6,           /* with channel, stdout, stderr; arg not 0:
                                   for another session, in empty folders */

    INIT_READY = 101,           /* sealed, kernel runs; answers RESTART too */
    INIT_FAILED = 103,          /* step, arg = errno; pid 1 exits after it */
    INIT_KERNEL_EXIT = 105      /* arg: wait status; step: 1 if its snapshot
                                   takes over */
} init_op_t;

typedef struct {
    uint16_t  op;
    uint16_t  step;
    int32_t   arg;
} init_msg_t;

#define INIT_GO_FDS       4     /* at most */
#define INIT_RESTART_FDS  3


/* broker to map writer, with the child's pidfd, and back */

typedef struct {
    uint64_t  id;
    uint32_t  slot;
    int32_t   pid;
} map_req_t;

typedef struct {
    uint64_t  id;
    int32_t   error;
    int32_t   reserved;
} map_ans_t;


/*
 * Broker to launcher: start the program (again), the one descriptor becomes
 * its fd 3; or kill it.  Nothing is answered: a program that does not come up
 * shows by the end of file on that descriptor's other end.
 */

typedef struct {
    uint32_t  op;               /* LAUNCH_START or LAUNCH_KILL */
    uint32_t  reserved;
} launch_req_t;

#define LAUNCH_START  2
#define LAUNCH_KILL   4


static_assert(sizeof(tpl_req_t) == 64, "no padding");
static_assert(sizeof(tpl_ans_t) == 16, "no padding");
static_assert(sizeof(init_msg_t) == 8, "no padding");
static_assert(sizeof(map_req_t) == 16, "no padding");


#endif /* RETORT_INIT_H */
