
/*
 * In retort-front, as its own uid without any capability.  The channel and the
 * pipes lead to tenant code: reads are bounded, writes never block, and how a
 * run ended is decided by what the front and the broker know.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bounds.h"
#include "clock.h"
#include "flog.h"
#include "run.h"
#include "verdict.h"
#include "wake.h"


#define RUN_IMPORTS  "RETORT_IMPORT_ALLOW"     /* known to the kernel */


enum { RUN_POLL_CLIENT = BRK_BOX_FDS, RUN_POLL_WAKE, RUN_POLL_MAX };


void
run_stop(run_t *r, run_stop_t stop)
{
    uint64_t  now;

    if (r->stop != STOP_NONE || r->phase == RUN_OVER) {
        return;
    }

    r->stop = stop;
    now = clock_mono_us();

    if (stop == STOP_BROKEN) {
        flog(RLOG_WARN, "sandbox: its kernel broke the protocol");
    }

    if (stop == STOP_CANCEL && r->fresh) {
        /* nobody will ever use this box */
        r->stage = 3;
        r->phase = RUN_OVER;
        return;
    }

    if (stop == STOP_BROKEN) {
        r->stage = 2;
        box_signal(r->box, SIGKILL, 0);
        r->alarm = now + BOUND_KILL_TIME * 1000;
        return;
    }

    r->stage = 1;
    box_signal(r->box, SIGINT, r->box->run);
    r->alarm = now + BOUND_GRACE * 1000;
}


void
run_cancel(run_t *r, const char *why)
{
    if (r->stop == STOP_NONE) {
        r->why = why;
        run_stop(r, STOP_CANCEL);
    }
}


static void
run_clock(run_t *r)
{
    uint64_t  now;

    now = clock_mono_us();

    if (now < r->alarm || r->phase == RUN_OVER) {
        return;
    }

    if (r->stop == STOP_NONE) {
        run_stop(r, r->closed[BOX_CHANNEL] ? STOP_BROKEN : STOP_TIMEOUT);
        return;
    }

    if (r->stage == 1) {
        r->stage = 2;
        box_signal(r->box, SIGKILL, 0);
        r->alarm = now + BOUND_KILL_TIME * 1000;
        return;
    }

    /* it cannot be killed from inside: the whole box goes */
    r->stage = 3;
    r->phase = RUN_OVER;
}


/* 1 if nothing is left that came before this was called */

static int
run_channel(run_t *r)
{
    int          turn;
    char         packet[KRN_PACKET + 1];
    ssize_t      n;
    krn_feed_t   fed;

    for (turn = 0; turn < BOUND_TURN && r->phase != RUN_OVER
                   && !r->closed[BOX_CHANNEL]; turn++)
    {
        n = recv(r->box->fd[BOX_CHANNEL], packet, sizeof(packet),
                 MSG_DONTWAIT);

        if (n == -1) {
            return 1;
        }

        if (n == 0) {
            /* its end will be told; if not, it is made to */
            r->closed[BOX_CHANNEL] = 1;

            if (r->stop == STOP_NONE) {
                r->alarm = clock_mono_us() + BOUND_GRACE * 1000;
            }

            return 1;
        }

        fed = krn_in_feed(&r->in, packet, (size_t) n, &r->keep);

        if (fed == KRN_BAD) {
            r->closed[BOX_CHANNEL] = 1;
            run_stop(r, STOP_BROKEN);
            return 1;
        }

        if (fed == KRN_WHOLE) {
            run_message(r);

        } else {
            run_piece(r);
        }
    }

    return r->closed[BOX_CHANNEL];
}


static void
run_next_file(run_t *r)
{
    job_file_t  *f;

    f = &r->job->files[r->file++];
    r->waiting = 1;

    krn_out(&r->out, KRN_FILE, r->box->run, 0);
    (void) krn_out_part(&r->out, 0, f->name, strlen(f->name));
    (void) krn_out_part(&r->out, 1, f->data, f->len);
}


/* nobody can fetch later what is in a sandbox that is not kept */

