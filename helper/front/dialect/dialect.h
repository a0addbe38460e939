
/*
 * A dialect is a row of this table: routes, and functions that turn a request
 * into a job and a result into an answer.  It does no I/O and knows no
 * sandbox.  To add one: a file that defines its row, and a line in DIALECTS.
 */

#ifndef FRONT_DIALECT_H
#define FRONT_DIALECT_H

#include "../answer.h"
#include "../bounds.h"
#include "../box.h"
#include "../err.h"
#include "../event.h"
#include "../exec.h"
#include "../files.h"
#include "../job.h"
#include "../picture.h"
#include "../request.h"
#include "../result.h"
#include "../shelf.h"
#include "../turn.h"


#define DIALECTS(X)                                                           \
    X(native)                                                                 \
    X(qwen)                                                                   \
    X(mcp)                                                                    \
    X(prisme)                                                                 \
    X(azure_mcp)                                                              \
    X(anthropic)                                                              \
    X(azure)                                                                  \
    X(azure_image)                                                            \
    X(e2b)                                                                    \
    X(ubik)


/* what a route does */

typedef enum {
    OP_EXECUTE,
    OP_BOX_CREATE,
    OP_METADATA,
    OP_OPENAPI,                 /* the dialect about itself */
    OP_BOX_LIST,
    OP_BOX_SHOW,
    OP_BOX_LIFE,                /* how long it shall live from now on */
    OP_BOX_DELETE,
    OP_BOX_INTERRUPT,
    OP_BOX_RESTART,
    OP_EXEC_SHOW,
    OP_EXEC_EVENTS,
    OP_EXEC_CANCEL,
    OP_FILE_LIST,
    OP_FILE_SHOW,
    OP_FILE_GET,                /* and HEAD */
    OP_FILE_PUT,
    OP_FILE_POST,
    OP_FILE_DELETE,
    OP_SHELF_POST,              /* files of a workspace */
    OP_SHELF_LIST,
    OP_SHELF_SHOW,
    OP_SHELF_GET,
    OP_SHELF_DELETE,
    OP_HEALTH,
    OP_TURN,                    /* several runs in one sandbox */
    OP_DIALOGUE,                /* a model is asked, and what it wants is run */
    OP_ASSET,                   /* what a planned execution has left */
    OP_CALL,                    /* a message, which may ask for a run */
    OP_CALL_RESUME,             /* the rest of an answer that was cut */
    OP_CALL_END                 /* the end of a client's session */
} dialect_op_t;

typedef struct {
    const char    *method;
    const char    *path;        /* behind the prefix; "*" is one component,
                                   "**" at the end is all of the rest */
    dialect_op_t   op;
} dialect_route_t;


/* files, by a dialect that has its own way to say which */

typedef struct {
    dialect_op_t  op;                           /* the route's at first */
    char          session[JOB_SESSION];
    char          name[BOUND_FILE_NAME + 1];
    char          folder[BOUND_FILE_NAME + 1];
} dialect_file_t;


/* what a sandbox is asked to be */

typedef struct {
    uint64_t              ttl;          /* msec */
    int                   ends;         /* then, though it is used */
    int                   extend;       /* an end is only made later */
    retort_box_limits_t   box;          /* complete */
    int                   own_limits;
    job_file_t           *files;        /* the caller frees them */
    size_t                nfiles;
    buf_t                 note;         /* and this, box.h */
} box_wish_t;


/* a message of a protocol within HTTP, and what becomes of it */

#define CALL_KEY  840

typedef enum {
    CALL_ANSWERED,
    CALL_RUN,                   /* "job" is to run, then it is answered */
    CALL_RESTART,               /* its sandbox's interpreter is; no execution */
    CALL_CANCEL,                /* answered; runs called "key" shall end */
    CALL_FILES,                 /* "files" says which, then it is answered */
    CALL_TALK,                  /* call_talk() says it piece by piece */
    CALL_TELL,                  /* answered; the talk "key" hears of it */
    CALL_TASK,                  /* it is to run behind its answer */
    CALL_LOOK                   /* about the execution "key" */
} call_do_t;


/* files that a message is about */

typedef enum {
    CALL_FILES_LIST,            /* the folder "name" */
    CALL_FILES_READ,
    CALL_FILES_ARTIFACT         /* "name" is its id */
} call_files_do_t;

typedef struct {
    call_files_do_t  what;
    char             sandbox[JOB_SANDBOX];
    char             session[JOB_SESSION];      /* instead, if not "" */
    char             name[BOUND_FILE_NAME + 1];
    int              recursive;
    file_infos_t     list;
    buf_t            bytes;
} call_files_t;


/* a talk: how long it pauses (msec), or one of these */

#define CALL_TALK_END   0
#define CALL_TALK_HEAR  -1      /* goes on when somebody tells "key" */

