
/*
 * Charts and tables come from a sandbox: only JSON objects within bounds stay.
 *
 * links: helper/front/tail.c
 * links: helper/front/data.c helper/front/json_in.c helper/front/output.c
 * links: helper/front/buf.c helper/front/utf8.c helper/front/err.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>

#include "front/bounds.h"
#include "front/data.h"


static outputs_t    out;
static out_item_t  *item;


static int
begin(void **state)
{
    (void) state;
    outputs_init(&out, 10);
    item = outputs_add(&out, OUT_DISPLAY);

    return item == NULL;
}


static int
end(void **state)
{
    (void) state;
    outputs_free(&out);

    return 0;
}


/* bytes kept of an object of "n" bytes */

static size_t
take(size_t n)
{
    char   *text;

    text = malloc(n);
    assert_non_null(text);
    memset(text, 'x', n);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + n - 2, "\"}", 2);
    item->data[OUT_CHART].len = 0;
    data_take(&out, item, OUT_CHART, text, n, n);
    free(text);

    return item->data[OUT_CHART].len;
}


static void
its_types_are_known_and_no_other(void **state)
{
    (void) state;
    assert_int_equal(data_kind("application/vnd.retort.chart+json"),
                     OUT_CHART);
    assert_int_equal(data_kind("application/vnd.retort.dataframe+json"),
                     OUT_FRAME);
    assert_int_equal(data_kind("application/vnd.retort.chart"), OUT_DATA);
    assert_int_equal(data_kind("application/json"), OUT_DATA);
    assert_int_equal(data_kind(""), OUT_DATA);
}


static void
an_object_is_kept_as_it_is(void **state)
{
    const char  *text = "{\"type\":\"line\",\"elements\":[1,null]}";

    (void) state;
    data_take(&out, item, OUT_CHART, text, strlen(text), strlen(text));
    assert_int_equal(item->data[OUT_CHART].len, strlen(text));
    assert_memory_equal(item->data[OUT_CHART].data, text, strlen(text));
    assert_int_equal(item->data[OUT_FRAME].len, 0);
    assert_int_equal(out.data_kept, strlen(text));

    data_take(&out, item, OUT_CHART, "{}", 2, 2);
    assert_int_equal(item->data[OUT_CHART].len, strlen(text));
}


static void
what_is_no_object_is_left_out(void **state)
{
    size_t              i;
    static const char  *text[] = {
        "", "{", "[]", "1", "null", "{\"a\":NaN}", "{\"a\":1,\"a\":2}",
        "{\"a\":\"\xff\"}", "{\"a\":\"\\ud800\"}", "{} {}", "{a:1}",
        "{\"a\":Infinity}"
    };

    (void) state;

    for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        data_take(&out, item, OUT_FRAME, text[i], strlen(text[i]),
                  strlen(text[i]));

        if (item->data[OUT_FRAME].len != 0) {
            fail_msg("taken: %s", text[i]);
        }
    }

    /* cut on its way */
    data_take(&out, item, OUT_FRAME, "{}", 2, 3);
    assert_int_equal(item->data[OUT_FRAME].len, 0);
    assert_int_equal(out.data_kept, 0);
}


static void
its_size_is_bounded(void **state)
{
    (void) state;
    assert_int_equal(take(BOUND_DATA), BOUND_DATA);
    assert_int_equal(take(BOUND_DATA + 1), 0);
}


static void
all_of_a_run_are_bounded(void **state)
{
    size_t  i, kept;

    (void) state;

    for (i = kept = 0; i < 100; i++) {
        item = outputs_add(&out, OUT_DISPLAY);
        kept += take(BOUND_DATA - 1);
    }

    assert_in_range(kept, BOUND_DATA_RUN - BOUND_DATA, BOUND_DATA_RUN);
    assert_int_equal(kept, out.data_kept);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test_setup_teardown(its_types_are_known_and_no_other,
                                        begin, end),
        cmocka_unit_test_setup_teardown(an_object_is_kept_as_it_is,
                                        begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_object_is_left_out,
                                        begin, end),
        cmocka_unit_test_setup_teardown(its_size_is_bounded, begin, end),
        cmocka_unit_test_setup_teardown(all_of_a_run_are_bounded, begin, end)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
