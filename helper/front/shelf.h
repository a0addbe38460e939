
/*
 * The files of a workspace that its clients name by an id: documents that they
 * uploaded, and files that runs made for them.  They live in the artifact
 * store's directory, but no link leads to them, and count for its quota.
 *
 * What is known of a file stands behind its bytes, in the same file on the
 * disk, so that both appear at once; a list of all is kept in memory.
 */

#ifndef FRONT_SHELF_H
#define FRONT_SHELF_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "output.h"
#include "protocol/profile.h"
#include "store.h"


#define SHELF_NAME  1024        /* bytes of a file's name, final NUL */
#define SHELF_CHARS 255         /* characters of it */
#define SHELF_MIME  128
#define SHELF_TAIL  4096        /* more than what stands behind a file */


typedef struct {
    char      id[OUT_ID];       /* "file_<node>_<32 hex>" */
    char      name[SHELF_NAME];
    char      mime[SHELF_MIME];
    uint64_t  size;
    uint64_t  created;          /* wall usec; no two of a front are equal */
    uint64_t  expires;          /* wall seconds, 0: never */
    int       made;             /* by a run, not uploaded */
} shelf_info_t;


/*
 * Before the process is locked, behind the store: finds what there is.  0, or
 * -1 (logged).
 */

int shelf_init(const retort_settings_t *s);

/* the thread that takes away what has expired */

void *shelf_sweeper(void *unused);


/* a file that comes in pieces; each 0, or -1 and "e" */

typedef struct {
    int       fd;               /* -1: none */
    uint64_t  size;
    uint64_t  charged;
    char      owner[STORE_OWNER + 1];
    char      part[STORE_PART_NAME];
} shelf_in_t;

int shelf_begin(shelf_in_t *in, const char *workspace, err_t *e);
int shelf_add(shelf_in_t *in, const void *p, size_t n, err_t *e);

/*
 * With name, mime, expires and made of "info", the rest of which it fills.
 * Whatever became of it, "in" is of no use any more.
 */

int shelf_keep(shelf_in_t *in, shelf_info_t *info, err_t *e);

/* forgets it; nothing if it was kept, or never begun (fd -1) */

void shelf_drop(shelf_in_t *in);


/* all at once: as shelf_keep() */

int shelf_put(const char *workspace, shelf_info_t *info, const void *p,
    size_t n, err_t *e);

/* 0, or -1 and "e" (404) */

int shelf_look(const char *id, const char *workspace, shelf_info_t *info,
    err_t *e);

/* for reading: a descriptor and "info"; -1 and "e" */

int shelf_open(const char *id, const char *workspace, shelf_info_t *info,
    err_t *e);

int shelf_delete(const char *id, const char *workspace, err_t *e);

/*
 * The newest first: those made before "before" (created; UINT64_MAX: all) and
 * after "after" (0: all), at most "max", the first ones or, if "last", those
 * next to "after".  How many are in "list"; "more" if there are others.
 */

typedef struct {
    uint64_t  before;
    uint64_t  after;
    int       last;
    size_t    max;
} shelf_ask_t;

size_t shelf_list(const char *workspace, const shelf_ask_t *ask,
    shelf_info_t *list, int *more);

/* May a file be called so?  1 or 0 */

int shelf_is_name(const char *name);

/* what a file of that name is, by its end */

void shelf_type(char mime[SHELF_MIME], const char *name);

/* is it one that is told of, a type/subtype without parameters?  1 or 0 */

int shelf_is_mime(const char *mime);


#endif /* FRONT_SHELF_H */
