
/*
 * retort-broker: the keeper of the sandboxes.
 *
 * Executed by retortd as uid H, without a capability.  H owns the user
 * namespaces of all sandboxes, which is all the power that it needs: to limit,
 * signal and kill them.  It reads no configuration, opens no path that anyone
 * told it, parses no text but the kernel's counters, and executes nothing.
 *
 * It believes: the settings (sealed, written by root), the map writer, its
 * own templates.  It does not believe the front beyond a profile's name and
 * lower limits, and no sandbox at all.
 *
 *   worker -- front -- broker -- template -- (clone) -- pid 1 -- kernel
 *                        |  \_________________________/
 *                        |   pid 1's socket: go, ready, signal, restart
 *                        \-- map writer: "slot n, this child"
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "broker_main.h"
#include "fdpass.h"
#include "log.h"


#define BROKER_EVENTS      64
#define BROKER_ENDED       64           /* told ends that are enough to look */
#define BROKER_DRAIN_MSEC  10000        /* for the front to end its runs */
#define BROKER_BASE        (192ULL << 20)       /* until one was measured */

/* a front that does not read for so long is ended */
#define BROKER_SEND_SEC    2


int64_t
broker_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


/*
 * Nothing that the broker writes to may make it wait; the front may for a
 * moment, because it is told about all boxes at once when it starts.
 */

int
broker_watch(broker_t *b, int fd, uint32_t tag, uint32_t index)
{
    struct timeval      tv = { BROKER_SEND_SEC, 0 };
    struct epoll_event  ev;

    if (tag == TAG_FRONT) {
        if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) == -1) {
            return -1;
        }

    } else if (fcntl(fd, F_SETFL, O_NONBLOCK) == -1) {
        return -1;
    }

    ev.events = EPOLLIN;
    ev.data.u64 = ((uint64_t) tag << 32) | index;

    return epoll_ctl(b->epoll, EPOLL_CTL_ADD, fd, &ev);
}


static void
broker_notify(const char *text)
{
    (void) send(BOOT_NOTIFY, text, strlen(text), MSG_NOSIGNAL|MSG_DONTWAIT);
}


static void
broker_template(broker_t *b, uint32_t i)
{
    int        nfd, pidfd;
    ssize_t    n;
    tpl_ans_t  ans;

    nfd = 1;
    pidfd = -1;
    n = fd_recv(b->template[i].sock, &ans, sizeof(ans), &pidfd, &nfd,
                MSG_DONTWAIT);

    if (b->template[i].sock == -1 || (n == -1 && errno == EAGAIN)) {
        return;
    }

    if (n != (ssize_t) sizeof(ans)) {
        box_fail_profile(b, i);
        return;
    }

    if (ans.id == 0) {
        rlog(RLOG_INFO, "template \"%s\" is warm",
             b->settings->profile[i].name);
        b->template[i].ready = true;
        (void) front_tell(b, BRK_EV_WARM, 0, b->settings->profile[i].name);

    } else {
        box_from_template(b, &ans, nfd == 1 ? pidfd : -1);
    }
}


static void
broker_mapd(broker_t *b)
{
    ssize_t    n;
    map_ans_t  ans;

    n = fd_recv(BOOT_MAPD, &ans, sizeof(ans), NULL, NULL, MSG_DONTWAIT);

    if (n == (ssize_t) sizeof(ans)) {
        box_from_mapd(b, &ans);

    } else if (n != -1 || errno != EAGAIN) {
        rlog(RLOG_ERROR, "the map writer is gone");
        _exit(1);
    }
}


static void
broker_drain(broker_t *b)
{
    if (b->draining) {
        return;
    }

    rlog(RLOG_INFO, "stopping");
    broker_notify("STOPPING=1");
    b->draining = true;
    b->drain_end = broker_now() + BROKER_DRAIN_MSEC;

    if (front_tell(b, BRK_EV_DRAIN, 0, NULL) == -1) {
        service_kill(&b->front);
    }
}


