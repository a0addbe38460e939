
/*
 * A frozen copy of the kernel process stands by, with everything as it was
 * before the cell.  If the kernel dies, pid 1 wakes the copy, which ends all
 * others and becomes the kernel.  Runs in the kernel process; a tenant who
 * disturbs any of this loses his own session.
 *
 * The copy is made when a cell is over, while nobody waits; again before a
 * cell if a thread or a signal handler may have changed something since.  To
 * make one costs more than a small cell, so cells in rapid succession have
 * fewer, above all if each waits already when one is over: what stands by is
 * then some cells behind, and says so if it is woken.
 *
 * The kernel stays what it is, with its threads and children.  The copy is
 * pid 1's child, so that no wait() of the tenant's ever sees it, and in a
 * process group of its own.
 *
 * Nothing in it runs until it takes over.  It shares all pages with the kernel
 * until one of them writes.
 */

#include "retort.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../helper/init/init.h"


#define SNAPSHOT_OOM    "350"   /* goes after the kernel, before pid 1 */
#define SNAPSHOT_LULL   1       /* msec without a message, then it is made */
#define SNAPSHOT_CREDIT 2000    /* msec of debt with which one may be made */
#define SNAPSHOT_HURRY  1000    /* the same, while cells come without a pause */
#define SNAPSHOT_DEBT   10      /* msec for each, or */
#define SNAPSHOT_SHARE  6       /* times what it took; */
#define SNAPSHOT_HASTE  4       /* times as many while a cell waits for it */
#define SNAPSHOT_BUSY   32      /* that is at most so often its own work */


static void   *snapshot_tid;    /* where libc keeps the main thread's id */
static int     snapshot_wanted;
static int     snapshot_stale;  /* what it holds may be another state */
static int     snapshot_hurried;        /* as the next cell waited already */
static pid_t   snapshot_group;
static int64_t snapshot_paid;   /* when the last debt is; usec */


/* only possible before the sandbox is sealed; without it, libc errs a little */

void
snapshot_init(void)
{
    if (prctl(PR_GET_TID_ADDRESS, &snapshot_tid, 0, 0, 0) == -1) {
        snapshot_tid = NULL;
    }
}


/* without a pid 1 of ours somebody else may wake the copy: a test */

void
snapshot_start(void)
{
    static init_page_t  *page;

    if (init_page != NULL) {
        return;
    }

    page = mmap(NULL, sizeof(*page), PROT_READ|PROT_WRITE,
                MAP_SHARED|MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED) {
        _exit(KERN_EXIT_FATAL);
    }

    init_page = page;
}


void
snapshot_touched(void)
{
    snapshot_stale = 1;
}


static void
snapshot_kill(pid_t pid)
{
    if (pid > 1 && pid != getpid()) {
        (void) kill(pid, SIGKILL);
    }
}


static void
snapshot_drop(void)
{
    snapshot_kill(atomic_exchange(&init_page->snapshot, 0));
}


/* the one before stands by until there is another */

static void
snapshot_arm(pid_t pid)
{
    if (pid > 0) {
        atomic_store(&init_page->behind, 0);
        snapshot_kill(atomic_exchange(&init_page->snapshot, pid));
    }
}


/* what was done since the copy was made is not in it */

void
snapshot_behind(void)
{
    (void) atomic_fetch_add(&init_page->behind, 1);
}


static int64_t
snapshot_clock(clockid_t clock)
{
    struct timespec  ts;

    (void) clock_gettime(clock, &ts);

    return (int64_t) ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}


/* msec until one may be made */

static int
snapshot_due(int64_t credit)
{
    int64_t  wait;

    wait = snapshot_paid - snapshot_clock(CLOCK_MONOTONIC) - credit * 1000;

    return wait > 0 ? (int) (wait / 1000) + 1 : 0;
}


/*
 * Time counts, not only work: of many sessions on few processors each waits
 * for the others' copies, and all of them have to have fewer.
 */

