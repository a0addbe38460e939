
/*
 * What a run said, in order: the list of outputs that every dialect renders.
 *
 * Items are added and streams grow at the end alone, so a position in between
 * stands for all that was said before it: a reader that knows one can go on
 * from there at any time.
 *
 * Texts are bytes of a sandbox: any byte may be in them.  They are bounded
 * while they come in, and made valid UTF-8 only where an answer is written.
 */

#ifndef FRONT_OUTPUT_H
#define FRONT_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "protocol/kernel.h"


#define OUT_NAME  96            /* "fig-001.png", final NUL */
#define OUT_FILE  48            /* "<32 hex>.png" */
#define OUT_ID    72            /* "file_<node>_<32 hex>.png" */
#define OUT_MIME  64


typedef enum {
    OUT_STDOUT,
    OUT_STDERR,
    OUT_RESULT,                 /* the value of the last expression */
    OUT_DISPLAY,                /* a display without a picture */
    OUT_IMAGE,
    OUT_ERROR,
    OUT_SAVED                   /* a file that the run left */
} out_type_t;


/* forms for programs, JSON objects (data.c) */

/* the last one only if the run is asked for it: {"value": ...} */

typedef enum { OUT_CHART, OUT_FRAME, OUT_VALUE, OUT_DATA } out_data_t;


/* a picture or document that is in the artifact store, or why it is not */

typedef struct {
    char      name[OUT_NAME];   /* for people, unique in this run */
    char      file[OUT_FILE];   /* in the store; "" if it was not stored */
    char      id[OUT_ID];       /* the same, for clients */
    char      mime[OUT_MIME];
    char      sha256[65];
    uint64_t  size;             /* bytes that the sandbox gave */
    uint64_t  issued;           /* its link counts from then, wall seconds */
    uint64_t  kept;             /* seconds from then that it stays, at least */
    char      why[96];          /* "" if it was stored */
} out_artifact_t;


typedef struct out_item_s  out_item_t;

struct out_item_s {
    out_type_t       type;
    out_item_t      *next;
    buf_t            text;
    buf_t            name;      /* OUT_ERROR: its class */
    buf_t            message;   /* OUT_ERROR */
    buf_t            traceback; /* OUT_ERROR */
    out_artifact_t  *artifacts; /* OUT_IMAGE: the first is the picture */
    size_t           nartifacts;
    buf_t            data[OUT_DATA];    /* len 0: none */
    uint64_t         at;        /* when its last bytes came, usec */
    uint64_t         pos;       /* its place among all outputs */
    uint64_t         span;      /* positions: bytes of a stream, else 1 */
    int              open;      /* more of it is to come */
    out_item_t      *behind;    /* of a tail: what stands before it */
};


/* what the run did to a file of its session, as the sandbox tells it */

typedef struct {
    char             *name;     /* relative to /workspace, checked */
    uint64_t          size;
    krn_change_t      change;
    char              sha256[65];   /* "" if it is not known */
} out_change_t;


typedef struct {
    out_item_t      *first;
    out_item_t      *last;
    size_t           nitems;
    uint64_t         nlost;     /* outputs beyond BOUND_ITEMS */

    uint64_t         stream_max;    /* bytes of stdout and stderr to keep */
    uint64_t         stream_kept;
    uint64_t         stream_size;   /* bytes that there were */
    out_item_t      *cut;           /* where stream_max was reached */

    /* tail.c: if there is one, stream_max is the head's */

    uint64_t         tail_max;
    int              headless;      /* the head takes no more */
    out_item_t      *held;
    out_item_t      *held_last;
    size_t           nheld;
    uint64_t         held_bytes;
    uint64_t         dropped;       /* bytes between head and tail */
    int              hole;          /* bytes that nobody saw */
    int              spilled;
    out_artifact_t   whole;         /* all of it, if some was dropped */

    /* gets all bytes of streams as soon as some are dropped */
    void           (*spill)(void *to, const char *p, size_t n);
    void            *spill_to;

    uint64_t         text_max;      /* the same for all other texts */
    uint64_t         text_kept;

    uint64_t         data_kept;     /* bytes of "data" of all items */
    uint64_t         pos;           /* of what comes next; grows only */
    unsigned         figures;       /* numbers given */
    unsigned         documents;
    unsigned         saved;
    uint64_t         stored;        /* artifacts in the store */
    unsigned         unshown;       /* files that were too large or too many */

    out_change_t    *changes;
    size_t           nchanges;
    int              more_changes;  /* that are not in the list */
} outputs_t;


void outputs_init(outputs_t *o, uint64_t max);
void outputs_free(outputs_t *o);

/*
 * "n" bytes of a stream at time "now" (usec), of which "size" existed.  Joins
 * the block before if that is the same stream and not older than BOUND_MERGE.
 */

void outputs_stream(outputs_t *o, out_type_t type, const char *p, size_t n,
    uint64_t size, uint64_t now);

/* a new item at the end; NULL if there are too many (counted) or no memory */

out_item_t *outputs_add(outputs_t *o, out_type_t type);

/* one more change; NULL if there are too many, or no memory */

out_change_t *outputs_change(outputs_t *o, const char *name, size_t len);

/*
 * Text of an item that is no stream: "n" bytes of it, of which "size" existed.
 * What exceeds the room for texts keeps head and tail, with a line between that
 * says so; only the head if not all is here.  1 if it was cut.
 */

int outputs_text(outputs_t *o, buf_t *to, const char *p, size_t n,
    uint64_t size);

/* the same with a room of its own, and "gone" bytes that were cut before */

typedef struct {
    const char  *p;
    size_t       n;
    uint64_t     size;
    uint64_t     gone;
    uint64_t     room;
} out_text_t;

int outputs_ends(outputs_t *o, buf_t *to, const out_text_t *text);

/* an error that the front itself tells */

void outputs_error(outputs_t *o, const char *name, const char *text);

/* an error in one line, as Python would end its traceback */

void outputs_error_line(buf_t *to, const out_item_t *item);

/* once, at the end of the run: marks what was cut */

void outputs_finish(outputs_t *o);

/* not 0 if the streams had more than is here */

int outputs_cut(const outputs_t *o);

/* bytes of memory that all of it holds, about */

size_t outputs_size(const outputs_t *o);

/* the item that is at this position, or NULL if there is none yet */

const out_item_t *outputs_at(const outputs_t *o, uint64_t pos);

/* all text of one stream, appended */

void outputs_join(const outputs_t *o, out_type_t type, buf_t *to);

/* the last item of a type, or NULL */

const out_item_t *outputs_last(const outputs_t *o, out_type_t type);


#endif /* FRONT_OUTPUT_H */
