
/*
 * What a process of the helper keeps for itself: a list of system calls.
 */

#ifndef RETORT_LOCK_H
#define RETORT_LOCK_H

#include <stddef.h>


/*
 * From here on the calls in the list are allowed, and any other ends the
 * process: there is no reason for one but a bug or an attack.  Sets
 * no_new_privs.  0, or -1 with errno.
 */

int lock_calls(const int *calls, size_t n);


#endif /* RETORT_LOCK_H */
