
/*
 * What a run brings along and loses again: environment variables and standard
 * input.  Runs in the kernel process.  Tenant code may have replaced anything
 * here; a failure on the Python side is then its own.
 */

#include "retort.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <string.h>
#include <unistd.h>


static int  env_input;          /* descriptor 0 is an earlier run's input */


/* an interrupt that comes here is the cell's */

static int
env_discard(PyObject *result)
{
    if (result != NULL) {
        Py_DECREF(result);
        return 0;
    }

    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_SetInterrupt();
    }

    PyErr_Clear();

    return -1;
}


static int
env_store(const char *data, size_t len)
{
    int      fd;
    size_t   done;
    ssize_t  n;

    fd = memfd_create("stdin", MFD_CLOEXEC);

    for (done = 0; fd != -1 && done < len; done += (size_t) n) {
        n = write(fd, data + done, len - done);

        if (n == -1 && errno == EINTR) {
            n = 0;

        } else if (n <= 0) {
            (void) close(fd);
            fd = -1;
        }
    }

    if (fd != -1 && lseek(fd, 0, SEEK_SET) == -1) {
        (void) close(fd);
        fd = -1;
    }

    return fd;
}


static void
env_stdin(const char *data, size_t len)
{
    int  fd;

    fd = -1;

    if (len != 0) {
        fd = env_store(data, len);
    }

    if (fd == -1) {
        fd = open("/dev/null", O_RDONLY|O_CLOEXEC);
    }

    if (fd == -1) {
        (void) close(0);
        return;
    }

    if (fd != 0) {
        (void) dup2(fd, 0);
        (void) close(fd);

    } else {
        (void) fcntl(0, F_SETFD, 0);
    }
}


void
env_enter(const kern_run_t *run)
{
    if (run->head.part[2] != 0 || env_input) {
        env_stdin(run->input, run->head.part[2]);
        env_input = run->head.part[2] != 0;
        (void) env_discard(interp_shell("new_stdin", NULL));
    }

    if (run->head.part[1] != 0) {
        (void) env_discard(interp_shell("enter_environ", "y#", run->env,
                                        (Py_ssize_t) run->head.part[1]));
    }
}


void
env_leave(const kern_run_t *run)
{
    if (run->head.part[1] != 0
        && env_discard(interp_shell("leave_environ", NULL)) == -1)
    {
        /* interrupted, perhaps; a second time changes nothing twice */
        run_drop_signals();
        (void) env_discard(interp_shell("leave_environ", NULL));
    }
}
