
/*
 * Both cgroup versions, against a directory of plain files: what is written,
 * whichever version the machine has.
 *
 * links: helper/broker/cgroup.c
 */

#include "cgroup_bed.h"


static const retort_box_limits_t  cg_limits = {
    1 << 20, 0, 0, 0, 0, 42, 1500, 0, 0
};


static void
v2_gets_memory_without_swap_processes_and_a_cpu_quota(void **state)
{
    (void) state;
    cg_test.version = 2;
    cg_file("memory.max", "");
    cg_file("memory.swap.max", "");
    cg_file("pids.max", "");
    cg_file("cpu.max", "");

    assert_int_equal(cg_limit(&cg_test, "box7", &cg_limits), 0);
    cg_is("memory.max", "1048576");
    cg_is("memory.swap.max", "0");
    cg_is("pids.max", "42");
    cg_is("cpu.max", "150000 100000");
}


static void
v2_without_swap_accounting_is_good_as_well(void **state)
{
    (void) state;
    cg_test.version = 2;
    cg_file("memory.max", "");
    cg_file("pids.max", "");
    cg_file("cpu.max", "");
    assert_int_equal(cg_limit(&cg_test, "box7", &cg_limits), 0);
}


static void
a_limit_that_cannot_be_set_is_an_error(void **state)
{
    (void) state;
    cg_test.version = 2;
    cg_file("memory.max", "");
    cg_file("cpu.max", "");
    assert_int_equal(cg_limit(&cg_test, "box7", &cg_limits), -1);
    assert_int_equal(errno, ENOENT);
}


/* with "0", as who goes in by one of these files does */

static void
cg_goes_in(uint32_t version, const char *file, int groups)
{
    int  i, fds[CG_DIRS];

    cg_test.version = version;
    cg_file(file, "");
    assert_int_equal(cg_enter(&cg_test, "box7", fds), groups);

    for (i = 0; i < groups; i++) {
        assert_int_equal(write(fds[i], "0", 1), 1);
        assert_int_equal(close(fds[i]), 0);
    }

    cg_is(file, "0");
    assert_int_equal(cg_enter(&cg_test, "box8", fds), -1);
    assert_int_equal(errno, ENOENT);
}


static void
a_thread_enters_each_hierarchy_of_v1_alone(void **state)
{
    (void) state;
    cg_goes_in(1, "tasks", CG_DIRS);
}


static void
a_process_enters_the_group_of_v2(void **state)
{
    (void) state;
    cg_goes_in(2, "cgroup.procs", 1);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        CG_TEST(v2_gets_memory_without_swap_processes_and_a_cpu_quota),
        CG_TEST(v2_without_swap_accounting_is_good_as_well),
        CG_TEST(a_limit_that_cannot_be_set_is_an_error),
        CG_TEST(a_thread_enters_each_hierarchy_of_v1_alone),
        CG_TEST(a_process_enters_the_group_of_v2)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
