
/*
 * The loop of the kernel process: one message after the other, in C, so that
 * no Python frame of ours lies below a tenant's.
 */

#include "retort.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../../helper/init/init.h"


typedef struct {
    char    *body;
    size_t  len;
} run_buf_t;


static void
run_piece(void *data, const char *bytes, size_t len)
{
    run_buf_t  *buf;

    buf = data;
    memcpy(buf->body + buf->len, bytes, len);
    buf->len += len;
}


/* bits of "b" that mean nothing */

#define RUN_UNKNOWN  (0xff00 & ~(uint32_t) (KRN_SNAPSHOT|KRN_FRESH))


static uint32_t
run_style(const krn_head_t *head)
{
    return head->b & 0xff;
}


static void
run_check(const krn_head_t *head)
{
    uint64_t  total;

    total = (uint64_t) head->part[0] + head->part[1] + head->part[2]
            + head->part[3];

    if (head->part[0] > KERN_CODE_MAX || head->part[1] > KERN_ENV_MAX
        || (head->part[3] != 0 && head->part[3] != sizeof(krn_want_t))
        || total > KERN_RUN_MAX
        || head->a > KRN_BASH || run_style(head) > KRN_QWEN_TIMED
        || (head->b & RUN_UNKNOWN) != 0)
    {
        _exit(KERN_EXIT_WIRE);
    }
}


/* variables are "K=V", each ended by NUL, with a name */

static void
run_check_env(const char *env, size_t len)
{
    const char  *p, *end, *stop;

    end = env + len;

    for (p = env; p < end; p = stop + 1) {
        stop = memchr(p, '\0', (size_t) (end - p));

        if (stop == NULL || *p == '='
            || memchr(p, '=', (size_t) (stop - p)) == NULL)
        {
            _exit(KERN_EXIT_WIRE);
        }
    }
}


/* 0, or -1 if a reset came instead of the rest */

static int
run_take(wire_packet_t *packet, kern_run_t *run)
{
    size_t     total;
    run_buf_t  buf;

    run_check(&packet->head);
    run->head = packet->head;
    total = (size_t) run->head.part[0] + run->head.part[1] + run->head.part[2]
            + run->head.part[3];
    buf.len = 0;
    buf.body = malloc(total + 1);

    if (buf.body == NULL) {
        _exit(KERN_EXIT_FATAL);
    }

    if (wire_body(packet, run_piece, &buf) == -1) {
        free(buf.body);
        return -1;
    }

    run->body = buf.body;
    run->code = run->body;
    run->env = run->code + run->head.part[0];
    run->input = run->env + run->head.part[1];
    run_check_env(run->env, run->head.part[1]);

    memset(&run->want, 0, sizeof(run->want));
    memcpy(&run->want, run->input + run->head.part[2], run->head.part[3]);

    return 0;
}


void
run_drop_signals(void)
{
    while (PyErr_CheckSignals() == -1) {
        PyErr_Clear();
    }
}


/* until there is a message; handlers of the tenant's may run meanwhile */

static void
run_idle(void)
{
    interrupt_idle();

    while (!wire_waiting(-1)) {
        run_drop_signals();
        snapshot_touched();
    }

    interrupt_expect();
}


/* no interrupt may leave this half done; it comes after */

static void
run_limber(void)
{
    sigset_t  set, old;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    (void) sigprocmask(SIG_BLOCK, &set, &old);

    if (!wire_waiting(0)) {
        interp_limber();
    }

    (void) sigprocmask(SIG_SETMASK, &old, NULL);
}


/*
 * Tells of the exception that is set.  What tells it runs tenant code (its
 * __str__, say), which may be interrupted or fail in turn: then there is only
 * the name to tell.
 */

static void
run_error(void)
{
    PyObject    *type, *value, *tb, *done;
    const char  *name;

    PyErr_Fetch(&type, &value, &tb);
    PyErr_NormalizeException(&type, &value, &tb);

    if (tb != NULL) {
        (void) PyException_SetTraceback(value, tb);
    }

    done = interp_shell("report", "OOO", type, value,
                        tb != NULL ? tb : Py_None);

    if (done == NULL) {
        PyErr_Clear();
        name = PyType_Check(type) ? ((PyTypeObject *) type)->tp_name : "Error";
        done = interp_shell("report_name", "s", name);
    }

    if (done == NULL) {
        PyErr_Clear();
    }

    Py_XDECREF(done);
    Py_DECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(tb);
}


/* runs the event loop until the cell's coroutine is done; takes "coro" */

static PyObject *
run_await(PyObject *coro)
{
    PyObject  *loop, *task, *result;

    loop = interp_shell("event_loop", NULL);
    task = loop == NULL ? NULL
           : PyObject_CallMethod(loop, "create_task", "O", coro);
    result = task == NULL ? NULL
             : PyObject_CallMethod(loop, "run_until_complete", "O", task);

    if (result == NULL && task != NULL) {
        PyObject  *type, *value, *tb, *gone;

        /* interrupted: the task must not go on in a later cell */
        PyErr_Fetch(&type, &value, &tb);
        gone = interp_shell("abandon", "OO", loop, task);

        if (gone == NULL) {
            PyErr_Clear();
        }

        Py_XDECREF(gone);
        PyErr_Restore(type, value, tb);
    }

    Py_DECREF(coro);
    Py_XDECREF(task);
    Py_XDECREF(loop);

    return result;
}


