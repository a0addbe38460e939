
/*
 * One request about the files of a box: what is said to its kernel, and what
 * that answers.  Used by the thread that owns the box.
 */

#ifndef FRONT_FILE_OP_H
#define FRONT_FILE_OP_H

#include "box.h"
#include "kernel_io.h"


typedef struct {
    box_t       *box;
    int          client;        /* watched; -1: its bytes are awaited */
    int          wake;
    int          open;          /* KRN_FILED is still to come */
    int          putting;       /* the kernel waits for more content */
    int          filed;         /* it came: */
    uint32_t     error;         /* its errno */
    uint32_t     more;
    int          broken;        /* the kernel's side is not in step */
    box_t        news;
    krn_in_t     in;            /* the message that came last */
} file_op_t;


/*
 * Takes the workspace's box, as place_take(), when it is its turn; 0, or -1
 * and "e".  After 0 file_op_end() lets it go again, whatever was going on.
 */

int file_op_begin(file_op_t *f, const request_t *req, const char *sandbox,
    const char *session, int client, err_t *e);
void file_op_end(file_op_t *f);

/* the same with a box that stays the caller's, who ends it after a -1 */

void file_op_own(file_op_t *f, box_t *box, int client);
void file_op_leave(file_op_t *f);

/* asks one thing; 0, or -1 and "e" */

int file_op_ask(file_op_t *f, krn_type_t type, uint32_t a, uint32_t b,
    const char *name, err_t *e);

/* content for a KRN_PUT, at most KRN_PAYLOAD bytes; 0, or -1 and "e" */

int file_op_data(file_op_t *f, const void *p, size_t n, krn_data_t how,
    err_t *e);

/*
 * The next message to what was asked: KRN_ENTRY, KRN_BYTES or, at last,
 * KRN_FILED.  -1 and "e" if none comes.
 */

int file_op_next(file_op_t *f, err_t *e);

/* waits for the end; 0, or -1 and "e": for a client, about "name" */

int file_op_filed(file_op_t *f, const char *name, err_t *e);


#endif /* FRONT_FILE_OP_H */
