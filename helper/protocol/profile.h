
/*
 * What a profile says, as one fixed struct.
 *
 * retortd reads the root-owned profile files once, checks every value and
 * writes an array of these into a sealed memfd.  Broker and front read that
 * memfd and nothing else: neither of them ever opens a configuration file.
 *
 * Every limit has a default and a ceiling.  A request may ask for any value
 * up to the ceiling; "0" in a request means the default.
 */

#ifndef RETORT_PROFILE_H
#define RETORT_PROFILE_H

#include <stdint.h>


#define RETORT_PROFILE_NAME   32        /* with the final NUL */
#define RETORT_PROFILE_LINK   256       /* the same */
#define RETORT_PROFILES_MAX   16
#define RETORT_NODE_NAME      16        /* with the final NUL */


/* limits that the broker and the sandbox's kernel objects enforce */

typedef struct {
    uint64_t  memory;           /* bytes, all processes and tmpfs together */
    uint64_t  disk;             /* bytes of /workspace */
    uint64_t  inodes;           /* files of /workspace */
    uint64_t  tmp;              /* bytes of /tmp and of /dev/shm, each */
    uint64_t  fsize;            /* bytes of one file */
    uint32_t  processes;        /* processes and threads */
    uint32_t  cpu;              /* thousandths of a core */
    uint32_t  files;            /* open files of one process */
    uint32_t  reserved;
} retort_box_limits_t;


/* whose walls a sandbox of it has */

#define RETORT_BACKEND_NAMESPACE  0
#define RETORT_BACKEND_DOCKER     1


/* what ends a session, besides DELETE */

#define RETORT_LIFE_TIMED  0    /* nobody used it for its ttl */
#define RETORT_LIFE_EXIT   1    /* its interpreter ended */


/* what a text is put between in answers of the Qwen dialect */

#define RETORT_FENCE_THREE   0  /* three backticks, as the tool has it */
#define RETORT_FENCE_LONGER  1  /* more than there are in the text */


/* what a front does that cannot write its log of runs */

#define RETORT_AUDIT_REFUSE  0  /* it runs nothing */
#define RETORT_AUDIT_GO_ON   1  /* it runs, and counts what the log misses */


/* limits that the front enforces */

typedef struct {
    uint64_t  timeout;          /* msec of wall time for a cell */
    uint64_t  output;           /* bytes of stdout and stderr kept */
    uint64_t  image;            /* bytes of one displayed picture or file */
    uint64_t  request;          /* bytes of a request body */
    uint64_t  artifacts;        /* displayed pictures or files in one run */
    uint64_t  ttl;              /* msec that an idle sandbox is kept */
} retort_run_limits_t;


typedef struct {
    char                 name[RETORT_PROFILE_NAME];
    retort_box_limits_t  box;           /* defaults */
    retort_box_limits_t  box_max;       /* ceilings */
    retort_run_limits_t  run;
    retort_run_limits_t  run_max;
    uint32_t             ready;         /* sealed sandboxes kept waiting */
    uint32_t             sessions;      /* sandboxes of this profile at once */
    uint64_t             alive;         /* msec of a session's life; 0: any */
    uint32_t             life;          /* RETORT_LIFE_... */
    uint32_t             manifest;      /* bytes of it, below */
    uint32_t             snapshot;      /* 1: a killed cell is undone */
    uint32_t             fence;         /* RETORT_FENCE_... */
    uint32_t             backend;       /* RETORT_BACKEND_... */
    uint32_t             reuse;         /* msec that a container waits for
                                           its workspace's next session */

    /* what the settings of Qwen-Agent's tool by these names say, or "" */
    char                 m6_static_url[RETORT_PROFILE_LINK];
    char                 m6_work_dir[RETORT_PROFILE_LINK];
} retort_profile_t;


/*
 * The memfd begins with this.  Behind it, in the order of the profiles, are
 * the manifests of their images, as text.
 */

typedef struct {
    uint32_t          magic;            /* RETORT_SETTINGS_MAGIC */
    uint32_t          size;             /* sizeof(retort_settings_t) */
    char              node[RETORT_NODE_NAME];
    uint32_t          nslots;           /* sandboxes at once, all profiles */
    uint32_t          nprofiles;
    uint32_t          uid_base;         /* slot n runs as uid_base + 8 * n */
    uint32_t          cgroup;           /* 0 none, 1 or 2 */
    uint64_t          artifacts_keep;   /* msec that a link is good at least */
    uint64_t          artifacts_quota;  /* bytes stored for a workspace */
    uint32_t          audit_code;       /* 1: the log of runs has their code */
    uint32_t          audit_full;       /* RETORT_AUDIT_... */
    retort_profile_t  profile[RETORT_PROFILES_MAX];
} retort_settings_t;

#define RETORT_SETTINGS_MAGIC  0x52545631       /* "RTV1" */


#endif /* RETORT_PROFILE_H */
