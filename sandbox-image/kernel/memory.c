
/*
 * What a fork costs is the copying of page tables of memory that was written
 * to, and every sandbox is two forks of the template, every snapshot one more.
 * So before the first of them all that the template has written is moved into
 * one file without a name, mapped privately at the same addresses: its pages
 * are the file's, no fork copies a thing, and a sandbox pays for the pages that
 * it touches.  The file is sealed and its descriptor closed: nobody can write
 * to it or open it.
 */

#include "retort.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>


#define MEMORY_REGIONS  4096
#define MEMORY_LINE     512
#define MEMORY_CHUNK    131072      /* bytes: malloc() maps no smaller ones */
#define MEMORY_MAPPED   2           /* its mark of them, in a chunk's size */
#define MEMORY_SEALS    (F_SEAL_SEAL|F_SEAL_SHRINK|F_SEAL_GROW|F_SEAL_WRITE)

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL  0x0008U
#endif


/* not on the heap, which moves */

static memory_region_t  memory_regions[MEMORY_REGIONS];
static memory_region_t  memory_done[MEMORY_REGIONS];
static unsigned         memory_n;


static void
memory_die(const char *what)
{
    dprintf(2, "retort-kernel: the template's memory cannot be moved: %s: "
               "%m\n", what);
    _exit(KERN_EXIT_FATAL);
}


/*
 * "from-to perms offset device inode path": private, not executable, and no
 * place that the system itself made.
 */

static int
memory_parse(const char *line, memory_region_t *region)
{
    char           *p;
    unsigned long  from, to;

    from = strtoul(line, &p, 16);

    if (*p != '-') {
        return 0;
    }

    to = strtoul(p + 1, &p, 16);

    if (p[0] != ' ' || p[1] != 'r' || p[3] != '-' || p[4] != 'p'
        || strstr(p, "[stack]") != NULL || strstr(p, "[v") != NULL)
    {
        return 0;
    }

    region->start = (char *) from;
    region->len = to - from;
    region->prot = PROT_READ | (p[2] == 'w' ? PROT_WRITE : 0);

    return 1;
}


/* those with pages of their own: "Anonymous:" comes some lines after */

static unsigned
memory_find(void)
{
    int       open;
    char      line[MEMORY_LINE];
    FILE      *maps;
    unsigned  n;

    maps = fopen("/proc/self/smaps", "re");

    if (maps == NULL) {
        memory_die("smaps");
    }

    for (n = 0, open = 0; fgets(line, sizeof(line), maps) != NULL; ) {
        if (line[0] >= 'A' && line[0] <= 'Z') {
            if (open && strncmp(line, "Anonymous:", 10) == 0) {
                n += strtoul(line + 10, NULL, 10) != 0;
                open = 0;
            }

        } else if (n < MEMORY_REGIONS) {
            open = memory_parse(line, &memory_regions[n]);
        }
    }

    (void) fclose(maps);

    return n;
}


static void
memory_copy(int fd, const memory_region_t *region, off_t at)
{
    size_t   done;
    ssize_t  n;

    for (done = 0; done < region->len; done += (size_t) n) {
        n = pwrite(fd, region->start + done, region->len - done,
                   at + (off_t) done);

        if (n <= 0) {
            memory_die("copy");
        }
    }
}


/*
 * Between a region's copy and its change of place nothing may be written to
 * it, be it the heap or this program's own data.
 */

static off_t
memory_move(int fd, const memory_region_t *region, off_t at)
{
    void             *p;
    memory_region_t  r;

    if (region->len == 0 || memory_n == MEMORY_REGIONS) {
        return at;
    }

    r = *region;
    memory_done[memory_n++] = r;
    memory_copy(fd, &r, at);
    p = mmap(r.start, r.len, r.prot, MAP_PRIVATE|MAP_FIXED, fd, at);

    if (p == MAP_FAILED) {
        memory_die("mmap");
    }

    return at + (off_t) r.len;
}


