
/*
 * Sandboxes: who owns them, who may use them now, until when they live.
 *
 * A box is used by one thread at a time, its owner.  Whoever made or acquired
 * it owns it until box_release() or box_end().  Fields marked (o) belong to
 * the owner, (l) to the table's lock, the others never change.
 */

#ifndef FRONT_BOX_H
#define FRONT_BOX_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"
#include "job.h"
#include "protocol/broker.h"
#include "request.h"


typedef enum {
    BOX_CHANNEL,
    BOX_STDOUT,
    BOX_STDERR
} box_fd_t;


typedef struct box_wait_s  box_wait_t;

typedef struct {
    uint64_t                 id;
    const retort_profile_t  *profile;
    retort_box_limits_t      limits;
    uint64_t                 created;       /* wall msec */
    uint64_t                 made;          /* mono usec; its walls */
    uint64_t                 base;          /* of memory, that is not a run's */

    int                      fd[BRK_FDS];           /* (o); counters (l) */
    uint32_t                 run;           /* (o) number of the last run */
    brk_stat_t               stat;          /* (o) counters after it */
    const char              *lost;          /* (o) why variables are, untold */
    int                      risen;         /* (o) they went back, untold */
    uint32_t                 behind;        /* (o) runs undone with it */
    uint32_t                 cells;         /* (o) runs of this front in it */

    /* set once by box_keep() */
    char                     sandbox[JOB_SANDBOX];
    char                     workspace[REQ_WORKSPACE];
    char                     name[JOB_SESSION]; /* its workspace's, or "" */
    uint64_t                 ttl;           /* msec */

    /* (l) when it ends though it is used; box_end_in() changes them */
    uint64_t                 end;           /* wall msec; 0: nobody said */
    uint64_t                 dies;          /* mono usec; 0: never so */
    uint64_t                 dies_wall;     /* the same, wall msec */

    /* (l) the run that has it, or had it last; "": none */
    char                     user[REQ_WORKSPACE];
    char                     execution[REQ_EXECUTION];

    unsigned                 refs;          /* (l) */
    int                      owned;         /* (l) */
    int                      wake;          /* (l) owner's eventfd, or -1 */
    box_wait_t              *waiters;       /* (l) in their order */
    unsigned                 nwaiters;      /* (l) */
    uint64_t                 expires;       /* (l) mono usec; 0: never */
    uint64_t                 used;          /* (l) wall msec, last of all */
    uint32_t                 marks[JOB_MARKS];  /* (l) the newest first */
    uint32_t                 past[JOB_MARKS];   /* of fronts before this one */
    buf_t                    note;          /* (l) a dialect's */
    uint64_t                 note_version;  /* (l) */
    int                      listed;        /* (l) in the table */
    int                      doomed;        /* (l) deleted, about to end */
    int                      resting;       /* (l) for the next of "user" */

    int                      aged;          /* (l) doomed by its age */
    int                      gone;          /* (l) the box ended */
    int                      kernel_gone;   /* (l) its interpreter ended */
    int                      restored;      /* (l) its snapshot takes over */
    int                      status;        /* (l) how, as from waitpid() */
    brk_stat_t               last;          /* (l) counters at that time */
} box_t;


/* a look at a box, for lists and answers */

typedef struct {
    char                  sandbox[JOB_SANDBOX];
    char                  profile[RETORT_PROFILE_NAME];
    retort_box_limits_t   limits;
    uint64_t              created;          /* wall msec */
    uint64_t              expires;          /* wall msec */
    uint64_t              used;             /* wall msec; now if it is busy */
    int                   busy;
    char                  name[JOB_SESSION];    /* "" if it has none */
} box_view_t;


/* before threads; 0 or -1 */

int box_init(const retort_settings_t *s);

/*
 * A new box with these limits (NULL: the profile's defaults), owned by the
 * caller and unknown to clients.  NULL and "e".
 */

box_t *box_spawn(const retort_profile_t *p, const retort_box_limits_t *limits,
    err_t *e);

/* gives it a public id, a workspace and "ttl" msec; 0, or -1 and "e" */

int box_keep(box_t *box, const char *workspace, uint64_t ttl, err_t *e);

/*
 * The same under an id of box_id.h, and the name in its workspace that the id
 * stands for; 1 if another box has it by now.
 */

int box_keep_as(box_t *box, const char *id, const char *workspace,
    const char *name, uint64_t ttl);

/* what a later front shall know of it; "execution" is "" if nobody will ask */

void box_record(const box_t *box, const char *workspace,
    const char *execution);

