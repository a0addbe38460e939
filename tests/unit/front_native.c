
/*
 * The native dialect's JSON: strict, bounded, every refusal names its key.
 *
 * links: helper/front/tail.c
 * links: helper/front/dialect/native.c helper/front/dialect/native_limits.c
 * links: helper/front/dialect/native_out.c helper/front/json_in.c
 * links: helper/front/dialect/native_meta.c
 * links: helper/front/dialect/native_openapi.c
 * links: helper/front/dialect/native_files.c helper/front/file_type.c
 * links: helper/front/dialect/native_input.c helper/front/data_url.c
 * links: helper/front/file_name.c
 * links: helper/front/accept.c helper/front/text.c helper/front/utf8.c
 * links: helper/front/buf.c helper/front/err.c helper/front/link.c
 * links: helper/front/job.c helper/front/markdown.c helper/front/output.c
 * links: helper/front/plain.c helper/front/frame.c
 * links: helper/front/clock.c helper/front/result.c
 * links: helper/front/dialect/native_event.c
 * links: helper/front/dialect/native_run.c helper/front/json_out.c
 */

#include "native_bed.h"


static void
a_whole_job_is_understood(void **state)
{
    const char  *body = "{\"code\":\"x\\u0000\\ud83d\\ude00\",\"language\":"
                        "\"bash\",\"keep\":true,\"timeout\":1.5,\"env\":{\"A\":"
                        "\"1\",\"_B\":\"\"},\"stdin\":\"in\",\"files\":[{\"name"
                        "\":\"a/b.txt\",\"content_base64\":\"aGk=\"}],"
                        "\"limits\":{\"memory_bytes\":128,\"cpu\":0.5}} \n";

    (void) state;
    assert_int_equal(parse(body, strlen(body)), 0);
    assert_int_equal(job.code_len, 6);
    assert_memory_equal(job.code, "x\0\xf0\x9f\x98\x80", 6);
    assert_int_equal(job.language, KRN_BASH);
    assert_int_equal(job.timeout, 1500);
    assert_int_equal(job.env_len, 8);
    assert_memory_equal(job.env, "A=1\0_B=\0", 8);
    assert_int_equal(job.files[0].len, 2);
    assert_memory_equal(job.files[0].data, "hi", 2);
    assert_int_equal(job.box.memory, 128);
    assert_int_equal(job.box.cpu, 500);
    assert_true(job.own_limits);
    job_free(&job);
}


static void
defaults_are_the_profiles(void **state)
{
    (void) state;
    assert_int_equal(parse("{\"code\":\"1\"}", 12), 0);
    assert_int_equal(job.timeout, 1000);
    assert_int_equal(job.output, 100);
    assert_false(job.own_limits);
    assert_false(job.keep);
    job_free(&job);
}


static void
what_is_no_json_object_is_refused(void **state)
{
    size_t              i;
    static const char  *text[] = {
        "", " ", "null", "1", "\"code\"", "[]", "{", "{\"code\":\"1\"",
        "{\"code\":\"1\"}x", "{\"code\":\"1\"}{}", "{\"code\":\"1\",}",
        "{'code':'1'}", "{code:\"1\"}", "{\"code\":\"a\nb\"}",
        "{\"code\":\"1\"/**/}", "\xef\xbb\xbf{\"code\":\"1\"}",
        "{\"code\":\"\xff\"}", "{\"code\":\"\xed\xa0\x80\"}",
        "{\"code\":\"\\ud800\"}", "{\"code\":\"\\udc00\\ud800\"}",
        "{\"code\":\"\\ud800x\"}", "{\"code\":\"1\",\"code\":\"2\"}",
        "{\"code\":\"1\",\"env\":{\"A\":\"\",\"A\":\"\"}}",
        "{\"code\\u0000x\":\"1\"}", "{\"code\":\"1\",\"timeout\":NaN}"
    };

    (void) state;

    for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        if (parse(text[i], strlen(text[i])) != -1 || e.status != 400) {
            fail_msg("taken, or %d: %s", e.status, text[i]);
        }
    }
}


static void
depth_is_bounded(void **state)
{
    char   *body;
    size_t  i, n;

    (void) state;

    for (n = 31; n < 200000; n *= 8) {
        body = calloc(1, 2 * n + 64);
        assert_non_null(body);
        (void) snprintf(body, 64, "{\"code\":\"1\",\"x\":");
        i = strlen(body);
        memset(body + i, '[', n);
        memset(body + i + n, ']', n);
        body[i + 2 * n] = '}';
        bad(body, n == 31 ? "\"x\"" : "levels");
        free(body);
    }
}


static void
only_json_is_read(void **state)
{
    (void) state;
    good("{\"code\":\"1\"}");
    req.type = "text/plain";
    assert_int_equal(dialect_native.parse(&req, "{}", 2, &job, &e), -1);
    assert_int_equal(e.status, 415);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(a_whole_job_is_understood),
        cmocka_unit_test(defaults_are_the_profiles),
        cmocka_unit_test(what_is_no_json_object_is_refused),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(only_json_is_read)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
