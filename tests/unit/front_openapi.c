
/*
 * The native API's document and its table of routes say the same.
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

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "front/dialect/dialect.h"


static json_object *
document(const char *script)
{
    answer_t      a;
    request_t     r;
    json_object  *o;

    memset(&a, 0, sizeof(a));
    memset(&r, 0, sizeof(r));
    r.script = script;
    dialect_native.render_openapi(&r, &a);
    assert_int_equal(a.status, 200);
    assert_string_equal(a.type, "application/json");
    (void) buf_add(&a.body, "", 1);
    assert_false(a.body.failed);

    o = json_tokener_parse(a.body.data);
    assert_non_null(o);
    buf_free(&a.body);
    buf_free(&a.lines);

    return o;
}


static json_object *
get(json_object *o, const char *key)
{
    json_object  *v;

    return json_object_object_get_ex(o, key, &v) ? v : NULL;
}


/* a path with {...} as a route has it; {name} is all of the rest */

static void
as_route(const char *path, char *to)
{
    while (*path != '\0') {
        if (*path != '{') {
            *to++ = *path++;
            continue;
        }

        *to++ = '*';

        if (strcmp(path, "{name}") == 0) {
            *to++ = '*';
        }

        path = strchr(path, '}') + 1;
    }

    *to = '\0';
}


static int
is_route(const char *method, const char *path)
{
    const dialect_route_t  *r;

    for (r = dialect_native.routes; r->method != NULL; r++) {
        if (strcasecmp(r->method, method) == 0 && strcmp(r->path, path) == 0) {
            return 1;
        }
    }

    return 0;
}


static int
is_operation(json_object *paths, const dialect_route_t *r)
{
    char                          path[128], method[8];
    size_t                        i;
    struct json_object_iterator   it, end;

    end = json_object_iter_end(paths);

    for (i = 0; i < sizeof(method) - 1 && r->method[i] != '\0'; i++) {
        method[i] = (char) (r->method[i] | 0x20);
    }

    method[i] = '\0';

    for (it = json_object_iter_begin(paths); !json_object_iter_equal(&it, &end);
         json_object_iter_next(&it))
    {
        as_route(json_object_iter_peek_name(&it), path);

        if (strcmp(path, r->path) == 0
            && get(json_object_iter_peek_value(&it), method) != NULL)
        {
            return 1;
        }
    }

    return 0;
}


static void
every_route_is_in_the_document(void **state)
{
    json_object            *o;
    const dialect_route_t  *r;

    (void) state;
    o = document("/v1");

    for (r = dialect_native.routes; r->method != NULL; r++) {
        if (!is_operation(get(o, "paths"), r)) {
            fail_msg("%s %s is not documented", r->method, r->path);
        }
    }

    json_object_put(o);
}


/* those of other locations say that they are */

static void
every_operation_is_a_route(void **state)
{
    char                          path[128];
    json_object                  *o, *item, *paths;
    struct json_object_iterator   it, end, op, last;

    (void) state;
    o = document("/v1");
    paths = get(o, "paths");
    end = json_object_iter_end(paths);

    for (it = json_object_iter_begin(paths); !json_object_iter_equal(&it, &end);
         json_object_iter_next(&it))
    {
        item = json_object_iter_peek_value(&it);

        if (get(item, "servers") != NULL) {
            continue;
        }

        as_route(json_object_iter_peek_name(&it), path);
        last = json_object_iter_end(item);

        for (op = json_object_iter_begin(item);
             !json_object_iter_equal(&op, &last); json_object_iter_next(&op))
        {
            if (strcmp(json_object_iter_peek_name(&op), "parameters") != 0
                && !is_route(json_object_iter_peek_name(&op), path))
            {
                fail_msg("%s %s is no route", json_object_iter_peek_name(&op),
                         path);
            }
        }
    }

    json_object_put(o);
}


static void
the_server_is_the_locations_prefix(void **state)
{
    size_t              i;
    json_object        *o, *server;
    static const char  *prefix[][2] = {
        { "/v1", "/v1" }, { "/a/b", "/a/b" }, { "", "/" }, { NULL, "/" },
        { "/\"}],", "/\"}]," }
    };

    (void) state;

    for (i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++) {
        o = document(prefix[i][0]);
        server = json_object_array_get_idx(get(o, "servers"), 0);
        assert_string_equal(json_object_get_string(get(server, "url")),
                            prefix[i][1]);
        json_object_put(o);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(every_route_is_in_the_document),
        cmocka_unit_test(every_operation_is_a_route),
        cmocka_unit_test(the_server_is_the_locations_prefix)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
