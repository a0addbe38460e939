
/*
 * Part of retort-docker: what a container is.  The form is fixed
 * (container.json), the words are root's or ours, the numbers are the broker's
 * and bounded by it; a client has no part in it.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "docker.h"
#include "seccomp_profile.h"


static const char  plan_form[] =
#include "docker_container.h"
;


/* what is no JSON would be a limit that is not there */

static json_object *
plan_parsed(const char *text)
{
    json_object  *o;

    o = json_tokener_parse(text);

    if (o == NULL) {
        abort();
    }

    return o;
}


static void
plan_json(json_object *to, const char *name, const char *fmt, ...)
{
    char     text[4096];
    va_list  args;

    va_start(args, fmt);
    (void) vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    (void) json_object_object_add(to, name, plan_parsed(text));
}


static void
plan_text(json_object *to, const char *name, const char *text)
{
    (void) json_object_object_add(to, name, json_object_new_string(text));
}


static json_object *
plan_below(json_object *to, const char *name)
{
    json_object  *o;

    return json_object_object_get_ex(to, name, &o) ? o : plan_parsed("");
}


static void
plan_item(json_object *to, const char *name, const char *text)
{
    (void) json_object_array_add(plan_below(to, name),
                                 json_object_new_string(text));
}


/* one process is the thread that carries */

static void
plan_limits(json_object *host, const retort_box_limits_t *l)
{
    unsigned long long  memory, cpu;

    memory = l->memory;
    cpu = l->cpu;
    plan_json(host, "Memory", "%llu", memory);
    plan_json(host, "MemorySwap", "%llu", memory);
    plan_json(host, "NanoCpus", "%llu", cpu * 1000000);
    plan_json(host, "PidsLimit", "%llu", l->processes + 1ULL);
    plan_json(host, "Ulimits",
              "[{\"Name\": \"nofile\", \"Soft\": %u, \"Hard\": %u},"
              " {\"Name\": \"core\", \"Soft\": 1, \"Hard\": 1},"
              " {\"Name\": \"msgqueue\", \"Soft\": 0, \"Hard\": 0}]",
              l->files, l->files);
}


static void
plan_mounts(json_object *host, const retort_box_limits_t *l, uint32_t uid)
{
    unsigned long long  disk, tmp, inodes;

    disk = l->disk;
    tmp = l->tmp;
    inodes = l->inodes;
    plan_json(host, "Tmpfs",
              "{\"/workspace\": \"rw,nosuid,nodev,exec,size=%llu,"
              "nr_inodes=%llu,mode=0700,uid=%u,gid=%u\","
              " \"/tmp\": \"rw,nosuid,nodev,exec,size=%llu,"
              "nr_inodes=%llu,mode=1777,uid=%u,gid=%u\","
              " \"/dev/shm\": \"rw,nosuid,nodev,noexec,size=%llu,"
              "nr_inodes=%llu,mode=1777,uid=%u,gid=%u\"}",
              disk, inodes, uid, uid, tmp, inodes, uid, uid,
              tmp, inodes, uid, uid);
}


char *
plan_container(const docker_t *d, const tpl_req_t *req)
{
    int          i;
    char         *text, seccomp[sizeof(seccomp_profile) + 8];
    uint32_t     uid;
    json_object  *c, *host;

    c = plan_parsed(plan_form);
    host = plan_below(c, "HostConfig");
    uid = d->uid_base + (uint32_t) req->id * d->uid_step;

    plan_text(c, "Image", d->image);
    plan_json(c, "User", "\"%u:%u\"", uid, uid);
    plan_text(plan_below(c, "Labels"), "retort.service", d->service);
    plan_text(plan_below(c, "Labels"), "retort.life", d->boot);

    for (i = 0; i < d->nargs; i++) {
        plan_item(c, "Cmd", d->args[i]);
    }

    if (d->runtime != NULL) {
        plan_text(host, "Runtime", d->runtime);
    }

    (void) snprintf(seccomp, sizeof(seccomp), "seccomp=%s", seccomp_profile);
    plan_item(host, "SecurityOpt", seccomp);
    plan_limits(host, &req->limits);
    plan_mounts(host, &req->limits, uid);

    text = strdup(json_object_to_json_string_ext(c, JSON_C_TO_STRING_PLAIN));
    json_object_put(c);

    return text;
}
