
/*
 * Who has had many sandboxes lately leaves some to others, and to nobody else.
 *
 * links: helper/front/share.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "front/share.h"


#define SECOND  1000000ULL


static uint64_t  clock_now = 1000 * SECOND;


static void
takes(const char *workspace, unsigned n)
{
    while (n-- > 0) {
        share_took(workspace, clock_now);
    }
}


static void
passes(uint64_t usec)
{
    clock_now += usec;
}


static uint32_t
leaves(const char *workspace)
{
    return share_leaves(workspace, 16, clock_now);
}


static void
nobody_leaves_any_at_first(void **state)
{
    (void) state;

    assert_int_equal(leaves("a"), 0);
    takes("a", 16);
    passes(SECOND / 2);
    assert_int_equal(leaves("a"), 0);
}


static void
who_has_had_all_leaves_a_quarter_for_a_second_or_two(void **state)
{
    (void) state;

    passes(5 * SECOND);
    takes("a", 1000);
    passes(SECOND / 2);
    assert_int_equal(leaves("a"), 4);
    assert_int_equal(leaves("b"), 0);
    assert_int_equal(share_leaves("a", 3, clock_now), 0);
    assert_int_equal(share_leaves("a", 0, clock_now), 0);
    passes(2 * SECOND);
    assert_int_equal(leaves("a"), 0);

    /* nor if nobody looked meanwhile */
    takes("a", 1000);
    passes(2 * SECOND);
    assert_int_equal(leaves("a"), 0);
}


/* all but a third, which would be its share if one more came */

static void
beside_another_one_leaves_all_but_its_share(void **state)
{
    (void) state;

    passes(5 * SECOND);
    takes("a", 100000);
    takes("b", 1);
    passes(SECOND / 2);
    assert_int_equal(leaves("a"), 11);
    assert_int_equal(leaves("b"), 0);
    assert_int_equal(share_leaves("a", 8, clock_now), 6);
    assert_int_equal(share_leaves("a", 1, clock_now), 1);
    assert_int_equal(share_leaves("a", 0, clock_now), 0);

    /* b is not there any more */
    passes(2 * SECOND);
    takes("a", 1000);
    assert_int_equal(leaves("a"), 4);
}


static void
who_has_had_less_leaves_less(void **state)
{
    (void) state;

    passes(5 * SECOND);
    takes("a", 900);
    takes("b", 100);
    passes(SECOND / 2);
    assert_int_equal(leaves("a"), 10);
    assert_int_equal(leaves("b"), 0);
    assert_int_equal(leaves("c"), 0);

    passes(5 * SECOND);
    takes("a", 700);
    takes("b", 300);
    passes(SECOND / 2);
    assert_int_equal(leaves("a"), 6);
    assert_int_equal(leaves("b"), 0);
}


static void
equals_leave_what_one_more_would_need(void **state)
{
    (void) state;

    passes(5 * SECOND);
    takes("a", 500);
    takes("b", 500);
    passes(SECOND / 2);
    assert_int_equal(leaves("a"), 3);
    assert_int_equal(leaves("b"), 3);
    assert_int_equal(leaves("c"), 0);
}


/* whenever in a second it asks: else who asks little would leave some, too */

static void
two_that_go_on_are_two(void **state)
{
    unsigned  i;

    (void) state;

    passes(5 * SECOND);

    for (i = 0; i < 500; i++) {
        passes(SECOND / 100);
        takes("a", 1);
        takes("b", i % 5 < 3);

        if (i > 100) {
            assert_in_range(leaves("a"), 1, 5);
            assert_int_equal(leaves("b"), 0);
            assert_true(share_exceeds("a", clock_now));
            assert_false(share_exceeds("b", clock_now));
        }
    }
}


static void
who_had_more_than_its_part_beside_others_exceeds(void **state)
{
    (void) state;

    passes(5 * SECOND);
    takes("a", 1000);
    passes(SECOND / 2);
    assert_false(share_exceeds("a", clock_now));

    takes("b", 400);
    assert_true(share_exceeds("a", clock_now));
    assert_false(share_exceeds("b", clock_now));
    assert_false(share_exceeds("c", clock_now));

    takes("b", 600);
    assert_false(share_exceeds("a", clock_now));
    assert_false(share_exceeds("b", clock_now));

    takes("a", 600);
    assert_true(share_exceeds("a", clock_now));
    passes(SECOND / 3);
    takes("a", 1);
    assert_false(share_exceeds("a", clock_now));
    takes("b", 1);
    assert_true(share_exceeds("a", clock_now));
}


/* requests wait, so what is told may be late */

static void
times_that_go_back_do_no_harm(void **state)
{
    unsigned  i;

    (void) state;

    passes(5 * SECOND);

    for (i = 0; i < 1000; i++) {
        share_took("a", clock_now + (i * 7919 % 5) * SECOND);
        share_took("b", clock_now + (i * 7907 % 3) * SECOND);
        assert_in_range(share_leaves("a", 16, clock_now + i % 4 * SECOND),
                        0, 16);
    }
}


/* who takes many is not told that he took more than all did */

static void
a_clock_that_was_read_late_makes_nobody_leave_more(void **state)
{
    (void) state;

    passes(5 * SECOND);
    takes("a", 1000);
    share_took("b", clock_now + SECOND);
    takes("b", 1);
    assert_in_range(leaves("a"), 1, 16);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(nobody_leaves_any_at_first),
        cmocka_unit_test(who_has_had_all_leaves_a_quarter_for_a_second_or_two),
        cmocka_unit_test(beside_another_one_leaves_all_but_its_share),
        cmocka_unit_test(who_has_had_less_leaves_less),
        cmocka_unit_test(equals_leave_what_one_more_would_need),
        cmocka_unit_test(two_that_go_on_are_two),
        cmocka_unit_test(who_had_more_than_its_part_beside_others_exceeds),
        cmocka_unit_test(times_that_go_back_do_no_harm),
        cmocka_unit_test(a_clock_that_was_read_late_makes_nobody_leave_more)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
