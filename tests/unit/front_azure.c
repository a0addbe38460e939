
/*
 * Azure's limits: how long a run may take.
 *
 * links: helper/front/dialect/azure_body.c helper/front/dialect/azure_query.c
 * links: helper/front/err.c helper/front/buf.c helper/front/accept.c
 * links: helper/front/text.c helper/front/utf8.c helper/front/json_in.c
 * links: helper/front/file_type.c helper/front/file_name.c helper/front/job.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "front/dialect/azure.h"


/* of parts that no time is decided in, but whose request it is */

static int  shell;


int
azure_is_shell(const request_t *req)
{
    (void) req;

    return shell;
}


int
azure_is_image(const request_t *req)
{
    (void) req;

    return 0;
}


const char *
request_param(char **params, const char *name)
{
    (void) params;
    (void) name;

    return NULL;
}


static uint64_t
allowed(int64_t seconds, uint64_t ceiling)
{
    err_t      e;
    uint64_t   msec;
    request_t  req;

    memset(&req, 0, sizeof(req));
    req.run_max.timeout = ceiling;

    return azure_seconds(&req, seconds, &msec, &e) == 0 ? msec : 0;
}


static void
no_run_takes_more_than_220_seconds(void **state)
{
    (void) state;
    assert_int_equal(allowed(219, 600000), 219000);
    assert_int_equal(allowed(220, 600000), 220000);
    assert_int_equal(allowed(221, 600000), 220000);
    assert_int_equal(allowed(INT64_MAX, UINT64_MAX), 220000);
}


static void
nor_more_than_the_profile_allows(void **state)
{
    (void) state;
    assert_int_equal(allowed(60, 45500), 45500);
    assert_int_equal(allowed(45, 45500), 45000);
}


static void
no_time_is_refused(void **state)
{
    (void) state;
    assert_int_equal(allowed(0, 600000), 0);
    assert_int_equal(allowed(-1, 600000), 0);
    assert_int_equal(allowed(INT64_MIN, 600000), 0);
}


/* the time of a run that says none, or this many seconds */

static uint64_t
taken(const char *seconds)
{
    int               rc;
    char              body[200];
    err_t             e;
    job_t             job;
    uint64_t          msec;
    request_t         req;
    retort_profile_t  profile;

    memset(&req, 0, sizeof(req));
    memset(&job, 0, sizeof(job));
    memset(&profile, 0, sizeof(profile));
    req.path = shell ? "/shellExecute" : "/executions";
    req.query = "api-version=1&identifier=user-42";
    req.type = "application/json";
    req.profile = &profile;
    req.run_max.timeout = 600000;
    (void) snprintf(body, sizeof(body), "{\"shellCommand\":\"x\"%s%s}",
                    *seconds != '\0' ? ",\"timeoutInSeconds\":" : "",
                    seconds);
    rc = azure_parse(&req, body, strlen(body), &job, &e);
    msec = job.timeout;
    job_free(&job);

    return rc == 0 ? msec : 0;
}


static void
a_run_that_says_no_time_has_120_seconds_a_shell_180(void **state)
{
    (void) state;
    assert_int_equal(taken(""), 120000);
    assert_int_equal(taken("5"), 5000);
    assert_int_equal(taken("9223372036854775807"), 220000);
    assert_int_equal(taken("9223372036854775808"), 220000);
    assert_int_equal(taken("-9223372036854775809"), 0);
    shell = 1;
    assert_int_equal(taken(""), 180000);
    assert_int_equal(taken("5"), 5000);
    shell = 0;
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(a_run_that_says_no_time_has_120_seconds_a_shell_180),
        cmocka_unit_test(no_run_takes_more_than_220_seconds),
        cmocka_unit_test(nor_more_than_the_profile_allows),
        cmocka_unit_test(no_time_is_refused)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