typedef struct {
    const request_t  *req;
    const char       *body;
    size_t            len;
    answer_t         *a;
    job_t             job;
    int               lasting;  /* runs on though its client goes away */
    int               cancel;   /* call_look() wants an end of it */
    int               stream;   /* the answer is events while it runs */
    buf_t             memo;     /* "" or what call_again() wants to know */
    int               pictures;     /* the answer has them inside */
    char              key[CALL_KEY];    /* "": it cannot be cancelled */
    picture_t        *pics;
    size_t            npics;
    call_files_t      files;
    void             *own;      /* the dialect's */
} call_t;


/* which files of the shelf are asked for */

#define SHELF_IDS  100

typedef struct {
    size_t    max;
    uint64_t  before;           /* "created" of one; UINT64_MAX: none */
    int       paged;            /* "before" was asked for */
    char      before_id[OUT_ID];        /* "": none; newer than that */
    char      after_id[OUT_ID];         /* older than that */
    int       by_id;            /* these, and no others: */
    size_t    nids;
    char      ids[SHELF_IDS][OUT_ID];
} shelf_query_t;


/* a request for several runs, and what becomes of it */

#define TURN_HANDLE  128

typedef struct {
    turn_t        turn;         /* nsteps may be 0: nothing is to run */
    job_file_t   *files;        /* that are there before the first step */
    size_t        nfiles;
    char          handle[TURN_HANDLE];  /* the client's name of the sandbox */
    box_view_t    box;          /* once there is one: its name and end */
    void         *own;          /* the dialect's */
} turn_call_t;


/* a request that a model answers, which wants code to be run in between */

typedef enum {
    DIALOGUE_ASK,               /* the model is to be asked */
    DIALOGUE_RUN,               /* "turn" is to be run */
    DIALOGUE_OVER               /* it can be answered */
} dialogue_do_t;

typedef struct {
    turn_call_t   turn;         /* of this round */
    const char   *endpoint;     /* the operator's name of the model */
    char          headers[256]; /* for it */
    int           stream;       /* the client is told as it comes */
    void         *own;          /* the dialect's */
} dialogue_t;


