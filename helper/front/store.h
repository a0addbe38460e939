
/*
 * The artifact store's files: whole or not there, kept for as long as was
 * promised, counted per owner.
 *
 * A name is <32 lower hex digits>.<1 to 8 of [a-z0-9]>; its first STORE_OWNER
 * digits stand for the owner.  Equal names are equal bytes: who makes them
 * sees to it.
 *
 * A file's time of modification says how long it is kept, and survives us:
 * the seconds are when it was issued last, the nanoseconds are for how many
 * seconds that was promised.
 */

#ifndef FRONT_STORE_H
#define FRONT_STORE_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/profile.h"


#define STORE_OWNER      10
#define STORE_PART_NAME  40
#define STORE_SHELF      ".file"        /* no artifact is called so */

/* how its files are opened, and no other way */

#define STORE_CREATE  (O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW|O_CLOEXEC)
#define STORE_READ    (O_RDONLY|O_NOFOLLOW|O_NONBLOCK|O_CLOEXEC)
#define STORE_LIST    (O_RDONLY|O_DIRECTORY|O_CLOEXEC)


typedef enum {
    STORE_OK,
    STORE_QUOTA,                /* the owner has too much already */
    STORE_FULL,                 /* the disk has no room */
    STORE_FAILED                /* logged */
} store_put_t;


/*
 * Before the process is locked: removes what a dead front left half-written,
 * counts the rest.  0, or -1 (logged).
 */

int store_init(int dir, const retort_settings_t *s);

int store_is_name(const char *file);

/* one of those that the shelf puts there, and takes away again (shelf.h) */

int store_is_shelved(const char *file);

/*
 * Stores, or issues again if it is there already, for "life" seconds or for
 * longer, which it becomes then.  "issued" gets the time from which they count
 * (wall seconds), "used" what its owner has stored.
 */

store_put_t store_put(const char *file, const void *data, size_t len,
    uint64_t *life, uint64_t *issued, uint64_t *used);

/*
 * In pieces: a file without a name of its own, its descriptor or -1 (logged);
 * what it will take on the disk is charged as it grows, 0 or -1 if that is
 * more than the owner may have; bytes are written, 0 or -1; then it gets its
 * name, as by store_put() (usage_of(len) has been charged), or is dropped.
 */

int store_part(char part[STORE_PART_NAME]);
int store_charge(const char *owner, uint64_t bytes);
int store_bytes(int fd, const char *p, size_t len);
store_put_t store_part_keep(const char *part, const char *file, size_t len,
    uint64_t *life, uint64_t *issued);
void store_part_drop(const char *part, const char *owner, uint64_t charged);

/* removes a file, if it is there */

void store_forget(const char *file);

/* tells of each name until that is not 0, which is returned; -1 and errno */

int store_names(int (*tell)(const char *file));

/* for reading; its descriptor and "size", or -1 if there is none */

int store_open(const char *file, uint64_t *size);

/*
 * Removes what nobody was promised any longer; "next" gets when the next one
 * may go (wall seconds), UINT64_MAX if there is none.  0 or -1 and errno.
 */

int store_sweep(uint64_t *next);

/* the thread that does so, when it is time and when there is no room */

void *store_sweeper(void *unused);


#endif /* FRONT_STORE_H */
