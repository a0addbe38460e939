
/*
 * Files of a workspace: what is on the disk, what expires, what counts.
 *
 * links: helper/front/shelf.c helper/front/shelf_index.c
 * links: helper/front/artifact.c helper/front/store.c helper/front/usage.c
 * links: helper/front/secret.c helper/front/text.c helper/front/clock.c
 * links: helper/front/flog.c helper/front/err.c helper/front/utf8.c
 * links: helper/front/buf.c helper/front/file_type.c helper/lib/log.c
 */

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "front/shelf_index.h"

#include "store_bed.h"


static err_t         e;
static shelf_info_t  file;


static int
bed(void **state)
{
    static retort_settings_t  s;

    strcpy(s.node, "n1");

    return begin(state) == 0 ? shelf_init(&s) : -1;
}


/* "size" bytes for the workspace, gone "life" seconds from now */

static int
shelve(const char *workspace, size_t size, int64_t life)
{
    int           rc;
    char         *bytes;
    shelf_in_t    in;

    memset(&file, 0, sizeof(file));
    strcpy(file.name, "a.txt");
    strcpy(file.mime, "text/plain");
    file.expires = life == 0 ? 0 : (uint64_t) (time(NULL) + life);
    bytes = calloc(1, size + 1);
    rc = shelf_begin(&in, workspace, &e);

    if (rc == 0) {
        rc = shelf_add(&in, bytes, size, &e);
    }

    if (rc == 0) {
        rc = shelf_keep(&in, &file, &e);
    }

    shelf_drop(&in);
    free(bytes);

    return rc;
}


static uint64_t
taken(const char *id)
{
    char  hex[STORE_OWNER + 1];

    memcpy(hex, shelf_index_hex(id), STORE_OWNER);
    hex[STORE_OWNER] = '\0';

    return usage_get(strtoull(hex, NULL, 16));
}


static off_t
on_disk(const char *id)
{
    char         name[OUT_FILE];
    struct stat  st;

    (void) snprintf(name, sizeof(name), "%.32s.file", shelf_index_hex(id));

    return fstatat(dir, name, &st, 0) == 0 ? st.st_size : -1;
}


/* what is due now, as the sweeper does it once */

static int
swept(uint64_t *next)
{
    int           empty;
    char          hex[SHELF_HEX + 1];
    shelf_info_t  info;

    return shelf_index_due(hex, &info, &empty, next);
}


static void
a_file_counts_and_is_given_back(void **state)
{
    char  id[OUT_ID];

    (void) state;
    assert_int_equal(shelve("one", 5000, 0), 0);
    memcpy(id, file.id, sizeof(id));
    assert_int_equal(taken(id), 8192);
    assert_true(on_disk(id) > 5000);
    assert_int_equal(shelf_delete(id, "two", &e), -1);
    assert_int_equal(e.status, 404);
    assert_int_equal(shelf_delete(id, "one", &e), 0);
    assert_int_equal(taken(id), 0);
    assert_int_equal(on_disk(id), -1);
}


static void
no_more_than_the_quota_is_taken(void **state)
{
    char  id[OUT_ID];

    (void) state;
    assert_int_equal(shelve("one", 1, 0), 0);
    memcpy(id, file.id, sizeof(id));
    assert_int_equal(shelve("one", QUOTA, 0), -1);
    assert_string_equal(e.code, "storage_quota_exceeded");
    assert_int_equal(taken(id), 4096);
    assert_int_equal(shelve("two", QUOTA / 2, 0), 0);
    assert_int_equal(shelf_delete(id, "one", &e), 0);
}


static void
ids_are_ours_alone(void **state)
{
    char          id[OUT_ID];
    shelf_info_t  info;

    (void) state;
    assert_int_equal(shelve("one", 1, 0), 0);
    memcpy(id, file.id, sizeof(id));
    assert_int_equal(shelf_look(id, "one", &info, &e), 0);
    assert_string_equal(info.name, "a.txt");
    assert_int_equal(shelf_look(id, "two", &info, &e), -1);
    id[strlen(id) - 1] ^= 1;
    assert_int_equal(shelf_look(id, "one", &info, &e), -1);
    assert_int_equal(shelf_look("file_n1_", "one", &info, &e), -1);
    assert_int_equal(shelf_look("", "one", &info, &e), -1);
    assert_int_equal(shelf_look("../.secret", "one", &info, &e), -1);
    assert_int_equal(shelf_delete(file.id, "one", &e), 0);
}


/* the sweeper runs beside: what is due is done in its time */

static void
an_expired_file_is_told_of_but_not_opened(void **state)
{
    int           i;
    char          id[OUT_ID];
    uint64_t      next;
    pthread_t     sweeper;
    shelf_info_t  info;

    (void) state;
    assert_int_equal(shelve("one", 9000, -1), 0);
    memcpy(id, file.id, sizeof(id));
    assert_int_equal(shelf_open(id, "one", &info, &e), -1);
    assert_string_equal(e.code, "file_expired");
    assert_int_equal(shelf_look(id, "one", &info, &e), 0);
    assert_int_equal(info.size, 9000);

    assert_int_equal(pthread_create(&sweeper, NULL, shelf_sweeper, NULL), 0);

    for (i = 0; i < 1000 && on_disk(id) > 9000; i++) {
        (void) usleep(10000);
    }

    assert_true(on_disk(id) > 0 && on_disk(id) < 4096);
    assert_int_equal(taken(id), 4096);
    assert_int_equal(shelf_look(id, "one", &info, &e), 0);
    assert_int_equal(info.size, 9000);
    assert_int_equal(shelf_open(id, "one", &info, &e), -1);

    assert_int_equal(shelve("one", 9000, -40 * 86400), 0);

    for (i = 0; i < 1000 && on_disk(file.id) != -1; i++) {
        (void) usleep(10000);
    }

    assert_int_equal(on_disk(file.id), -1);
    assert_int_equal(shelf_look(file.id, "one", &info, &e), -1);
    assert_int_equal(swept(&next), 0);
    assert_int_equal(shelf_delete(id, "one", &e), 0);
}


static void
names_are_those_of_files(void **state)
{
    (void) state;
    assert_true(shelf_is_name("a b.txt"));
    assert_true(shelf_is_name("\xc3\xa9"));
    assert_false(shelf_is_name(""));
    assert_false(shelf_is_name(".."));
    assert_false(shelf_is_name("a/b"));
    assert_false(shelf_is_name("a\nb"));
    assert_false(shelf_is_name("\xff"));
    assert_true(shelf_is_mime("text/plain"));
    assert_false(shelf_is_mime("text/plain; a=b"));
    assert_false(shelf_is_mime("text"));
    assert_false(shelf_is_mime("text/"));
    assert_false(shelf_is_mime("text/a\r\nb"));
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(a_file_counts_and_is_given_back),
        cmocka_unit_test(no_more_than_the_quota_is_taken),
        cmocka_unit_test(ids_are_ours_alone),
        cmocka_unit_test(names_are_those_of_files),
        cmocka_unit_test(an_expired_file_is_told_of_but_not_opened)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests_name("shelf", tests, bed, end);
}
