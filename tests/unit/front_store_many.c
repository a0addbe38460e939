
/*
 * The artifact store with many threads: equal bytes stored at once, while what
 * is over is swept away under their hands.
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
#include <pthread.h>

#include "store_bed.h"


#define THREADS  8
#define ROUNDS   400
#define TEXTS    10


static unsigned         bad;
static int              over;
static pthread_mutex_t  lock = PTHREAD_MUTEX_INITIALIZER;


static void
check(int good)
{
    (void) pthread_mutex_lock(&lock);
    bad += !good;
    (void) pthread_mutex_unlock(&lock);
}


static int
is_over(void)
{
    int  is;

    (void) pthread_mutex_lock(&lock);
    is = over;
    (void) pthread_mutex_unlock(&lock);

    return is;
}


/* what was stored can be read, all of it, whatever others do */

static void *
writer(void *seed)
{
    int              i, fd;
    char             text[4000], back[4000];
    unsigned         state;
    uint64_t         size;
    out_artifact_t   mine;

    state = (unsigned) (uintptr_t) seed;

    for (i = 0; i < ROUNDS; i++) {
        memset(text, 'a' + rand_r(&state) % TEXTS, sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';

        if (put_as(&mine, "many", text, KEEP) != 0) {
            check(0);
            continue;
        }

        fd = artifact_open(mine.id, "many", &size);

        /* the ager may have been faster; then it is gone, not broken */
        if (fd != -1) {
            check(size == sizeof(text) - 1
                  && read(fd, back, sizeof(back)) == (ssize_t) size
                  && memcmp(text, back, size) == 0);
            (void) close(fd);
        }
    }

    return NULL;
}


static void
each(void (*what)(const char *file))
{
    DIR            *d;
    struct dirent  *e;

    d = opendir(path);

    for (e = readdir(d); e != NULL; e = readdir(d)) {
        if (store_is_name(e->d_name)) {
            what(e->d_name);
        }
    }

    (void) closedir(d);
}


static void
make_old(const char *file)
{
    age(file, 2 * KEEP, KEEP);
}


static uint64_t  bytes;


static void
count(const char *file)
{
    struct stat  st;

    (void) fstatat(dir, file, &st, 0);
    bytes += usage_of((uint64_t) st.st_size);
}


static void *
ager(void *unused)
{
    uint64_t  next;

    (void) unused;

    while (!is_over()) {
        each(make_old);
        check(store_sweep(&next) == 0);
    }

    return NULL;
}


static void
no_file_is_broken_and_no_count_is_wrong(void **state)
{
    int             i;
    DIR            *d;
    char            part[300];
    pthread_t       id[THREADS + 1];
    struct dirent  *e;

    (void) state;

    assert_int_equal(pthread_create(&id[THREADS], NULL, ager, NULL), 0);

    for (i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&id[i], NULL, writer,
                                        (void *) (uintptr_t) (i + 1)), 0);
    }

    for (i = 0; i < THREADS; i++) {
        (void) pthread_join(id[i], NULL);
    }

    (void) pthread_mutex_lock(&lock);
    over = 1;
    (void) pthread_mutex_unlock(&lock);
    (void) pthread_join(id[THREADS], NULL);

    assert_int_equal(bad, 0);
    assert_int_equal(put("many", "the last one", 0), 0);
    each(count);
    assert_int_equal(used(), bytes);

    /* no part is left */
    d = opendir(path);
    part[0] = '\0';

    for (e = readdir(d); e != NULL; e = readdir(d)) {
        if (strncmp(e->d_name, ".part", 5) == 0) {
            (void) snprintf(part, sizeof(part), "%s", e->d_name);
        }
    }

    (void) closedir(d);
    assert_string_equal(part, "");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(no_file_is_broken_and_no_count_is_wrong)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, begin, end);
}