static void
run_want(run_t *r)
{
    if (r->job->style != KRN_NATIVE) {
        return;
    }

    r->want.bytes = r->req->run.image;
    r->want.files = r->req->run.artifacts < UINT32_MAX
                    ? (uint32_t) r->req->run.artifacts : UINT32_MAX;
    r->want.flags = r->job->shelve ? KRN_WANT_OUTPUTS|KRN_WANT_STAY
                    : r->box->sandbox[0] == '\0' || r->job->whole
                      ? KRN_WANT_ALL : 0;
}


/* the run's variables, and the list of imports that its location has */

static void
run_env(run_t *r)
{
    (void) buf_add(&r->env, r->job->env, r->job->env_len);

    if (r->req->imports[0] != '\0') {
        (void) buf_puts(&r->env, RUN_IMPORTS "=");
        (void) buf_add(&r->env, r->req->imports, strlen(r->req->imports) + 1);
    }

    if (r->env.failed) {
        run_stop(r, STOP_BROKEN);
    }

    (void) krn_out_part(&r->out, 1, r->env.data, r->env.len);
}


static void
run_begin(run_t *r)
{
    const job_t  *job;

    job = r->job;

    krn_out(&r->out, KRN_RUN, r->box->run, job->language);
    r->out.head.b = job->style | job->context << KRN_CONTEXT;

    if (job->fresh) {
        r->out.head.b |= KRN_FRESH;
    }

    if (r->box->sandbox[0] != '\0' && r->box->profile->snapshot
        && r->box->profile->life != RETORT_LIFE_EXIT)
    {
        /* what nobody can come back to needs no copy */
        r->out.head.b |= KRN_SNAPSHOT;
    }

    (void) krn_out_part(&r->out, 0, job->code, job->code_len);
    run_env(r);
    (void) krn_out_part(&r->out, 2, job->stdin_text, job->stdin_len);

    run_want(r);
    (void) krn_out_part(&r->out, 3, &r->want, sizeof(r->want));

    r->phase = RUN_CELL;
    r->begun = clock_mono_us();

    if (r->stop == STOP_NONE) {
        r->alarm = r->begun + job->timeout * 1000;
    }

    r->res->count = ++r->box->cells;
    exec_placed(r->x, r->box->sandbox);

    if (r->follow != NULL) {
        follow_begin(r->follow, r->x, 0);
    }
}


/* pushes what is to be said; 1 if the socket has to become writable first */

static int
run_say(run_t *r)
{
    int  rc, fd;

    fd = r->box->fd[BOX_CHANNEL];

    for ( ;; ) {
        if (r->closed[BOX_CHANNEL]) {
            return 0;
        }

        rc = r->out.busy ? krn_out_push(&r->out, fd) : 1;

        if (rc == 1 && r->ack.busy) {
            rc = krn_out_push(&r->ack, fd);
        }

        if (rc == -1) {
            /* EPIPE: what it said before may still be read */
            r->out.busy = 0;
            r->ack.busy = 0;
            return 0;
        }

        if (rc == 0) {
            return 1;
        }

        if (r->phase != RUN_FILES || r->waiting || r->stop != STOP_NONE) {
            return 0;
        }

        if (r->file < r->job->nfiles) {
            run_next_file(r);

        } else {
            run_begin(r);
        }
    }
}


static int
run_followed(const run_t *r)
{
    return r->follow != NULL && r->follow->begun && r->client != -1;
}


static void
run_poll(run_t *r, struct pollfd *p, int writes)
{
    int               i;
    uint64_t          now, next, left;
    struct timespec   ts;

    memset(p, 0, sizeof(struct pollfd) * RUN_POLL_MAX);

    for (i = 0; i < BRK_BOX_FDS; i++) {
        p[i].fd = r->closed[i] ? -1 : r->box->fd[i];
        p[i].events = POLLIN;
    }

    if (writes) {
        p[BOX_CHANNEL].events |= POLLOUT;
    }

    p[RUN_POLL_CLIENT].fd = r->client;
    p[RUN_POLL_CLIENT].events = POLLIN|POLLRDHUP;

    if (run_followed(r) && follow_waits(r->follow)) {
        p[RUN_POLL_CLIENT].events |= POLLOUT;
    }

    p[RUN_POLL_WAKE].fd = r->wake;
    p[RUN_POLL_WAKE].events = POLLIN;

    now = clock_mono_us();
    next = r->alarm;

    if (run_followed(r) && r->follow->beat < next) {
        next = r->follow->beat;
    }

    left = next > now ? next - now : 0;
    ts.tv_sec = (time_t) (left / 1000000);
    ts.tv_nsec = (long) (left % 1000000) * 1000;

    (void) ppoll(p, RUN_POLL_MAX, &ts, NULL);
}


