
/*
 * A container that is emptied between two sessions is for the one who waited
 * for it: nobody lines up for it behind him, and nobody ends it, though he has
 * not woken up yet.
 *
 * links: helper/front/box.c helper/front/box_rest.c helper/front/buf.c
 * links: helper/front/err.c helper/front/text.c
 */

#include "rest_bed.h"


static retort_settings_t  settings;


/* a session of "one" is over */

static void
session_ends(void)
{
    box_t  *box;

    box = calloc(1, sizeof(box_t));
    assert_non_null(box);
    box->id = BOX;
    box->profile = &settings.profile[0];
    memset(box->fd, -1, sizeof(box->fd));
    memcpy(box->sandbox, "sbx", 4);
    memcpy(box->workspace, "one", 4);

    (void) pthread_mutex_lock(&box_mutex);
    assert_int_equal(box_enlist(box), 0);
    assert_int_equal(box_rest(box), 0);
    (void) pthread_mutex_unlock(&box_mutex);
}


static void
emptied(void)
{
    int        i, fds[BRK_FDS];
    brk_ans_t  ans = { .op = BRK_RESTART, .id = BOX };

    for (i = 0; i < BRK_FDS; i++) {
        fds[i] = eventfd(0, EFD_CLOEXEC);
    }

    box_rested(&ans, fds, BRK_FDS);
}


static box_t *
reuse(const char *workspace)
{
    return box_reuse(&settings.profile[0], NULL, workspace);
}


static void *
who_waits(void *unused)
{
    box_t  *box;

    (void) unused;
    box = reuse("one");
    (void) close(my_eventfd());

    return box;
}


/* nothing for others of its workspace, or of any, and nothing to wait for */

static void
nothing_for_others(void)
{
    looked = 0;
    hurry = 1;
    assert_null(reuse("one"));
    assert_null(reuse("two"));
    assert_null(box_rouse());
    assert_int_equal(looked, 0);
    hurry = 0;
}


static void
it_is_for_who_waited_though_he_sleeps(void **state)
{
    void       *box;
    pthread_t   thread;

    (void) state;

    session_ends();
    assert_int_equal(restarts, 1);
    assert_int_equal(pthread_create(&thread, NULL, who_waits, NULL), 0);
    (void) sem_wait(&in_line);
    nothing_for_others();

    emptied();
    (void) sem_wait(&woken);
    nothing_for_others();

    (void) sem_post(&go_on);
    assert_int_equal(pthread_join(thread, &box), 0);
    assert_non_null(box);
    nothing_for_others();
    assert_int_equal(dropped, 0);

    (void) pthread_mutex_lock(&box_mutex);
    box_unlist(box);
    box_unref(box);
    (void) pthread_mutex_unlock(&box_mutex);
}


static void
one_that_waits_is_for_its_workspace(void **state)
{
    box_t  *box;

    (void) state;

    session_ends();
    emptied();
    assert_null(reuse("two"));
    box = reuse("one");
    assert_non_null(box);
    nothing_for_others();

    (void) pthread_mutex_lock(&box_mutex);
    box_unlist(box);
    box_unref(box);
    (void) pthread_mutex_unlock(&box_mutex);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(it_is_for_who_waited_though_he_sleeps),
        cmocka_unit_test(one_that_waits_is_for_its_workspace)
    };

    settings.nslots = 2;
    settings.profile[0].reuse = 60000;

    if (box_init(&settings) == -1 || sem_init(&in_line, 0, 0) == -1
        || sem_init(&woken, 0, 0) == -1 || sem_init(&go_on, 0, 0) == -1)
    {
        return 1;
    }

    return cmocka_run_group_tests(tests, NULL, NULL);
}