static void
snapshot_charge(int64_t work, int64_t began, int hurried)
{
    int64_t  now, debt;

    now = snapshot_clock(CLOCK_MONOTONIC);
    work = (snapshot_clock(CLOCK_THREAD_CPUTIME_ID) - work) * SNAPSHOT_BUSY;
    debt = (now - began < work ? now - began : work) * SNAPSHOT_SHARE;
    debt = debt > SNAPSHOT_DEBT * 1000 ? debt : SNAPSHOT_DEBT * 1000;
    snapshot_paid = (snapshot_paid > now ? snapshot_paid : now)
                    + debt * (hurried ? SNAPSHOT_HASTE : 1);
}


/* of any kind, libraries' own included */

static int
snapshot_threads(void)
{
    struct stat  st;

    return stat("/proc/self/task", &st) == 0 ? (int) st.st_nlink - 2 : 2;
}


/* those that may run Python code */

static int
snapshot_alone(void)
{
    return PyThreadState_Next(PyInterpreterState_ThreadHead(
               PyInterpreterState_Main())) == NULL;
}


static pid_t
snapshot_clone(unsigned long flags)
{
    if (snapshot_tid != NULL) {
        flags |= CLONE_CHILD_SETTID;
    }

    /* the thread id's place is the fourth or the fifth, by architecture */
    return (pid_t) syscall(SYS_clone, flags | SIGCHLD, NULL, NULL,
                           snapshot_tid, snapshot_tid);
}


/*
 * libc's own fork() first, if there are threads: only that takes care of the
 * locks that they hold.  What it makes goes at once, so that pid 1 becomes the
 * parent of what that makes.
 */

static pid_t
snapshot_clone_twice(void)
{
    pid_t  pid, copy;

    wire_keep(1);
    pid = fork();
    wire_keep(0);

    if (pid == 0) {
        copy = snapshot_clone(0);

        if (copy == 0) {
            return 0;
        }

        snapshot_arm(copy);
        _exit(0);
    }

    if (pid != -1) {
        (void) waitpid(pid, NULL, 0);
    }

    return -1;
}


/* Landlock forbids it: there the kernel goes first as it has more memory */

static void
snapshot_oom(const char *score)
{
    int  fd, was;

    /* the file belongs to root while this process is not dumpable */
    was = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    (void) prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    fd = open("/proc/self/oom_score_adj", O_WRONLY|O_CLOEXEC);
    (void) prctl(PR_SET_DUMPABLE, was, 0, 0, 0);

    if (fd != -1) {
        (void) !write(fd, score, strlen(score));
        (void) close(fd);
    }
}


/*
 * A kill() by pid 1, or from outside, is what nobody inside can forge.  What
 * else was sent here meanwhile was sent to nobody.
 */

static void
snapshot_wait(void)
{
    sigset_t               set;
    siginfo_t              info;
    const struct timespec  now = { 0, 0 };

    (void) setpgid(0, 0);
    kern_policy(SCHED_BATCH);
    snapshot_oom(SNAPSHOT_OOM);
    sigemptyset(&set);
    sigaddset(&set, INIT_TAKE_OVER);

    do {
        memset(&info, 0, sizeof(info));
    } while (sigwaitinfo(&set, &info) == -1 || info.si_code != SI_USER
             || info.si_pid > 1);

    sigfillset(&set);

    while (sigtimedwait(&set, NULL, &now) != -1) { /* void */ }
}


/*
 * The state of Python's own generator, which a forked child would draw anew.
 * By C calls alone: no Python code may run before the interpreter knows that
 * its other threads are gone.
 */

