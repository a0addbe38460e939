
/*
 * retort-front: runs as its own uid, without any capability, started by the
 * broker.  It parses what clients send and what sandboxes say; it can make
 * nothing but files in the artifact store and requests to the broker.
 *
 * Descriptors at start: seal.h.
 */

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "adopt.h"
#include "artifact.h"
#include "audit.h"
#include "bounds.h"
#include "box.h"
#include "broker_client.h"
#include "clock.h"
#include "control.h"
#include "exec.h"
#include "flog.h"
#include "gate.h"
#include "identity.h"
#include "land.h"
#include "metrics.h"
#include "pace.h"
#include "outside.h"
#include "pool.h"
#include "readers.h"
#include "seal.h"
#include "serve.h"
#include "settings.h"
#include "shelf.h"
#include "store.h"
#include "text.h"
#include "turn.h"
#include "wake.h"


#define FRONT_THREADS      64
#define FRONT_THREADS_MAX  512
#define FRONT_UIDS         16
#define FRONT_STACK        524288
#define FRONT_KEEP         1048576      /* of the heap, by arena */
/* threads that wake_fd() may serve, too */
#define FRONT_HELPERS      (3 + POOL_MAKERS + CONTROL_THREADS + BOUND_TURNS)

#define FRONT_SPARE_FDS    (64 + 2 * BOUND_TURNS)


typedef struct {
    uid_t      uids[FRONT_UIDS];
    size_t     nuids;
    uint64_t   threads;
    uint64_t   control;         /* its group; UINT64_MAX: no such socket */
} front_args_t;


typedef struct {
    void  *(*run)(void *);
    void   *arg;
} front_thread_t;


static front_args_t     front_args;
static int              front_drain = -1;
static int              front_open;
static unsigned         front_made;     /* threads that were created */
static unsigned         front_ready;    /* and that wait in front_thread() */
static pthread_cond_t   front_cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t  front_mutex = PTHREAD_MUTEX_INITIALIZER;


static int
front_uid(const char *value)
{
    uint64_t  uid;

    if (text_number(value, &uid) == -1 || uid >= UINT32_MAX
        || front_args.nuids == FRONT_UIDS)
    {
        flog(RLOG_ERROR, "--allow-uid %s: not a uid, or too many", value);
        return -1;
    }

    front_args.uids[front_args.nuids++] = (uid_t) uid;

    return 0;
}


static int
front_threads(const char *value)
{
    if (text_number(value, &front_args.threads) == -1
        || front_args.threads == 0
        || front_args.threads > FRONT_THREADS_MAX)
    {
        flog(RLOG_ERROR, "--threads %s: from 1 to %d", value,
             FRONT_THREADS_MAX);
        return -1;
    }

    return 0;
}


static int
front_control(const char *value)
{
    if (text_number(value, &front_args.control) == -1
        || front_args.control >= UINT32_MAX)
    {
        flog(RLOG_ERROR, "--control-gid %s: not a gid", value);
        return -1;
    }

    control_init((gid_t) front_args.control);

    return 0;
}


static int
front_options(int argc, char **argv)
{
    int  i, rc;

    front_args.threads = FRONT_THREADS;
    front_args.control = UINT64_MAX;

    for (i = 1; i < argc; i += 2) {
        rc = -1;

        if (i + 1 == argc) {
            flog(RLOG_ERROR, "%s: a value is missing", argv[i]);

        } else if (strcmp(argv[i], "--allow-uid") == 0) {
            rc = front_uid(argv[i + 1]);

        } else if (strcmp(argv[i], "--threads") == 0) {
            rc = front_threads(argv[i + 1]);

        } else if (strcmp(argv[i], "--control-gid") == 0) {
            rc = front_control(argv[i + 1]);

        } else if (strcmp(argv[i], "--fetch") == 0
                   && strcmp(argv[i + 1], "9") == 0)
        {
            rc = outside_init(FRONT_FD_FETCH);

        } else {
            flog(RLOG_ERROR, "%s: unknown option", argv[i]);
        }

        if (rc == -1) {
            return -1;
        }
    }

    if (front_args.nuids == 0) {
        flog(RLOG_ERROR, "no --allow-uid: nobody could connect");
        return -1;
    }

    return 0;
}


