
/*
 * In retort-front, as its own uid without any capability.  MCP: prompts.  One
 * is ours, the skill of running code; the others are fixtures.
 */

#include <string.h>

#include "mcp.h"
#include "mcp_fixture.h"
#include "native.h"


#define MCP_ARGUMENT(name, text, must)                                        \
    "{\"name\":\"" name "\",\"description\":\"" text "\",\"required\":" must  \
    "}"

#define MCP_TEST  "For the conformance suite."


typedef struct {
    const char    *name;
    const char    *title;
    const char    *description;
    const char    *arguments;           /* JSON */
    json_object  *(*content)(mcp_t *m); /* NULL: it asks its client first */
    int            fixture;
} mcp_prompt_t;


static json_object *
mcp_prompt_text(const buf_t *text)
{
    json_object  *o;

    o = mcp_json("{\"type\":\"text\"}");
    native_add(o, "text", native_bytes(text->data, text->len));

    return o;
}


static json_object *
mcp_prompt_skill(mcp_t *m)
{
    buf_t         text;
    const char   *task;
    json_object  *o;

    memset(&text, 0, sizeof(text));
    task = mcp_argument(m, "task");
    (void) buf_puts(&text, mcp_skill);

    if (*task != '\0') {
        (void) buf_printf(&text, "\n## The task\n\n%s\n", task);
    }

    o = mcp_prompt_text(&text);
    buf_free(&text);

    return o;
}


static json_object *
mcp_prompt_simple(mcp_t *m)
{
    (void) m;

    return mcp_json("{\"type\":\"text\",\"text\":"
                    "\"This is a simple prompt for testing.\"}");
}


static json_object *
mcp_arguments(mcp_t *m)
{
    buf_t         text;
    json_object  *o;

    memset(&text, 0, sizeof(text));
    (void) buf_printf(&text, "Prompt with arguments: arg1='%s', arg2='%s'",
                      mcp_argument(m, "arg1"),
                      mcp_argument(m, "arg2"));
    o = mcp_prompt_text(&text);
    buf_free(&text);

    return o;
}


static json_object *
mcp_prompt_resource(mcp_t *m)
{
    json_object  *o, *resource;

    resource = mcp_json("{\"mimeType\":\"text/plain\",\"text\":"
                        "\"Embedded resource content for testing.\"}");
    native_add(resource, "uri",
               mcp_text(mcp_argument(m, "resourceUri")));
    o = mcp_json("{\"type\":\"resource\"}");
    native_add(o, "resource", resource);

    return o;
}


static json_object *
mcp_prompt_image(mcp_t *m)
{
    (void) m;

    return mcp_json("{\"type\":\"image\",\"data\":\"" MCP_PNG "\","
                    "\"mimeType\":\"image/png\"}");
}


static const mcp_prompt_t  mcp_prompts[] = {

    { "run_code", "Run code well",
      "When to run code, how to handle files, what to do when it fails.",
      "[" MCP_ARGUMENT("task", "What is to be done.", "false") "]",
      mcp_prompt_skill, 0 },

    { "test_simple_prompt", "Simple", MCP_TEST, "[]", mcp_prompt_simple, 1 },

    { "test_prompt_with_arguments", "Arguments", MCP_TEST,
      "[" MCP_ARGUMENT("arg1", "The first.", "true") ","
      MCP_ARGUMENT("arg2", "The second.", "true") "]",
      mcp_arguments, 1 },

    { "test_prompt_with_embedded_resource", "Resource", MCP_TEST,
      "[" MCP_ARGUMENT("resourceUri", "Which one.", "true") "]",
      mcp_prompt_resource, 1 },

    { "test_prompt_with_image", "Image", MCP_TEST, "[]", mcp_prompt_image, 1 },

    { "test_input_required_result_prompt", "Input", MCP_TEST, "[]", NULL, 1 },

    { NULL, NULL, NULL, NULL, NULL, 0 }
};


call_do_t
mcp_prompts_list(mcp_t *m)
{
    json_object         *all, *o;
    const mcp_prompt_t  *p;

    all = json_object_new_array();

    for (p = mcp_prompts; p->name != NULL; p++) {
        if (p->fixture && !m->fixtures) {
            continue;
        }

        o = json_object_new_object();
        native_add(o, "name", mcp_text(p->name));
        native_add(o, "title", mcp_text(p->title));
        native_add(o, "description", mcp_text(p->description));
        native_add(o, "arguments", mcp_json(p->arguments));
        (void) json_object_array_add(all, o);
    }

    return mcp_page(m, "prompts", all);
}


static void
mcp_prompt_give(mcp_t *m, const mcp_prompt_t *p)
{
    json_object  *o, *message, *messages;

    message = mcp_json("{\"role\":\"user\"}");
    native_add(message, "content", p->content(m));
    messages = json_object_new_array();
    (void) json_object_array_add(messages, message);

    o = json_object_new_object();
    native_add(o, "description", mcp_text(p->description));
    native_add(o, "messages", messages);
    mcp_result(m, o);
}


call_do_t
mcp_prompts_get(mcp_t *m)
{
    const char          *name;
    const mcp_prompt_t  *p;

    name = mcp_param(m, "name");

    for (p = mcp_prompts; p->name != NULL; p++) {
        if (strcmp(p->name, name) != 0 || (p->fixture && !m->fixtures)) {
            continue;
        }

        if (p->content != NULL) {
            mcp_prompt_give(m, p);

        } else {
            (void) mcp_fixture_asks(m, name);
        }

        return CALL_ANSWERED;
    }

    (void) mcp_error(m, 200, MCP_PARAMS, "no such prompt", NULL);

    return CALL_ANSWERED;
}


/* of the fixtures' arguments alone: nothing of ours has values to choose */

call_do_t
mcp_complete(mcp_t *m)
{
    mcp_result(m, mcp_json("{\"completion\":{\"values\":[],\"total\":0,"
                           "\"hasMore\":false}}"));

    return CALL_ANSWERED;
}
