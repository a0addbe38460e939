
/*
 * Makes sandboxes and ends them, and nothing else: what the machine can do.
 * retortd starts it in the broker's place, with real templates, map writer and
 * cgroups.  The settings say how much: each profile's "ready" is how many are
 * in the making at a time, the first one's "timeout" is for how long.  Its
 * last line on stderr is "loop: N sandboxes in M msec".
 *
 * links: helper/broker/cgroup.c helper/lib/fdpass.c
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "broker/broker_main.h"
#include "fdpass.h"


#define LOOP_EVENTS   64
#define LOOP_MAPD     1         /* tags, in the high half of an event */
#define LOOP_TPL      2
#define LOOP_INIT     3
#define LOOP_EXIT     4


typedef struct {
    uint32_t  profile;
    pid_t     pid;
    int       pidfd;
    int       init;
    int       channel[BRK_BOX_FDS];
} loop_box_t;


static int                       loop_epoll;
static int                       loop_over;
static int                       loop_template[RETORT_PROFILES_MAX];
static cg_t                      loop_cg;
static size_t                    loop_done;
static size_t                    loop_alive;
static loop_box_t               *loop_box;
static const retort_settings_t  *loop_set;


static void
loop_must(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "loop: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}


static int64_t
loop_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


static void
loop_watch(int fd, uint64_t tag, uint32_t index)
{
    struct epoll_event  ev;

    memset(&ev, 0, sizeof(ev));
    ev.events = EPOLLIN;
    ev.data.u64 = (tag << 32) | index;
    loop_must(epoll_ctl(loop_epoll, EPOLL_CTL_ADD, fd, &ev) == 0, "watch");
}


static void
loop_name(uint32_t slot, char *name, size_t size)
{
    (void) snprintf(name, size, "box%u", slot);
}


/* the next sandbox in this slot */

static void
loop_make(uint32_t slot)
{
    int         i, pair[2], theirs[TPL_FDS];
    char        name[16];
    tpl_req_t   req;
    loop_box_t  *box;

    box = &loop_box[slot];
    memset(&req, 0, sizeof(req));
    req.id = slot + 1;
    req.limits = loop_set->profile[box->profile].box;
    loop_name(slot, name, sizeof(name));
    loop_must(cg_create(&loop_cg, name, &req.limits) == 0, "cgroup");

    for (i = 0; i < TPL_FDS; i++) {
        loop_must((i < 2 ? socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0,
                                      pair)
                         : pipe(pair)) == 0, "channel");
        *(i == 0 ? &box->init : &box->channel[i - 1]) = pair[0];
        theirs[i] = pair[1];
    }

    loop_watch(box->init, LOOP_INIT, slot);
    loop_must(fd_send(loop_template[box->profile], &req, sizeof(req), theirs,
                      TPL_FDS) != -1, "template");

    for (i = 0; i < TPL_FDS; i++) {
        (void) close(theirs[i]);
    }

    loop_alive++;
}


/* it is there: its ids */

static void
loop_cloned(uint32_t profile)
{
    int        nfd, pidfd;
    uint32_t   slot;
    tpl_ans_t  ans;
    map_req_t  map;

    nfd = 1;
    loop_must(fd_recv(loop_template[profile], &ans, sizeof(ans), &pidfd, &nfd,
                      0) == (ssize_t) sizeof(ans), "template");

    slot = (uint32_t) ans.id - 1;
    loop_must(nfd == 1, "clone");
    loop_box[slot].pid = ans.pid;
    loop_box[slot].pidfd = pidfd;
    loop_watch(pidfd, LOOP_EXIT, slot);

    map.id = ans.id;
    map.slot = slot;
    map.pid = ans.pid;
    loop_must(fd_send(BOOT_MAPD, &map, sizeof(map), &pidfd, 1) != -1, "mapd");
}


static void
loop_mapped(void)
{
    int         n, groups[INIT_GO_FDS];
    char        name[16];
    map_ans_t   ans;
    init_msg_t  go;

    loop_must(fd_recv(BOOT_MAPD, &ans, sizeof(ans), NULL, NULL, 0)
              == (ssize_t) sizeof(ans) && ans.error == 0, "id map");

    memset(&go, 0, sizeof(go));
    go.op = INIT_GO;
    loop_name((uint32_t) ans.id - 1, name, sizeof(name));
    n = cg_enter(&loop_cg, name, groups);
    loop_must(n != -1, "groups");
    loop_must(fd_send(loop_box[ans.id - 1].init, &go, sizeof(go), groups, n)
              != -1, "go");

    while (n-- > 0) {
        (void) close(groups[n]);
    }
}


