
/*
 * In retort-front, as its own uid without any capability.  What the kernel's
 * side says about its run.  All of it may be forged by the code that runs: it
 * becomes text, a counted file or an end, and decides no verdict but "ok" and
 * "error".
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "artifact.h"
#include "bounds.h"
#include "clock.h"
#include "data.h"
#include "flog.h"
#include "run.h"
#include "utf8.h"


#define RUN_FORMS  16           /* of one display */
#define RUN_PIPE   65536


void
run_first(run_t *r, uint64_t now)
{
    if (r->first == 0 && r->begun != 0) {
        r->first = now;
    }
}


/* how many bytes came: 0 if there are none just now, or none any more */

static size_t
run_bytes(run_t *r, box_fd_t which, size_t most)
{
    char       bytes[RUN_PIPE];
    ssize_t    n;
    uint64_t   now;

    if (r->closed[which]) {
        return 0;
    }

    n = read(r->box->fd[which], bytes, most < sizeof(bytes) ? most
                                                            : sizeof(bytes));

    if (n == 0) {
        r->closed[which] = 1;
    }

    if (n <= 0) {
        return 0;
    }

    now = clock_mono_us();
    run_first(r, now);
    outputs_stream(&r->res->out, which == BOX_STDOUT ? OUT_STDOUT : OUT_STDERR,
                   bytes, (size_t) n, (uint64_t) n, now);

    return (size_t) n;
}


void
run_some(run_t *r, box_fd_t which)
{
    (void) run_bytes(r, which, RUN_PIPE);
}


void
run_drain(run_t *r, box_fd_t which)
{
    int     size;
    size_t  n, done;

    n = run_bytes(r, which, RUN_PIPE);
    size = n != 0 ? fcntl(r->box->fd[which], F_GETPIPE_SZ) : 0;

    for (done = n; n != 0 && size > 0 && done < (size_t) size; done += n) {
        n = run_bytes(r, which, (size_t) size - done);
    }
}


/* all that is here of it: the rest is added to an empty body */

static void
run_out(run_t *r)
{
    uint64_t  now;

    if (r->in.head.a != 1 && r->in.head.a != 2) {
        run_stop(r, STOP_BROKEN);
        return;
    }

    now = clock_mono_us();
    run_first(r, now);
    outputs_stream(&r->res->out,
                   r->in.head.a == 1 ? OUT_STDOUT : OUT_STDERR,
                   r->in.body.data, r->in.body.len, r->in.body.len, now);
    r->in.body.len = 0;
}


static void
run_sync(run_t *r)
{
    run_drain(r, BOX_STDOUT);
    run_drain(r, BOX_STDERR);

    krn_out(&r->ack, KRN_ACK, r->in.head.run, 0);
}


static void
run_display(run_t *r)
{
    run_first(r, clock_mono_us());
    r->display = outputs_add(&r->res->out, r->in.head.a == KRN_RESULT
                                           ? OUT_RESULT : OUT_DISPLAY);
    r->forms = r->in.head.b;

    if (r->forms == 0) {
        r->display = NULL;
    }

    if (r->display != NULL) {
        r->display->open = 1;
    }
}


/* readers may have it now */

static void
run_displayed(run_t *r)
{
    if (r->display != NULL) {
        r->display->open = 0;
        r->display = NULL;
        exec_tell(r->x);
    }
}


out_artifact_t *
run_form(out_item_t *item, const char *mime)
{
    out_artifact_t  *a;

    if (item->nartifacts >= RUN_FORMS) {
        return NULL;
    }

    a = realloc(item->artifacts,
                (item->nartifacts + 1) * sizeof(out_artifact_t));
    if (a == NULL) {
        return NULL;
    }

    item->artifacts = a;
    a += item->nartifacts++;
    memset(a, 0, sizeof(out_artifact_t));
    (void) snprintf(a->mime, sizeof(a->mime), "%s", mime);

    return a;
}


/* the best picture of a display stands first */

static void
run_prefer(out_item_t *item)
{
    int              new, old;
    out_artifact_t   a, *last;

    last = &item->artifacts[item->nartifacts - 1];
    new = artifact_rank(last->mime);
    old = artifact_rank(item->artifacts[0].mime);

    if (new < old) {
        a = *last;
        *last = item->artifacts[0];
        item->artifacts[0] = a;
    }
}


int
run_allowed(const run_t *r, out_artifact_t *a, size_t have)
{
    if (r->res->out.stored >= r->req->run.artifacts) {
        (void) snprintf(a->why, sizeof(a->why),
                        "a run may store %" PRIu64 " files",
                        r->req->run.artifacts);
        return 0;
    }

    if (a->size > r->req->run.image || a->size > have) {
        (void) snprintf(a->why, sizeof(a->why),
                        "it has %" PRIu64 " bytes, %" PRIu64 " are allowed",
                        a->size, r->req->run.image);
        return 0;
    }

    return 1;
}


