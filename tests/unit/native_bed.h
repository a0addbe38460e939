
/*
 * For tests of what the native dialect reads: a request with low ceilings.
 */

#ifndef UNIT_NATIVE_BED_H
#define UNIT_NATIVE_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "front/dialect/dialect.h"


static err_t             e;
static job_t             job;
static request_t         req;
static retort_profile_t  profile;


static int
parse(const char *body, size_t len)
{
    int  rc;

    memset(&e, 0, sizeof(e));
    memset(&job, 0, sizeof(job));
    profile.run.timeout = 1000;
    profile.run.output = 100;
    profile.box.memory = 64;
    req.profile = &profile;
    req.type = "application/json";
    req.run = profile.run;
    req.run_max = profile.run;
    req.run_max.timeout = 5000;
    req.box = profile.box;
    req.box_max = profile.box;
    req.box_max.memory = 128;
    req.box_max.cpu = 2000;

    rc = dialect_native.parse(&req, body, len, &job, &e);

    if (rc == -1) {
        job_free(&job);
    }

    return rc;
}


static void
good(const char *body)
{
    assert_int_equal(parse(body, strlen(body)), 0);
    job_free(&job);
}


static void
bad(const char *body, const char *names)
{
    assert_int_equal(parse(body, strlen(body)), -1);
    assert_int_equal(e.status, 400);

    if (strstr(e.text, names) == NULL) {
        fail_msg("\"%s\" does not name %s", e.text, names);
    }
}

#endif /* UNIT_NATIVE_BED_H */