static void
broker_signal(broker_t *b, int fd)
{
    struct signalfd_siginfo  info;

    if (read(fd, &info, sizeof(info)) != (ssize_t) sizeof(info)) {
        return;
    }

    if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT) {
        broker_drain(b);

    } else {
        b->ended++;
    }
}


/*
 * Those of our own process group: a sealed box has one of its own, and is
 * waited for by its pid.  The kernel goes through all boxes to find the
 * others, which rarely end: that is for when there is nothing else to do.
 */

static void
broker_reap(broker_t *b)
{
    int    status;
    pid_t  pid;

    if (b->ended == 0 || (b->nbusy != 0 && b->ended < BROKER_ENDED)) {
        return;
    }

    b->ended = 0;

    while ((pid = waitpid(0, &status, WNOHANG)) > 0) {
        rlog(RLOG_INFO, "process %d ended: %s %d", (int) pid,
             WIFEXITED(status) ? "exit" : "signal",
             WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    }
}


static void
broker_event(broker_t *b, uint64_t data, int sigfd)
{
    uint32_t  index;

    index = (uint32_t) data;

    switch (data >> 32) {

    case TAG_SIGNAL:
        broker_signal(b, sigfd);
        break;

    case TAG_MAPD:
        broker_mapd(b);
        break;

    case TAG_FRONT:
        front_read(b);
        break;

    case TAG_TEMPLATE:
        broker_template(b, index);
        break;

    case TAG_EXIT:
        box_exited(b, &b->box[index]);
        break;

    default:
        box_from_init(b, &b->box[index]);
    }
}


/* starts what is due; says when it is ready for the first time */

static void
broker_services(broker_t *b)
{
    bool      ready;
    int64_t   now;
    uint32_t  i;

    now = broker_now();
    ready = b->front.ready;

    if (b->draining) {
        return;
    }

    for (i = 0; i < b->settings->nprofiles; i++) {
        if (b->template[i].again != 0 && b->template[i].again <= now) {
            service_start(b, &b->template[i], TAG_TEMPLATE, i);
        }

        /* an engine that is away keeps nobody else waiting */
        ready = ready && (b->template[i].ready || b->settings->profile[i]
                          .backend == RETORT_BACKEND_DOCKER);
    }

    if (b->front.again != 0 && b->front.again <= now) {
        service_start(b, &b->front, TAG_FRONT, 0);
    }

    if (ready && !b->told_ready) {
        b->told_ready = true;
        rlog(RLOG_INFO, "ready");
        broker_notify("READY=1");
    }
}


static int64_t
broker_sooner(int64_t due, int64_t other)
{
    return (other != 0 && other < due) ? other : due;
}


/* msec until something is due, or -1 */

static int
broker_timeout(const broker_t *b)
{
    int64_t   now, due;
    uint32_t  i;

    due = INT64_MAX;

    for (i = 0; i < b->nbusy; i++) {
        due = broker_sooner(due, b->busy[i]->deadline);
        due = broker_sooner(due, b->busy[i]->yields);
    }

    if (b->draining) {
        due = broker_sooner(due, b->front.sock != -1 ? b->drain_end : 0);

    } else {
        due = broker_sooner(due, b->front.again);

        for (i = 0; i < b->settings->nprofiles; i++) {
            due = broker_sooner(due, b->template[i].again);
        }
    }

    if (due == INT64_MAX) {
        return -1;
    }

    now = broker_now();

    return due > now ? (int) (due - now) : 0;
}


/*
 * The front goes first, then the boxes with their cgroups; the templates and
 * the launchers go when their sockets close with this process.
 */

static bool
broker_drained(broker_t *b)
{
    uint32_t  i;

    if (b->front.sock != -1) {
        if (b->drain_end <= broker_now()) {
            rlog(RLOG_WARN, "front does not end, killing it");
            service_kill(&b->front);
            b->drain_end += BROKER_DRAIN_MSEC;
        }

        return false;
    }

    for (i = 0; i < b->settings->nslots; i++) {
        if (b->box[i].state == BOX_ALIVE) {
            box_kill(b, &b->box[i]);
        }
    }

    return b->nbusy == 0;
}


static void
broker_loop(broker_t *b, int sigfd)
{
    int                 i, n;
    struct epoll_event  events[BROKER_EVENTS];

    for ( ;; ) {
        broker_services(b);

        if (b->draining && broker_drained(b)) {
            return;
        }

        n = epoll_wait(b->epoll, events, BROKER_EVENTS, broker_timeout(b));

        if (n == -1 && errno != EINTR) {
            rlog_errno(RLOG_ERROR, errno, "epoll_wait");
            _exit(1);
        }

        for (i = 0; i < n; i++) {
            broker_event(b, events[i].data.u64, sigfd);
        }

        box_overdue(b);
        broker_reap(b);
    }
}


/* the map writer, the launchers and the templates end with their sockets */

static void
broker_end(const broker_t *b)
{
    uint32_t  i;

    (void) close(BOOT_MAPD);
    (void) close(BOOT_FRONT);

    for (i = 0; i < b->settings->nprofiles; i++) {
        (void) close(BOOT_TEMPLATE + (int) i);
        (void) close(b->template[i].sock);
    }

    while (waitpid(-1, NULL, 0) != -1 || errno == EINTR) {
        /* the last of them */
    }
}


/* all memory that this process will ever have is taken here */

static int
broker_start(broker_t *b)
{
    int                      i;
    const retort_settings_t  *s;

    s = mmap(NULL, sizeof(*s), PROT_READ, MAP_PRIVATE, BOOT_SETTINGS, 0);

    if (s == MAP_FAILED || s->magic != RETORT_SETTINGS_MAGIC
        || s->size != sizeof(*s))
    {
        return -1;
    }

    b->settings = s;
    b->box = calloc(s->nslots, sizeof(box_t));
    b->busy = calloc(s->nslots, sizeof(box_t *));
    b->epoll = epoll_create1(EPOLL_CLOEXEC);
    b->cg.version = s->cgroup;

    for (i = 0; i < CG_DIRS; i++) {
        b->cg.dir[i] = BOOT_CGROUP + i;
    }

    b->front.sock = -1;
    b->front.launcher = BOOT_FRONT;
    b->front.again = 1;

    for (i = 0; i < (int) s->nprofiles; i++) {
        b->template[i].sock = -1;
        b->template[i].launcher = BOOT_TEMPLATE + i;
        b->template[i].again = 1;
        b->base[i] = s->profile[i].backend == RETORT_BACKEND_DOCKER
                     ? BROKER_BASE : 0;
    }

    return b->box == NULL || b->busy == NULL || b->epoll == -1
           || broker_watch(b, BOOT_MAPD, TAG_MAPD, 0) == -1 ? -1 : 0;
}


/* what ends the service was blocked by retortd, for all its children */

static int
broker_sigfd(broker_t *b)
{
    int       fd;
    sigset_t  set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    fd = signalfd(-1, &set, SFD_CLOEXEC);

    return fd == -1 || sigprocmask(SIG_BLOCK, &set, NULL) == -1
           || broker_watch(b, fd, TAG_SIGNAL, 0) == -1 ? -1 : fd;
}


int
main(int argc, char **argv)
{
    int              sigfd;
    static broker_t  broker;

    rlog_init("retort-broker");

    if (argc != 2 || broker_start(&broker) == -1) {
        rlog_errno(RLOG_ERROR, errno, "start: only retortd starts this");
        return 1;
    }

    sigfd = broker_sigfd(&broker);

    if (sigfd == -1 || lock_down() == -1) {
        rlog_errno(RLOG_ERROR, errno, "lock down");
        return 1;
    }

    broker_loop(&broker, sigfd);
    broker_end(&broker);

    /* the name of the socket in BOOT_RUN, if it is ours to remove */
    if (argv[1][0] != '\0') {
        (void) unlinkat(BOOT_RUN, argv[1], 0);
    }

    (void) unlinkat(BOOT_RUN, BOOT_CONTROL, 0);

    rlog(RLOG_INFO, "stopped");

    return 0;
}
