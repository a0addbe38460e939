
/*
 * retort-docker: sandboxes that are containers of a Docker engine.
 *
 * To the broker it is a template.  Runs as the helper's uid H with the group
 * of the engine's socket, which is as good as root: whoever holds that socket
 * reads nothing of a tenant, and whoever reads a tenant's bytes (the relay)
 * has given it up before.
 */

#ifndef RETORT_DOCKER_H
#define RETORT_DOCKER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "../broker/cgroup.h"
#include "../protocol/init.h"


#define DOCKER_NAME   96        /* of a container, with the final NUL */
#define DOCKER_ARGS   256

#define DOCKER_BUILD_MSEC  20000        /* create, attach and start */


/* what root said at start; nothing of it changes */

typedef struct {
    const char  *socket;
    const char  *service;       /* what labels our containers */
    const char  *image;
    const char  *runtime;       /* NULL: the engine's own choice */
    uint32_t     uid_base;      /* the user of slot n is base + n * step */
    uint32_t     uid_step;
    char         boot[48];      /* this life of the service */
    const char  *args[DOCKER_ARGS];     /* of retort-kernel */
    int          nargs;
} docker_t;


/* our name of the container of a box */

void docker_name(const docker_t *d, uint64_t box, char *name);


/* ---- engine.c: the HTTP API ---- */

/*
 * One call, at most "msec" long: the HTTP status, or -1 with errno.  "body" is
 * NULL or JSON.  The answer's body is given if "answer" is not NULL, and NULL
 * if it is no JSON; the caller puts it.
 */

int engine_call(const docker_t *d, const char *method, const char *path,
    const char *body, long msec, json_object **answer);

/* the raw stream of a container, or -1 with errno */

int engine_attach(const docker_t *d, const char *name, long msec);


/* ---- plan.c: what a container is; a malloc'ed text, or NULL ---- */

char *plan_container(const docker_t *d, const tpl_req_t *req);


/* ---- usage.c: CG_DIRS directories of its cgroups, or -1 with errno ---- */

int usage_open(long pid, int *dir);


/* ---- relay.c: a child of the broker, one for each container ---- */

/*
 * Becomes the relay of a box: "fds" are those of the template's request,
 * "alive" is held until it ends, and gets a byte when it is known whether
 * there is a container.
 */

void relay_run(const docker_t *d, const tpl_req_t *req, const int *fds,
    int alive) __attribute__((noreturn));

/* tells the broker that there is no sandbox, and waits to be ended */

void relay_fail(int init, uint16_t step, int error) __attribute__((noreturn));

/* link.c: what it does once it has given up everything else */

typedef struct {
    int  link;                  /* the engine's stream */
    int  init;
    int  channel;
    int  out;
    int  err;
    int  usage[CG_DIRS];        /* -1: none */
} link_fds_t;

void link_run(const link_fds_t *fds) __attribute__((noreturn));


/* ---- remover.c: ends what is left of a container ---- */

/* removes all with our label that are of an earlier life: 0, or -1 */

int remover_sweep(const docker_t *d);

/* what a relay says by "alive": there is one, or there cannot be one */

#define REMOVER_MADE  "+"
#define REMOVER_NONE  "-"

/* a child of the broker; ends when "sock" is closed and no box is left */

void remover_run(const docker_t *d, int sock) __attribute__((noreturn));


#endif /* RETORT_DOCKER_H */
