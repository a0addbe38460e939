
/*
 * Part of retort-docker: what a container is.  The words are root's or ours,
 * the numbers are the broker's and bounded by it; a client has no part in it.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../init/seal.h"
#include "docker.h"
#include "seccomp_profile.h"


/*
 * A container has an interpreter with its imports of its own, which the
 * sandboxes of a template share and are not charged for.
 */

#define PLAN_BASE     (192ULL << 20)

#define PLAN_KERNEL   "/usr/lib/retort/retort-kernel"
#define PLAN_SCRATCH  "rw,nosuid,nodev,%s,size=%llu,nr_inodes=%llu,mode=1777," \
                      "uid=%d,gid=%d"


static void
plan_text(json_object *to, const char *name, const char *fmt, ...)
{
    char     text[4096];
    va_list  args;

    va_start(args, fmt);
    (void) vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    (void) json_object_object_add(to, name, json_object_new_string(text));
}


static void
plan_number(json_object *to, const char *name, uint64_t n)
{
    (void) json_object_object_add(to, name, json_object_new_uint64(n));
}


static void
plan_switch(json_object *to, const char *name, int on)
{
    (void) json_object_object_add(to, name, json_object_new_boolean(on));
}


/* a new object or array below "to" */

static json_object *
plan_below(json_object *to, const char *name, json_object *what)
{
    (void) json_object_object_add(to, name, what);

    return what;
}


static void
plan_item(json_object *list, const char *text)
{
    (void) json_object_array_add(list, json_object_new_string(text));
}


static void
plan_ulimit(json_object *list, const char *name, uint64_t n)
{
    json_object  *u;

    u = json_object_new_object();
    plan_text(u, "Name", "%s", name);
    plan_number(u, "Soft", n);
    plan_number(u, "Hard", n);
    (void) json_object_array_add(list, u);
}


static void
plan_mounts(json_object *host, const retort_box_limits_t *l)
{
    json_object         *t;
    unsigned long long  inodes, tmp;

    inodes = l->inodes;
    tmp = l->tmp;
    t = plan_below(host, "Tmpfs", json_object_new_object());
    plan_text(t, "/workspace", "rw,nosuid,nodev,exec,size=%llu,nr_inodes=%llu,"
              "mode=0700,uid=%d,gid=%d", (unsigned long long) l->disk, inodes,
              SEAL_UID, SEAL_GID);
    plan_text(t, "/tmp", PLAN_SCRATCH, "exec", tmp, inodes, SEAL_UID,
              SEAL_GID);
    plan_text(t, "/dev/shm", PLAN_SCRATCH, "noexec", tmp, inodes, SEAL_UID,
              SEAL_GID);
}


static void
plan_limits(json_object *host, const retort_box_limits_t *l)
{
    json_object  *u;

    plan_number(host, "Memory", l->memory + PLAN_BASE);
    plan_number(host, "MemorySwap", l->memory + PLAN_BASE);
    plan_number(host, "NanoCpus", (uint64_t) l->cpu * 1000000);

    /* one is the thread that carries */
    plan_number(host, "PidsLimit", (uint64_t) l->processes + 1);

    u = plan_below(host, "Ulimits", json_object_new_array());
    plan_ulimit(u, "nofile", l->files);
    plan_ulimit(u, "core", 1);
    plan_ulimit(u, "msgqueue", 0);
    plan_mounts(host, l);
}


static void
plan_host(const docker_t *d, json_object *host, const retort_box_limits_t *l)
{
    char         *seccomp;
    json_object  *list;

    plan_text(host, "NetworkMode", "none");
    plan_text(host, "IpcMode", "private");
    plan_text(host, "CgroupnsMode", "private");
    plan_switch(host, "ReadonlyRootfs", 1);
    plan_switch(host, "Privileged", 0);
    plan_switch(host, "Init", 0);
    plan_switch(host, "AutoRemove", 1);
    plan_item(plan_below(host, "CapDrop", json_object_new_array()), "ALL");

    list = plan_below(host, "SecurityOpt", json_object_new_array());
    plan_item(list, "no-new-privileges");

    if (asprintf(&seccomp, "seccomp=%s", seccomp_profile) == -1) {
        abort();
    }

    plan_item(list, seccomp);
    free(seccomp);

    plan_text(plan_below(host, "LogConfig", json_object_new_object()), "Type",
              "none");
    plan_text(plan_below(host, "RestartPolicy", json_object_new_object()),
              "Name", "no");

    if (d->runtime != NULL) {
        plan_text(host, "Runtime", "%s", d->runtime);
    }

    plan_limits(host, l);
}


static void
plan_process(const docker_t *d, json_object *c)
{
    int          i;
    json_object  *list;

    plan_text(c, "User", "%d:%d", SEAL_UID, SEAL_GID);
    plan_text(c, "WorkingDir", "/workspace");
    plan_text(c, "Hostname", "sandbox");
    plan_item(plan_below(c, "Entrypoint", json_object_new_array()),
              PLAN_KERNEL);
    list = plan_below(c, "Cmd", json_object_new_array());
    plan_item(list, "--carried");

    for (i = 0; i < d->nargs; i++) {
        plan_item(list, d->args[i]);
    }

    list = plan_below(c, "Healthcheck", json_object_new_object());
    plan_item(plan_below(list, "Test", json_object_new_array()), "NONE");
}


char *
plan_container(const docker_t *d, const tpl_req_t *req)
{
    char         *text;
    json_object  *c, *labels;

    c = json_object_new_object();
    plan_text(c, "Image", "%s", d->image);
    plan_process(d, c);
    plan_switch(c, "AttachStdin", 1);
    plan_switch(c, "AttachStdout", 1);
    plan_switch(c, "AttachStderr", 1);
    plan_switch(c, "OpenStdin", 1);
    plan_switch(c, "StdinOnce", 1);
    plan_switch(c, "Tty", 0);
    plan_switch(c, "NetworkDisabled", 1);

    labels = plan_below(c, "Labels", json_object_new_object());
    plan_text(labels, "retort.service", "%s", d->service);
    plan_text(labels, "retort.life", "%s", d->boot);

    plan_host(d, plan_below(c, "HostConfig", json_object_new_object()),
              &req->limits);
    text = strdup(json_object_to_json_string_ext(c, JSON_C_TO_STRING_PLAIN));
    json_object_put(c);

    return text;
}
