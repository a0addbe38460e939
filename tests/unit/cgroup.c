
/*
 * Both cgroup versions, against a directory of plain files: what is written
 * and what is read, whichever version the machine has.
 *
 * links: helper/broker/cgroup.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "broker/cgroup.h"


static char  cg_dir[] = "/tmp/retort-unit-cgroup-XXXXXX";
static cg_t  cg_test;


static void
cg_file(const char *name, const char *text)
{
    int   fd;
    char  path[256];

    (void) snprintf(path, sizeof(path), "%s/box7/%s", cg_dir, name);
    fd = open(path, O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0600);
    assert_int_not_equal(fd, -1);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t) strlen(text));
    assert_int_equal(close(fd), 0);
}


static void
cg_is(const char *name, const char *text)
{
    int      fd;
    char     path[256], found[256];
    ssize_t  n;

    (void) snprintf(path, sizeof(path), "%s/box7/%s", cg_dir, name);
    fd = open(path, O_RDONLY|O_CLOEXEC);
    assert_int_not_equal(fd, -1);
    n = read(fd, found, sizeof(found) - 1);
    assert_int_not_equal(n, -1);
    found[n] = '\0';
    assert_int_equal(close(fd), 0);
    assert_string_equal(found, text);
}


static int
cg_setup(void **state)
{
    int   i;
    char  path[256];

    (void) state;
    strcpy(cg_dir, "/tmp/retort-unit-cgroup-XXXXXX");

    if (mkdtemp(cg_dir) == NULL) {
        return -1;
    }

    (void) snprintf(path, sizeof(path), "%s/box7", cg_dir);

    if (mkdir(path, 0700) == -1) {
        return -1;
    }

    for (i = 0; i < CG_DIRS; i++) {
        cg_test.dir[i] = open(cg_dir, O_RDONLY|O_DIRECTORY|O_CLOEXEC);
    }

    return 0;
}


static int
cg_teardown(void **state)
{
    int   i;
    char  command[256];

    (void) state;

    for (i = 0; i < CG_DIRS; i++) {
        (void) close(cg_test.dir[i]);
    }

    (void) snprintf(command, sizeof(command), "rm -rf %s", cg_dir);

    return system(command);
}


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
    cg_stat(&cg_test, "box7", &st);

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
    cg_stat(&cg_test, "box7", &st);

    assert_int_equal(st.cpu_us, 5);
    assert_int_equal(st.cpu_system_us, 2);
    assert_int_equal(st.memory_peak, 2);
    assert_int_equal(st.oom_kills, 6);
}


static void
counters_of_a_group_that_is_gone_stay_as_they_were(void **state)
{
    brk_stat_t  st;

    (void) state;
    memset(&st, 0, sizeof(st));
    st.memory_peak = 7;
    st.oom_kills = 1;
    cg_test.version = 2;
    cg_stat(&cg_test, "box7", &st);
    assert_int_equal(st.memory_peak, 7);
    assert_int_equal(st.oom_kills, 1);
}


static void
a_process_is_put_into_every_hierarchy(void **state)
{
    (void) state;
    cg_test.version = 1;
    cg_file("cgroup.procs", "");
    assert_int_equal(cg_attach(&cg_test, "box7", 1234), 0);
    cg_is("cgroup.procs", "1234");
    assert_int_equal(cg_attach(&cg_test, "box8", 1234), -1);
}


int
main(void)
{
#define CG_TEST(f)  cmocka_unit_test_setup_teardown(f, cg_setup, cg_teardown)
    const struct CMUnitTest  tests[] = {
        CG_TEST(v2_gets_memory_without_swap_processes_and_a_cpu_quota),
        CG_TEST(v2_without_swap_accounting_is_good_as_well),
        CG_TEST(a_limit_that_cannot_be_set_is_an_error),
        CG_TEST(v2_counters_are_found_by_their_keys),
        CG_TEST(v1_counts_nanoseconds_and_its_own_files),
        CG_TEST(counters_of_a_group_that_is_gone_stay_as_they_were),
        CG_TEST(a_process_is_put_into_every_hierarchy)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
