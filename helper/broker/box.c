
/*
 * Part of retort-broker: the life of a sandbox, as a state machine.  Nothing
 * here waits; each answer of the template, the map writer and pid 1 moves one
 * box on by one state.  Pid 1 speaks truth until its kernel runs; after that
 * it may at worst tell about its own box.
 *
 *   FREE -> CLONING -> MAPPING -> SEALING -> ALIVE <-> RESTARTING
 *             any of them -> DYING -> SWEEPING -> FREE
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker_main.h"
#include "counters.h"
#include "fdpass.h"
#include "log.h"
#include "policy.h"


#define BOX_BUILD_MSEC   10000  /* from the front's request to READY; to die */
#define BOX_ENGINE_MSEC  25000  /* the same of a container */
#define BOX_YIELD_MSEC   20     /* more than it takes where a core is free */
#define BOX_SWEEP_MSEC   20     /* between two tries to remove a cgroup */
#define BOX_ROOM         (32ULL << 20)  /* for a container to import in */


static void  box_gone(broker_t *b, box_t *box);


static const char *const  box_steps[] = {
#define BOX_STEP_TEXT(name, text)  text,
    INIT_STEPS(BOX_STEP_TEXT)
};


uint64_t
box_id(const broker_t *b, const box_t *box)
{
    return ((uint64_t) box->generation << 32) | (uint32_t) (box - b->box);
}


box_t *
box_find(broker_t *b, uint64_t id)
{
    box_t     *box;
    uint32_t  slot;

    slot = (uint32_t) id;

    if (slot >= b->settings->nslots) {
        return NULL;
    }

    box = &b->box[slot];

    if (box->state == BOX_FREE || box->state == BOX_SWEEPING
        || box->generation != (uint32_t) (id >> 32))
    {
        return NULL;
    }

    return box;
}


static void
box_state(broker_t *b, box_t *box, box_state_t state)
{
    bool   was, is;
    box_t  *last;

    was = (box->state != BOX_FREE && box->state != BOX_ALIVE);
    is = (state != BOX_FREE && state != BOX_ALIVE);
    box->state = state;

    if (is && !was) {
        box->at = b->nbusy;
        b->busy[b->nbusy++] = box;

    } else if (was && !is) {
        last = b->busy[--b->nbusy];
        last->at = box->at;
        b->busy[last->at] = last;
    }
}


static void
box_close(int *fds, int n)
{
    while (n-- > 0) {
        if (fds[n] != -1) {
            (void) close(fds[n]);
            fds[n] = -1;
        }
    }
}


static bool
box_docker(const broker_t *b, const box_t *box)
{
    return b->settings->profile[box->profile].backend == RETORT_BACKEND_DOCKER;
}


/*
 * What is made or dies gives way to what somebody waits for; not for long, or
 * cores that are never free would keep it from its end.
 */

static void
box_yield(const broker_t *b, box_t *box, bool yields)
{
    bool  does;

    does = (box->yields != 0);
    box->yields = yields ? broker_now() + BOX_YIELD_MSEC : 0;

    if (yields != does) {
        cg_yield(&b->cg, box->name, yields);
    }
}


/* a container has counters of its own */

static void
box_counters(const broker_t *b, const box_t *box, int *fds)
{
    cg_counters(box->cg.version != 0 ? &box->cg : &b->cg,
                box->cg.version != 0 ? "." : box->name, fds);
}


static void
box_stat(const broker_t *b, box_t *box)
{
    int  fds[BRK_COUNTERS];

    box_counters(b, box, fds);
    counters_read(fds, &box->stat);
    box_close(fds, BRK_COUNTERS);
}


static void
box_fail(broker_t *b, box_t *box, uint32_t step, int error)
{
    brk_ans_t  ans = {
        .op = (box->state == BOX_RESTARTING) ? BRK_RESTART : BRK_SPAWN,
        .code = BRK_ESTEP, .seq = box->seq, .id = box_id(b, box),
        .step = step < STEP_MAX ? step : STEP_NONE, .error = error
    };

    rlog_errno(RLOG_ERROR, error, "box %u: step \"%s\" failed",
               (uint32_t) (box - b->box), box_steps[ans.step]);

    if (box->seq != 0) {
        box->seq = 0;
        (void) front_send(b, &ans, NULL, 0);
    }

    box_kill(b, box);
}


/* answers the front's open request about this box, or tells an event */

