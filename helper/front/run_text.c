
/*
 * In retort-front, as its own uid without any capability.  Texts of a run that
 * are no streams, results and exceptions: what exceeds the budget for texts is
 * stored as a whole, as it came.
 */

#include <stdio.h>

#include "artifact.h"
#include "bounds.h"
#include "clock.h"
#include "run.h"


#define RUN_TEXT  "text/plain"


void
run_whole(run_t *r, out_item_t *item, const char *p, size_t n, uint64_t size)
{
    unsigned         number;
    outputs_t       *o;
    out_artifact_t  *a;

    o = &r->res->out;
    a = run_form(item, RUN_TEXT);

    if (a == NULL) {
        return;
    }

    number = ++o->documents;
    a->size = size;

    if (run_allowed(r, a, n) && artifact_store(a, r->req, p, n, number) == 0) {
        o->stored++;
    }

    (void) snprintf(a->name, sizeof(a->name), "%s-%03u.txt",
                    item->type == OUT_ERROR ? "error" : "result", number);
}


/*
 * The kernel cuts message and short text beforehand, in the same way, and says
 * by how much: a second cut is always around the first.  The traceback, which
 * has the message in it, comes whole.
 */

void
run_error(run_t *r)
{
    int          i, cut;
    buf_t       *to[KRN_PARTS];
    uint64_t     room;
    outputs_t   *o;
    out_item_t  *item;
    out_text_t   text;

    run_first(r, clock_mono_us());

    /* how the interpreter took our interrupt is of no interest */
    if (r->stop != STOP_NONE) {
        return;
    }

    o = &r->res->out;
    item = outputs_add(o, OUT_ERROR);

    if (item == NULL) {
        return;
    }

    to[0] = &item->name;
    to[1] = &item->message;
    to[2] = &item->text;
    to[3] = &item->traceback;
    cut = 0;

    for (i = 0; i < KRN_PARTS; i++) {
        text.p = krn_in_part(&r->in, i, &text.n, &text.size);
        text.gone = i == 1 ? r->in.head.a : i == 2 ? r->in.head.b : 0;
        room = (o->text_max - o->text_kept) / (unsigned) (KRN_PARTS - i);
        text.room = room > BOUND_ERROR_TEXT ? room : BOUND_ERROR_TEXT;
        cut |= outputs_ends(o, to[i], &text);
    }

    if (cut) {
        run_whole(r, item, text.p, text.n, text.size);
    }
}