/* sealed, and its kernel runs: that is enough */

static void
loop_ready(uint32_t slot)
{
    ssize_t     n;
    init_msg_t  msg;

    n = fd_recv(loop_box[slot].init, &msg, sizeof(msg), NULL, NULL, 0);

    if (n != (ssize_t) sizeof(msg)) {
        (void) epoll_ctl(loop_epoll, EPOLL_CTL_DEL, loop_box[slot].init, NULL);
        return;
    }

    loop_must(msg.op == INIT_READY, "seal");
    (void) syscall(SYS_pidfd_send_signal, loop_box[slot].pidfd, SIGKILL, NULL,
                   0);
}


static void
loop_reaped(uint32_t slot)
{
    int         i;
    char        name[16];
    loop_box_t  *box;

    box = &loop_box[slot];
    loop_must(waitpid(box->pid, NULL, 0) == box->pid, "wait");
    loop_name(slot, name, sizeof(name));

    while (cg_remove(&loop_cg, name) == -1) {
        loop_must(errno == EBUSY, "cgroup");
    }

    (void) epoll_ctl(loop_epoll, EPOLL_CTL_DEL, box->pidfd, NULL);
    (void) close(box->pidfd);
    (void) close(box->init);

    for (i = 0; i < BRK_BOX_FDS; i++) {
        (void) close(box->channel[i]);
    }

    loop_alive--;

    if (!loop_over) {
        loop_done++;
        loop_make(slot);
    }
}


/* as the broker does it; the first message says that it is warm */

static void
loop_warm(uint32_t profile)
{
    int           pair[2];
    tpl_ans_t     ans;
    launch_req_t  req;

    memset(&req, 0, sizeof(req));
    req.op = LAUNCH_START;
    loop_must(socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, pair) == 0
              && fd_send(BOOT_TEMPLATE + (int) profile, &req, sizeof(req),
                         &pair[1], 1) != -1, "launch");
    (void) close(pair[1]);
    loop_template[profile] = pair[0];
    loop_must(fd_recv(pair[0], &ans, sizeof(ans), NULL, NULL, 0)
              == (ssize_t) sizeof(ans), "warm");
    loop_watch(pair[0], LOOP_TPL, profile);
}


static void
loop_start(void)
{
    uint32_t  i;

    loop_set = mmap(NULL, sizeof(*loop_set), PROT_READ, MAP_PRIVATE,
                    BOOT_SETTINGS, 0);
    loop_epoll = epoll_create1(EPOLL_CLOEXEC);
    loop_must(loop_set != MAP_FAILED
              && loop_set->magic == RETORT_SETTINGS_MAGIC, "settings");
    loop_cg.version = loop_set->cgroup;
    loop_box = calloc(loop_set->nslots, sizeof(loop_box_t));
    loop_must(loop_box != NULL, "memory");

    for (i = 0; i < CG_DIRS; i++) {
        loop_cg.dir[i] = BOOT_CGROUP + (int) i;
    }

    loop_watch(BOOT_MAPD, LOOP_MAPD, 0);

    for (i = 0; i < loop_set->nprofiles; i++) {
        loop_warm(i);
    }
}


static void
loop_event(uint64_t data)
{
    uint32_t  index;

    index = (uint32_t) data;

    switch (data >> 32) {

    case LOOP_MAPD:
        loop_mapped();
        break;

    case LOOP_TPL:
        loop_cloned(index);
        break;

    case LOOP_INIT:
        loop_ready(index);
        break;

    default:
        loop_reaped(index);
    }
}


int
main(void)
{
    int                 i, n;
    int64_t             began, end;
    uint32_t            p, slot, k;
    struct epoll_event  ev[LOOP_EVENTS];

    loop_start();
    began = loop_now();
    end = began + (int64_t) loop_set->profile[0].run.timeout;

    for (slot = 0, p = 0; p < loop_set->nprofiles; p++) {
        for (k = 0; k < loop_set->profile[p].ready; k++, slot++) {
            loop_box[slot].profile = p;
            loop_make(slot);
        }
    }

    while (loop_alive != 0) {
        n = epoll_wait(loop_epoll, ev, LOOP_EVENTS, -1);

        for (i = 0; i < n; i++) {
            loop_event(ev[i].data.u64);
        }

        if (!loop_over && loop_now() >= end) {
            loop_over = 1;
            end = loop_now();
        }
    }

    fprintf(stderr, "loop: %zu sandboxes in %lld msec\n", loop_done,
            (long long) (end - began));

    return 0;
}
