
/*
 * What a cell wrote: bytes that this process and the children it waited for
 * gave to write(2) and its like.  Files in a sandbox are memory, so no counter
 * of a disk knows them.  The tenant could say anything here, about itself.
 */

#include "retort.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>


#define USAGE_FILE  "/proc/self/io"
#define USAGE_KEY   "wchar: "


static int       usage_fd = -1;
static pid_t     usage_pid;     /* whose count it is: a fork begins at 0 */
static uint64_t  usage_last;


/*
 * A process that changed its ids may not open this file of its own, as nobody
 * else may; once it is open it can be read.
 */

static void
usage_open(void)
{
    int  was;

    if (usage_fd != -1) {
        (void) close(usage_fd);
    }

    was = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    (void) prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    usage_fd = open(USAGE_FILE, O_RDONLY|O_CLOEXEC);
    (void) prctl(PR_SET_DUMPABLE, was, 0, 0, 0);

    usage_pid = getpid();
    usage_last = 0;
}


/* the tenant may have closed the descriptor, or have another file there */

static uint64_t
usage_total(void)
{
    char     text[512], *p;
    ssize_t  n;

    n = pread(usage_fd, text, sizeof(text) - 1, 0);

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
        usage_open();
    }

    was = usage_last;
    now = usage_total();
    usage_last = now;

    return now > was ? now - was : 0;
}
