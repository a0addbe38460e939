
/*
 * Prometheus' text format: labels, numbers, histograms; zones of a param.
 *
 * links: helper/front/prom.c helper/front/buf.c helper/front/zones.c
 * links: helper/front/text.c helper/front/request.c helper/front/settings.c
 * links: helper/front/identity.c
 * links: helper/front/err.c helper/front/utf8.c helper/front/flog.c
 * links: helper/lib/log.c helper/front/link.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "front/prom.h"
#include "front/zones.h"


static void
is(buf_t *b, const char *want)
{
    (void) buf_add(b, "", 1);
    assert_false(b->failed);
    assert_string_equal(b->data, want);
    buf_free(b);
}


static void
seconds_is(uint64_t us, const char *want)
{
    char  text[PROM_SECONDS];

    prom_seconds(us, text);
    assert_string_equal(text, want);
}


static void
seconds_are_exact(void **state)
{
    (void) state;

    seconds_is(0, "0");
    seconds_is(1, "0.000001");
    seconds_is(100, "0.0001");
    seconds_is(1500, "0.0015");
    seconds_is(1000000, "1");
    seconds_is(10000000, "10");
    seconds_is(300000000, "300");
    seconds_is(1234567, "1.234567");
    seconds_is(UINT64_MAX, "18446744073709.551615");
}


static void
a_label_cannot_leave_its_quotes(void **state)
{
    buf_t  b;

    (void) state;
    memset(&b, 0, sizeof(b));

    prom_label(&b, "a", "x\"} 1\nevil{b=\"\\");
    prom_label(&b, "c", "");
    is(&b, "a=\"x\\\"} 1\\nevil{b=\\\"\\\\\",c=\"\"");
}


static void
help_stays_in_its_line(void **state)
{
    buf_t  b;

    (void) state;
    memset(&b, 0, sizeof(b));

    prom_head(&b, "n", "gauge", "a \"b\" \\ c\nd");
    is(&b, "# HELP n a \"b\" \\\\ c\\nd\n# TYPE n gauge\n");
}


static void
a_line_has_braces_only_with_labels(void **state)
{
    buf_t  b, labels;

    (void) state;
    memset(&b, 0, sizeof(b));
    memset(&labels, 0, sizeof(labels));

    prom_count(&b, "n", NULL, UINT64_MAX);
    prom_count(&b, "n", &labels, 0);
    prom_label(&labels, "l", "v");
    prom_line(&b, "n", &labels, "0.5");
    buf_free(&labels);
    is(&b, "n 18446744073709551615\nn 0\nn{l=\"v\"} 0.5\n");
}


static void
a_time_belongs_to_the_first_bound_that_holds_it(void **state)
{
    unsigned  i;

    (void) state;

    assert_int_equal(prom_bucket(0), 0);

    for (i = 0; i < PROM_BUCKETS; i++) {
        assert_int_equal(prom_bucket(prom_bounds[i]), i);
        assert_int_equal(prom_bucket(prom_bounds[i] + 1), i + 1);
        assert_true(i == 0 || prom_bounds[i] > prom_bounds[i - 1]);
    }

    assert_int_equal(prom_bucket(UINT64_MAX), PROM_BUCKETS);
}


static void
buckets_are_sums(void **state)
{
    buf_t             b, labels;
    prom_histogram_t  h;

    (void) state;
    memset(&b, 0, sizeof(b));
    memset(&h, 0, sizeof(h));
    memset(&labels, 0, sizeof(labels));

    h.bucket[0] = 2;
    h.bucket[3] = 1;
    h.bucket[PROM_BUCKETS] = 4;
    h.sum = 2500000;
    prom_label(&labels, "p", "x");
    prom_histogram(&b, "h", &labels, &h);
    buf_free(&labels);
    (void) buf_add(&b, "", 1);

    assert_non_null(strstr(b.data, "h_bucket{p=\"x\",le=\"0.0001\"} 2\n"));
    assert_non_null(strstr(b.data, "h_bucket{p=\"x\",le=\"0.001\"} 3\n"));
    assert_non_null(strstr(b.data, "h_bucket{p=\"x\",le=\"300\"} 3\n"));
    assert_non_null(strstr(b.data, "h_bucket{p=\"x\",le=\"+Inf\"} 7\n"
                                   "h_sum{p=\"x\"} 2.5\n"
                                   "h_count{p=\"x\"} 7\n"));
    buf_free(&b);
}


static size_t
zones_of(const char *value, zone_t *z)
{
    char   param[256];
    char  *params[] = { param, NULL };

    (void) snprintf(param, sizeof(param), "RETORT_ZONE_0=%s", value);
    memset(z, 0, sizeof(zone_t) * ZONES_MAX);

    return zones_parse(params, z);
}


static void
a_zone_is_a_name_and_nine_numbers(void **state)
{
    zone_t  z[ZONES_MAX];

    (void) state;

    assert_int_equal(zones_of("runs 1 2 3 4 5 6 7 8 9", z), 1);
    assert_string_equal(z[0].name, "runs");
    assert_int_equal(z[0].number[ZONE_RUNNING], 1);
    assert_int_equal(z[0].number[ZONE_LOST], 9);

    assert_int_equal(zones_of("", z), 0);
    assert_int_equal(zones_of("runs", z), 0);
    assert_int_equal(zones_of("runs 1 2 3 4 5 6 7 8", z), 0);
    assert_int_equal(zones_of("runs 1 2 3 4 5 6 7 8 9 10", z), 0);
    assert_int_equal(zones_of("runs 1 2 3 4 5 6 7 8 9 ", z), 0);
    assert_int_equal(zones_of("runs  1 2 3 4 5 6 7 8 9", z), 0);
    assert_int_equal(zones_of("runs 1 2 3 4 5 6 7 8 99999999999999999999", z),
                     0);
    assert_int_equal(zones_of("a-name-of-more-than-thirty-one-characters"
                              " 1 2 3 4 5 6 7 8 9 10", z), 0);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(seconds_are_exact),
        cmocka_unit_test(a_label_cannot_leave_its_quotes),
        cmocka_unit_test(help_stays_in_its_line),
        cmocka_unit_test(a_line_has_braces_only_with_labels),
        cmocka_unit_test(a_time_belongs_to_the_first_bound_that_holds_it),
        cmocka_unit_test(buckets_are_sums),
        cmocka_unit_test(a_zone_is_a_name_and_nine_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
