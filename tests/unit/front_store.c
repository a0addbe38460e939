
/*
 * The artifact store: one copy of equal bytes, owners, quota.
 *
 * links: helper/front/artifact.c helper/front/store.c helper/front/usage.c
 * links: helper/front/secret.c helper/front/text.c helper/front/clock.c
 * links: helper/front/flog.c helper/lib/log.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store_bed.h"


static void
equal_bytes_are_one_file(void **state)
{
    char  file[OUT_FILE];

    (void) state;
    assert_int_equal(put("one", "hello", 0), 0);
    memcpy(file, a.file, sizeof(file));
    assert_true(there(file));
    assert_int_equal(used(), 4096);
    assert_int_equal(put("one", "hello", 0), 0);
    assert_string_equal(a.file, file);
    assert_int_equal(used(), 4096);
    assert_int_equal(put("one", "hello!", 0), 0);
    assert_string_not_equal(a.file, file);
    assert_int_equal(used(), 8192);
}


static void
a_workspace_opens_its_own_and_no_other(void **state)
{
    int        fd;
    char       id[OUT_ID], link[OUT_ID];
    uint64_t   size;

    (void) state;
    assert_int_equal(put("two", "12345", 0), 0);
    memcpy(id, a.id, sizeof(id));
    assert_int_equal(strncmp(id, "file_n1_", 8), 0);
    fd = artifact_open(id, "two", &size);
    assert_int_not_equal(fd, -1);
    assert_int_equal(size, 5);
    (void) close(fd);
    fd = artifact_open(a.file, "two", &size);
    assert_int_not_equal(fd, -1);
    (void) close(fd);

    (void) snprintf(link, sizeof(link), "%s?e=1&w=2&s=3", a.file);
    fd = artifact_open(link, "two", &size);
    assert_int_not_equal(fd, -1);
    (void) close(fd);

    assert_int_equal(artifact_open(id, "three", &size), -1);
    assert_int_equal(artifact_open(link, "three", &size), -1);
    assert_int_equal(put("three", "12345", 0), 0);
    assert_string_not_equal(a.id, id);
    assert_int_equal(artifact_open("", "two", &size), -1);
    assert_int_equal(artifact_open(".secret", "two", &size), -1);
    assert_int_equal(artifact_open("file_n1_", "two", &size), -1);
    id[strlen(id) - 1] = '\0';
    assert_int_equal(artifact_open(id, "two", &size), -1);
}


static void
a_link_in_its_place_is_not_opened(void **state)
{
    char      name[OUT_FILE + 8];
    uint64_t  size;

    (void) state;
    assert_int_equal(put("two", "other", 0), 0);
    (void) snprintf(name, sizeof(name), "%s", a.file);
    assert_int_equal(unlinkat(dir, name, 0), 0);
    assert_int_equal(symlinkat("/etc/passwd", dir, name), 0);
    assert_int_equal(artifact_open(a.file, "two", &size), -1);
}


static void
a_full_workspace_is_told_and_others_are_not(void **state)
{
    int       i;
    char      text[32];
    uint64_t  full;

    (void) state;

    for (i = 0; i < QUOTA / 4096; i++) {
        (void) snprintf(text, sizeof(text), "%d", i);
        assert_int_equal(put("seven", text, 0), 0);
    }

    full = used();
    assert_int_equal(full, QUOTA);
    assert_int_equal(put("seven", "0", 0), 0);
    assert_int_equal(put("seven", "more", 0), -1);
    assert_string_equal(a.why, "the workspace's store is full: 262144 of "
                        "262144 bytes are taken");
    assert_string_equal(a.file, "");
    assert_string_equal(a.id, "");
    assert_int_equal(put("eight", "more", 0), 0);
}


static void
a_damaged_copy_is_replaced(void **state)
{
    struct stat  st;

    (void) state;
    assert_int_equal(put("nine", "whole file", 0), 0);
    assert_int_equal(unlinkat(dir, a.file, 0), 0);
    (void) close(openat(dir, a.file, O_CREAT|O_WRONLY|O_CLOEXEC, 0640));
    assert_int_equal(put("nine", "whole file", 0), 0);
    assert_int_equal(fstatat(dir, a.file, &st, 0), 0);
    assert_int_equal(st.st_size, 10);
    assert_int_equal(used(), 4096);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(equal_bytes_are_one_file),
        cmocka_unit_test(a_workspace_opens_its_own_and_no_other),
        cmocka_unit_test(a_link_in_its_place_is_not_opened),
        cmocka_unit_test(a_full_workspace_is_told_and_others_are_not),
        cmocka_unit_test(a_damaged_copy_is_replaced)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, begin, end);
}
