
/*
 * In retort-front, as its own uid without any capability.  Reasons come from
 * the front's own clock and signals and from the broker's counters, never from
 * what a sandbox printed.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "clock.h"
#include "restore.h"
#include "verdict.h"


#define VERDICT_TIMEOUT_TEXT  "Timeout: Code execution exceeded the time limit."


static void
verdict_stopped(run_t *r)
{
    char        text[80];
    outputs_t  *o;

    o = &r->res->out;

    switch (r->stop) {

    case STOP_TIMEOUT:
        r->res->verdict = VERDICT_TIMEOUT;
        outputs_error(o, "Timeout", VERDICT_TIMEOUT_TEXT);
        break;

    case STOP_CANCEL:
        r->res->verdict = VERDICT_CANCELLED;
        (void) snprintf(text, sizeof(text), "Cancelled: %s", r->why);
        outputs_error(o, "Cancelled", text);
        break;

    default:
        r->res->verdict = VERDICT_KILLED;
        outputs_error(o, "Killed",
                      "Killed: The interpreter did not behave as one.");
        break;
    }
}


static void
verdict_gone(run_t *r)
{
    int   status;
    char  text[160];

    status = r->news.status;

    if (r->news.last.oom_kills > r->box->stat.oom_kills) {
        r->res->verdict = VERDICT_OOM;
        (void) snprintf(text, sizeof(text), "Out of memory: Code execution "
                        "exceeded the limit of %" PRIu64 " bytes.",
                        r->box->limits.memory);
        outputs_error(&r->res->out, "OutOfMemory", text);
        return;
    }

    r->res->verdict = VERDICT_KILLED;

    if (r->news.aged) {
        (void) snprintf(text, sizeof(text), "Killed: The session is as old as "
                        "it may become.");

    } else if (WIFEXITED(status)) {
        (void) snprintf(text, sizeof(text), "Killed: The interpreter exited "
                        "with code %d.", WEXITSTATUS(status));

    } else {
        (void) snprintf(text, sizeof(text), "Killed: The interpreter was "
                        "ended by signal %d.",
                        WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    }

    outputs_error(&r->res->out, "Killed", text);
}


static void
verdict_done(run_t *r, const brk_stat_t *now)
{
    char  text[160];

    if (r->done_a == KRN_DONE_OK) {
        r->res->verdict = VERDICT_OK;
        return;
    }

    r->res->verdict = VERDICT_ERROR;

    if (now->oom_kills > r->box->stat.oom_kills) {
        r->res->verdict = VERDICT_OOM;
        (void) snprintf(text, sizeof(text), "Out of memory: Code execution "
                        "exceeded the limit of %" PRIu64 " bytes.",
                        r->box->limits.memory);
        outputs_error(&r->res->out, "OutOfMemory", text);
        return;
    }

    if (outputs_last(&r->res->out, OUT_ERROR) == NULL) {
        (void) snprintf(text, sizeof(text), "Error: exit code %d",
                        r->res->exit_code);
        outputs_error(&r->res->out, "ExitCode", text);
    }
}


static uint64_t
verdict_more(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}


static void
verdict_usage(run_t *r, const brk_stat_t *now, uint64_t ended)
{
    result_t    *res;
    brk_stat_t  *was;

    res = r->res;
    was = &r->box->stat;

    res->cpu_us = verdict_more(now->cpu_us, was->cpu_us);
    res->cpu_system_us = verdict_more(now->cpu_system_us, was->cpu_system_us);

    if (res->cpu_system_us > res->cpu_us) {
        res->cpu_system_us = res->cpu_us;
    }

    res->memory_peak = verdict_more(now->memory_peak, r->box->base);
    res->processes = (uint32_t) verdict_more(now->processes,
        r->box->profile->backend == RETORT_BACKEND_DOCKER);
    res->run_us = r->begun != 0 ? ended - r->begun : 0;
    res->wall_us = res->run_us;
    res->first_byte_us = r->first != 0 ? r->first - r->begun : res->run_us;
}


/* the interpreter is gone, or cannot be trusted to be in step any more */

static void
verdict_renew(run_t *r)
{
    r->res->fate = STATE_GONE;

    if (r->stage == 3 || r->box->sandbox[0] == '\0' || r->news.gone
        || r->box->profile->life == RETORT_LIFE_EXIT)
    {
        return;
    }

    r->res->fate = restore(r->box, &r->res->fate_why);
}


/* all that was said, where some was cut */

static void
verdict_whole(run_t *r)
{
    outputs_t  *o;

    o = &r->res->out;
    outputs_finish(o);
    o->spill = NULL;

    if (r->spool.begun && o->hole) {
        spool_end(&r->spool, &o->whole, "a part of it was lost");

    } else if (r->spool.begun) {
        o->whole.size = r->spool.size;
        spool_end(&r->spool, &o->whole,
                  run_allowed(r, &o->whole, SIZE_MAX) ? NULL : o->whole.why);
        o->stored += o->whole.file[0] != '\0';
    }
}


/* with the lock of the execution held: others read the outputs */

static void
verdict_find(run_t *r, const brk_stat_t *now)
{
    if (r->stop != STOP_NONE) {
        verdict_stopped(r);

    } else if (r->done) {
        verdict_done(r, now);

    } else {
        verdict_gone(r);
    }

    verdict_whole(r);
}


void
verdict_reach(run_t *r)
{
    uint64_t     ended;
    brk_stat_t   now;

    ended = clock_mono_us();
    now = r->news.last;

    if (!r->news.kernel_gone && r->stage != 3) {
        now = r->box->stat;
        box_stat(r->box, &now);
    }

    (void) pthread_mutex_lock(&r->x->lock);
    verdict_find(r, &now);
    (void) pthread_mutex_unlock(&r->x->lock);

    verdict_usage(r, &now, ended);

    r->box->stat = now;
    r->res->fate = STATE_KEPT;

    if (!r->done || r->news.kernel_gone) {
        verdict_renew(r);
    }
}
