
/*
 * The web server's params: all checked, limits only lowered.
 *
 * links: helper/front/request.c helper/front/settings.c helper/front/flog.c
 * links: helper/front/text.c helper/front/utf8.c helper/front/buf.c
 * links: helper/front/err.c helper/front/link.c helper/front/identity.c
 * links: helper/lib/log.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "front/request.h"


static err_t              e;
static request_t          r;
static retort_settings_t  s;


static int
parse(char *a, char *b)
{
    char  *envp[] = { "RETORT_API=native", "RETORT_WORKSPACE=demo",
                      "REQUEST_METHOD=POST", "PATH_INFO=/execute",
                      "HTTP_ACCEPT=text/markdown", a, b, NULL };

    memset(&r, 0, sizeof(r));
    memset(&e, 0, sizeof(e));
    memset(&s, 0, sizeof(s));
    (void) memcpy(s.node, "n1", 3);
    s.nprofiles = 1;
    (void) memcpy(s.profile[0].name, "default", 8);
    s.profile[0].run.timeout = 1000;
    s.profile[0].run_max.timeout = 5000;
    s.profile[0].box.memory = 100;
    s.profile[0].box_max.memory = 200;
    s.profile[0].box.cpu = 1000;
    s.profile[0].box_max.cpu = 2000;

    return request_parse(&r, envp, &s, &e);
}


static void
a_good_request_is_taken_over(void **state)
{
    (void) state;
    assert_int_equal(parse("CONTENT_LENGTH=12", "RETORT_STATIC_URL=http://h/s"),
                     0);
    assert_string_equal(r.workspace, "demo");
    assert_string_equal(r.path, "/execute");
    assert_string_equal(r.link.base, "http://h/s");
    assert_string_equal(r.profile->name, "default");
    assert_int_equal(r.length, 12);
    assert_int_equal(r.run_max.timeout, 5000);
    assert_true(strncmp(r.execution, "exec_n1_", 8) == 0);
}


static void
ceilings_only_lower(void **state)
{
    (void) state;
    assert_int_equal(parse("RETORT_LIMIT_TIMEOUT=500",
                           "RETORT_LIMIT_MEMORY=150"), 0);
    assert_int_equal(r.run.timeout, 500);
    assert_int_equal(r.run_max.timeout, 500);
    assert_int_equal(r.box.memory, 100);
    assert_int_equal(r.box_max.memory, 150);

    assert_int_equal(parse("RETORT_LIMIT_TIMEOUT=18446744073709551615",
                           "RETORT_LIMIT_CPU=18446744073709551615"), 0);
    assert_int_equal(r.run_max.timeout, 5000);
    assert_int_equal(r.box.cpu, 1000);
    assert_int_equal(r.box_max.cpu, 2000);
}


static void
ceilings_that_are_no_numbers_are_refused(void **state)
{
    size_t        i;
    static char  *bad[] = { "RETORT_LIMIT_MEMORY=0", "RETORT_LIMIT_MEMORY=",
                            "RETORT_LIMIT_MEMORY=-1",
                            "RETORT_LIMIT_MEMORY=NaN",
                            "RETORT_LIMIT_MEMORY=99999999999999999999" };

    (void) state;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(parse(bad[i], NULL), -1);
        assert_int_equal(e.status, 500);
    }
}


static void
a_param_that_stands_twice_is_refused(void **state)
{
    (void) state;
    assert_int_equal(parse("RETORT_WORKSPACE=other", NULL), -1);
    assert_int_equal(e.status, 400);
    assert_int_equal(parse("HTTP_ACCEPT=a", "HTTP_ACCEPT=b"), 0);
}


static void
a_header_is_never_a_param(void **state)
{
    (void) state;
    assert_int_equal(parse("HTTP_RETORT_WORKSPACE=other",
                           "HTTP_RETORT_PROFILE=other"), 0);
    assert_string_equal(r.workspace, "demo");
}


static void
bad_names_are_refused(void **state)
{
    (void) state;
    assert_int_equal(parse("RETORT_PROFILE=other", NULL), -1);
    assert_int_equal(e.status, 500);
    assert_int_equal(parse("RETORT_EXECUTION=exec_n1_xyz", NULL), -1);
    assert_int_equal(parse("RETORT_EXECUTION=exec_n1_\r\n", NULL), -1);
    assert_int_equal(parse("RETORT_STATIC_URL=http://h/a b", NULL), -1);
    assert_int_equal(parse("RETORT_IMPORT_ALLOW=a\nb", NULL), -1);
    assert_int_equal(parse("RETORT_STATIC_URL=http://h/)", NULL), -1);
    assert_int_equal(parse("CONTENT_LENGTH=-1", NULL), -1);
    assert_int_equal(parse("CONTENT_LENGTH=99999999999999999999", NULL), -1);
}


static void
no_workspace_no_request(void **state)
{
    size_t        i;
    char         *envp[3];
    static char  *bad[] = { "RETORT_WORKSPACE=", "RETORT_WORKSPACE=a/b",
                            "RETORT_WORKSPACE=a b", "X=y",
        "RETORT_WORKSPACE=0123456789012345678901234567890123456789"
        "0123456789012345678901234" };

    (void) state;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        envp[0] = "RETORT_API=native";
        envp[1] = bad[i];
        envp[2] = NULL;
        assert_int_equal(request_parse(&r, envp, &s, &e), -1);
        assert_int_equal(e.status, 403);
    }
}


static void
a_probe_needs_no_workspace(void **state)
{
    char  *envp[] = { "RETORT_API=health", "SCRIPT_NAME=/health", NULL };

    (void) state;
    assert_int_equal(request_parse(&r, envp, &s, &e), 0);
}


static void
links_are_signed_with_what_the_server_gives(void **state)
{
    (void) state;
    assert_int_equal(parse("RETORT_LINK_TAG=0377243c8f79b7b6", NULL), -1);
    assert_string_equal(e.code, "bad_param");
    assert_int_equal(parse("RETORT_STATIC_URL=/s", NULL), 0);
    assert_string_equal(r.link.tag, "");
}


static void
the_key_is_wiped_and_nothing_else(void **state)
{
    char  key[] = "RETORT_LINK_KEY=0123";
    char  other[] = "RETORT_LINK_KEYS=0123";
    char  *envp[] = { key, other, NULL };

    (void) state;
    request_wipe(envp);
    assert_memory_equal(key, "RETORT_LINK_KEY=\0\0\0\0", sizeof(key));
    assert_string_equal(other, "RETORT_LINK_KEYS=0123");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(a_good_request_is_taken_over),
        cmocka_unit_test(ceilings_only_lower),
        cmocka_unit_test(ceilings_that_are_no_numbers_are_refused),
        cmocka_unit_test(a_param_that_stands_twice_is_refused),
        cmocka_unit_test(a_header_is_never_a_param),
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(no_workspace_no_request),
        cmocka_unit_test(a_probe_needs_no_workspace),
        cmocka_unit_test(links_are_signed_with_what_the_server_gives),
        cmocka_unit_test(the_key_is_wiped_and_nothing_else)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
