/*
 * A call of an endpoint gives its answer to the sink piece by piece, and each
 * way in which it can end is an error of its own.  In the place of
 * retort-fetch is a thread that says what the test wants.
 *
 * links: helper/front/endpoint.c helper/front/outside.c helper/front/wake.c
 * links: helper/front/err.c helper/front/clock.c helper/front/flog.c
 * links: helper/front/metrics_fetch.c helper/front/prom.c helper/front/buf.c
 * links: helper/lib/fdpass.c helper/lib/log.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include "fetch_bed.h"
#include "front/endpoint.h"
#include "front/outside.h"
#include "front/wake.h"


static int     channel[2];
static err_t   e;
static char    got[4096];
static int     heads, status, enough;


static int
head(void *own, int s, const char *type)
{
    assert_ptr_equal(own, got);
    assert_string_equal(type, "text/event-stream");
    status = s;
    heads++;

    return 0;
}


static int
data(void *own, const char *p, size_t n)
{
    assert_ptr_equal(own, got);
    strncat(got, p, n);

    return enough ? -1 : 0;
}


static int
call(const char *script, const char *body, size_t len, int client)
{
    int              rc;
    pthread_t        id;
    endpoint_sink_t  sink = { head, data, got };

    memset(&e, 0, sizeof(e));
    memset(got, 0, sizeof(got));
    heads = status = 0;
    fake.script = script;
    fake.channel = channel[1];
    assert_int_equal(pthread_create(&id, NULL, serve, NULL), 0);
    rc = call_endpoint("model", "anthropic-version: 1\n", body, len, client,
                       &sink, &e);
    assert_int_equal(pthread_join(id, NULL), 0);

    return rc;
}


static void
fails(const char *script, int http, const char *code)
{
    assert_int_equal(call(script, "{}", 2, -1), -1);
    assert_int_equal(e.status, http);
    assert_string_equal(e.code, code);
}


static void
the_answer_comes_piece_by_piece(void **state)
{
    static char  body[60000];

    (void) state;
    memset(body, 'b', sizeof(body));
    assert_int_equal(call("hddde0", body, sizeof(body), -1), 0);
    assert_string_equal(got, "data data data ");
    assert_int_equal(status, 201);
    assert_int_equal(heads, 1);

    assert_string_equal(fake.req.name, "model");
    assert_int_equal(fake.req.op, FETCH_CALL);
    assert_memory_equal(fake.body, "anthropic-version: 1\n", 21);
    assert_int_equal(fake.req.len, sizeof(body));
    assert_memory_equal(fake.body + 21, body, sizeof(body));

    assert_int_equal(call("he0", "", 0, -1), 0);
    assert_string_equal(got, "");
}


static void
each_end_has_a_name(void **state)
{
    (void) state;
    fails("e6", 503, "endpoint_unknown");
    fails("e2", 502, "endpoint_failed");
    assert_string_equal(e.text, "the endpoint \"model\": a reason");
    fails("hde3", 502, "endpoint_failed");
    assert_string_equal(got, "data ");
    fails("hde4", 504, "endpoint_timeout");
    fails("e5", 503, "fetch_busy");
    assert_int_equal(e.retry_after, 1);
    fails("hd", 502, "fetch_lost");
    fails("", 502, "fetch_lost");

    enough = 1;
    fails("hd.", 502, "endpoint_enough");
    enough = 0;
}


static void
a_child_that_lies_is_an_error(void **state)
{
    (void) state;
    fails("x.", 502, "fetch_lost");
    fails("hs.", 502, "fetch_lost");
    fails("ht.", 502, "fetch_lost");
    fails("d.", 502, "endpoint_enough");
    fails("hh.", 502, "endpoint_enough");
    fails("e0", 502, "endpoint_failed");
    fails("he9", 502, "endpoint_failed");
}


static void
a_client_that_leaves_ends_the_call(void **state)
{
    int  pair[2];

    (void) state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    (void) close(pair[1]);
    assert_int_equal(call("h.", "{}", 2, pair[0]), -1);
    assert_int_equal(e.status, 0);
    assert_string_equal(e.code, "cancelled");
    (void) close(pair[0]);
}


static void
without_retort_fetch_it_says_so(void **state)
{
    char             model[FETCH_TEXT];
    endpoint_sink_t  sink = { head, data, got };

    (void) state;
    (void) close(channel[1]);
    assert_int_equal(call_endpoint("m", NULL, "{}", 2, -1, &sink, &e), -1);
    assert_int_equal(e.status, 503);
    assert_string_equal(e.code, "fetch_away");
    assert_int_equal(endpoint_model("m", model, &e), -1);
    assert_string_equal(e.code, "fetch_away");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(the_answer_comes_piece_by_piece),
        cmocka_unit_test(each_end_has_a_name),
        cmocka_unit_test(a_child_that_lies_is_an_error),
        cmocka_unit_test(a_client_that_leaves_ends_the_call),
        cmocka_unit_test(without_retort_fetch_it_says_so)
    };

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channel), 0);

    if (wake_init(4) == -1 || outside_init(channel[0]) == -1) {
        return 1;
    }

    return cmocka_run_group_tests(tests, NULL, NULL);
}
