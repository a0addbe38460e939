
/*
 * What the front asks for becomes a plan only here.
 *
 * links: helper/broker/policy.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "broker/policy.h"


static retort_profile_t
policy_sample(void)
{
    retort_profile_t                  p;
    static const retort_box_limits_t  normal = { 100, 10, 20, 30, 40, 5, 6, 7,
                                                 0 };
    static const retort_box_limits_t  most = { 200, 11, 22, 33, 44, 55, 66, 77,
                                               0 };

    memset(&p, 0, sizeof(p));
    p.box = normal;
    p.box_max = most;

    return p;
}


static void
zero_asks_for_the_default(void **state)
{
    retort_profile_t     p;
    retort_box_limits_t  asked, plan;

    (void) state;
    p = policy_sample();
    memset(&asked, 0, sizeof(asked));
    policy_limits(&p, &asked, &plan);
    assert_memory_equal(&plan, &p.box, sizeof(plan));
}


static void
nothing_goes_above_the_ceiling(void **state)
{
    retort_profile_t     p;
    retort_box_limits_t  asked, plan;

    (void) state;
    p = policy_sample();
    memset(&asked, 0xff, sizeof(asked));
    policy_limits(&p, &asked, &plan);
    assert_memory_equal(&plan, &p.box_max, sizeof(plan));
}


static void
a_value_below_the_ceiling_is_taken_as_it_is(void **state)
{
    retort_profile_t     p;
    retort_box_limits_t  asked, plan;

    (void) state;
    p = policy_sample();
    memset(&asked, 0, sizeof(asked));
    asked.memory = 1;
    asked.cpu = 66;
    policy_limits(&p, &asked, &plan);
    assert_int_equal(plan.memory, 1);
    assert_int_equal(plan.cpu, 66);
    assert_int_equal(plan.processes, 5);
}


static void
a_profile_is_found_by_its_whole_name_alone(void **state)
{
    char               name[RETORT_PROFILE_NAME];
    retort_settings_t  s;

    (void) state;
    memset(&s, 0, sizeof(s));
    s.nprofiles = 2;
    strcpy(s.profile[0].name, "default");
    strcpy(s.profile[1].name, "big");
    strcpy(s.profile[2].name, "stale");

    memset(name, 0, sizeof(name));
    strcpy(name, "big");
    assert_int_equal(policy_profile(&s, name), 1);
    strcpy(name, "bigger");
    assert_int_equal(policy_profile(&s, name), -1);
    strcpy(name, "stale");
    assert_int_equal(policy_profile(&s, name), -1);
    strcpy(name, "");
    assert_int_equal(policy_profile(&s, name), -1);
}


static void
a_name_that_does_not_end_is_no_profile(void **state)
{
    char               name[RETORT_PROFILE_NAME];
    retort_settings_t  s;

    (void) state;
    memset(&s, 0, sizeof(s));
    s.nprofiles = 1;
    memset(s.profile[0].name, 'a', RETORT_PROFILE_NAME - 1);
    memset(name, 'a', sizeof(name));
    assert_int_equal(policy_profile(&s, name), -1);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(zero_asks_for_the_default),
        cmocka_unit_test(nothing_goes_above_the_ceiling),
        cmocka_unit_test(a_value_below_the_ceiling_is_taken_as_it_is),
        cmocka_unit_test(a_profile_is_found_by_its_whole_name_alone),
        cmocka_unit_test(a_name_that_does_not_end_is_no_profile)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
