
/*
 * In retort-front, as its own uid without any capability.  Reads what an
 * earlier front wrote, and somebody else may have changed: only a line whose
 * hash is right is gone on from.
 */

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chain_file.h"
#include "flog.h"


#define CHAIN_PARTS   9999
#define CHAIN_PATTERN "dddd-dd-dd.dddd.jsonl"
#define CHAIN_HASH    ",\"hash\":\""
#define CHAIN_TAIL    (sizeof(CHAIN_HASH) - 1 + CHAIN_HEX - 1 + 2)  /* "} */


int
chain_file_is(const char *name)
{
    const char  *p;

    for (p = CHAIN_PATTERN; *p != '\0'; p++, name++) {
        if (*p == 'd' ? *name < '0' || *name > '9' : *name != *p) {
            return 0;
        }
    }

    return *name == '\0';
}


int
chain_file_next(char name[CHAIN_NAME], const char *day)
{
    long  part;

    part = 1;

    if (name[0] != '\0' && strncmp(day, name, CHAIN_DAY) <= 0) {
        /* also if the clock was set back */
        part = strtol(name + CHAIN_DAY + 1, NULL, 10) + 1;
        day = name;
    }

    if (part < 1 || part > CHAIN_PARTS) {
        errno = ENOSPC;
        return -1;
    }

    (void) snprintf(name + CHAIN_DAY, CHAIN_NAME - CHAIN_DAY, ".%04ld.jsonl",
                    part);
    memmove(name, day, CHAIN_DAY);

    return 0;
}


/* the greatest name, and the greatest of a file that is not empty */

static int
chain_names(int dir, char last[CHAIN_NAME], char full[CHAIN_NAME])
{
    int             fd;
    DIR            *d;
    struct stat     st;
    struct dirent  *e;

    fd = openat(dir, ".", O_RDONLY|O_DIRECTORY|O_CLOEXEC);
    d = fd != -1 ? fdopendir(fd) : NULL;

    if (d == NULL) {
        return -1;
    }

    last[0] = full[0] = '\0';

    while ((e = readdir(d)) != NULL) {
        if (!chain_file_is(e->d_name)
            || fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == -1
            || !S_ISREG(st.st_mode))
        {
            continue;
        }

        if (strcmp(e->d_name, last) > 0) {
            memcpy(last, e->d_name, sizeof(CHAIN_PATTERN));
        }

        if (st.st_size != 0 && strcmp(e->d_name, full) > 0) {
            memcpy(full, e->d_name, sizeof(CHAIN_PATTERN));
        }
    }

    (void) closedir(d);

    return 0;
}


/* is it a whole line, without its newline, whose hash is right? */

static int
chain_good(const char *p, size_t len, char hash[CHAIN_HEX])
{
    size_t  n;

    if (len <= CHAIN_TAIL) {
        return 0;
    }

    n = len - CHAIN_TAIL;
    chain_sha256(p, n, hash);

    return memcmp(p + n, CHAIN_HASH, sizeof(CHAIN_HASH) - 1) == 0
           && memcmp(p + n + sizeof(CHAIN_HASH) - 1, hash, CHAIN_HEX - 1) == 0
           && memcmp(p + len - 2, "\"}", 2) == 0;
}


/* finds the last good line in the end of a file; 0, or -1: there is none */

static int
chain_last(chain_end_t *end, const char *p, size_t len)
{
    size_t  stop, from;

    for (stop = len; stop != 0; stop = from) {
        /* a line ends before "stop" */

        from = stop;

        if (p[stop - 1] != '\n') {
            while (from != 0 && p[from - 1] != '\n') {
                from--;
            }

            continue;
        }

        for (from = stop - 1; from != 0 && p[from - 1] != '\n'; from--) {
            /* void */
        }

        if (chain_good(p + from, stop - 1 - from, end->head)
            && sscanf(p + from, "{\"n\":%" SCNu64 ",", &end->n) == 1)
        {
            (void) buf_add(&end->last, p + from, stop - 1 - from);
            (void) buf_add(&end->last, "", 1);
            (void) buf_add(&end->torn, p + stop, len - stop);
            return 0;
        }
    }

    return -1;
}


static int
chain_read(int dir, chain_end_t *end)
{
    int          fd, rc;
    char        *p;
    size_t       len;
    ssize_t      n;
    struct stat  st;

    fd = openat(dir, end->name, O_RDONLY|O_NOFOLLOW|O_CLOEXEC);
    p = malloc(2 * CHAIN_LINE + 1);
    rc = -1;

    if (fd != -1 && p != NULL && fstat(fd, &st) == 0) {
        end->size = (uint64_t) st.st_size;
        len = end->size < 2 * CHAIN_LINE ? (size_t) end->size : 2 * CHAIN_LINE;
        n = pread(fd, p, len, st.st_size - (off_t) len);
        rc = n < 0 ? -1 : 0;
        p[n < 0 ? 0 : n] = '\0';

        if (rc == 0 && chain_last(end, p, (size_t) n) == -1) {
            flog(RLOG_ERROR, "audit: %s does not end with a line that is "
                 "whole: a new chain begins", end->name);
            rc = 1;
        }
    }

    free(p);

    if (fd != -1) {
        (void) close(fd);
    }

    return rc;
}


int
chain_file_end(int dir, chain_end_t *end)
{
    int   rc;
    char  last[CHAIN_NAME];

    memset(end, 0, sizeof(chain_end_t));
    memset(end->head, '0', CHAIN_HEX - 1);
    end->fd = -1;

    if (chain_names(dir, last, end->name) == -1) {
        return -1;
    }

    if (end->name[0] != '\0') {
        rc = chain_read(dir, end);

        if (rc == -1) {
            return -1;
        }

        if (rc == 1) {
            memset(end->head, '0', CHAIN_HEX - 1);
            end->n = 0;

        } else if (strcmp(last, end->name) == 0) {
            end->fd = openat(dir, end->name,
                             O_WRONLY|O_APPEND|O_NOFOLLOW|O_CLOEXEC);
            return end->fd == -1 ? -1 : 0;
        }
    }

    /* what is there stays as it is, and the next name is behind it */

    memcpy(end->name, last, sizeof(last));

    return 0;
}
