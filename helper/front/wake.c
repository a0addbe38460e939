
/*
 * In retort-front, as its own uid without any capability.
 */

#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "wake.h"


static int                *wake_fds;
static unsigned            wake_max;
static atomic_uint         wake_taken;
static atomic_int          wake_end;
static _Thread_local int   wake_mine = -1;


int
wake_init(unsigned n)
{
    wake_fds = calloc(n, sizeof(int));
    if (wake_fds == NULL) {
        return -1;
    }

    for (wake_max = 0; wake_max < n; wake_max++) {
        wake_fds[wake_max] = eventfd(0, EFD_CLOEXEC|EFD_NONBLOCK);

        if (wake_fds[wake_max] == -1) {
            return -1;
        }
    }

    return 0;
}


int
wake_fd(void)
{
    unsigned  i;

    if (wake_mine == -1) {
        i = atomic_fetch_add(&wake_taken, 1);

        if (i < wake_max) {
            wake_mine = wake_fds[i];
        }
    }

    return wake_mine;
}


void
wake_post(int fd)
{
    ssize_t   n;
    uint64_t  one;

    one = 1;
    n = write(fd, &one, sizeof(one));
    (void) n;
}


void
wake_clear(int fd)
{
    ssize_t   n;
    uint64_t  count;

    n = read(fd, &count, sizeof(count));
    (void) n;
}


void
wake_cancel_all(void)
{
    unsigned  i;

    atomic_store(&wake_end, 1);

    for (i = 0; i < wake_max; i++) {
        wake_post(wake_fds[i]);
    }
}


int
wake_cancelled(void)
{
    return atomic_load(&wake_end);
}


int
client_gone(int fd)
{
    struct pollfd  p;

    p.fd = fd;
    p.events = POLLIN|POLLRDHUP;
    p.revents = 0;

    return poll(&p, 1, 0) != 0;
}
