
/*
 * Who is limited waits while others' sandboxes are made or die, and not longer
 * than a moment.
 *
 * links: helper/front/pace.c
 */

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "front/clock.h"
#include "front/pace.h"


static uint64_t  now = 1000000000;
static unsigned  waits;         /* that there were */
static unsigned  ends;          /* in as many of the next waits one ends */


uint64_t
clock_mono_us(void)
{
    return now;
}


int
pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
    const struct timespec *until)
{
    (void) cond;
    (void) until;

    waits++;

    if (ends == 0) {
        return ETIMEDOUT;
    }

    ends--;
    (void) pthread_mutex_unlock(mutex);
    pace_end();
    (void) pthread_mutex_lock(mutex);

    return 0;
}


static unsigned
waited(unsigned n)
{
    waits = 0;
    pace_wait(n);

    return waits;
}


static void
nobody_waits_while_there_are_fewer(void **state)
{
    (void) state;

    assert_int_equal(waited(1), 0);
    pace_begin();
    assert_int_equal(waited(2), 0);
    pace_end();
    assert_int_equal(waited(1), 0);
}


static void
who_waits_goes_on_when_there_are_fewer(void **state)
{
    (void) state;

    pace_begin();
    pace_begin();
    pace_begin();
    ends = 2;
    assert_int_equal(waited(2), 2);
    assert_int_equal(ends, 0);
    ends = 1;
    assert_int_equal(waited(1), 1);
    assert_int_equal(waited(1), 0);
}


static void
who_waits_for_long_goes_on(void **state)
{
    (void) state;

    pace_begin();
    assert_int_equal(waited(1), 1);
    assert_int_equal(waited(1), 1);
    pace_end();
    assert_int_equal(waited(1), 0);
}


static void
an_end_without_a_beginning_is_none(void **state)
{
    (void) state;

    pace_end();
    assert_int_equal(waited(1), 0);
    pace_begin();
    assert_int_equal(waited(1), 1);
    pace_end();
}


static void
what_never_ends_is_forgotten(void **state)
{
    (void) state;

    pace_begin();
    now += 59000000;
    pace_begin();
    pace_end();
    assert_int_equal(waited(1), 1);
    now += 61000000;
    pace_begin();
    pace_end();
    assert_int_equal(waited(1), 0);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(nobody_waits_while_there_are_fewer),
        cmocka_unit_test(who_waits_goes_on_when_there_are_fewer),
        cmocka_unit_test(who_waits_for_long_goes_on),
        cmocka_unit_test(an_end_without_a_beginning_is_none),
        cmocka_unit_test(what_never_ends_is_forgotten)
    };

    return pace_init() == -1
           || cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
