
/*
 * Accept and Content-Type.
 *
 * links: helper/front/accept.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "front/accept.h"


static const char *const  types[] = { "application/json", "text/markdown" };


static void
chosen(const char *header, int want)
{
    assert_int_equal(accept_choose(header, types, 2), want);
}


static void
no_wish_is_json(void **state)
{
    (void) state;
    chosen("", 0);
    chosen("  ", 0);
    chosen("*/*", 0);
    chosen("application/*", 0);
}


static void
a_literal_wish_is_heard(void **state)
{
    (void) state;
    chosen("text/markdown", 1);
    chosen("TEXT/Markdown; charset=utf-8", 1);
    chosen("text/*", 1);
    chosen("text/html, text/markdown", 1);
}


static void
weights_decide(void **state)
{
    (void) state;
    chosen("application/json;q=0.5, text/markdown;q=0.6", 1);
    chosen("application/json; q=0.7 , text/markdown;q=0.6", 0);
    chosen("application/json;q=0.123,text/markdown;q=0.124", 1);
    chosen("text/markdown;q=0, */*", 0);
}


static void
the_most_exact_range_decides(void **state)
{
    (void) state;
    chosen("application/json;q=0.1, */*;q=0.5", 1);
    chosen("*/*;q=1, application/*;q=0", 1);
}


static void
what_cannot_be_given_is_refused(void **state)
{
    (void) state;
    chosen("text/html", -1);
    chosen("application/json;q=0", -1);
    chosen("*/*;q=0", -1);
    chosen("application/json;q=nonsense", -1);
    chosen("application/jsonx", -1);
    chosen(",,;;,", -1);
}


static void
a_content_type_may_have_parameters(void **state)
{
    (void) state;
    assert_true(accept_is("application/json", "application/json"));
    assert_true(accept_is("Application/JSON; charset=utf-8",
                          "application/json"));
    assert_false(accept_is("application/jsonp", "application/json"));
    assert_false(accept_is("text/plain", "application/json"));
    assert_false(accept_is("", "application/json"));
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(no_wish_is_json),
        cmocka_unit_test(a_literal_wish_is_heard),
        cmocka_unit_test(weights_decide),
        cmocka_unit_test(the_most_exact_range_decides),
        cmocka_unit_test(what_cannot_be_given_is_refused),
        cmocka_unit_test(a_content_type_may_have_parameters)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
