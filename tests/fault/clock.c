
/*
 * The clock of people, set by a test: what CLOCK_FILE holds, a number of
 * seconds as an int64_t, is added to it.  Linked into a front of the test's
 * own, and loaded into its nginx; the clocks that only go forward stay.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>


static const volatile int64_t  *clock_set;


/* before anything is forbidden */

__attribute__((constructor))
static void
clock_open(void)
{
    int   fd;
    void  *p;

    fd = open(CLOCK_FILE, O_RDONLY|O_CLOEXEC);
    p = mmap(NULL, sizeof(*clock_set), PROT_READ, MAP_SHARED, fd, 0);

    if (fd == -1 || p == MAP_FAILED || close(fd) == -1) {
        abort();
    }

    clock_set = p;
}


int
clock_gettime(clockid_t clock, struct timespec *ts)
{
    long  rc;

    rc = syscall(SYS_clock_gettime, clock, ts);

    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
        ts->tv_sec += *clock_set;
    }

    return (int) rc;
}


time_t
time(time_t *t)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_REALTIME, &ts);

    if (t != NULL) {
        *t = ts.tv_sec;
    }

    return ts.tv_sec;
}


int
gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
    struct timespec  ts;

    (void) tz;
    (void) clock_gettime(CLOCK_REALTIME, &ts);
    tv->tv_sec = ts.tv_sec;
    tv->tv_usec = ts.tv_nsec / 1000;

    return 0;
}
