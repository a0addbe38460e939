
/*
 * What the broker opens of a box's groups, and what the front and the broker
 * read in it, with both cgroup versions.
 *
 * links: helper/broker/cgroup.c helper/lib/counters.c
 */

#include "cgroup_bed.h"

#include "lib/counters.h"


/* what the front and the broker find in the files that the broker opened */

static void
cg_count(brk_stat_t *st)
{
    int  i, fds[BRK_COUNTERS];

    cg_counters(&cg_test, "box7", fds);
    counters_read(fds, st);

    for (i = 0; i < BRK_COUNTERS; i++) {
        assert_int_equal(close(fds[i]), 0);
    }
}


static void
v2_counters_are_found_by_their_keys(void **state)
{
    brk_stat_t  st;

    (void) state;
    cg_test.version = 2;
    cg_file("cpu.stat", "usage_usec 30\nuser_usec 10\nsystem_usec 20\n");
    cg_file("memory.current", "111\n");
    cg_file("memory.peak", "222\n");
    cg_file("memory.events", "low 0\nhigh 0\nmax 9\noom 8\noom_kill 3\n");
    cg_file("pids.current", "4\n");
    cg_count(&st);

    assert_int_equal(st.cpu_us, 30);
    assert_int_equal(st.cpu_system_us, 20);
    assert_int_equal(st.memory_now, 111);
    assert_int_equal(st.memory_peak, 222);
    assert_int_equal(st.oom_kills, 3);
    assert_int_equal(st.processes, 4);
}


static void
v1_counts_nanoseconds_and_its_own_files(void **state)
{
    brk_stat_t  st;

    (void) state;
    cg_test.version = 1;
    cg_file("cpuacct.usage", "5000\n");
    cg_file("cpuacct.usage_sys", "2000\n");
    cg_file("memory.usage_in_bytes", "1\n");
    cg_file("memory.max_usage_in_bytes", "2\n");
    cg_file("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n"
            "oom_kill 6\n");
    cg_count(&st);

    assert_int_equal(st.cpu_us, 5);
    assert_int_equal(st.cpu_system_us, 2);
    assert_int_equal(st.memory_peak, 2);
    assert_int_equal(st.oom_kills, 6);
}


static void
what_a_kernel_does_not_count_is_nothing(void **state)
{
    brk_stat_t  st;

    (void) state;
    cg_test.version = 2;
    cg_file("cpu.stat", "usage_usec 30\nsystem_usec 20\n");
    cg_count(&st);
    assert_int_equal(st.cpu_us, 30);
    assert_int_equal(st.memory_peak, 0);
    assert_int_equal(st.oom_kills, 0);
}


static void
a_peak_can_begin_anew_and_no_other_file_is_writable(void **state)
{
    int  i, fds[BRK_COUNTERS];

    (void) state;
    cg_test.version = 1;
    cg_file("cpuacct.usage", "5\n");
    cg_file("cpuacct.usage_sys", "5\n");
    cg_file("memory.usage_in_bytes", "5\n");
    cg_file("memory.max_usage_in_bytes", "5\n");
    cg_file("memory.oom_control", "oom_kill 5\n");
    cg_counters(&cg_test, "box7", fds);

    for (i = 0; i < BRK_COUNTERS; i++) {
        assert_int_equal(write(fds[i], "0", 1), i == BRK_PEAK ? 1 : -1);
        assert_int_equal(close(fds[i]), 0);
    }

    cg_is("memory.max_usage_in_bytes", "0\n");
}


static void
counters_that_cannot_be_read_stay_as_they_were(void **state)
{
    int         fds[BRK_COUNTERS];
    brk_stat_t  st;

    (void) state;
    memset(&st, 7, sizeof(st));
    memset(fds, -1, sizeof(fds));
    counters_read(fds, &st);
    assert_int_equal(st.memory_peak, 0x0707070707070707);
    assert_int_equal(st.oom_kills, 0x07070707);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        CG_TEST(v2_counters_are_found_by_their_keys),
        CG_TEST(v1_counts_nanoseconds_and_its_own_files),
        CG_TEST(what_a_kernel_does_not_count_is_nothing),
        CG_TEST(a_peak_can_begin_anew_and_no_other_file_is_writable),
        CG_TEST(counters_that_cannot_be_read_stay_as_they_were)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
