
/*
 * What a cell wrote: bytes that this process and the children it waited for
 * gave to write(2) and its like.  Files in a sandbox are memory, so no counter
 * of a disk knows them.  The tenant could say anything here, about itself.
 */

#include "retort.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


#define USAGE_FILE  "/proc/self/io"
#define USAGE_KEY   "wchar: "


static pid_t     usage_pid;     /* whose count it is: a fork begins at 0 */
static uint64_t  usage_last;


static uint64_t
usage_total(void)
{
    int      fd;
    char     text[512], *p;
    ssize_t  n;

    fd = open(USAGE_FILE, O_RDONLY|O_CLOEXEC);

    if (fd == -1) {
        return 0;
    }

    n = read(fd, text, sizeof(text) - 1);
    (void) close(fd);

    if (n <= 0) {
        return 0;
    }

    text[n] = '\0';
    p = strstr(text, USAGE_KEY);

    return p != NULL ? strtoull(p + strlen(USAGE_KEY), NULL, 10) : 0;
}


uint64_t
usage_written(void)
{
    uint64_t  now, was;

    if (usage_pid != getpid()) {
        usage_pid = getpid();
        usage_last = 0;
    }

    was = usage_last;
    now = usage_total();
    usage_last = now;

    return now > was ? now - was : 0;
}