static void
front_event(const brk_ans_t *ans, const int *fds, int nfd)
{
    if (ans->op == BRK_EV_BOX && !front_open) {
        adopt_box(ans, fds, nfd);
        return;
    }

    if (ans->op == BRK_RESTART) {
        box_rested(ans, fds, nfd);
        return;
    }

    if (ans->op == BRK_EV_WARM) {
        box_warm();
        return;
    }

    if (ans->op == BRK_EV_DRAIN) {
        box_warm();
        wake_post(front_drain);
    }

    box_event(ans, fds, nfd);
}


/*
 * Threads are made before the filter forbids it, and wait for it here: what
 * libc does at the beginning of a thread is done by then.
 */

static void *
front_thread(void *arg)
{
    front_thread_t  t;

    t = *(front_thread_t *) arg;
    free(arg);

    (void) pthread_mutex_lock(&front_mutex);

    front_ready++;
    (void) pthread_cond_broadcast(&front_cond);

    while (!front_open) {
        (void) pthread_cond_wait(&front_cond, &front_mutex);
    }

    (void) pthread_mutex_unlock(&front_mutex);

    return t.run(t.arg);
}


static int
front_start(void *(*run)(void *), void *arg)
{
    int              rc;
    pthread_t        id;
    pthread_attr_t   attr;
    front_thread_t  *t;

    t = malloc(sizeof(front_thread_t));

    if (t == NULL || pthread_attr_init(&attr) != 0) {
        free(t);
        return -1;
    }

    t->run = run;
    t->arg = arg;

    rc = pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    rc |= pthread_attr_setstacksize(&attr, FRONT_STACK);
    rc |= pthread_create(&id, &attr, front_thread, t);
    (void) pthread_attr_destroy(&attr);

    if (rc != 0) {
        free(t);
        flog(RLOG_ERROR, "a thread could not be made");
        return -1;
    }

    front_made++;

    return 0;
}


static void
front_all_ready(void)
{
    (void) pthread_mutex_lock(&front_mutex);

    while (front_ready < front_made) {
        (void) pthread_cond_wait(&front_cond, &front_mutex);
    }

    (void) pthread_mutex_unlock(&front_mutex);
}


static int
front_all_threads(const retort_settings_t *s)
{
    uint64_t  i;

    for (i = 0; i < front_args.threads; i++) {
        if (front_start(serve_thread, (void *) s) == -1) {
            return -1;
        }
    }

    for (i = 0; i < BOUND_TURNS; i++) {
        if (front_start(turn_thread, NULL) == -1) {
            return -1;
        }
    }

    for (i = 0; i < pool_makers(); i++) {
        if (front_start(pool_thread, NULL) == -1) {
            return -1;
        }
    }

    for (i = 0; front_args.control != UINT64_MAX && i < CONTROL_THREADS; i++) {
        if (front_start(control_thread, (void *) s) == -1) {
            return -1;
        }
    }

    return front_start(brk_reader, NULL) | front_start(box_reaper, NULL)
           | front_start(adopt_thread, NULL)
           | front_start(store_sweeper, NULL)
           | front_start(shelf_sweeper, NULL);
}


static uint64_t
front_fsize(const retort_settings_t *s)
{
    uint32_t  i;
    uint64_t  max;

    max = BOUND_SHELF_FILE + SHELF_TAIL;

    for (i = 0; i < s->nprofiles; i++) {
        max = s->profile[i].run_max.image > max ? s->profile[i].run_max.image
                                                : max;
        max = s->profile[i].run.image > max ? s->profile[i].run.image : max;
    }

    return max;
}


/*
 * Most requests need the same few buffers again: they are not given back to
 * the system in between, nor sorted anew whenever one of them is large.  As
 * many arenas as run at once: results that are kept would fill each of more
 * now and then, and none of them ever shrinks.
 */

static void
front_memory(void)
{
    (void) mallopt(M_ARENA_MAX, (int) pool_makers());
    (void) mallopt(M_MXFAST, 0);
    (void) mallopt(M_TRIM_THRESHOLD, FRONT_KEEP);
    (void) mallopt(M_MMAP_THRESHOLD, FRONT_KEEP);
    (void) mallopt(M_TOP_PAD, FRONT_KEEP / 4);
}


/* what needs files and system calls that the filter will not allow */

