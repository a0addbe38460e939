
/*
 * A directory of plain files that looks like the groups of one box.
 */

#ifndef CGROUP_BED_H
#define CGROUP_BED_H

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


#define CG_TEST(f)  cmocka_unit_test_setup_teardown(f, cg_setup, cg_teardown)


#endif /* CGROUP_BED_H */
