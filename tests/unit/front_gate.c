
/*
 * The gate: some thread there always looks at the clock, and nobody stays when
 * it is closed.
 *
 * links: helper/front/gate.c helper/front/head.c helper/front/clock.c
 * links: helper/front/flog.c helper/lib/log.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "front/bounds.h"
#include "front/clock.h"
#include "front/gate.h"


#define THREADS   5
#define PATIENCE  20000         /* msec; for what would never come otherwise */


static uid_t               uid;
static int                 started;
static pthread_t           threads[2 * THREADS];
static atomic_int          gone;
static struct sockaddr_un  name;
static socklen_t           name_len;


/* a request that has no params, without a body */

static const char  head[] =
    "\1\1\0\1\0\10\0\0\0\1\1\0\0\0\0\0" "\1\4\0\1\0\0\0\0";


/* one that is in work for as long as the test lasts */

static void *
stand(void *arg)
{
    int  fd;

    (void) arg;
    (void) gate_next(&fd);
    (void) atomic_fetch_add(&gone, 1);

    return NULL;
}


static void
start(void)
{
    int  i;

    for (i = 0; i < THREADS; i++, started++) {
        assert_int_equal(pthread_create(&threads[started], NULL, stand, NULL),
                         0);
    }
}


static int
open_gate(void **state)
{
    int  listener;

    (void) state;

    uid = getuid();
    name.sun_family = AF_UNIX;
    name_len = sizeof(name);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);

    /* without a name: the kernel finds one that is no file */
    if (bind(listener, (struct sockaddr *) &name, sizeof(sa_family_t)) == -1
        || getsockname(listener, (struct sockaddr *) &name, &name_len) == -1
        || listen(listener, 8) == -1 || gate_init(listener, &uid, 1) == -1)
    {
        return -1;
    }

    start();

    return 0;
}


/* with time between its steps: for each, the thread that came last is woken */

static int
client(const char *bytes, size_t n)
{
    int  fd;

    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *) &name, name_len), 0);
    (void) usleep(300000);
    assert_int_equal(send(fd, bytes, n, 0), n);
    (void) usleep(300000);

    return fd;
}


static int
some_have_gone(int n)
{
    uint64_t  end;

    end = clock_mono_us() + PATIENCE * 1000;

    while (atomic_load(&gone) < n && clock_mono_us() < end) {
        (void) usleep(1000);
    }

    return atomic_load(&gone) == n;
}


/* those that saw the part come count; they are the first to leave as well */

static void
a_part_ends_though_who_counted_has_left(void **state)
{
    int            i, part, whole[THREADS - 1];
    char           byte;
    struct pollfd  p;

    (void) state;

    part = client(head, 4);

    for (i = 0; i < THREADS - 1; i++) {
        whole[i] = client(head, sizeof(head) - 1);
    }

    assert_true(some_have_gone(THREADS - 1));

    p.fd = part;
    p.events = POLLIN;
    assert_int_equal(poll(&p, 1, BOUND_HEAD_TIME + PATIENCE), 1);
    assert_true(recv(part, &byte, 1, 0) <= 0);
    (void) close(part);

    for (i = 0; i < THREADS - 1; i++) {
        (void) close(whole[i]);
    }
}


static void
all_leave_when_it_is_closed(void **state)
{
    int  i;

    (void) state;

    start();
    (void) usleep(300000);
    gate_close();
    assert_true(some_have_gone(2 * THREADS));

    for (i = 0; i < 2 * THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(a_part_ends_though_who_counted_has_left),
        cmocka_unit_test(all_leave_when_it_is_closed),
    };

    return cmocka_run_group_tests(tests, open_gate, NULL);
}
