
/*
 * A front that has been taken over reaches no file but its store's, and
 * changes nothing in the log of runs: it can only add to it.
 *
 * links: helper/front/land.c helper/front/seal.c helper/front/flog.c
 * links: helper/lib/log.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/chain_file.h"
#include "front/land.h"
#include "front/seal.h"
#include "front/store.h"


#define NOBODY  65534

/* how the child ends that could not be locked */

#define UNLOCKED  100


static char  top[64];
static char  path[128];


static const char *
file(const char *name)
{
    (void) snprintf(path, sizeof(path), "%s/%s", top, name);

    return path;
}


static void
put(const char *name, uid_t uid)
{
    int  fd;

    fd = open(file(name), O_WRONLY|O_CREAT|O_TRUNC, 0600);
    assert_true(fd != -1);
    assert_int_equal(write(fd, "old\n", 4), 4);
    assert_int_equal(fchown(fd, uid, uid), 0);
    (void) close(fd);
}


static int
begin(void **state)
{
    (void) state;
    (void) strcpy(top, "/tmp/front-land-XXXXXX");

    if (getuid() != 0 || mkdtemp(top) == NULL || chmod(top, 0755) == -1
        || mkdir(file("store"), 0700) == -1
        || chown(path, NOBODY, NOBODY) == -1
        || mkdir(file("log"), 0700) == -1 || chown(path, NOBODY, NOBODY) == -1
        || mkdir(file("own"), 0700) == -1 || chown(path, NOBODY, NOBODY) == -1)
    {
        return -1;
    }

    return 0;
}


static void
fill(void)
{
    put("log/old", NOBODY);
    put("log/older", NOBODY);
    put("log/oldest", NOBODY);
    put("log/eldest", NOBODY);
    put("store/old", NOBODY);
    put("own/old", NOBODY);
    (void) remove(file("log/new"));
}


static int
end(void **state)
{
    static const char  *names[] = {
        "log/old", "log/older", "log/oldest", "log/eldest", "log/new",
        "store/old", "store/new", "store/moved", "store/taken", "own/old",
        "log", "store", "own", ""
    };
    size_t  i;

    (void) state;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void) remove(file(names[i]));
    }

    return 0;
}


/* what succeeds, as a mask; in a child that cannot be undone */

static unsigned
attempts(void)
{
    unsigned  got;

    got = 0;
    got |= (unsigned) (openat(FRONT_FD_STORE, file("own/old"),
                              STORE_READ) != -1) << 0;
    got |= (unsigned) (openat(FRONT_FD_STORE, "/etc/passwd",
                              STORE_READ) != -1) << 1;
    got |= (unsigned) (openat(FRONT_FD_STORE, file("log/old"),
                              O_WRONLY|O_TRUNC) != -1) << 2;
    got |= (unsigned) (openat(FRONT_FD_AUDIT, "old", O_WRONLY) != -1) << 3;
    got |= (unsigned) (openat(FRONT_FD_AUDIT, "old", O_WRONLY|O_APPEND)
                       != -1) << 4;
    got |= (unsigned) (unlinkat(FRONT_FD_AUDIT, "old", 0) != -1) << 5;
    got |= (unsigned) (unlinkat(FRONT_FD_STORE, file("log/older"), 0)
                       != -1) << 6;
    got |= (unsigned) (unlinkat(FRONT_FD_STORE, "/proc/self/fd/8/oldest", 0)
                       != -1) << 7;
    got |= (unsigned) (unlinkat(FRONT_FD_STORE, file("own/old"), 0) != -1) << 8;
    got |= (unsigned) (renameat(FRONT_FD_STORE, file("log/eldest"),
                                FRONT_FD_STORE, "taken") != -1) << 9;

    /* and what a front does every day */
    got |= (unsigned) (openat(FRONT_FD_AUDIT, "new", CHAIN_CREATE, 0600)
                       != -1) << 10;
    got |= (unsigned) (openat(FRONT_FD_STORE, "new", STORE_CREATE, 0600)
                       != -1) << 11;
    got |= (unsigned) (renameat(FRONT_FD_STORE, "new", FRONT_FD_STORE, "moved")
                       != -1) << 12;
    got |= (unsigned) (openat(FRONT_FD_STORE, "old", STORE_READ) != -1) << 13;
    got |= (unsigned) (openat(FRONT_FD_STORE, ".", STORE_LIST) != -1) << 14;
    got |= (unsigned) (unlinkat(FRONT_FD_STORE, "moved", 0) != -1) << 15;

    return got;
}


static unsigned
child(int locked)
{
    int       status, p[2];
    pid_t     pid;
    unsigned  got;

    assert_int_equal(pipe(p), 0);
    pid = fork();
    assert_true(pid != -1);

    if (pid == 0) {
        if (dup2(p[1], 20) == -1
            || dup2(open(file("store"), O_RDONLY|O_DIRECTORY), FRONT_FD_STORE)
               == -1
            || dup2(open(file("log"), O_RDONLY|O_DIRECTORY), FRONT_FD_AUDIT)
               == -1
            || setgid(NOBODY) == -1 || setuid(NOBODY) == -1
            || (locked && (seal_start(64, 4096) == -1 || land_lock() == -1
                           || seal_finish() == -1)))
        {
            _exit(UNLOCKED);
        }

        got = attempts();
        _exit(write(20, &got, sizeof(got)) == (ssize_t) sizeof(got) ? 0 : 1);
    }

    (void) close(p[1]);
    assert_int_equal(read(p[0], &got, sizeof(got)), (int) sizeof(got));
    (void) close(p[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);

    return got;
}


/* each attempt works for who is not locked */

static void
outside_all_of_it_works(void **state)
{
    (void) state;
    fill();
    assert_int_equal(child(0), 0xffff);
}


static void
a_locked_front_reaches_its_store_and_adds_to_its_log(void **state)
{
    unsigned  held;

    (void) state;

#if defined(__SANITIZE_ADDRESS__)
    /* such a build locks nothing, and says so */
    return;
#endif

    held = 0xffff;

    if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) == -1) {
        /* what the filter holds alone */
        held = 0xfc3c;
    }

    fill();
    assert_int_equal(child(1) & held, 0xfc00);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(outside_all_of_it_works),
        cmocka_unit_test(a_locked_front_reaches_its_store_and_adds_to_its_log),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
