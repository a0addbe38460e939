
/*
 * The native dialect's values: checked, and every refusal names its key.
 *
 * links: helper/front/tail.c
 * links: helper/front/dialect/native.c helper/front/dialect/native_limits.c
 * links: helper/front/link.c
 * links: helper/front/dialect/native_out.c helper/front/json_in.c
 * links: helper/front/dialect/native_meta.c
 * links: helper/front/dialect/native_openapi.c
 * links: helper/front/dialect/native_files.c helper/front/file_type.c
 * links: helper/front/dialect/native_input.c helper/front/data_url.c
 * links: helper/front/file_name.c
 * links: helper/front/accept.c helper/front/text.c helper/front/utf8.c
 * links: helper/front/buf.c helper/front/err.c
 * links: helper/front/job.c helper/front/markdown.c helper/front/output.c
 * links: helper/front/plain.c helper/front/frame.c
 * links: helper/front/clock.c helper/front/result.c
 * links: helper/front/dialect/native_event.c
 * links: helper/front/dialect/native_run.c helper/front/json_out.c
 */

#include "native_bed.h"


static void
keys_and_types_are_strict(void **state)
{
    (void) state;
    bad("{\"code\":\"1\",\"detach\":1}", "\"detach\"");
    bad("{\"code\":1}", "\"code\"");
    bad("{\"code\":null}", "\"code\"");
    bad("{\"code\":\"\"}", "\"code\"");
    bad("{}", "\"code\"");
    bad("{\"code\":\"1\",\"keep\":1}", "\"keep\"");
    bad("{\"code\":\"1\",\"language\":\"perl\"}", "\"language\"");
    bad("{\"code\":\"1\",\"limits\":{\"uid\":0}}", "\"limits.uid\"");
    bad("{\"code\":\"1\",\"limits\":{\"memory_bytes\":1.5}}",
        "\"limits.memory_bytes\"");
}


static void
above_the_ceiling_is_refused_and_names_it(void **state)
{
    (void) state;
    good("{\"code\":\"1\",\"timeout\":5}");
    bad("{\"code\":\"1\",\"timeout\":5.001}", "5.000 seconds");
    bad("{\"code\":\"1\",\"timeout\":0}", "\"timeout\"");
    bad("{\"code\":\"1\",\"timeout\":-1}", "\"timeout\"");
    bad("{\"code\":\"1\",\"timeout\":1e999}", "\"timeout\"");
    bad("{\"code\":\"1\",\"limits\":{\"memory_bytes\":129}}", "128");
    bad("{\"code\":\"1\",\"limits\":{\"memory_bytes\":0}}", "from 1");
    bad("{\"code\":\"1\",\"limits\":{\"memory_bytes\":-1}}", "from 1");
    bad("{\"code\":\"1\",\"limits\":{\"memory_bytes\":9223372036854775808}}",
        "128");
    bad("{\"code\":\"1\",\"limits\":{\"cpu\":2.1}}", "2.000 cores");
}


static void
names_of_files_stay_inside(void **state)
{
    size_t              i;
    char                body[200];
    static const char  *name[] = { "", "/a", "../a", "a/../b", "a//b", "./a",
                                   "a/", ".", "a\\u0000b", "a\\nb",
                                   "a\\u007f" };

    (void) state;

    for (i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
        (void) snprintf(body, sizeof(body), "{\"code\":\"1\",\"files\":["
                        "{\"name\":\"%s\",\"text\":\"\"}]}", name[i]);
        bad(body, "files");
    }

    good("{\"code\":\"1\",\"files\":[{\"name\":\"..a/.b\",\"text\":\"\"}]}");
    bad("{\"code\":\"1\",\"files\":[{\"name\":\"a\"}]}", "file");
    bad("{\"code\":\"1\",\"files\":[1]}", "\"files\"");
    bad("{\"code\":\"1\",\"files\":[{\"name\":\"a\",\"content_base64\":"
        "\"*\"}]}", "base64");
}


static void
variables_have_names(void **state)
{
    (void) state;
    bad("{\"code\":\"1\",\"env\":{\"A=B\":\"\"}}", "A=B");
    bad("{\"code\":\"1\",\"env\":{\"1A\":\"\"}}", "1A");
    bad("{\"code\":\"1\",\"env\":{\"\":\"\"}}", "env");
    bad("{\"code\":\"1\",\"env\":{\"A\":1}}", "env.A");
    bad("{\"code\":\"1\",\"env\":{\"A\":\"\\u0000\"}}", "env.A");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(keys_and_types_are_strict),
        cmocka_unit_test(above_the_ceiling_is_refused_and_names_it),
        cmocka_unit_test(names_of_files_stay_inside),
        cmocka_unit_test(variables_have_names)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