static int
front_init(const retort_settings_t *s)
{
    char  text[CLOCK_TEXT];

    clock_text(clock_wall_ms(), text);
    front_drain = eventfd(0, EFD_CLOEXEC|EFD_NONBLOCK);

    readers_init((unsigned) front_args.threads);

    if (front_drain == -1
        || wake_init((unsigned) front_args.threads + FRONT_HELPERS) == -1
        || box_init(s) == -1 || pace_init() == -1
        || pool_init(s) == -1 || adopt_init(s) == -1
        || exec_init() == -1 || serve_init() == -1
        || metrics_init(s, front_args.threads) == -1)
    {
        flog(RLOG_ERROR, "start: %s", strerror(errno));
        return -1;
    }

    front_memory();

    if (identity_init(FRONT_FD_STORE) == -1
        || artifact_init(FRONT_FD_STORE, s) == -1 || shelf_init(s) == -1
        || audit_init(FRONT_FD_AUDIT, s) == -1
        || gate_init(FRONT_FD_LISTENER, front_args.uids, front_args.nuids)
           == -1
        || brk_hello(FRONT_FD_BROKER, front_event) == -1)
    {
        return -1;
    }

    return brk_boxes();
}


static int
front_signals(void)
{
    sigset_t  set;

    (void) signal(SIGPIPE, SIG_IGN);
    (void) signal(SIGXFSZ, SIG_IGN);

    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGTERM);
    (void) sigaddset(&set, SIGINT);
    (void) sigaddset(&set, SIGHUP);
    (void) pthread_sigmask(SIG_BLOCK, &set, NULL);

    return signalfd(-1, &set, SFD_CLOEXEC);
}


static void
front_wait(int signals)
{
    struct pollfd  p[2];

    memset(p, 0, sizeof(p));
    p[0].fd = signals;
    p[0].events = POLLIN;
    p[1].fd = front_drain;
    p[1].events = POLLIN;

    while (p[0].revents == 0 && p[1].revents == 0) {
        (void) poll(p, 2, -1);
    }
}


/* some runs go on behind their answers */

static unsigned
front_busy_wait(uint64_t msec)
{
    unsigned  requests, runs;
    uint64_t  until;

    until = clock_mono_us() + msec * 1000;
    requests = gate_busy_wait(until);
    runs = exec_busy_wait(until);

    return requests > runs ? requests : runs;
}


static int
front_end(void)
{
    unsigned  busy;

    gate_close();
    flog(RLOG_INFO, "stopping");

    busy = front_busy_wait(BOUND_DRAIN_TIME);

    if (busy != 0) {
        flog(RLOG_WARN, "stopping: %u requests are cancelled", busy);
        wake_cancel_all();
        (void) front_busy_wait(BOUND_CANCEL_TIME);
    }

    audit_stop();

    return 0;
}


/* descriptors: of all sandboxes, and of some that ended and are still used */

static uint64_t
front_files(const retort_settings_t *s)
{
    return (uint64_t) s->nslots * (BRK_FDS + 1)
           + (uint64_t) (front_args.threads + FRONT_HELPERS) * (2 * BRK_FDS + 3)
           + BOUND_CONNS + FRONT_SPARE_FDS;
}


int
main(int argc, char **argv)
{
    int                        signals;
    const retort_settings_t   *s;

    rlog_init("retort-front");

    if (front_options(argc, argv) == -1) {
        return 1;
    }

    signals = front_signals();
    s = settings_load(FRONT_FD_SETTINGS);

    if (signals == -1 || s == NULL
        || seal_start(front_files(s), front_fsize(s)) == -1)
    {
        return 1;
    }

    (void) close(FRONT_FD_SETTINGS);

    if (front_init(s) == -1 || land_lock() == -1 || front_all_threads(s) == -1)
    {
        return 1;
    }

    front_all_ready();

    if (seal_finish() == -1) {
        return 1;
    }

    (void) pthread_mutex_lock(&front_mutex);
    front_open = 1;
    (void) pthread_cond_broadcast(&front_cond);
    (void) pthread_mutex_unlock(&front_mutex);

    flog(RLOG_INFO, "ready, %u threads", (unsigned) front_args.threads);

    front_wait(signals);

    _exit(front_end());
}
