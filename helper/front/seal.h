
/*
 * Locks the process before it serves anybody.
 */

#ifndef FRONT_SEAL_H
#define FRONT_SEAL_H

#include <stdint.h>


/* descriptors at start */

#define FRONT_FD_BROKER    3
#define FRONT_FD_LISTENER  4
#define FRONT_FD_SETTINGS  5
#define FRONT_FD_STORE     6
#define FRONT_FD_CONTROL   7       /* with --control-gid alone */
#define FRONT_FD_AUDIT     8       /* no directory: runs are not logged */
#define FRONT_FD_FETCH     9       /* with --fetch 9 alone */


/*
 * At the very start: neither root nor capable of anything; sets no_new_privs,
 * not dumpable, limits for "nfiles" descriptors and files of "fsize" bytes.
 * 0, or -1 (logged).
 */

int seal_start(uint64_t nfiles, uint64_t fsize);

/*
 * When all threads exist and all files are open: the system call filter, for
 * every thread.  0, or -1 (logged).
 */

int seal_finish(void);


#endif /* FRONT_SEAL_H */