void
box_offer(broker_t *b, box_t *box, uint16_t op, uint32_t seq)
{
    int        fds[BRK_FDS];
    brk_ans_t  ans = {
        .op = op, .seq = seq, .id = box_id(b, box), .stat = box->stat,
        .limits = box->limits
    };

    memcpy(fds, box->fds, sizeof(box->fds));
    box_counters(b, box, fds + BRK_BOX_FDS);
    memcpy(ans.profile, b->settings->profile[box->profile].name,
           RETORT_PROFILE_NAME);
    memcpy(ans.record, box->record, sizeof(ans.record));

    if (front_send(b, &ans, fds, BRK_FDS) == 0) {
        box->shown = true;

    } else if (b->front.ready) {
        box_fail(b, box, STEP_CHANNEL, ENFILE);
    }

    box_close(fds + BRK_BOX_FDS, BRK_COUNTERS);
}


/* tells the front of an end, if it knows the box; "stat" is the last one */

static void
box_tell(broker_t *b, box_t *box, uint16_t op, int status, uint32_t restored)
{
    brk_ans_t  ans = {
        .op = op, .id = box_id(b, box), .status = status,
        .restored = restored, .stat = box->stat
    };

    if (box->shown) {
        (void) front_send(b, &ans, NULL, 0);
    }
}


/* the pairs that the front and pid 1 hold the other ends of */

static int
box_channel(int *ours, int *theirs)
{
    int  i, pair[2];

    for (i = 0; i < BRK_BOX_FDS; i++) {
        if (i == 0) {
            if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, pair)
                == -1)
            {
                return -1;
            }

        } else if (pipe2(pair, O_CLOEXEC) == -1) {
            return -1;
        }

        ours[i] = pair[0];
        theirs[i] = pair[1];
    }

    return 0;
}


static box_t *
box_slot(broker_t *b, uint32_t profile)
{
    box_t     *box;
    uint32_t  i, used;

    used = 0;
    box = NULL;

    for (i = 0; i < b->settings->nslots; i++) {
        if (b->box[i].state == BOX_FREE) {
            if (box == NULL) {
                box = &b->box[i];
            }

        } else if (b->box[i].profile == profile) {
            used++;
        }
    }

    return used < b->settings->profile[profile].sessions ? box : NULL;
}


static void
box_init(const broker_t *b, box_t *box, uint32_t profile, const brk_req_t *req)
{
    uint32_t  generation;

    generation = box->generation + 1;
    memset(box, 0, sizeof(*box));
    box->generation = generation != 0 ? generation : 1;
    box->profile = profile;
    box->seq = req->seq;
    box->pidfd = box->init = -1;
    memset(box->fds, -1, sizeof(box->fds));
    memset(box->cg.dir, -1, sizeof(box->cg.dir));
    memcpy(box->record, req->record, sizeof(box->record));
    policy_limits(&b->settings->profile[profile], &req->limits, &box->limits);
    (void) snprintf(box->name, sizeof(box->name), "box%u",
                    (uint32_t) (box - b->box));
}


/* asks the template; what goes wrong from here on ends this box alone */

static init_step_t
box_begin(broker_t *b, box_t *box)
{
    int        rc, pair[2], theirs[TPL_FDS] = { -1, -1, -1, -1 };
    tpl_req_t  tpl = { box_id(b, box), box->limits };

    tpl.limits.memory += b->base[box->profile];

    if (cg_create(&b->cg, box->name, &box->limits) == -1) {
        return STEP_CGROUP;
    }

    box_yield(b, box, true);

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, pair) == -1) {
        return STEP_CHANNEL;
    }

    box->init = pair[0];
    theirs[0] = pair[1];

    rc = box_channel(box->fds, theirs + 1) == -1
         || broker_watch(b, box->init, TAG_BOX, (uint32_t) tpl.id) == -1
         || fd_send(b->template[box->profile].sock, &tpl, sizeof(tpl), theirs,
                    TPL_FDS)
            == -1;

    box_close(theirs, TPL_FDS);

    return rc == 0 ? STEP_NONE : STEP_CHANNEL;
}


int
box_spawn(broker_t *b, uint32_t profile, const brk_req_t *req)
{
    box_t        *box;
    init_step_t  step;

    if (!b->template[profile].ready) {
        return BRK_EWARM;
    }

    box = b->draining ? NULL : box_slot(b, profile);

    if (box == NULL) {
        return BRK_EFULL;
    }

    box_init(b, box, profile, req);
    box_state(b, box, BOX_CLONING);
    box->deadline = broker_now() + (box_docker(b, box) ? BOX_ENGINE_MSEC
                                                       : BOX_BUILD_MSEC);
    step = box_begin(b, box);

    if (step != STEP_NONE) {
        box_fail(b, box, step, errno);
        box_gone(b, box);
    }

    return BRK_OK;
}


