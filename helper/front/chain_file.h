
/*
 * The files of a chain (chain.h), and how the last of them ends.
 */

#ifndef FRONT_CHAIN_FILE_H
#define FRONT_CHAIN_FILE_H

#include <fcntl.h>
#include <stdint.h>

#include "buf.h"
#include "chain.h"


#define CHAIN_NAME  24          /* "2026-01-31.0001.jsonl", final NUL */
#define CHAIN_DAY   10

/* the only way in which a process that is locked opens one */

#define CHAIN_CREATE  (O_WRONLY|O_APPEND|O_CREAT|O_EXCL|O_NOFOLLOW|O_CLOEXEC)


typedef struct {
    char      name[CHAIN_NAME]; /* "" if there is none */
    int       fd;               /* for adding; -1: a new file has to be made */
    uint64_t  size;
    uint64_t  n;
    char      head[CHAIN_HEX];
    buf_t     last;             /* the last line, with a NUL behind it */
    buf_t     torn;             /* what is behind it */
} chain_end_t;


/* 0, or -1 and errno */

int chain_file_end(int dir, chain_end_t *end);

/* the name after this one: the day's first, or its next part; 0 or -1 */

int chain_file_next(char name[CHAIN_NAME], const char *day);

int chain_file_is(const char *name);


#endif /* FRONT_CHAIN_FILE_H */