static int
run_code(PyObject *code, PyObject *ns)
{
    PyObject  *result;

    result = PyEval_EvalCode(code, ns, ns);

    if (result != NULL && (((PyCodeObject *) code)->co_flags & CO_COROUTINE)) {
        result = run_await(result);
    }

    if (result == NULL) {
        run_error();
        return -1;
    }

    Py_DECREF(result);

    return 0;
}


/* "codes": the cell in compiled pieces, or None if that failed and was told */

static int
run_codes(PyObject *codes)
{
    int         rc;
    PyObject    *ns;
    Py_ssize_t  i;

    if (!PyTuple_Check(codes)) {
        return -1;
    }

    ns = interp_namespace();

    if (ns == NULL) {
        run_error();
        return -1;
    }

    rc = 0;

    for (i = 0; i < PyTuple_GET_SIZE(codes) && rc == 0; i++) {
        if (!PyCode_Check(PyTuple_GET_ITEM(codes, i))) {
            rc = -1;
            break;
        }

        rc = run_code(PyTuple_GET_ITEM(codes, i), ns);
    }

    Py_DECREF(ns);

    return rc;
}


static int
run_python(const kern_run_t *run)
{
    int       rc;
    PyObject  *codes, *done;

    rc = -1;
    codes = interp_shell("prepare", "s#I", run->code,
                         (Py_ssize_t) run->head.part[0],
                         run_style(&run->head));

    if (interrupt_begin(run->head.run)) {
        PyErr_SetInterrupt();
    }

    if (codes == NULL) {
        run_error();

    } else {
        rc = run_codes(codes);
        Py_DECREF(codes);
    }

    done = interp_shell("finish", "i", rc == 0);

    if (done == NULL) {
        run_error();
        return -1;
    }

    rc = (done == Py_True) ? 0 : -1;
    Py_DECREF(done);

    return rc;
}


/* variables and working folder are those of the run's namespace */

static int
run_enter(const krn_head_t *head)
{
    PyObject  *done;

    done = interp_shell("enter", "II", head->b >> KRN_CONTEXT,
                        head->b & KRN_FRESH);

    if (done == NULL) {
        run_error();
        return -1;
    }

    Py_DECREF(done);

    return 0;
}


static void
run_done(int rc, int code, const krn_want_t *want)
{
    uint64_t     written;
    wire_part_t  part;

    written = usage_written();
    part.data = &written;
    part.len = sizeof(written);

    wire_lock();
    out_flush_locked();
    wire_sync();
    changes_after(want);
    snapshot_behind();
    wire_send(KRN_DONE, rc == 0 ? KRN_DONE_OK : KRN_DONE_ERROR,
              (uint32_t) code, &part, 1);
    wire_unlock();
    wire_end();
}


static void
run_cell(wire_packet_t *packet)
{
    int         rc, code;
    kern_run_t  run;

    if (run_take(packet, &run) == -1) {
        wire_reset(packet->head.run);
        return;
    }

    changes_before();
    wire_begin(run.head.run);
    env_enter(&run);
    code = 0;

    if (run_enter(&run.head) == -1) {
        rc = -1;

    } else if (run.head.a == KRN_BASH) {
        code = bash_run(&run);
        rc = code;

    } else {
        rc = run_python(&run);
    }

    env_leave(&run);
    free(run.body);
    (void) fflush(NULL);

    if (wire_forked()) {
        out_flush();
        _exit(rc == 0 ? 0 : 1);
    }

    std_mend();
    interrupt_end();
    run_done(rc, code, &run.want);
}


/*
 * This process was a copy and is the kernel now.  What is on its way was meant
 * for the one that is dead.
 */

static void
run_rise(void)
{
    static wire_packet_t  packet;

    wire_undo(atomic_exchange(&init_page->behind, 0));

    do {
        wire_receive(&packet);
    } while (packet.head.type != KRN_RESET);

    wire_reset(packet.head.run);
}


/* the packet is the first of a run */

static void
run_guarded(wire_packet_t *packet)
{
    if (snapshot_before((packet->head.b & KRN_SNAPSHOT) != 0)) {
        run_rise();
        return;
    }

    run_cell(packet);

    if (snapshot_after()) {
        run_rise();
    }
}


void
kern_loop(void)
{
    static wire_packet_t  packet;

    wire_lock();
    wire_send(KRN_READY, 0, 0, NULL, 0);
    wire_unlock();
    run_limber();

    /* who wakes it waits for it */
    kern_policy(SCHED_OTHER);

    for ( ;; ) {
        run_idle();
        wire_receive(&packet);

        switch (packet.head.type) {

        case KRN_RUN:
            run_guarded(&packet);
            break;

        case KRN_FILE:
        case KRN_PUT:
        case KRN_GET:
        case KRN_LIST:
        case KRN_DELETE:
            if (file_serve(&packet) == -1) {
                wire_reset(packet.head.run);
            }

            break;

        case KRN_RESET:
            wire_reset(packet.head.run);
            break;

        case KRN_ACK:
            /* of a run that a reset has ended */

        case KRN_DATA:
            /* an abort of what has ended already */
            break;

        default:
            _exit(KERN_EXIT_WIRE);
        }
    }
}