static PyObject *
snapshot_random(void)
{
    PyObject  *modules, *module, *one, *gauss, *words, *state;

    state = NULL;
    modules = PySys_GetObject("modules");
    module = modules != NULL && PyDict_Check(modules)
             ? PyDict_GetItemString(modules, "random") : NULL;
    one = module != NULL && PyModule_Check(module)
          ? PyObject_GetAttrString(module, "_inst") : NULL;
    gauss = one != NULL ? PyObject_GetAttrString(one, "gauss_next") : NULL;

    if (gauss != NULL && Py_TYPE(one)->tp_base != NULL
        && strcmp(Py_TYPE(one)->tp_base->tp_name, "_random.Random") == 0)
    {
        words = PyObject_CallMethod((PyObject *) Py_TYPE(one)->tp_base,
                                    "getstate", "O", one);
        state = words != NULL ? Py_BuildValue("iNO", 3, words, gauss) : NULL;
    }

    Py_XDECREF(gauss);
    Py_XDECREF(one);
    PyErr_Clear();

    return state != NULL ? state : Py_NewRef(Py_None);
}


/*
 * Nothing of the dead kernel's goes on beside this: kill(-1) spares its caller
 * and pid 1, and nobody can fork away from it.  Until pid 1 has buried them
 * all, or for a second.
 */

static void
snapshot_clear(void)
{
    int                    turn;
    const struct timespec  pause = { 0, 1000000 };

    for (turn = 0; turn < 1000 && kill(-1, SIGKILL) == 0; turn++) {
        (void) nanosleep(&pause, NULL);
    }
}


static void
snapshot_rise(const sigset_t *mask)
{
    PyObject  *random, *done;

    snapshot_clear();
    (void) setpgid(0, snapshot_group);
    kern_policy(SCHED_OTHER);
    snapshot_oom(INIT_OOM_KERNEL);
    atomic_store(&init_page->snapshot, 0);
    wire_renew();
    (void) pthread_sigmask(SIG_SETMASK, mask, NULL);

    random = snapshot_random();
    PyOS_AfterFork_Child();
    done = interp_shell("resume", "(O)", random);

    if (done == NULL) {
        PyErr_Clear();
    }

    Py_XDECREF(done);
    Py_DECREF(random);
    changes_start();
    interrupt_end();
}


/* 1 in the copy, which is the kernel by then */

static int
snapshot_take(void)
{
    int       hurried;
    pid_t     pid;
    int64_t   work, began;
    sigset_t  all, old;

    work = snapshot_clock(CLOCK_THREAD_CPUTIME_ID);
    began = snapshot_clock(CLOCK_MONOTONIC);
    hurried = snapshot_hurried;
    snapshot_stale = 0;
    snapshot_hurried = 0;
    snapshot_group = getpgrp();
    sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &old);

    pid = snapshot_threads() == 1 ? snapshot_clone(CLONE_PARENT)
                                  : snapshot_clone_twice();

    if (pid == 0) {
        snapshot_wait();
        snapshot_rise(&old);
        return 1;
    }

    snapshot_arm(pid);
    snapshot_charge(work, began, hurried);
    (void) pthread_sigmask(SIG_SETMASK, &old, NULL);

    return 0;
}


int
snapshot_before(int wanted)
{
    snapshot_wanted = wanted;

    if (!wanted) {
        snapshot_drop();
        return 0;
    }

    if (atomic_load(&init_page->snapshot) != 0
        && ((!snapshot_stale && snapshot_alone())
            || snapshot_due(snapshot_hurried ? SNAPSHOT_HURRY
                                             : SNAPSHOT_CREDIT) > 0))
    {
        return 0;
    }

    return snapshot_take();
}


int
snapshot_after(void)
{
    int  wait;

    snapshot_stale = 1;

    if (!snapshot_wanted) {
        return 0;
    }

    wait = snapshot_due(SNAPSHOT_CREDIT);
    wait = wait > SNAPSHOT_LULL ? wait : SNAPSHOT_LULL;

    /* handlers of the tenant's do not wait for it, nor is it made for them */

    while (wait > 0) {
        if (wire_waiting(wait)) {
            snapshot_hurried = 1;
            return 0;
        }

        run_drop_signals();

        if (wire_forked()) {
            return 0;
        }

        wait = snapshot_due(SNAPSHOT_CREDIT);
    }

    return snapshot_take();
}
