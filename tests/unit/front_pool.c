
/*
 * Requests that wait for a sandbox and are slow to wake up: meanwhile more are
 * made for them than there are places, and those have to end.
 *
 * links: helper/front/pool.c helper/front/share.c helper/front/line.c
 * links: helper/front/pace.c helper/front/clock.c helper/front/flog.c
 * links: helper/lib/log.c
 */

#include <sys/eventfd.h>

#include "pool_bed.h"


#define READY    1
#define PLACES   (READY + POOL_MAKERS)

/* as many as can be in the line at once, while nobody in it wakes up */

#define WAITERS  (PLACES + POOL_MAKERS)


static unsigned           given;
static retort_settings_t  settings;


static void *
waiter(void *unused)
{
    box_t  *box;

    (void) unused;
    waits = 1;
    box = pool_take(&settings.profile[0], "one");
    count(&given);

    return box;
}


static uint32_t
ready(void)
{
    int       proved;
    uint32_t  n;

    pool_look(&settings.profile[0], &n, &proved);

    return n;
}


static void
allow(unsigned n)
{
    (void) pthread_mutex_lock(&lock);
    allowed += n;
    (void) pthread_cond_broadcast(&changed);
    (void) pthread_mutex_unlock(&lock);
}


static void
wake_up(void)
{
    (void) pthread_mutex_lock(&lock);
    awake = 1;
    (void) pthread_cond_broadcast(&changed);
    (void) pthread_mutex_unlock(&lock);
}


/* the line grows by one, and who makes boxes knows */

static void
line_up(pthread_t *thread, unsigned before)
{
    assert_int_equal(pthread_create(thread, NULL, waiter, NULL), 0);
    wait_for(&asleep, before + 1);
    pool_kick();
}


static void
end(pthread_t *makers)
{
    unsigned  i;

    (void) pthread_mutex_lock(&lock);
    over = 1;
    (void) pthread_cond_broadcast(&changed);
    (void) pthread_mutex_unlock(&lock);

    if (pool_lock != NULL) {
        (void) pthread_mutex_lock(pool_lock);
        (void) pthread_cond_broadcast(idle_cond);
        (void) pthread_mutex_unlock(pool_lock);
    }

    for (i = 0; i < POOL_MAKERS; i++) {
        assert_int_equal(pthread_join(makers[i], NULL), 0);
    }
}


static void
boxes_for_late_waiters_have_a_place_or_end(void **state)
{
    void       *box;
    unsigned    i, n;
    pthread_t   makers[POOL_MAKERS], waiters[WAITERS];

    (void) state;

    for (i = 0; i < POOL_MAKERS; i++) {
        assert_int_equal(pthread_create(&makers[i], NULL, pool_thread, NULL),
                         0);
    }

    /* all who make boxes are busy for those who wait */
    for (n = 0; n < POOL_MAKERS; n++) {
        wait_for(&asked, n + 1);
        line_up(&waiters[n], n);
    }

    /* each box that comes is a reason for one more to wait */
    for (i = 1; i <= PLACES + 2; i++) {
        allow(1);
        wait_for(&asked, POOL_MAKERS + i);
        assert_in_range(ready(), 1, PLACES);

        if (n < WAITERS) {
            line_up(&waiters[n], n);
            n++;
        }
    }

    assert_int_equal(ready(), PLACES);
    assert_int_equal(ended, 2);

    /* they wake up: those who came first take what is there */
    wake_up();
    wait_for(&given, PLACES);
    allow(WAITERS - PLACES);

    for (i = 0; i < WAITERS; i++) {
        assert_int_equal(pthread_join(waiters[i], &box), 0);
        assert_non_null(box);
        assert_int_equal(((box_t *) box)->refs, 1);
        assert_int_equal(((box_t *) box)->gone, 0);
    }

    end(makers);

    assert_int_equal(ended, 2);
    assert_int_equal(ready(), 0);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(boxes_for_late_waiters_have_a_place_or_end)
    };

    channel = eventfd(1, EFD_CLOEXEC);
    settings.nprofiles = 1;
    settings.profile[0].ready = READY;

    if (channel == -1 || pool_init(&settings) == -1) {
        return 1;
    }

    return cmocka_run_group_tests(tests, NULL, NULL);
}
