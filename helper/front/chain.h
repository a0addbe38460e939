
/*
 * Lines that nobody can change unseen: each has the hash of the one before it
 * and its own.  They are files of a directory, DAY.PART.jsonl, only ever added
 * to; a new one begins with each day (UTC) and after CHAIN_PART bytes, and its
 * first line follows the last one of the file before.
 *
 *   {"n":7,"time":"...",<members>,"prev":"<64 hex>","hash":"<64 hex>"}
 *
 * "hash" is the SHA-256 of all bytes of the line before ,"hash".  "prev" of
 * the first line of all is 64 zeros.
 *
 * Bytes that are no such line are the rest of a write that failed.  The next
 * line tells how many there are and their hash, ("event":"gap"), and how many
 * lines were lost.
 */

#ifndef FRONT_CHAIN_H
#define FRONT_CHAIN_H

#include <stddef.h>
#include <stdint.h>


#define CHAIN_PART  67108864    /* bytes of a file, and one line more */
#define CHAIN_LINE  2097152     /* of a line */
#define CHAIN_HEX   65


/*
 * Before the process is locked: finds the end of what is there.  "clean" is
 * whether its last line has this member, or there is none.  0 or -1 (logged).
 */

int chain_open(int dir, const char *member, int *clean);

/*
 * "members" is what stands between the braces.  0, or -1: the line is lost,
 * which is counted and logged.
 */

int chain_put(const char *members, size_t len);

/* the service's log gets number and hash of the last line */

void chain_tell(void);

/* of bytes, in hex */

void chain_sha256(const void *p, size_t len, char hex[CHAIN_HEX]);


#endif /* FRONT_CHAIN_H */