/*
 * A container that had a session of this workspace and waits for another one,
 * with these limits (NULL: the profile's defaults); a box like a new one, owned
 * by the caller, or NULL.
 */

box_t *box_reuse(const retort_profile_t *p, const retort_box_limits_t *limits,
    const char *workspace);

/* any that waits so, to be ended; owned by the caller, or NULL */

box_t *box_rouse(void);

/* the answer of the broker to a rest that began */

void box_rested(const brk_ans_t *ans, const int *fds, int nfd);

/* a box of an earlier front; owned by the caller; NULL if it is of no use */

box_t *box_adopt(const brk_ans_t *ans, const int *fds,
    const retort_settings_t *s);

/*
 * Waits for a kept box until "until" (mono usec) and owns it then.  NULL and
 * "e" if there is none for this workspace, if too many wait, if the time is
 * over, or with e->status 0 if the client on "client" is gone.
 */

box_t *box_acquire(const char *sandbox, const char *workspace, int client,
    uint64_t until, err_t *e);

/* the same, before all who wait, after asking what runs in it to end */

box_t *box_seize(const char *sandbox, const char *workspace, int client,
    uint64_t until, err_t *e);

/* asks what runs in a kept box to end; 0, or -1 and "e" */

int box_interrupt(const char *sandbox, const char *workspace, err_t *e);

/* the owner's wakeups go to its thread from now on */

void box_own(box_t *box);

/* says whose run has the box; for its owner */

void box_mark(box_t *box, const char *workspace, const char *execution);

/* ends ownership; a kept box lives on for its ttl, another one is ended */

void box_release(box_t *box);

/* ends the box, now; for its owner */

void box_end(box_t *box);

/*
 * Its interpreter is gone, and box_news() said so: 1 if there is a snapshot
 * that takes over, whose end would be news again.
 */

int box_succeeds(box_t *box);

/* a new interpreter in it; for its owner; 0, or -1 and the box is gone */

int box_restart(box_t *box);

/* gives the next run its number, which is not 0 and has no KRN_OTHERS */

void box_next_run(box_t *box);

/* SIGINT for a run, or SIGKILL; does not wait */

void box_signal(const box_t *box, int sig, uint32_t run);

/* counters now; begins a new peak; for its owner */

void box_stat(const box_t *box, brk_stat_t *stat);

/* says that a box has ended; -1 */

int box_expired(err_t *e);

/* a copy of what is known: aged, doomed, gone, kernel_gone, status, last */

void box_news(box_t *box, box_t *copy);

/* when it expires if it is released now, wall msec */

uint64_t box_expiry(const box_t *box);


/* clients' view; 0, or -1 and "e" */

int box_look(const char *sandbox, const char *workspace, box_view_t *view,
    err_t *e);
int box_delete(const char *sandbox, const char *workspace, err_t *e);

/* a request was about it: it lasts for longer; 0, or -1 and "e" */

int box_touch(const char *sandbox, const char *workspace, err_t *e);

/* from now on it lives "ttl" msec beyond each use; 0, or -1 and "e" */

int box_live(const char *sandbox, const char *workspace, uint64_t ttl,
    err_t *e);

/*
 * It ends "in" msec from now, however it is used until then; or later, if it
 * has a later end and "extend" is not 0.  0, or -1 and "e".
 */

int box_end_in(const char *sandbox, const char *workspace, uint64_t in,
    int extend, err_t *e);

/*
 * A step of a turn begins in the box: a later front knows that it did.  The
 * second: was it begun by an earlier front, whose end was its own?  1 or 0.
 */

void box_begins(box_t *box, uint32_t mark);
int box_began(const char *sandbox, const char *workspace, uint32_t mark);

/*
 * A text of at most BOUND_NOTE bytes that a dialect has beside a box.  It ends
 * with the front.  Both 0, or -1 and "e"; writing gives 1, and nothing
 * is written, if there has been another since "version" was read.
 */

int box_note_read(const char *sandbox, const char *workspace, buf_t *to,
    uint64_t *version, err_t *e);
int box_note_write(const char *sandbox, const char *workspace,
    const buf_t *note, uint64_t version, err_t *e);

/* the boxes of a workspace, at most "max"; how many are in "views" */

size_t box_list(const char *workspace, box_view_t *views, size_t max);

/* most boxes that there can be */

size_t box_max(void);


/* the broker's events; the thread that ends idle boxes */

void box_event(const brk_ans_t *ans, const int *fds, int nfd);

/* a template has become warm, or nobody shall wait for one any more */

void box_warm(void);
void *box_reaper(void *unused);


#endif /* FRONT_BOX_H */
