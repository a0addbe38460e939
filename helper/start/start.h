
/*
 * retortd: the service's start.  Root for a second or two: it reads the
 * root-owned configuration, prepares what only root can, starts the rest and
 * becomes the broker.  It listens for nothing and parses nothing hostile.
 */

#ifndef RETORT_START_H
#define RETORT_START_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../broker/broker_main.h"
#include "../protocol/profile.h"


#define START_ARGS     256     /* options of a template, and their values */
#define START_UIDS     8


enum { PROGRAM_BROKER, PROGRAM_MAPD, PROGRAM_LAUNCH, PROGRAM_FRONT,
       PROGRAM_FETCH, PROGRAM_DOCKER, PROGRAMS };


/* strings live as long as the process; all of it is gone after the exec */

typedef struct {
    char                *listen;
    char                *group;
    char                *user;
    char                *front_user;
    char                *fetch_user;
    char                *node;
    char                *name;
    char                *image;
    char                *layer;
    char                *programs;
    char                *profiles;
    char                *artifacts;
    char                *audit;
    char                *control_group;
    char                *docker_socket;
    char                *docker_group;
    char                *allow[START_UIDS];
    unsigned long long   slots;
    unsigned long long   uid_base;
    unsigned long long   threads;

    int                  program[PROGRAMS];
    bool                 without_cgroup;
    retort_settings_t    settings;
    char                *args[RETORT_PROFILES_MAX][START_ARGS];
    char                *fetch[START_ARGS];     /* lines, each ended by "" */
    char                *rootfs[RETORT_PROFILES_MAX];
    char                *manifest[RETORT_PROFILES_MAX];

    uid_t                uid;           /* H */
    gid_t                gid;
    uid_t                front_uid;
    gid_t                front_gid;
    uid_t                fetch_uid;
    gid_t                fetch_gid;
    gid_t                web_gid;
    gid_t                control_gid;
    uid_t                allow_uid[START_UIDS];
    int                  nallow;
} start_t;


/* all functions below say on standard error what is wrong, and return -1 */

/* conf.c: the file, then every profile below "profiles"; "listen" overrides
 * what the file says unless it is NULL */

int conf_read(start_t *s, const char *path, const char *listen);
int conf_profile(start_t *s, const char *file, const char *name);

/* tree.c: cgroups.  Sweeps what an earlier life left, then makes ours;
 * "dir" gets CG_DIRS descriptors */

int tree_make(start_t *s, int *dir);
int tree_sweep(start_t *s);

/* root.c: in a child: the mount and network namespace of a template; leaves
 * the process at its root */

int root_make(const start_t *s, const char *path);

/*
 * fds.c.  fds_exec() puts from[i] at 3 + i, closes everything else but 0 to 2
 * and executes "program" with an empty environment; it returns on failure.  A
 * listening socket that is not ours to remove gets the name "".
 */

void fds_exec(int program, char **argv, const int *from, int n);
int fds_listen(const start_t *s, int rundir, const char **name);
int fds_control(const start_t *s, int rundir);
int fds_notify(void);
int fds_settings(const start_t *s);

/* drop.c: for good: ids, groups, bounding set, capabilities, no_new_privs.
 * With "map" CAP_SETUID and CAP_SETGID stay across the next exec. */

int drop_to(uid_t uid, gid_t gid, bool map);


#endif /* RETORT_START_H */