/* nobody reads it any more */

static void
run_alone(run_t *r)
{
    r->client = -1;

    if (r->follow != NULL) {
        r->follow->fd = -1;

        if (r->follow->lasting) {
            return;
        }
    }

    r->unread = 1;
    run_cancel(r, "The client went away.");
}


static void
run_news(run_t *r)
{
    wake_why_t  why;

    wake_clear(r->wake);
    box_news(r->box, &r->news);

    if (r->news.kernel_gone) {
        /* what it said before it went */
        (void) run_channel(r);
        r->phase = RUN_OVER;
    }

    why = wake_cancelled();

    if (why != WAKE_GO_ON) {
        run_cancel(r, why == WAKE_END ? "The service stops."
                                      : "It was asked to end.");
    }
}


/*
 * Packets first, also those that came while poll() looked at the pipes: bytes
 * in these were written after or without them.  As long as there are such bytes
 * the kernel sends nothing before it has asked (KRN_SYNC); once they are taken
 * it does, and what is written then is behind that: so one read, and no more.
 */

static void
run_said(run_t *r, const struct pollfd *p)
{
    if ((p[BOX_CHANNEL].revents | p[BOX_STDOUT].revents
         | p[BOX_STDERR].revents) == 0 || !run_channel(r))
    {
        return;
    }

    if (p[BOX_STDOUT].revents != 0) {
        run_some(r, BOX_STDOUT);
    }

    if (p[BOX_STDERR].revents != 0) {
        run_some(r, BOX_STDERR);
    }
}


/* with the lock of the execution held: others read the outputs */

static void
run_happened(run_t *r, const struct pollfd *p)
{
    run_said(r, p);

    if ((p[RUN_POLL_CLIENT].revents & ~POLLOUT) != 0) {
        run_alone(r);
    }

    if (p[RUN_POLL_WAKE].revents != 0) {
        run_news(r);
    }

    run_clock(r);

    if (r->res->out.pos != r->told) {
        r->told = r->res->out.pos;
        exec_tell(r->x);
    }
}


static void
run_turn(run_t *r)
{
    struct pollfd  p[RUN_POLL_MAX];

    run_poll(r, p, run_say(r));

    (void) pthread_mutex_lock(&r->x->lock);
    run_happened(r, p);
    (void) pthread_mutex_unlock(&r->x->lock);

    if (run_followed(r) && follow_some(r->follow) == -1) {
        run_alone(r);
    }
}


void
run_cell(run_t *r)
{
    const request_t  *req;

    req = r->req;
    r->wake = wake_fd();
    r->phase = RUN_FILES;
    box_next_run(r->box);
    r->keep.stream = KRN_PAYLOAD;
    r->keep.file = BOUND_FILE_NAME + sizeof(krn_changed_t);
    r->keep.form = req->run.image > r->job->output ? req->run.image
                                                   : r->job->output;
    r->keep.form += OUT_MIME + BOUND_FILE_NAME;
    r->keep.error = r->keep.form + BOUND_ERROR;
    r->alarm = clock_mono_us() + r->job->timeout * 1000;

    while (r->phase != RUN_OVER) {
        run_turn(r);
    }

    (void) pthread_mutex_lock(&r->x->lock);
    run_drain(r, BOX_STDOUT);
    run_drain(r, BOX_STDERR);
    (void) pthread_mutex_unlock(&r->x->lock);

    buf_free(&r->in.body);
    buf_free(&r->env);
    box_news(r->box, &r->news);
}
