
/*
 * retort-broker's own types.
 *
 * The broker keeps every sandbox's descriptors, a small opaque record for
 * each, and the only rights over them.  It is the parent of the map writer,
 * the launchers, the templates, the front and of pid 1 of every sandbox.
 */

#ifndef RETORT_BROKER_MAIN_H
#define RETORT_BROKER_MAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../protocol/broker.h"
#include "../protocol/init.h"
#include "cgroup.h"


/* retortctl's socket in BOOT_RUN: its name is the same everywhere */

#define BOOT_CONTROL  "control.sock"

/* descriptors at start, put there by retortd; all but the template launchers
 * are fixed */

enum {
    BOOT_SETTINGS = 3,          /* sealed memfd, retort_settings_t */
    BOOT_MAPD,                  /* map writer */
    BOOT_FRONT,                 /* launcher of the front */
    BOOT_NOTIFY,                /* supervisor's socket, or /dev/null */
    BOOT_RUN,                   /* directory of our listening socket, locked */
    BOOT_CGROUP,                /* CG_DIRS directories, or /dev/null */
    BOOT_TEMPLATE = BOOT_CGROUP + CG_DIRS       /* a launcher per profile */
};


typedef enum {
    BOX_FREE = 0,
    BOX_CLONING,                /* the template was asked */
    BOX_MAPPING,                /* the map writer was asked */
    BOX_SEALING,                /* pid 1 was told to go */
    BOX_ALIVE,
    BOX_RESTARTING,             /* pid 1 was asked for a new kernel */
    BOX_DYING,                  /* killed, not reaped yet */
    BOX_SWEEPING                /* reaped, its cgroup not removed yet */
} box_state_t;


typedef struct {
    box_state_t          state;
    uint32_t             generation;
    uint32_t             profile;
    char                 name[16];      /* of its groups */
    uint32_t             seq;           /* the front's open request, or 0 */
    bool                 shown;         /* the front knows this box */
    pid_t                pid;
    int                  pidfd;
    int                  init;          /* pid 1's socket */
    int                  fds[BRK_BOX_FDS];
    cg_t                 cg;            /* a container's own; version 0: none */
    uint32_t             at;            /* in the broker's busy ones, if it is
                                           one of them: no other waits */
    int64_t              deadline;      /* msec; 0 for none */
    int64_t              yields;        /* until then, msec, its processes
                                           leave cores to others'; 0: not now */
    retort_box_limits_t  limits;
    brk_stat_t           stat;          /* the last one, once it is gone */
    int                  status;
    uint8_t              record[BRK_RECORD_SIZE];
} box_t;


/* a program that a launcher starts again when it is gone */

typedef struct {
    int       launcher;
    int       sock;             /* -1 while it does not run */
    bool      ready;            /* front: said hello; template: is warm */
    int64_t   again;            /* when to start it next; 0: runs */
    uint32_t  fails;            /* in a row, to become ready */
} service_t;


typedef struct {
    const retort_settings_t  *settings;
    int                       epoll;
    bool                      draining;
    bool                      told_ready;
    int64_t                   drain_end;
    service_t                 front;
    service_t                 template[RETORT_PROFILES_MAX];
    uint64_t                  base[RETORT_PROFILES_MAX];    /* of memory: what
                                            a container has for its imports */
    cg_t                      cg;
    uint32_t                  ended;    /* ends that were told since the
                                           last broker_reap() */
    box_t                    *box;
    box_t                   **busy;     /* those neither free nor alive */
    uint32_t                  nbusy;
} broker_t;


/* what an epoll event belongs to: tag in the high half, index in the low */

enum { TAG_SIGNAL = 1, TAG_MAPD, TAG_FRONT, TAG_TEMPLATE, TAG_EXIT, TAG_BOX };


int64_t broker_now(void);
int broker_watch(broker_t *b, int fd, uint32_t tag, uint32_t index);


/* box.c: the life of a sandbox */

int box_spawn(broker_t *b, uint32_t profile, const brk_req_t *req);
box_t *box_find(broker_t *b, uint64_t id);
uint64_t box_id(const broker_t *b, const box_t *box);
void box_kill(broker_t *b, box_t *box);
void box_restart(broker_t *b, box_t *box, const brk_req_t *req);
void box_exited(broker_t *b, box_t *box);
void box_overdue(broker_t *b);
void box_offer(broker_t *b, box_t *box, uint16_t op, uint32_t seq);
void box_fail_profile(broker_t *b, uint32_t profile);

/* box.c: answers of others; the pidfd becomes the box's */

void box_from_template(broker_t *b, const tpl_ans_t *ans, int pidfd);
void box_from_mapd(broker_t *b, const map_ans_t *ans);
void box_from_init(broker_t *b, box_t *box);


/* service.c: front and templates */

void service_start(broker_t *b, service_t *s, uint32_t tag, uint32_t index);
void service_gone(service_t *s);
void service_kill(const service_t *s);


/* front.c: the operations */

void front_read(broker_t *b);
int front_tell(broker_t *b, uint16_t op, uint32_t seq, const char *profile);
int front_send(broker_t *b, const brk_ans_t *ans, const int *fds, int nfd);


/* lock.c: what this process keeps for itself */

int lock_down(void);


#endif /* RETORT_BROKER_MAIN_H */
