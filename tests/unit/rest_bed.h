
/*
 * What box.c and box_rest.c need of others, for one box: a clock that stands
 * still, a broker that says nothing by itself, and a thread that was woken but
 * goes on only when the test says so.
 */

#ifndef UNIT_REST_BED_H
#define UNIT_REST_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "front/box_id.h"
#include "front/box_table.h"
#include "front/broker_client.h"
#include "front/clock.h"
#include "front/drain.h"
#include "front/wake.h"


#define BOX  7              /* the one of which the broker is told */


static sem_t              in_line;
static sem_t              woken;
static sem_t              go_on;
static unsigned           restarts;
static unsigned           dropped;

static _Thread_local int       eventfd_mine = -1;
static _Thread_local int       hurry;
static _Thread_local unsigned  looked;      /* at the clock: who waits does */


static int
my_eventfd(void)
{
    if (eventfd_mine == -1) {
        eventfd_mine = eventfd(0, EFD_CLOEXEC|EFD_NONBLOCK);
    }

    return eventfd_mine;
}


int
wake_fd(void)
{
    (void) sem_post(&in_line);

    return my_eventfd();
}


void
wake_post(int fd)
{
    (void) eventfd_write(fd, 1);
}


/* somebody woke up, and comes no further for now */

void
wake_clear(int fd)
{
    eventfd_t  n;

    (void) eventfd_read(fd, &n);
    (void) sem_post(&woken);
    (void) sem_wait(&go_on);
}


wake_why_t
wake_cancelled(void)
{
    return WAKE_GO_ON;
}


void
wake_cancel(int fd)
{
    (void) fd;
}


/* time stands still, but not for who is in a hurry */

uint64_t
clock_mono_us(void)
{
    looked++;

    return 1 + (hurry ? looked * 60000000ULL : 0);
}


uint64_t
clock_wall_ms(void)
{
    return 1;
}


void
brk_request(brk_req_t *req, brk_op_t op, uint64_t id)
{
    memset(req, 0, sizeof(brk_req_t));
    req->op = (uint16_t) op;
    req->id = id;
}


void
brk_post(const brk_req_t *req)
{
    assert_int_equal(req->op, BRK_RECORD);
}


void
brk_post_event(const brk_req_t *req)
{
    assert_int_equal(req->op, BRK_RESTART);
    assert_int_equal(req->id, BOX);
    restarts++;
}


void
box_fds(box_t *box, const int *fds)
{
    memcpy(box->fd, fds, sizeof(box->fd));
}


void
box_drop(box_t *box)
{
    (void) box;
    dropped++;
}


void
box_alarm(uint64_t when)
{
    (void) when;
}


int
drain_is(void)
{
    return 0;
}


void
box_id_init(const char *node)
{
    (void) node;
}


int
box_id_ours(const char *id, const char *workspace)
{
    (void) id;
    (void) workspace;

    return 0;
}

#endif /* UNIT_REST_BED_H */
