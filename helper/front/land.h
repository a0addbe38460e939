
/*
 * Landlock for the front: what it can do to files, by any path.
 */

#ifndef FRONT_LAND_H
#define FRONT_LAND_H


/*
 * Before threads, when all files are open.  0, also where the kernel has no
 * Landlock (logged), or -1 (logged).
 */

int land_lock(void);


#endif /* FRONT_LAND_H */
