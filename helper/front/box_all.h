
/*
 * Boxes of all workspaces, for metrics and for who runs the service.
 */

#ifndef FRONT_BOX_ALL_H
#define FRONT_BOX_ALL_H

#include "box.h"


typedef enum {
    BOX_READY,                  /* waits in the pool */
    BOX_BUSY,                   /* a request has it */
    BOX_IDLE,                   /* a session between two runs */
    BOX_USES
} box_use_t;

typedef struct {
    box_view_t  view;           /* "box_HEX" if it has no public id */
    uint64_t    id;             /* the broker's */
    box_use_t   use;
    int         kept;
    char        workspace[REQ_WORKSPACE];       /* "": nobody's yet */
    char        execution[REQ_EXECUTION];       /* "": nothing runs */
} box_line_t;

typedef struct {
    uint32_t  use[BOX_USES];
    uint32_t  sessions;
    uint32_t  sessions_busy;
    uint64_t  memory;           /* bytes that those at rest had last */
} box_counts_t;


/* at most "max", box_max() has room for all; how many they are */

size_t box_all(box_line_t *lines, size_t max);

void box_count(const retort_profile_t *p, box_counts_t *c);

/* what it uses now, the broker's "id"; the peak goes on; 0 or -1 */

int box_usage(uint64_t id, brk_stat_t *stat);

/* ends it, whatever runs in it; 0, or -1 and "e" */

int box_kill_line(const box_line_t *l, err_t *e);


#endif /* FRONT_BOX_ALL_H */
