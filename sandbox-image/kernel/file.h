
/*
 * Inside of file.c and file_get.c: names below /workspace.
 */

#ifndef RETORT_KERNEL_FILE_H
#define RETORT_KERNEL_FILE_H

#include <limits.h>
#include <stdint.h>

#include "retort.h"


/* names a file until it is whole; those of a dead kernel are removed */

#define FILE_PART   ".retort-part-"
#define FILE_DEPTH  64          /* of folders that are deleted */


/* a name that came, and where it leads */

typedef struct {
    int     dir;                /* the folder that it is in, or -1 */
    size_t  len;
    char    *last;              /* final component, in "name" */
    char    name[PATH_MAX];
} file_name_t;


/*
 * The folder that a name's last component is in: "make" makes those that are
 * missing.  No link is followed.  0 with an O_PATH descriptor in n->dir that
 * the caller closes, or an errno.
 */

int file_parent(file_name_t *n, int make);

/* the name of a message that has no other body; 0, or -1 as wire_body() */

int file_take_name(wire_packet_t *packet, file_name_t *n);

/* what is in a folder, which is closed; stops at the first error, an errno */

int file_empty(int fd, int depth);

/* KRN_FILED */

void file_filed(int error, int more);

/* file_get.c, from the first packet; 0, or -1 as wire_body() */

int file_get(wire_packet_t *packet);
int file_list(wire_packet_t *packet);
int file_delete(wire_packet_t *packet);


#endif /* RETORT_KERNEL_FILE_H */
