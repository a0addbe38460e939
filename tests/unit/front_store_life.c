
/*
 * The artifact store: how long a file is kept.
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


static uint64_t
end_of(const char *file)
{
    struct stat  st;

    assert_int_equal(fstatat(dir, file, &st, 0), 0);

    return (uint64_t) st.st_mtim.tv_sec + (uint64_t) st.st_mtim.tv_nsec;
}


static void
what_is_over_is_neither_opened_nor_kept(void **state)
{
    uint64_t   size, next, before;

    (void) state;
    assert_int_equal(put("four", "old", 0), 0);
    before = used();
    age(a.file, 2 * KEEP, KEEP);
    assert_int_equal(artifact_open(a.file, "four", &size), -1);
    assert_int_equal(store_sweep(&next), 0);
    assert_false(there(a.file));
    assert_int_equal(used(), before - 4096);
}


static void
what_was_promised_stays(void **state)
{
    uint64_t  next;

    (void) state;
    assert_int_equal(put("five", "long", 10 * KEEP), 0);
    age(a.file, 2 * KEEP, 10 * KEEP);
    assert_int_equal(store_sweep(&next), 0);
    assert_true(there(a.file));

    /* an operator's touch: any nanoseconds */
    age(a.file, 0, 999999999);
    assert_int_equal(store_sweep(&next), 0);
    assert_true(there(a.file));
    age(a.file, 2 * KEEP, 999999999);
    assert_int_equal(store_sweep(&next), 0);
    assert_false(there(a.file));
}


static void
to_issue_it_again_renews_and_never_shortens(void **state)
{
    uint64_t  end;

    (void) state;
    assert_int_equal(put("six", "again", 1000), 0);
    assert_int_equal(end_of(a.file), a.issued + 1000);
    end = end_of(a.file);
    assert_int_equal(put("six", "again", 10), 0);
    assert_in_range(end_of(a.file), end, end + 1);
    age(a.file, KEEP + 50, KEEP);
    assert_int_equal(put("six", "again", 10), 0);
    assert_int_equal(end_of(a.file), a.issued + KEEP);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(what_is_over_is_neither_opened_nor_kept),
        cmocka_unit_test(what_was_promised_stays),
        cmocka_unit_test(to_issue_it_again_renews_and_never_shortens)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, begin, end);
}
