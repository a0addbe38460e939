
/*
 * What every sandbox writes to.  Memory that is shared with the template is
 * copied when it is first written to, a page at a time, and most of what a
 * small cell costs are those faults.  Which pages they will be is known: a
 * child of the template rehearses, once, and each kernel has the same ones
 * copied in one go.  So with what a first plot writes to, which are ten times
 * as many: those only for a cell that seems to plot.
 *
 * Only a matter of speed: what is missing here is copied when it is needed.
 */

#include "retort.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>


#define HOT_RANGES   4096
#define HOT_GAP      0          /* pages between two that are taken along */
#define HOT_ENTRIES  512        /* of pagemap, read at once */

#define HOT_PRESENT  (1ULL << 63)
#define HOT_FILE     (1ULL << 61)       /* not this process's own copy */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE  23
#endif


typedef struct {
    uintptr_t  start;
    uintptr_t  end;
} hot_range_t;


typedef struct {
    unsigned     n;
    hot_range_t  range[HOT_RANGES];
} hot_t;


static hot_t  hot[HOT_SETS];


static void
hot_add(hot_t *h, uintptr_t page, uintptr_t size)
{
    hot_range_t  *last;

    last = &h->range[h->n != 0 ? h->n - 1 : 0];

    if (h->n != 0 && page >= last->end && page - last->end <= HOT_GAP * size) {
        last->end = page + size;

    } else if (h->n < HOT_RANGES) {
        h->range[h->n].start = page;
        h->range[h->n].end = page + size;
        h->n++;
    }
}


/* pages of a region that this process has written to */

static void
hot_scan(int fd, const memory_region_t *region, hot_t *h)
{
    ssize_t    got;
    uint64_t   entry[HOT_ENTRIES];
    uintptr_t  page, end, size;
    size_t     i, want;

    size = (uintptr_t) sysconf(_SC_PAGESIZE);
    page = (uintptr_t) region->start;
    end = page + region->len;

    while (page < end) {
        want = (end - page) / size;
        want = want < HOT_ENTRIES ? want : HOT_ENTRIES;
        got = pread(fd, entry, want * sizeof(entry[0]),
                    (off_t) (page / size * sizeof(entry[0])));

        if (got <= 0) {
            return;
        }

        for (i = 0; i < (size_t) got / sizeof(entry[0]); i++, page += size) {
            if ((entry[i] & HOT_PRESENT) && !(entry[i] & HOT_FILE)) {
                hot_add(h, page, size);
            }
        }
    }
}


static int
hot_find(hot_t *h)
{
    int                    fd;
    unsigned               i, n;
    const memory_region_t  *region;

    fd = open("/proc/self/pagemap", O_RDONLY|O_CLOEXEC);

    if (fd == -1) {
        return -1;
    }

    region = memory_moved(&n);

    for (i = 0; i < n; i++) {
        if (region[i].prot & PROT_WRITE) {
            hot_scan(fd, &region[i], h);
        }
    }

    return close(fd);
}


void
hot_learn(hot_set_t set, void (*rehearse)(void))
{
    int    status;
    pid_t  pid;
    hot_t  *found;

    found = mmap(NULL, sizeof(*found), PROT_READ|PROT_WRITE,
                 MAP_SHARED|MAP_ANONYMOUS, -1, 0);

    if (found == MAP_FAILED) {
        return;
    }

    PyOS_BeforeFork();
    pid = fork();

    if (pid == 0) {
        rehearse();
        _exit(hot_find(found) == 0 ? 0 : 1);
    }

    PyOS_AfterFork_Parent();

    if (pid != -1 && waitpid(pid, &status, 0) == pid && status == 0) {
        hot[set] = *found;
    }

    (void) munmap(found, sizeof(*found));
}


void
hot_copy(hot_set_t set)
{
    unsigned           i;
    const hot_range_t  *range;

    for (i = 0; i < hot[set].n; i++) {
        range = &hot[set].range[i];
        (void) madvise((void *) range->start, range->end - range->start,
                       MADV_POPULATE_WRITE);
    }
}
