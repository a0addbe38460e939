
/*
 * In retort-front, as its own uid without any capability.  Ubik: what there is
 * to know of the tools, and what is asked beside executions.
 */

#include <string.h>

#include "../file_type.h"
#include "../text.h"
#include "native.h"
#include "ubik.h"


#define UBIK_ABOUT                                                            \
    "Plans, writes and runs Python in a sandbox. Variables and files stay: "  \
    "give the sandbox_id of the result to go on."

static const char  ubik_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"request\":{\"type\":\"string\",\"description\":\"The task in natural "
    "language, or one fenced block of Python.\"},"
    "\"document_ids\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
    "\"description\":\"Files for /home/uploaded_files/.\"},"
    "\"context\":{\"type\":\"string\",\"description\":\"Constraints.\"},"
    "\"sandbox_id\":{\"type\":\"string\",\"description\":\"A session to go on "
    "in.\"}},\"required\":[\"request\"],\"additionalProperties\":false}";


static json_object *
ubik_described(const char *name, int whole)
{
    json_object  *o;
    const char   *own, *uuid;

    (void) ubik_tool(name, &own, &uuid);
    o = json_object_new_object();
    native_add(o, "id", native_string(uuid));
    native_add(o, "name", native_string(own));
    native_add(o, "description", native_string(UBIK_ABOUT));

    if (whole) {
        native_add(o, "input_schema", json_tokener_parse(ubik_schema));
        native_add(o, "media_output_keys", json_tokener_parse(
                                               "[\"artifacts\","
                                               "\"generated_files\"]"));
        native_add(o, "example_responses", json_object_new_array());
    }

    return o;
}


/* from 1 to "max", "most" if it is not said; 0, or -1 and "e" */

static int
ubik_number(const char *query, const char *key, uint64_t most, uint64_t max,
    uint64_t *to, err_t *e)
{
    char  text[24];

    *to = most;

    if (file_query(query, key, text, sizeof(text)) == 0
        && (text[0] == '\0' || (text_number(text, to) == 0 && *to >= 1
                                && *to <= max)))
    {
        return 0;
    }

    return ubik_fault(e, *key == 'p' ? "?page" : "?limit",
                      "Input should be a valid integer in its range");
}


static void
ubik_list(call_t *c, err_t *e)
{
    uint64_t      page, limit, i;
    json_object  *o, *items;

    static const char *const  names[] = { "code_execution",
                                          "code_interpreter" };

    if (ubik_number(c->req->query, "page", 1, UINT32_MAX, &page, e) == -1
        || ubik_number(c->req->query, "limit", 20, 100, &limit, e) == -1)
    {
        return;
    }

    items = json_object_new_array();

    for (i = (page - 1) * limit; i < 2 && i < page * limit; i++) {
        (void) json_object_array_add(items, ubik_described(names[i], 0));
    }

    o = json_object_new_object();
    native_add(o, "items", items);
    native_add(o, "total", json_object_new_int(2));
    native_add(o, "page", native_number(page));
    native_add(o, "limit", native_number(limit));
    native_add(o, "has_more", json_object_new_boolean(page * limit < 2));
    native_write(o, c->a);
    c->a->status = 200;
}


call_do_t
ubik_call(call_t *c)
{
    err_t        e;
    const char  *path, *name, *uuid;

    memset(&e, 0, sizeof(e));
    path = c->req->path;

    if (strcmp(path, "/tools") == 0) {
        ubik_list(c, &e);

    } else if (strcmp(path, "/auth/token") == 0) {
        ubik_token(c, &e);

    } else if (strncmp(path, "/tools/", 7) != 0) {
        (void) ubik_input(c, &e);

    } else if (ubik_tool(path + 7, &name, &uuid)) {
        native_write(ubik_described(name, 1), c->a);
        c->a->status = 200;

    } else {
        (void) err_set(&e, 404, "not_found", "Tool not found");
    }

    c->a->form = NULL;

    if (e.status != 0) {
        ubik_fail(&e, c->a);
    }

    return CALL_ANSWERED;
}


void
ubik_call_fail(call_t *c, const err_t *e)
{
    ubik_fail(e, c->a);
}


void
ubik_call_free(call_t *c)
{
    (void) c;
}
