
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


typedef struct {
    int         fd;
    atomic_int  asked;
} wake_t;


static wake_t                 *wake_all;
static unsigned                wake_max;
static atomic_uint             wake_taken;
static atomic_int              wake_end;
static _Thread_local wake_t   *wake_mine;


int
wake_init(unsigned n)
{
    wake_all = calloc(n, sizeof(wake_t));
    if (wake_all == NULL) {
        return -1;
    }

    for (wake_max = 0; wake_max < n; wake_max++) {
        wake_all[wake_max].fd = eventfd(0, EFD_CLOEXEC|EFD_NONBLOCK);

        if (wake_all[wake_max].fd == -1) {
            return -1;
        }
    }

    return 0;
}


int
wake_fd(void)
{
    unsigned  i;

    if (wake_mine == NULL) {
        i = atomic_fetch_add(&wake_taken, 1);

        if (i < wake_max) {
            wake_mine = &wake_all[i];
        }
    }

    return wake_mine != NULL ? wake_mine->fd : -1;
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
wake_begin(void)
{
    if (wake_fd() != -1) {
        atomic_store(&wake_mine->asked, 0);
    }
}


void
wake_cancel(int fd)
{
    unsigned  i;

    for (i = 0; i < wake_max; i++) {
        if (wake_all[i].fd == fd) {
            atomic_store(&wake_all[i].asked, 1);
            wake_post(fd);
            return;
        }
    }
}


void
wake_cancel_all(void)
{
    unsigned  i;

    atomic_store(&wake_end, 1);

    for (i = 0; i < wake_max; i++) {
        wake_post(wake_all[i].fd);
    }
}


wake_why_t
wake_cancelled(void)
{
    if (atomic_load(&wake_end)) {
        return WAKE_END;
    }

    return wake_mine != NULL && atomic_load(&wake_mine->asked) ? WAKE_ASKED
                                                               : WAKE_GO_ON;
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
