
/*
 * A front that has been taken over, against the broker: any messages, with
 * descriptors or without; and what a sandbox's pid 1 says.  No template and no
 * map writer answers, but as the input wants it.
 *
 * links: helper/broker/front.c helper/broker/box.c helper/broker/policy.c
 * links: helper/broker/service.c helper/broker/cgroup.c
 * links: helper/lib/fdpass.c helper/lib/counters.c tests/fuzz/lib/quiet.c
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker/broker_main.h"
#include "fdpass.h"
#include "fuzz.h"


#define SLOTS     4
#define MESSAGES  40


static broker_t           broker;
static box_t              boxes[SLOTS];
static box_t             *busy[SLOTS];
static retort_settings_t  settings;
static int                front;        /* the other end of its socket */
static int                launcher;
static int                template;
static int                init;


/* ---- what main.c has ---- */

int64_t
broker_now(void)
{
    static int64_t  now = 1000;

    return now++;
}


int
broker_watch(broker_t *b, int fd, uint32_t tag, uint32_t index)
{
    (void) b;
    (void) tag;
    (void) index;

    return fcntl(fd, F_SETFL, O_NONBLOCK);
}


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    int                  fd, pair[2];
    retort_profile_t    *p;

    static const retort_box_limits_t  box = {
        1 << 28, 1 << 26, 10000, 1 << 24, 1 << 25, 64, 1000, 256, 0
    };

    (void) argc;
    (void) argv;
    settings.magic = RETORT_SETTINGS_MAGIC;
    settings.size = sizeof(settings);
    settings.nslots = SLOTS;
    settings.nprofiles = 1;
    p = &settings.profile[0];
    (void) memcpy(p->name, "default", 8);
    p->box = p->box_max = box;
    p->sessions = SLOTS;

    /* box.c asks the map writer at a fixed descriptor */
    for (fd = BOOT_SETTINGS; fd < BOOT_TEMPLATE; fd++) {
        if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_NONBLOCK, 0, pair) == -1
            || dup2(pair[0], fd) == -1)
        {
            abort();
        }
    }

    return 0;
}


static void
pair_of(int *ours, int *theirs)
{
    int  pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_NONBLOCK, 0, pair) == -1) {
        abort();
    }

    *ours = pair[0];
    *theirs = pair[1];
}


static void
start(void)
{
    memset(&broker, 0, sizeof(broker));
    memset(boxes, 0, sizeof(boxes));
    broker.settings = &settings;
    broker.box = boxes;
    broker.busy = busy;
    broker.epoll = -1;
    boxes[0].init = boxes[1].init = boxes[2].init = boxes[3].init = -1;
    pair_of(&broker.front.sock, &front);
    pair_of(&broker.front.launcher, &launcher);
    pair_of(&broker.template[0].sock, &template);
    broker.template[0].launcher = broker.front.launcher;
    broker.template[0].ready = true;

    /* one box that lives */
    boxes[0].state = BOX_ALIVE;
    boxes[0].generation = 1;
    boxes[0].pid = 0;
    boxes[0].pidfd = -1;
    boxes[0].limits = settings.profile[0].box;
    pair_of(&boxes[0].init, &init);
    pair_of(&boxes[0].fds[0], &boxes[0].fds[1]);
    boxes[0].fds[2] = dup(boxes[0].fds[0]);
}


static void
drain(int fd)
{
    int      nfd, fds[FDPASS_MAX];
    char     bytes[4096];
    ssize_t  n;

    do {
        nfd = FDPASS_MAX;
        n = fd_recv(fd, bytes, sizeof(bytes), fds, &nfd, MSG_DONTWAIT);

        while (n > 0 && nfd > 0) {
            (void) close(fds[--nfd]);
        }
    } while (n > 0);
}


static void
stop(void)
{
    int  i, k;

    for (i = 0; i < SLOTS; i++) {
        if (boxes[i].state == BOX_FREE) {
            continue;
        }

        (void) close(boxes[i].init);

        for (k = 0; k < BRK_BOX_FDS; k++) {
            (void) close(boxes[i].fds[k]);
        }
    }

    (void) close(broker.front.sock);
    (void) close(broker.front.launcher);
    (void) close(broker.template[0].sock);
    (void) close(front);
    (void) close(launcher);
    (void) close(template);
    (void) close(init);
}


/* one message of the front: how long, with a descriptor?, its bytes */

static void
say(int fd, const uint8_t **p, size_t *n, size_t size)
{
    char     bytes[2048];
    size_t   len;
    uint8_t  how;

    how = fuzz_byte(p, n);
    len = how < 0xf0 ? size : (size_t) fuzz_byte(p, n) * 4;
    memset(bytes, 0, sizeof(bytes));

    if (*n < len) {
        memcpy(bytes, *p, *n);
        *p += *n;
        *n = 0;

    } else {
        memcpy(bytes, *p, len);
        *p += len;
        *n -= len;
    }

    (void) fd_send(fd, bytes, len, &fd, how & 1);
}


static void
act(const uint8_t **p, size_t *n)
{
    switch (fuzz_byte(p, n) & 3) {
    case 0:
        say(init, p, n, sizeof(init_msg_t));

        if (boxes[0].state == BOX_ALIVE || boxes[0].state == BOX_RESTARTING) {
            box_from_init(&broker, &boxes[0]);
        }

        break;

    case 1:
        box_overdue(&broker);
        break;

    default:
        say(front, p, n, sizeof(brk_req_t));

        if (broker.front.sock != -1) {
            front_read(&broker);
        }
    }
}


/* each once, and no other */

static void
check_busy(void)
{
    uint32_t  i, n;

    for (i = n = 0; i < SLOTS; i++) {
        if (boxes[i].state != BOX_FREE && boxes[i].state != BOX_ALIVE) {
            FUZZ_CHECK(boxes[i].at < broker.nbusy);
            FUZZ_CHECK(busy[boxes[i].at] == &boxes[i]);
            n++;
        }
    }

    FUZZ_CHECK(n == broker.nbusy);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int       i;
    uint32_t  used;

    start();

    for (i = 0; i < MESSAGES && size != 0; i++) {
        act(&data, &size);
        drain(template);
        drain(launcher);
        drain(front);

        for (used = 0; used < SLOTS; used++) {
            FUZZ_CHECK(boxes[used].state <= BOX_SWEEPING);
            FUZZ_CHECK(boxes[used].limits.memory
                       <= settings.profile[0].box_max.memory);
            FUZZ_CHECK(boxes[used].limits.processes
                       <= settings.profile[0].box_max.processes);
        }

        check_busy();
    }

    stop();

    return 0;
}
