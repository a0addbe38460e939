
/*
 * Part of retort-docker: the broker's child for one container.  It makes the
 * container and starts it; then it keeps nothing but the ends that it carries
 * between, and reads the first byte of what is inside (link.c).
 */

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "docker.h"
#include "fdpass.h"
#include "go.h"
#include "lock.h"
#include "log.h"


#define RELAY_FDS   (TPL_FDS + 1)
#define RELAY_HIGH  64          /* above all that is open */
#define RELAY_LOG   (16 << 20)  /* that a log which is a file may grow by */


static int64_t  relay_until;


/* the broker ends this process, and the remover what there is of the box */

void
relay_fail(int init, uint16_t step, int error)
{
    init_msg_t  msg = { INIT_FAILED, step, error };

    if (fd_send(init, &msg, sizeof(msg), NULL, 0) == 0) {
        (void) fd_recv(init, &msg, sizeof(msg), NULL, NULL, 0);
    }

    _exit(1);
}


static long
relay_left(void)
{
    int64_t          now;
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);
    now = (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;

    if (relay_until == 0) {
        relay_until = now + DOCKER_BUILD_MSEC;
    }

    return relay_until > now ? (long) (relay_until - now) : 1;
}


/* 0, or the errno of what the engine said */

static int
relay_said(int status, int good)
{
    if (status == -1) {
        return errno;
    }

    return status == good ? 0 : status == 404 ? ENOENT : EPROTO;
}


static int
relay_create(const docker_t *d, const tpl_req_t *req, const char *name,
    int alive)
{
    int   error, status;
    char  path[256], *body;

    (void) snprintf(path, sizeof(path), "/containers/create?name=%s", name);
    body = plan_container(d, req);

    if (body == NULL) {
        return ENOMEM;
    }

    status = engine_call(d, "POST", path, body, relay_left(), NULL);
    error = relay_said(status, 201);
    free(body);

    /* no byte: the engine may be making it yet */
    if (status > 0 || error == ECONNREFUSED) {
        (void) !write(alive, status > 0 ? REMOVER_MADE : REMOVER_NONE, 1);
    }

    return error;
}


static int
relay_start(const docker_t *d, const char *name)
{
    char  path[256];

    (void) snprintf(path, sizeof(path), "/containers/%s/start", name);

    return relay_said(engine_call(d, "POST", path, NULL, relay_left(), NULL),
                      204);
}


static int
relay_usage(const docker_t *d, const char *name, int *dir)
{
    int          rc;
    long         pid;
    char         path[256];
    json_object  *c, *state, *number;

    (void) snprintf(path, sizeof(path), "/containers/%s/json", name);
    rc = relay_said(engine_call(d, "GET", path, NULL, relay_left(), &c), 200);
    pid = 0;

    if (json_object_object_get_ex(c, "State", &state)
        && json_object_object_get_ex(state, "Pid", &number))
    {
        pid = (long) json_object_get_int64(number);
    }

    json_object_put(c);

    if (rc != 0) {
        return rc;
    }

    return pid <= 0 ? ESRCH : usage_open(pid, dir) == -1 ? errno : 0;
}


/*
 * Of fcntl, what makes a pipe not wait is all that is left: an owner and a
 * signal of a descriptor would reach the broker, which is the same user.
 */

static int
relay_fcntl(void)
{
    int              rc;
    scmp_filter_ctx  ctx;

    ctx = seccomp_init(SCMP_ACT_ALLOW);

    rc = ctx == NULL
         || seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, SCMP_SYS(fcntl), 1,
                             SCMP_A1(SCMP_CMP_NE, F_SETFL)) != 0
         || seccomp_load(ctx) != 0 ? -1 : 0;
    seccomp_release(ctx);
    errno = EPERM;

    return rc;
}


static void
relay_lock(const link_fds_t *fds)
{
    struct stat       log;
    struct rlimit     file, none = { 0, 0 };
    static const int  calls[] = {
        SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(recvmsg), SCMP_SYS(sendmsg),
        SCMP_SYS(recvfrom), SCMP_SYS(sendto), SCMP_SYS(poll), SCMP_SYS(ppoll),
        SCMP_SYS(close), SCMP_SYS(fcntl), SCMP_SYS(getpid), SCMP_SYS(gettid),
        SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn),
        SCMP_SYS(restart_syscall)
    };

    file.rlim_cur = file.rlim_max = fstat(STDERR_FILENO, &log) == -1
                                    ? 0 : (rlim_t) log.st_size + RELAY_LOG;

    /* no file but the log, and no core; what is open stays so */
    if (setrlimit(RLIMIT_CORE, &none) == -1
        || setrlimit(RLIMIT_FSIZE, &file) == -1
        || fcntl(fds->link, F_SETFL, O_NONBLOCK) == -1
        || relay_fcntl() == -1
        || lock_calls(calls, sizeof(calls) / sizeof(calls[0])) == -1)
    {
        relay_fail(fds->init, STEP_SECCOMP, errno);
    }
}


/*
 * "fds" go up, above what is closed then.  Not in the broker's process group
 * any more: that is how it tells a box from a service.
 */

static int
relay_place(int *fds)
{
    int  i;

    for (i = 0; i < RELAY_FDS; i++) {
        fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, RELAY_HIGH);

        if (fds[i] == -1) {
            return -1;
        }
    }

    return setsid() == -1 || signal(SIGPIPE, SIG_IGN) == SIG_ERR
           || signal(SIGXFSZ, SIG_IGN) == SIG_ERR
           || close_range(3, RELAY_HIGH - 1, 0) == -1
           || close_range(RELAY_HIGH + RELAY_FDS, ~0U, 0) == -1 ? -1 : 0;
}


void
relay_run(const docker_t *d, const tpl_req_t *req, const int *fds, int alive)
{
    int         error, own[RELAY_FDS];
    char        name[DOCKER_NAME];
    link_fds_t  l;

    memcpy(own, fds, sizeof(int) * TPL_FDS);
    own[TPL_FDS] = alive;

    if (relay_place(own) == -1) {
        _exit(1);
    }

    l.init = own[0];
    l.channel = own[1];
    l.out = own[2];
    l.err = own[3];
    l.link = -1;
    error = go_wait(l.init);

    if (error != 0) {
        relay_fail(l.init, STEP_ATTACH, error);
    }

    docker_name(d, req->id, name);
    error = relay_create(d, req, name, own[TPL_FDS]);

    if (error == 0) {
        l.link = engine_attach(d, name, relay_left());
        error = l.link == -1 ? errno : relay_start(d, name);
    }

    if (error == 0 && send(l.link, req, sizeof(*req), MSG_NOSIGNAL)
                      != (ssize_t) sizeof(*req))
    {
        error = EPIPE;
    }

    if (error == 0) {
        error = relay_usage(d, name, l.usage);
    }

    if (error != 0) {
        relay_fail(l.init, STEP_ENGINE, error);
    }

    relay_lock(&l);
    link_run(&l);
}
