
/*
 * multipart/form-data (RFC 7578), piece by piece as it comes.
 */

#ifndef FRONT_MULTIPART_H
#define FRONT_MULTIPART_H

#include <stddef.h>

#include "bounds.h"
#include "err.h"


#define MULTIPART_NAME  64      /* of a field, final NUL */
#define MULTIPART_TYPE  128


typedef struct {
    char  name[MULTIPART_NAME];
    char  file[BOUND_FILE_NAME + 1];    /* its last component; "": no file */
    char  type[MULTIPART_TYPE];         /* as it was told; "": it was not */
    int   is_file;                      /* it has a name, or an empty one */
    char  path[BOUND_FILE_NAME + 1];    /* as the client wrote it */
} multipart_part_t;


typedef struct multipart_s  multipart_t;

struct multipart_s {
    /* each 0, or -1 and "e", which ends it all */
    int   (*begin)(void *data, const multipart_part_t *part, err_t *e);
    int   (*piece)(void *data, const char *p, size_t n, err_t *e);
    int   (*end)(void *data, err_t *e);
    void   *data;

    /* inside */
    int               state;
    size_t            matched;          /* bytes of the delimiter */
    size_t            delimiter_len;
    size_t            head_len;
    multipart_part_t  part;
    char              delimiter[BOUND_BOUNDARY + 5];
    char              head[BOUND_FILE_HEAD + 1];
};


/* from a Content-Type; the callers' fields stay; 0, or -1 and "e" */

int multipart_init(multipart_t *m, const char *type, err_t *e);

/* the next bytes of the body; 0, or -1 and "e" */

int multipart_feed(multipart_t *m, const char *p, size_t n, err_t *e);

/* the body is over: is it whole?  0, or -1 and "e" */

int multipart_done(const multipart_t *m, err_t *e);


#endif /* FRONT_MULTIPART_H */
