
/*
 * Who leaves boxes to others waits behind them, but not for ever.
 *
 * links: helper/front/line.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "front/line.h"


static line_t       line;
static line_wait_t  w[8];


static int
empty(void **state)
{
    (void) state;

    memset(&line, 0, sizeof(line));
    memset(w, 0, sizeof(w));

    return 0;
}


static void
joins(unsigned i, uint32_t leaves)
{
    w[i].leaves = leaves;
    line_join(&line, &w[i]);
}


static uint32_t
before(unsigned i)
{
    return line_before(&line, &w[i]);
}


static void
who_leaves_none_is_served_in_turn(void **state)
{
    (void) state;

    joins(0, 0);
    joins(1, 0);
    joins(2, 0);
    assert_int_equal(line.n, 3);
    assert_int_equal(before(0), 0);
    assert_int_equal(before(1), 1);
    assert_int_equal(before(2), 2);

    assert_true(line_leave(&line, &w[0]));
    assert_int_equal(before(1), 0);
    assert_int_equal(before(2), 1);
    assert_false(line_leave(&line, &w[2]));
    assert_false(line_leave(&line, &w[1]));
    assert_int_equal(line.n, 0);
}


static void
what_one_leaves_is_not_for_it(void **state)
{
    (void) state;

    joins(0, 3);
    assert_int_equal(before(0), 3);
    joins(1, 3);
    assert_int_equal(before(0), 3);
    assert_int_equal(before(1), 4);
}


static void
who_leaves_less_goes_before(void **state)
{
    (void) state;

    joins(0, 2);
    joins(1, 0);
    assert_int_equal(before(1), 0);

    /* which is one of the two that it left */
    assert_int_equal(before(0), 2);
    assert_true(line_leave(&line, &w[1]));
    assert_int_equal(before(0), 1);
}


static void
as_often_as_it_leaves_some_and_no_more(void **state)
{
    (void) state;

    joins(0, 2);
    joins(1, 0);
    joins(2, 0);
    joins(3, 0);
    assert_int_equal(before(1), 0);
    assert_int_equal(before(2), 1);
    assert_int_equal(before(0), 2);
    assert_int_equal(before(3), 3);

    assert_true(line_leave(&line, &w[1]));
    assert_true(line_leave(&line, &w[2]));
    assert_int_equal(before(0), 0);
    joins(4, 0);
    assert_int_equal(before(0), 0);
    assert_int_equal(before(3), 1);
    assert_int_equal(before(4), 2);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test_setup(who_leaves_none_is_served_in_turn, empty),
        cmocka_unit_test_setup(what_one_leaves_is_not_for_it, empty),
        cmocka_unit_test_setup(who_leaves_less_goes_before, empty),
        cmocka_unit_test_setup(as_often_as_it_leaves_some_and_no_more, empty)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
