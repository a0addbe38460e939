
/*
 * What a fork of the template costs is the copying of its page tables.  Large
 * pages make those small: the interpreter's arenas are cut from aligned
 * blocks of the size of one, and before the first fork everything that was
 * filled is gathered into large pages, once.  Memory that a sandbox takes later
 * is of the ordinary size, and so is the copy of a page that it writes to.
 */

#include "retort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>


#define MEMORY_HUGE  (2UL * 1024 * 1024)

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE  25
#endif


typedef struct {
    char    *next;
    size_t  left;
} memory_block_t;


static memory_block_t  memory_block;


/* arenas lie side by side in aligned blocks; a freed one stays where it is */

static void *
memory_alloc(void *ctx, size_t size)
{
    char            *p, *aligned;
    memory_block_t  *block;

    block = ctx;

    if (size > MEMORY_HUGE || size == 0) {
        p = mmap(NULL, size, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS,
                 -1, 0);
        return p == MAP_FAILED ? NULL : p;
    }

    if (size > block->left) {
        p = mmap(NULL, 2 * MEMORY_HUGE, PROT_READ|PROT_WRITE,
                 MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0);

        if (p == MAP_FAILED) {
            return NULL;
        }

        aligned = p + (MEMORY_HUGE - (uintptr_t) p % MEMORY_HUGE)
                      % MEMORY_HUGE;
        (void) munmap(p, (size_t) (aligned - p));
        (void) munmap(aligned + MEMORY_HUGE,
                      MEMORY_HUGE - (size_t) (aligned - p));
        block->next = aligned;
        block->left = MEMORY_HUGE;
    }

    p = block->next;
    block->next += size;
    block->left -= size;

    return p;
}


static void
memory_free(void *ctx, void *p, size_t size)
{
    (void) ctx;
    (void) munmap(p, size);
}


void
memory_init(void)
{
    PyObjectArenaAllocator  arenas;

    arenas.ctx = &memory_block;
    arenas.alloc = memory_alloc;
    arenas.free = memory_free;
    PyObject_SetArenaAllocator(&arenas);
}


/* whole large pages of one region; what cannot be gathered stays as it is */

static void
memory_collapse(uintptr_t from, uintptr_t to)
{
    from = (from + MEMORY_HUGE - 1) / MEMORY_HUGE * MEMORY_HUGE;
    to = to / MEMORY_HUGE * MEMORY_HUGE;

    for ( ; from < to; from += MEMORY_HUGE) {
        (void) madvise((void *) from, MEMORY_HUGE, MADV_COLLAPSE);
    }
}


/*
 * "from-to perms offset device inode path": private, writable and without a
 * file, which is the heap, arenas and large blocks
 */

static int
memory_region(const char *line, uintptr_t *from, uintptr_t *to)
{
    int   i;
    char  *p;

    *from = strtoul(line, &p, 16);

    if (*p != '-') {
        return 0;
    }

    *to = strtoul(p + 1, &p, 16);

    if (strncmp(p, " rw-p ", 6) != 0) {
        return 0;
    }

    p += 6;

    for (i = 0; i < 2 && p != NULL; i++) {
        p = strchr(p, ' ');
        p = p != NULL ? p + 1 : NULL;
    }

    return p != NULL && strncmp(p, "0 ", 2) == 0
           && strstr(p, "[stack]") == NULL;
}


void
memory_settle(void)
{
    char       line[512];
    FILE       *maps;
    uintptr_t  from, to;

    maps = fopen("/proc/self/maps", "re");

    if (maps == NULL) {
        return;
    }

    while (fgets(line, sizeof(line), maps) != NULL) {
        if (memory_region(line, &from, &to)) {
            memory_collapse(from, to);
        }
    }

    (void) fclose(maps);
}
