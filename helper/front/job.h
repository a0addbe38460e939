
/*
 * What is asked, in no dialect's words.
 */

#ifndef FRONT_JOB_H
#define FRONT_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/kernel.h"
#include "protocol/profile.h"


#define JOB_MARKS    32         /* steps that a later front knows of */
#define JOB_SANDBOX  56         /* sbx_<node>_<32 hex>, final NUL */
#define JOB_SESSION  129        /* a client's own name for one, final NUL */


typedef struct {
    char    *name;              /* relative to /workspace, checked */
    char    *data;
    size_t   len;
    char    *id;                /* of what has its bytes: an artifact, or a
                                   file on the shelf (whose name it gets
                                   if it has none) */
    char    *url;               /* of what is to be fetched for it */
} job_file_t;


typedef struct {
    krn_language_t        language;
    krn_style_t           style;
    char                 *code;
    size_t                code_len;
    char                 *env;          /* "K=V", each ended by NUL */
    size_t                env_len;
    char                 *stdin_text;
    size_t                stdin_len;
    job_file_t           *files;
    size_t                nfiles;

    int                   lenient;      /* runs though a file was refused */
    int                   shelve;       /* its pictures and what it leaves in
                                           OUTPUT_DIR go onto the shelf */
    char                 *memo;         /* the dialect's, for exec_t */
    int                   whole;        /* all files that it leaves are kept */
    uint32_t              mark;         /* of a turn's step; 0: it is none */
    uint32_t              context;      /* a namespace of it; 0: the first */
    int                   fresh;        /* that is empty when it begins */

    char                  sandbox[JOB_SANDBOX];     /* "": a fresh one */
    char                  session[JOB_SESSION];     /* made if missing */
    char                  called[JOB_SESSION];  /* the client's for the run */
    uint64_t              note;         /* the dialect's own, for rendering */
    int                   keep;
    int                   detach;       /* answered before it has run */
    uint64_t              timeout;      /* msec */
    uint64_t              output;       /* bytes */
    retort_box_limits_t   box;          /* complete, at most the ceilings */
    int                   own_limits;   /* "box" differs from the defaults */
} job_t;


/* frees what the job points to */

void job_free(job_t *job);
void job_file_clear(job_file_t *file);
void job_files_free(job_file_t *files, size_t n);

/*
 * May a file be called so?  Relative, valid UTF-8, no empty, "." or ".."
 * component, no control character, lengths bounded.
 */

int job_file_name(const char *name, size_t len);

/* may a client call a session so?  1 or 0 */

int job_is_session(const char *name);

/*
 * A session by the client's name for it, 1 to JOB_SESSION - 1 printable ASCII
 * characters, or by the id of a sandbox.  0 or -1.
 */

int job_session(job_t *job, const char *key);


#endif /* FRONT_JOB_H */