typedef struct {
    const char              *name;      /* of RETORT_API */
    const dialect_route_t   *routes;    /* ended by a NULL method */

    /* is the request one of the dialect at all?  0, or -1 and "e"; or NULL */
    int   (*check)(const request_t *req, err_t *e);

    /* the answer's form, a number of the dialect's own; -1 and "e" */
    int   (*form)(const request_t *req, err_t *e);

    /* 0 or -1 and "e"; the caller frees the job in both cases */
    int   (*parse)(const request_t *req, const char *body, size_t len,
                   job_t *job, err_t *e);
    void  (*render)(const request_t *req, int form, const exec_t *x,
                    answer_t *a);

    /*
     * Streams; NULL if the dialect has none.  The first sets status, type and
     * form of the answer, and returns 0 if this form is no stream; the second
     * appends an event.
     */
    int   (*stream)(int form, answer_t *a);
    void  (*event)(const request_t *req, int form, const event_t *ev,
                   buf_t *to);

    /*
     * Its executions are of several rounds (plan.h).  Is one there for this
     * request at all?  x->lock is held; NULL: yes.
     */
    int   plans;
    int   (*owns)(const request_t *req, const exec_t *x);

    /* a run that goes on behind its answer; x->lock is held, it may be over */
    void  (*render_exec)(const request_t *req, const exec_t *x, answer_t *a);

    /* a request that did not become a run */
    void  (*fail)(const err_t *e, answer_t *a);

    /*
     * Messages; NULL if the dialect has none.  The first reads one and answers
     * it unless it is a run; then the others do, the last one frees.
     */
    call_do_t  (*call)(call_t *c);
    void  (*call_done)(call_t *c, const exec_t *x);
    void  (*call_fail)(call_t *c, const err_t *e);
    void  (*call_free)(call_t *c);

    /* answers for a run to come, and about one; x->lock is held */
    void  (*call_task)(call_t *c, const exec_t *x);
    void  (*call_look)(call_t *c, const exec_t *x);

    /* answers about "files"; a piece of a talk, "heard" is NULL for nothing */
    void  (*call_filed)(call_t *c);
    int   (*call_talk)(call_t *c, buf_t *to, const char *heard);

    /*
     * Streams of messages.  An event of the run; then how a cut stream goes
     * on: which one and behind what, or -1 and "e", and the call as its
     * memo says, or -1.
     */
    void  (*call_event)(call_t *c, const exec_t *x, const event_t *ev,
                        buf_t *to);
    int   (*call_resume)(call_t *c, char id[REQ_EXECUTION], uint64_t *after,
                         err_t *e);
    int   (*call_again)(call_t *c, const char *memo);

    /* the session that a request names, "" if it names none */
    const char  *(*call_session)(const request_t *req);

    /*
     * For clients with names of their own, NULL in a dialect without.  The
     * session that a request is about: it is shown, ended, and has the
     * executions that are asked for.  The files that one is about, "rest"
     * being what a "**" of its path is.  What is said of a session's end.
     * Each 0, or -1 and "e".
     */
    int   (*named)(const request_t *req, char name[JOB_SESSION], err_t *e);
    int   (*file)(const request_t *req, const char *rest, dialect_file_t *f,
                  err_t *e);
    void  (*ended)(const request_t *req, answer_t *a);

    /* an answer about health, in the dialect's own words */
    void  (*health)(answer_t *a);

    /*
     * For clients that name a sandbox elsewhere than in the path: its id, left
     * alone where the path says it; 0, or -1 and "e".  An error as it is told
     * there.  The name, relative to /workspace, of a form's file that the
     * client calls "file"; 0, or -1 and "e".
     */
    int   (*sandbox)(const request_t *req, char id[JOB_SANDBOX], err_t *e);
    void  (*retell)(const request_t *req, err_t *e);
    int   (*file_part)(const request_t *req, const char *file, char *name,
                       size_t size, err_t *e);

    /* event() finds the forms of an item in ev->forms */
    int   forms;

    /* render() and render_exec() find the run's pictures in a->pictures */
    int   pictures;

    /* sandboxes as resources; NULL if the dialect has none */
    int   (*parse_box)(const request_t *req, const char *body, size_t len,
                       box_wish_t *wish, err_t *e);
    void  (*render_box)(const request_t *req, const box_view_t *view,
                        answer_t *a);
    void  (*render_boxes)(const request_t *req, const box_view_t *views,
                          size_t n, answer_t *a);

    /* what there is in a sandbox: the image's manifest, and the limits */
    void  (*render_meta)(const request_t *req, const char *manifest,
                         size_t len, answer_t *a);

    /* all of its routes, for programs; NULL if the dialect has no such */
    void  (*render_openapi)(const request_t *req, answer_t *a);

    /* files of a sandbox; what was written, or what there is */
    void  (*render_file)(const files_ask_t *ask, const file_info_t *file,
                         answer_t *a);
    void  (*render_files)(const files_ask_t *ask, const file_infos_t *files,
                          answer_t *a);

    /* turns; NULL if it has none; 0, or -1 and "e"; the last one frees "own" */
    int   (*turn_parse)(turn_call_t *c, const char *body, size_t len,
                        err_t *e);
    void  (*turn_render)(turn_call_t *c, answer_t *a);
    void  (*turn_free)(turn_call_t *c);

    /*
     * Dialogues; NULL if it has none.  Parses the request (0, or -1 and "e");
     * says what is to be done next; the body of a question for the model; its
     * answer (0, or -1 and "e"); a turn was run, wholly or not.  "late": no
     * more time.
     */
    int   (*dialogue_parse)(dialogue_t *d, const char *body, size_t len,
                            err_t *e);
    dialogue_do_t  (*dialogue_next)(dialogue_t *d, int late);
    void  (*dialogue_ask)(dialogue_t *d, const char *model, buf_t *to);
    int   (*dialogue_heard)(dialogue_t *d, int status, const char *body,
                            size_t len, err_t *e);
    void  (*dialogue_ran)(dialogue_t *d);
    void  (*dialogue_render)(dialogue_t *d, answer_t *a);
    void  (*dialogue_free)(dialogue_t *d);

    /*
     * Those whose client is told as it comes: a part of the model's own stream
     * (0, or -1 and "e"), of which dialogue_heard() gets no body; what was not
     * told yet, with "beat" a sign of life at least; the end, "e" being why it
     * is none, or NULL.
     */
    int   (*dialogue_piece)(dialogue_t *d, const char *p, size_t n, buf_t *to,
                            err_t *e);
    void  (*dialogue_say)(dialogue_t *d, int beat, buf_t *to);
    void  (*dialogue_end)(dialogue_t *d, const err_t *e, buf_t *to);

    /*
     * Files of a workspace; NULL if the dialect has none.  A field of the form
     * beside the file; what is listed; may this one be downloaded?  Each 0, or
     * -1 and "e".  A file that is rendered with "gone" was deleted.
     */
    int   (*shelf_field)(shelf_info_t *file, const char *name,
                         const char *value, err_t *e);
    int   (*shelf_query)(const request_t *req, shelf_query_t *q, err_t *e);
    int   (*shelf_get)(const request_t *req, const shelf_info_t *file,
                       err_t *e);
    void  (*render_shelf)(const request_t *req, const shelf_info_t *file,
                          int gone, answer_t *a);
    void  (*render_shelves)(const request_t *req, const shelf_info_t *files,
                            size_t n, int more, answer_t *a);
} dialect_t;


#define DIALECT_EXTERN(name)  extern const dialect_t  dialect_##name;

DIALECTS(DIALECT_EXTERN)


#endif /* FRONT_DIALECT_H */
