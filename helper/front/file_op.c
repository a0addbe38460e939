
/*
 * In retort-front, as its own uid without any capability.  The channel leads
 * to tenant code: what comes is bounded, what goes never blocks, and a kernel
 * that does not do its part in time is replaced.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "bounds.h"
#include "clock.h"
#include "file_op.h"
#include "flog.h"
#include "place.h"
#include "wake.h"


static const krn_keep_t  file_op_keep = { 0, 0, 0, KRN_PAYLOAD };


typedef struct {
    int          error;
    int          status;
    const char  *code;
    const char  *text;
} file_op_error_t;


static const file_op_error_t  file_op_errors[] = {
    { ENOENT, 404, "file_not_found", "there is no such file" },
    { EINVAL, 400, "bad_name", "that is no name for a file" },
    { ENAMETOOLONG, 400, "bad_name", "the name is too long" },
    { ENOTDIR, 409, "conflict", "a file is where a folder is meant" },
    { EISDIR, 409, "conflict", "it is a folder" },
    { EEXIST, 409, "conflict", "the folder is not empty" },
    { ENOTEMPTY, 409, "conflict", "the folder is not empty" },
    { ELOOP, 409, "conflict", "a link is in the way" },
    { EOPNOTSUPP, 409, "conflict", "it is no regular file" },
    { EACCES, 409, "conflict", "its rights in the sandbox forbid it" },
    { EPERM, 409, "conflict", "its rights in the sandbox forbid it" },
    { ESTALE, 409, "conflict", "it changes while it is read" },
    { EFBIG, 413, "too_large", "it is larger than a file may be" },
    { ENOSPC, 507, "disk_full", "the sandbox has no room for it" },
    { EDQUOT, 507, "disk_full", "the sandbox has no room for it" },
    { ENOMEM, 507, "disk_full", "the sandbox has no memory for it" }
};


int
file_op_begin(file_op_t *f, const request_t *req, const char *sandbox,
    const char *session, int client, err_t *e)
{
    file_op_own(f, place_take(req, sandbox, session, client, e), client);

    return f->box != NULL ? 0 : -1;
}


void
file_op_own(file_op_t *f, box_t *box, int client)
{
    memset(f, 0, sizeof(file_op_t));
    f->client = client;
    f->wake = wake_fd();
    f->box = box;
}


void
file_op_leave(file_op_t *f)
{
    buf_free(&f->in.body);
}


static int
file_op_broken(file_op_t *f, err_t *e, const char *why)
{
    f->broken = 1;
    flog(RLOG_WARN, "sandbox: files: %s", why);
    (void) err_set(e, 503, "sandbox_lost", "the sandbox did not answer; its "
                   "interpreter is replaced");
    e->retry_after = 1;

    return -1;
}


/* until the channel can be read, or written; 0, or -1 and "e" */

static int
file_op_wait(file_op_t *f, short events, uint64_t until, err_t *e)
{
    uint64_t       now;
    struct pollfd  p[3];

    now = clock_mono_us();

    if (now >= until) {
        return file_op_broken(f, e, "its kernel says nothing");
    }

    memset(p, 0, sizeof(p));
    p[0].fd = f->box->fd[BOX_CHANNEL];
    p[0].events = (short) (POLLIN|events);
    p[1].fd = f->wake;
    p[1].events = POLLIN;
    p[2].fd = f->client;
    p[2].events = POLLIN|POLLRDHUP;

    (void) poll(p, 3, (int) ((until - now) / 1000 + 1));

    if (p[1].revents != 0) {
        wake_clear(f->wake);
        box_news(f->box, &f->news);
    }

    if (p[0].revents == 0 && f->news.kernel_gone) {
        return file_op_broken(f, e, "its kernel ended");
    }

    if (p[2].revents != 0 || wake_cancelled()) {
        return err_set(e, 0, "cancelled", "the client is gone");
    }

    return 0;
}


static void
file_op_take(file_op_t *f)
{
    if (f->in.head.type != KRN_FILED) {
        return;
    }

    f->open = 0;
    f->filed = 1;
    f->error = f->in.head.a;
    f->more = f->in.head.b;
}


/* what is there now; its type, 0 if nothing is, -1 and "e" */

static int
file_op_read(file_op_t *f, err_t *e)
{
    int          turn;
    char         packet[KRN_PACKET + 1];
    ssize_t      n;
    krn_feed_t   fed;

    for (turn = 0; turn < BOUND_TURN; turn++) {
        n = recv(f->box->fd[BOX_CHANNEL], packet, sizeof(packet),
                 MSG_DONTWAIT);

        if (n == -1 && (errno == EAGAIN || errno == EINTR)) {
            return 0;
        }

        if (n <= 0) {
            return file_op_broken(f, e, "its kernel ended");
        }

        fed = krn_in_feed(&f->in, packet, (size_t) n, &file_op_keep);

        if (fed == KRN_BAD) {
            return file_op_broken(f, e, "its kernel broke the protocol");
        }

        if (fed != KRN_WHOLE || f->in.head.run != f->box->run) {
            /* of an earlier run */
            continue;
        }

        switch (f->in.head.type) {

        case KRN_FILED:
        case KRN_ENTRY:
        case KRN_BYTES:
            file_op_take(f);
            return f->in.head.type;

        default:
            /* what its threads say meanwhile is nobody's */
            break;
        }
    }

    return 0;
}


