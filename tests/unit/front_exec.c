
/*
 * Results are kept for who may ask for them: who has too many, or too large
 * ones, loses some of them, and nobody else does.
 *
 * links: helper/front/exec.c helper/front/exec_ask.c helper/front/output.c
 * links: helper/front/text.c
 * links: helper/front/tail.c helper/front/job.c
 * links: helper/front/buf.c helper/front/utf8.c helper/front/err.c
 * links: helper/front/clock.c helper/front/wake.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "front/bounds.h"
#include "front/box_id.h"
#include "front/exec.h"
#include "front/spool.h"


/* no name of a client's is asked for here, and nothing is written to a file */

int
box_id_run(char id[REQ_EXECUTION], const char *workspace, const char *session,
    const char *called)
{
    fail();

    return -1;
}


static void
over(const char *workspace, unsigned number, size_t bytes)
{
    char       *text;
    err_t      e;
    job_t      job;
    exec_t     *x;
    request_t  req;

    memset(&job, 0, sizeof(job));
    memset(&req, 0, sizeof(req));
    (void) snprintf(req.workspace, sizeof(req.workspace), "%s", workspace);
    (void) snprintf(req.execution, sizeof(req.execution), "exec_%s_%u",
                    workspace, number);
    x = exec_begin(&req, &job, &e);
    assert_non_null(x);

    text = malloc(bytes + 1);
    assert_non_null(text);
    memset(text, 'x', bytes);
    text[bytes] = '\0';

    if (bytes != 0) {
        /* it has it twice */
        outputs_error(&x->res.out, "x", text);
    }

    free(text);

    exec_over(x);
    exec_release(x);
}


static int
is_kept(const char *workspace, unsigned number)
{
    char    id[REQ_EXECUTION];
    err_t   e;
    exec_t  *x;

    (void) snprintf(id, sizeof(id), "exec_%s_%u", workspace, number);
    x = exec_find(id, workspace, &e);

    if (x != NULL) {
        exec_release(x);
    }

    return x != NULL;
}


static void
many(void **state)
{
    unsigned  i;

    over("large", 0, BOUND_EXEC_BYTES * 7 / 32);

    for (i = 0; i < BOUND_EXECS + 10; i++) {
        over("many", i, 0);
    }

    assert_true(is_kept("large", 0));
    assert_false(is_kept("many", 0));
    assert_false(is_kept("many", 10));
    assert_true(is_kept("many", 11));
}


static void
large(void **state)
{
    unsigned  i;

    over("few", 0, 1000);

    for (i = 0; i < 20; i++) {
        over("huge", i, BOUND_EXEC_BYTES / 16);
    }

    assert_true(is_kept("few", 0));
    assert_false(is_kept("huge", 0));
    assert_true(is_kept("huge", 19));
}


static void
foreign(void **state)
{
    err_t  e;

    over("mine", 0, 1);
    assert_true(is_kept("mine", 0));
    assert_null(exec_find("exec_mine_0", "other", &e));
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(many),
        cmocka_unit_test(large),
        cmocka_unit_test(foreign)
    };

    if (exec_init() == -1) {
        return 1;
    }

    return cmocka_run_group_tests(tests, NULL, NULL);
}