/* the size of what malloc() has mapped for itself at "p", or 0 */

static size_t
memory_chunk(const char *p, const char *end, size_t page)
{
    size_t  head[2];

    memcpy(head, p, sizeof(head));

    if (head[0] != 0 || head[1] % page != MEMORY_MAPPED
        || head[1] < MEMORY_CHUNK
        || head[1] - MEMORY_MAPPED > (size_t) (end - p))
    {
        return 0;
    }

    return head[1] - MEMORY_MAPPED;
}


/*
 * Such a chunk stays what it is: to make it larger realloc() has its mapping
 * grow, which in a file would be past its end.
 */

static off_t
memory_move_all(int fd, const memory_region_t *region, off_t at)
{
    char             *p, *end;
    size_t           page, size;
    memory_region_t  part;

    page = (size_t) sysconf(_SC_PAGESIZE);
    part = *region;
    end = region->start + region->len;

    for (p = region->start; p < end; p += size != 0 ? size : page) {
        size = region->prot & PROT_WRITE ? memory_chunk(p, end, page) : 0;

        if (size != 0) {
            part.len = (size_t) (p - part.start);
            at = memory_move(fd, &part, at);
            part.start = p + size;
        }
    }

    part.len = (size_t) (end - part.start);

    return memory_move(fd, &part, at);
}


/*
 * A library's code and constants lie side by side in three mappings, which are
 * copied one by one.  With the same protection they are one.
 */

typedef struct {
    uintptr_t  start;
    uintptr_t  end;
    char       device[16];
    uint64_t   inode;
    int        exec;
} memory_text_t;


/* 1 if the line is about what may be joined */

static int
memory_text(const char *line, memory_text_t *text)
{
    char  perms[5];

    memset(text, 0, sizeof(*text));

    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*x %15s %" SCNu64,
               &text->start, &text->end, perms, text->device, &text->inode)
        != 5)
    {
        return 0;
    }

    text->exec = perms[2] == 'x';

    return text->inode != 0 && perms[1] == '-' && perms[3] == 'p';
}


static void
memory_join(const memory_text_t *text)
{
    if (text->exec) {
        (void) mprotect((void *) text->start, text->end - text->start,
                        PROT_READ|PROT_EXEC);
    }
}


static void
memory_join_all(void)
{
    FILE           *maps;
    char           line[MEMORY_LINE];
    memory_text_t  next, text;

    maps = fopen("/proc/self/maps", "re");

    if (maps == NULL) {
        return;
    }

    memset(&text, 0, sizeof(text));

    while (fgets(line, sizeof(line), maps) != NULL) {
        if (!memory_text(line, &next)) {
            continue;
        }

        if (next.start == text.end && next.inode == text.inode
            && strcmp(next.device, text.device) == 0)
        {
            text.end = next.end;
            text.exec |= next.exec;

        } else {
            memory_join(&text);
            text = next;
        }
    }

    memory_join(&text);
    (void) fclose(maps);
}


static int
memory_file(void)
{
    int  fd;

    fd = memfd_create("template",
                      MFD_CLOEXEC|MFD_ALLOW_SEALING|MFD_NOEXEC_SEAL);

    if (fd == -1 && errno == EINVAL) {
        /* a system older than the flag */
        fd = memfd_create("template", MFD_CLOEXEC|MFD_ALLOW_SEALING);
    }

    if (fd == -1) {
        memory_die("memfd_create");
    }

    return fd;
}


void
memory_settle(void)
{
    int       fd;
    off_t     at;
    unsigned  i, n;

    n = memory_find();
    fd = memory_file();

    for (i = 0, at = 0; i < n; i++) {
        at = memory_move_all(fd, &memory_regions[i], at);
    }

    if (fcntl(fd, F_ADD_SEALS, MEMORY_SEALS) == -1 || close(fd) == -1) {
        memory_die("seal");
    }

    memory_join_all();
}


const memory_region_t *
memory_moved(unsigned *n)
{
    *n = memory_n;

    return memory_done;
}