static int
file_op_push(file_op_t *f, krn_out_t *m, err_t *e)
{
    int        rc;
    uint64_t   until;

    until = clock_mono_us() + BOUND_FILE_STALL * 1000;

    for ( ;; ) {
        rc = krn_out_push(m, f->box->fd[BOX_CHANNEL]);

        if (rc == 1) {
            return 0;
        }

        if (rc == -1) {
            return file_op_broken(f, e, "its kernel ended");
        }

        /* a refusal that is there already must not make this loop run */

        if (file_op_read(f, e) == -1) {
            return -1;
        }

        if (file_op_wait(f, POLLOUT, until, e) == -1) {
            return -1;
        }
    }
}


int
file_op_ask(file_op_t *f, krn_type_t type, uint32_t a, uint32_t b,
    const char *name, err_t *e)
{
    krn_out_t  m;

    box_next_run(f->box);
    krn_out(&m, type, f->box->run, a);
    m.head.b = b;
    (void) krn_out_part(&m, 0, name, strlen(name));
    f->filed = 0;

    if (file_op_push(f, &m, e) == -1) {
        return -1;
    }

    f->open = 1;
    f->putting = (type == KRN_PUT);

    return 0;
}


int
file_op_data(file_op_t *f, const void *p, size_t n, krn_data_t how, err_t *e)
{
    krn_out_t  m;

    krn_out(&m, KRN_DATA, f->box->run, how);
    (void) krn_out_part(&m, 0, p, n);

    if (file_op_push(f, &m, e) == -1) {
        return -1;
    }

    f->putting = (how == KRN_SOME);

    /* was it refused meanwhile? */

    return f->open && file_op_read(f, e) == -1 ? -1 : 0;
}


int
file_op_next(file_op_t *f, err_t *e)
{
    int        rc;
    uint64_t   until;

    if (f->filed) {
        return KRN_FILED;
    }

    until = clock_mono_us() + BOUND_FILE_STALL * 1000;

    for ( ;; ) {
        rc = file_op_read(f, e);

        if (rc != 0) {
            return rc;
        }

        if (file_op_wait(f, 0, until, e) == -1) {
            return -1;
        }
    }
}


static int
file_op_fail(uint32_t error, const char *name, err_t *e)
{
    size_t                   i;
    const file_op_error_t   *o;

    for (i = 0; i < sizeof(file_op_errors) / sizeof(file_op_errors[0]); i++) {
        o = &file_op_errors[i];

        if ((uint32_t) o->error == error) {
            return err_set(e, o->status, o->code, "\"%.100s\": %s", name,
                           o->text);
        }
    }

    return err_set(e, 500, "file_failed", "\"%.100s\": error %u", name, error);
}


int
file_op_filed(file_op_t *f, const char *name, err_t *e)
{
    int  rc;

    rc = file_op_next(f, e);

    if (rc != -1 && rc != KRN_FILED) {
        rc = file_op_broken(f, e, "its kernel broke the protocol");
    }

    if (rc == -1) {
        return -1;
    }

    return f->error != 0 ? file_op_fail(f->error, name, e) : 0;
}


/* what is under way is given up; what is said to it meanwhile is dropped */

static void
file_op_abort(file_op_t *f)
{
    int        rc;
    err_t      e;
    krn_out_t  m;
    uint64_t   until;

    f->client = -1;
    until = clock_mono_us() + BOUND_KILL_TIME * 1000;
    krn_out(&m, KRN_DATA, f->box->run, KRN_ABORT);

    while ((f->open || m.busy) && !f->broken) {
        rc = m.busy ? krn_out_push(&m, f->box->fd[BOX_CHANNEL]) : 1;

        if (rc == -1 || file_op_read(f, &e) == -1) {
            f->broken = 1;

        } else if (f->open || m.busy) {
            /* the service's end is no reason to leave a box out of step */
            (void) file_op_wait(f, rc == 0 ? POLLOUT : 0, until, &e);
        }
    }
}


/* an interpreter that is dead is replaced when it is needed: see place.c */

static int
file_op_kill(file_op_t *f)
{
    uint64_t        until;
    struct pollfd   p;

    box_signal(f->box, SIGKILL, 0);
    until = clock_mono_us() + BOUND_KILL_TIME * 1000;

    for (box_news(f->box, &f->news); !f->news.kernel_gone;
         box_news(f->box, &f->news))
    {
        if (clock_mono_us() >= until) {
            return -1;
        }

        p.fd = f->wake;
        p.events = POLLIN;

        if (poll(&p, 1, 100) > 0) {
            wake_clear(f->wake);
        }
    }

    return 0;
}


void
file_op_end(file_op_t *f)
{
    if ((f->open || f->putting) && !f->broken) {
        file_op_abort(f);
    }

    file_op_leave(f);

    if (f->broken && file_op_kill(f) == -1) {
        box_end(f->box);

    } else {
        box_release(f->box);
    }
}