/* its ids are mapped, or the engine's: nothing more is needed from outside */

static void
box_go(broker_t *b, box_t *box)
{
    int         n, fds[INIT_GO_FDS] = { -1, -1, -1, -1 };
    init_msg_t  go = { INIT_GO, 0, 0 };

    box_state(b, box, BOX_SEALING);
    n = cg_enter(&b->cg, box->name, fds);

    if (n == -1 || fd_send(box->init, &go, sizeof(go), fds, n) == -1) {
        box_fail(b, box, n == -1 ? STEP_ATTACH : STEP_GO, errno);
    }

    box_close(fds, INIT_GO_FDS);
}


void
box_from_template(broker_t *b, const tpl_ans_t *ans, int pidfd)
{
    box_t      *box;
    map_req_t  map = { ans->id, (uint32_t) ans->id, ans->pid };

    box = box_find(b, ans->id);

    if (box == NULL || box->pid != 0) {
        box_close(&pidfd, 1);
        return;
    }

    if (pidfd == -1) {
        box_fail(b, box, STEP_CLONE, ans->error);
        box_gone(b, box);
        return;
    }

    box->pid = ans->pid;
    box->pidfd = pidfd;

    if (broker_watch(b, pidfd, TAG_EXIT, map.slot) == -1) {
        box_fail(b, box, STEP_CLONE, errno);

    } else if (box->state == BOX_DYING) {
        box_kill(b, box);

    } else if (box_docker(b, box)) {
        box_go(b, box);

    } else if (fd_send(BOOT_MAPD, &map, sizeof(map), &pidfd, 1) == -1) {
        box_fail(b, box, STEP_IDMAP, errno);

    } else {
        box_state(b, box, BOX_MAPPING);
    }
}


void
box_from_mapd(broker_t *b, const map_ans_t *ans)
{
    box_t  *box;

    box = box_find(b, ans->id);

    if (box == NULL || box->state != BOX_MAPPING) {
        return;
    }

    if (ans->error != 0) {
        box_fail(b, box, STEP_IDMAP, ans->error);

    } else {
        box_go(b, box);
    }
}


static void
box_ready(broker_t *b, box_t *box)
{
    uint16_t  op;
    uint32_t  seq;

    op = (box->state == BOX_SEALING) ? BRK_SPAWN : BRK_RESTART;
    seq = box->seq;
    box->deadline = 0;
    box_yield(b, box, false);
    box_state(b, box, BOX_ALIVE);

    /* a front that came in between has not asked: it is told */
    box_offer(b, box, seq != 0 ? op : (uint16_t) BRK_EV_BOX, seq);
    box->seq = 0;
}


void
box_from_init(broker_t *b, box_t *box)
{
    int         nfd;
    ssize_t     n;
    init_msg_t  msg;

    /* before a tenant's first byte, a relay may say once where they count */
    nfd = box_docker(b, box) && box->state == BOX_SEALING
          && box->cg.dir[0] == -1 ? CG_DIRS : 0;
    n = fd_recv(box->init, &msg, sizeof(msg), box->cg.dir, &nfd, MSG_DONTWAIT);

    if (box->init == -1 || (n == -1 && errno == EAGAIN)) {
        return;
    }

    if (n != (ssize_t) sizeof(msg)) {
        box_close(&box->init, 1);

        if (box->state != BOX_DYING) {
            box_kill(b, box);
        }

        return;
    }

    if (nfd == CG_DIRS) {
        box->cg.version = b->cg.version;
        box_stat(b, box);

        /* with more or less of the page cache: the least will do */
        if (box->stat.memory_now + BOX_ROOM < b->base[box->profile]) {
            b->base[box->profile] = box->stat.memory_now + BOX_ROOM;
        }
    }

    if (msg.op == INIT_READY
        && (box->state == BOX_SEALING || box->state == BOX_RESTARTING))
    {
        box_ready(b, box);

    } else if (msg.op == INIT_FAILED && box->state != BOX_DYING) {
        box_fail(b, box, msg.step, msg.arg);

    } else if (msg.op == INIT_KERNEL_EXIT && box->state == BOX_ALIVE) {
        box_stat(b, box);
        box_tell(b, box, BRK_EV_KERNEL_EXIT, msg.arg, msg.step);
    }
}