static void
run_store(run_t *r, const char *mime, artifact_kind_t kind)
{
    size_t           n;
    unsigned         number;
    uint64_t         size;
    const char      *p;
    outputs_t       *o;
    out_artifact_t  *a;

    o = &r->res->out;
    a = run_form(r->display, mime);

    if (a == NULL) {
        return;
    }

    number = kind == ARTIFACT_PICTURE ? ++o->figures : ++o->documents;
    p = krn_in_part(&r->in, 1, &n, &size);
    artifact_name(a, number);
    a->size = size;

    if (run_allowed(r, a, n) && run_keep(r, a, p, n, number) == 0) {
        o->stored++;
    }

    if (kind == ARTIFACT_PICTURE && r->display->type == OUT_DISPLAY) {
        r->display->type = OUT_IMAGE;
    }

    run_prefer(r->display);
}


static void
run_mime(run_t *r)
{
    char              mime[OUT_MIME];
    size_t            n;
    uint64_t          size;
    const char       *p;
    out_data_t        data;
    artifact_kind_t   kind;

    if (r->display == NULL) {
        return;
    }

    if (r->in.head.part[2] != 0) {
        run_saved(r);
        return;
    }

    p = krn_in_part(&r->in, 0, &n, &size);

    if (size >= sizeof(mime) || n != size || memchr(p, '\0', n) != NULL) {
        return;
    }

    memcpy(mime, p, n);
    mime[n] = '\0';

    if (strcmp(mime, "text/plain") == 0) {
        p = krn_in_part(&r->in, 1, &n, &size);

        if (r->display->text.len == 0
            && outputs_text(&r->res->out, &r->display->text, p, n, size))
        {
            run_whole(r, r->display, p, n, size);
        }

        return;
    }

    data = data_kind(mime);

    if (data != OUT_DATA) {
        p = krn_in_part(&r->in, 1, &n, &size);
        data_take(&r->res->out, r->display, data, p, n, size);
        return;
    }

    kind = artifact_kind(mime);

    if (kind == ARTIFACT_PICTURE || kind == ARTIFACT_DOCUMENT) {
        run_store(r, mime, kind);
    }
}


static void
run_done(run_t *r)
{
    size_t       n;
    uint64_t     size;
    const char  *p;

    if (r->phase != RUN_CELL) {
        run_stop(r, STOP_BROKEN);
        return;
    }

    if (r->stage >= 2) {
        /* too late: the signal that is on its way must not meet another run */
        return;
    }

    r->done = 1;
    r->done_a = r->in.head.a;
    p = krn_in_part(&r->in, 0, &n, &size);

    if (n == sizeof(r->res->written)) {
        memcpy(&r->res->written, p, n);
    }

    r->res->exit_code = r->in.head.b <= INT32_MAX ? (int) r->in.head.b : -1;
    r->phase = RUN_OVER;
}


static void
run_filed(run_t *r)
{
    char          name[64];
    job_file_t   *f;
    const char   *why;

    if (r->phase != RUN_FILES || !r->waiting || r->out.busy) {
        run_stop(r, STOP_BROKEN);
        return;
    }

    if (r->in.head.a == 0) {
        r->waiting = 0;
        return;
    }

    f = &r->job->files[r->file - 1];
    why = r->in.head.a < 4096 ? strerrordesc_np((int) r->in.head.a) : NULL;

    if (r->job->lenient) {
        flog(RLOG_INFO, "an input file was not written: %s",
             why != NULL ? why : "unknown error");
        r->waiting = 0;
        return;
    }

    (void) snprintf(name, sizeof(name), "%s", f->name);
    name[utf8_cut(name, strlen(name) + 1, strlen(name))] = '\0';

    (void) err_set(r->err, 400, "file_refused",
                   "file \"%s\" could not be written: %s", name,
                   why != NULL ? why : "unknown error");
    r->phase = RUN_OVER;
}


void
run_piece(run_t *r)
{
    if (r->in.head.type == KRN_OUT && r->in.head.run == r->box->run) {
        run_displayed(r);
        run_out(r);
    }
}


void
run_message(run_t *r)
{
    uint8_t  type;

    type = r->in.head.type;

    /* of an earlier run: its threads may go on talking, to nobody */
    if (type != KRN_SYNC && r->in.head.run != r->box->run) {
        return;
    }

    if (type != KRN_MIME) {
        run_displayed(r);
    }

    switch (type) {

    case KRN_OUT:
        run_out(r);
        break;

    case KRN_SYNC:
        run_sync(r);
        break;

    case KRN_DISPLAY:
        run_display(r);
        break;

    case KRN_MIME:
        run_mime(r);

        if (r->display != NULL && --r->forms == 0) {
            run_displayed(r);
        }

        break;

    case KRN_ERROR:
        run_error(r);
        break;

    case KRN_DONE:
        run_done(r);
        break;

    case KRN_FILED:
        run_filed(r);
        break;

    case KRN_CHANGE:
        run_change(r);
        break;

    default:
        /* KRN_READY and a late KRN_RESET mean nothing here */
        break;
    }
}
