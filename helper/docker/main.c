
/*
 * retort-docker: makes a sandbox for each of the broker's messages, as a
 * template does, but of a container.
 *
 *   retort-docker SOCKET SERVICE UID [OPTION VALUE]...
 *
 *   --image REFERENCE   by digest: name@sha256:… or sha256:…
 *   --runtime NAME      of the engine's: runsc, kata …
 *   --import, --allow   are the kernel's, inside
 *
 * Descriptor at start: 3, the broker.  After it is warm (the engine answers
 * and has the image) this process calls the engine no more: the relays do.
 */

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../init/seal.h"
#include "docker.h"
#include "fdpass.h"
#include "log.h"


#define MAIN_SOCK   3
#define MAIN_CALL   10000
#define MAIN_STEP   8           /* as the map writer has it */


void
docker_name(const docker_t *d, uint64_t box, char *name)
{
    (void) snprintf(name, DOCKER_NAME, "retort-%s-%u-%u", d->boot,
                    (uint32_t) box, (uint32_t) (box >> 32));
}


/* the broker's pid and when it was started: no other service has both */

static int
main_boot(docker_t *d)
{
    int                 i;
    char                path[64], text[1024], *p;
    FILE                *f;
    size_t              n;
    unsigned long long  start;

    (void) snprintf(path, sizeof(path), "/proc/%d/stat", (int) getppid());
    f = fopen(path, "re");
    n = f != NULL ? fread(text, 1, sizeof(text) - 1, f) : 0;

    if (f != NULL) {
        (void) fclose(f);
    }

    text[n] = '\0';
    p = strrchr(text, ')');

    /* the 22nd field; the one behind the bracket is the third */
    for (i = 2; i < 22 && p != NULL; i++) {
        p = strchr(p + 1, ' ');
    }

    if (p == NULL || sscanf(p, "%llu", &start) != 1) {
        return -1;
    }

    (void) snprintf(d->boot, sizeof(d->boot), "%d-%llu", (int) getppid(),
                    start);

    return 0;
}


/* a tag may be moved to another image: only what is named by content counts */

static bool
main_digest(const char *image)
{
    const char  *p;

    p = strstr(image, "sha256:");

    return p != NULL && (p == image || p[-1] == '@')
           && strspn(p + 7, "0123456789abcdef") == 64 && p[71] == '\0'
           && strspn(image, "abcdefghijklmnopqrstuvwxyz0123456789./:@_-")
              == strlen(image);
}


static int
main_args(docker_t *d, int argc, char **argv)
{
    int  i;

    if (argc < 4 || argc % 2 != 0 || strpbrk(argv[2], "\"\\") != NULL) {
        return -1;
    }

    d->socket = argv[1];
    d->service = argv[2];
    d->uid_base = (uint32_t) strtoul(argv[3], NULL, 10);
    d->uid_step = MAIN_STEP;

    for (i = 4; i < argc; i += 2) {
        if (strcmp(argv[i], "--image") == 0) {
            d->image = argv[i + 1];

        } else if (strcmp(argv[i], "--runtime") == 0) {
            d->runtime = argv[i + 1];

        } else if (d->nargs + 2 <= DOCKER_ARGS) {
            d->args[d->nargs++] = argv[i];
            d->args[d->nargs++] = argv[i + 1];
        }
    }

    if (d->image == NULL || !main_digest(d->image)) {
        rlog(RLOG_ERROR, "docker_image is missing, or not by its digest: "
             "sha256:… or name@sha256:…, as \"auto/image --docker\" prints it");
        return -1;
    }

    return 0;
}


/* warm: what a sandbox needs is there */

static int
main_warm(docker_t *d)
{
    int          status;
    char         path[512];
    json_object  *info;

    (void) snprintf(path, sizeof(path), "/images/%s/json", d->image);
    status = engine_call(d, "GET", path, NULL, MAIN_CALL, NULL);

    if (status == -1) {
        rlog_errno(RLOG_ERROR, errno, "the engine at %s does not answer",
                   d->socket);
        return -1;
    }

    if (status != 200) {
        rlog(RLOG_ERROR, "the engine has no image %s", d->image);
        return -1;
    }

    /* one that maps users has a range of 65536 for all of them */
    (void) engine_call(d, "GET", "/info", NULL, MAIN_CALL, &info);

    if (strstr(json_object_to_json_string(info), "\"name=userns\"") != NULL) {
        d->uid_base = SEAL_UID;
        d->uid_step = 1;
    }

    json_object_put(info);

    return remover_sweep(d);
}


/* a child of the broker, which reaps it; "pidfd" may be NULL */

static long
main_clone(int *pidfd)
{
    struct clone_args  args;

    memset(&args, 0, sizeof(args));
    args.flags = CLONE_PARENT | (pidfd != NULL ? CLONE_PIDFD : 0);
    args.pidfd = (uintptr_t) pidfd;

    return syscall(SYS_clone3, &args, sizeof(args));
}


static int
main_remover(const docker_t *d)
{
    int   pair[2];
    long  pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, pair) == -1) {
        return -1;
    }

    pid = main_clone(NULL);

    if (pid == 0) {
        (void) close(MAIN_SOCK);
        (void) close(pair[0]);
        remover_run(d, pair[1]);
    }

    (void) close(pair[1]);

    return pid == -1 ? -1 : pair[0];
}


/* the remover hears of a box before there can be a container */

static int
main_box(const docker_t *d, const tpl_req_t *req, const int *fds, int remover)
{
    int        rc, pidfd, alive[2];
    long       pid;
    tpl_ans_t  ans;

    pidfd = -1;
    pid = -1;

    if (pipe2(alive, O_CLOEXEC) == -1) {
        return -1;
    }

    if (fd_send(remover, &req->id, sizeof(req->id), &alive[0], 1) == 0) {
        pid = main_clone(&pidfd);
    }

    if (pid == 0) {
        relay_run(d, req, fds, alive[1]);
    }

    ans.id = req->id;
    ans.pid = (int32_t) pid;
    ans.error = (pid == -1) ? errno : 0;
    (void) close(alive[0]);
    (void) close(alive[1]);
    rc = fd_send(MAIN_SOCK, &ans, sizeof(ans), &pidfd, pid == -1 ? 0 : 1);

    if (pid != -1) {
        (void) close(pidfd);
    }

    return rc;
}


static int
main_serve(const docker_t *d, int remover)
{
    int        i, rc, nfd, fds[TPL_FDS];
    ssize_t    n;
    tpl_req_t  req;
    tpl_ans_t  warm;

    memset(&warm, 0, sizeof(warm));
    rc = fd_send(MAIN_SOCK, &warm, sizeof(warm), NULL, 0);

    while (rc == 0) {
        nfd = TPL_FDS;
        n = fd_recv(MAIN_SOCK, &req, sizeof(req), fds, &nfd, 0);

        if (n != (ssize_t) sizeof(req) || nfd != TPL_FDS) {
            return n == 0 ? 0 : 1;
        }

        rc = main_box(d, &req, fds, remover);

        for (i = 0; i < TPL_FDS; i++) {
            (void) close(fds[i]);
        }
    }

    return 1;
}


int
main(int argc, char **argv)
{
    int              remover;
    static docker_t  d;

    rlog_init("retort-docker");

    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1
        || main_args(&d, argc, argv) == -1 || main_boot(&d) == -1
        || curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK)
    {
        rlog(RLOG_ERROR, "start: only retortd starts this");
        return 1;
    }

    if (main_warm(&d) == -1) {
        return 1;
    }

    remover = main_remover(&d);

    return remover == -1 ? 1 : main_serve(&d, remover);
}