void
box_restart(broker_t *b, box_t *box, const brk_req_t *req)
{
    int         theirs[BRK_BOX_FDS] = { -1, -1, -1 };
    init_msg_t  msg = { INIT_RESTART, 0, (int32_t) req->detail };

    box_close(box->fds, BRK_BOX_FDS);
    box->seq = req->seq;
    box->deadline = broker_now() + BOX_BUILD_MSEC;
    box_state(b, box, BOX_RESTARTING);

    if (box_channel(box->fds, theirs) == -1
        || fd_send(box->init, &msg, sizeof(msg), theirs, INIT_RESTART_FDS)
           == -1)
    {
        box_fail(b, box, STEP_CHANNEL, errno);
    }

    box_close(theirs, BRK_BOX_FDS);
}


/*
 * Pid 1 takes everything in its pid namespace with it.  A box that has no pid
 * yet is killed when the template's answer comes; what is not dead after
 * a while is killed again.
 */

void
box_kill(broker_t *b, box_t *box)
{
    if (box->pidfd != -1) {
        box_yield(b, box, true);
        (void) syscall(SYS_pidfd_send_signal, box->pidfd, SIGKILL, NULL, 0);
        box->deadline = broker_now() + BOX_BUILD_MSEC;
        cg_kill(&b->cg, box->name);
    }

    box_state(b, box, BOX_DYING);
}


static void
box_free(broker_t *b, box_t *box)
{
    box->deadline = cg_remove(&b->cg, box->name) == -1
                    ? broker_now() + BOX_SWEEP_MSEC : 0;

    if (box->deadline != 0) {
        return;
    }

    box_tell(b, box, BRK_EV_BOX_EXIT, box->status, 0);
    box_close(box->cg.dir, CG_DIRS);
    box_close(&box->init, 1);
    box_close(box->fds, BRK_BOX_FDS);
    box_state(b, box, BOX_FREE);
}


/* nothing of it runs any more, or ever did */

static void
box_gone(broker_t *b, box_t *box)
{
    box->pid = 0;
    /* the map writer has another one of it: to close ours is not enough */
    (void) epoll_ctl(b->epoll, EPOLL_CTL_DEL, box->pidfd, NULL);
    box_close(&box->pidfd, 1);
    box->yields = 0;
    box_state(b, box, BOX_SWEEPING);
    box_free(b, box);
}


/* its pidfd says that pid 1 has ended, and with it everything inside */

void
box_exited(broker_t *b, box_t *box)
{
    int  status;

    status = 0;

    if (box->pid == 0 || waitpid(box->pid, &status, WNOHANG) == 0) {
        return;
    }

    if (box->seq != 0) {
        box_fail(b, box, STEP_KERNEL, ECHILD);
    }

    box_stat(b, box);
    box->status = status;
    box_gone(b, box);
}


/*
 * A template that is gone, or does not answer, makes no box any more.  What
 * serves in its place while it is renewed ends with its socket alone.
 */

void
box_fail_profile(broker_t *b, uint32_t profile)
{
    box_t  *box, *end;

    end = b->box + b->settings->nslots;
    rlog(RLOG_ERROR, "template \"%s\" is gone",
         b->settings->profile[profile].name);
    service_kill(&b->template[profile]);
    service_gone(&b->template[profile]);

    for (box = b->box; box < end; box++) {
        if (box->profile == profile && box->pid == 0
            && (box->state == BOX_CLONING || box->state == BOX_DYING))
        {
            box_fail(b, box, STEP_TEMPLATE, EPIPE);
            box_gone(b, box);
        }
    }
}


/* called when a deadline may have passed */

void
box_overdue(broker_t *b)
{
    box_t     *box;
    int64_t   now;
    uint32_t  i;

    now = broker_now();

    /* backwards: the place of who leaves is taken by the last one */

    for (i = b->nbusy; i-- > 0; /* void */) {
        if (i >= b->nbusy) {
            continue;
        }

        box = b->busy[i];

        if (box->yields != 0 && box->yields <= now) {
            box_yield(b, box, false);
        }

        if (box->deadline == 0 || box->deadline > now) {
            continue;
        }

        box->deadline = 0;

        if (box->state == BOX_SWEEPING) {
            box_free(b, box);

        } else if (box->pid == 0) {
            box_fail_profile(b, box->profile);

        } else {
            /* nobody may have told of its end: its pidfd was not watched */
            box_fail(b, box, STEP_TIME, ETIMEDOUT);
            box_exited(b, box);
        }
    }
}
