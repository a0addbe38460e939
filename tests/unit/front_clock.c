
/*
 * Times as text: what the C library would say, without its locale and zone.
 *
 * links: helper/front/clock.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "front/clock.h"


static void
is_what_strftime_says(uint64_t wall_ms)
{
    char       day[32], want[64], got[CLOCK_TEXT];
    time_t     sec;
    struct tm  tm;

    sec = (time_t) (wall_ms / 1000);
    assert_non_null(gmtime_r(&sec, &tm));
    assert_int_not_equal(strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm),
                         0);
    (void) snprintf(want, sizeof(want), "%s.%03uZ", day,
                    (unsigned) (wall_ms % 1000));

    clock_text(wall_ms, got);
    assert_string_equal(got, want);
}


static void
a_time_is_told_as_the_c_library_tells_it(void **state)
{
    unsigned  i;
    uint64_t  t;

    (void) state;

    t = 0;

    for (i = 0; i < 20000; i++) {
        is_what_strftime_says(t);
        t += 12345678901ULL;            /* some 143 days: to the year 9788 */
    }

    is_what_strftime_says(951782400000ULL);      /* 2000-02-29 */
    is_what_strftime_says(4107542399999ULL);    /* 2100-02-28 */
    is_what_strftime_says(253402300799999ULL);  /* 9999-12-31 */
}


static void
what_has_more_than_four_digits_is_no_year(void **state)
{
    char  got[CLOCK_TEXT];

    (void) state;

    clock_text(253402300800000ULL, got);
    assert_string_equal(got, "1970-01-01T00:00:00.000Z");
    clock_text(UINT64_MAX, got);
    assert_string_equal(got, "1970-01-01T00:00:00.615Z");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(a_time_is_told_as_the_c_library_tells_it),
        cmocka_unit_test(what_has_more_than_four_digits_is_no_year),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
