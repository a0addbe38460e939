
/*
 * In retort-front, as its own uid without any capability.  A client offers
 * code execution by one entry that the vendor knows; a model behind us is
 * offered what it stands for.
 */

#include <string.h>

#include "../json_in.h"
#include "anthropic_talk.h"


#define ANTHROPIC_TOOL    "code_execution_2"    /* 20250522 and later */
#define ANTHROPIC_OLDEST  "code_execution_20250522"


static const char  anthropic_bash_tool[] =
    "{\"name\":\"bash_code_execution\",\"description\":\"Runs a bash command "
    "in a sandbox without network. Files stay in its working directory; each "
    "command is a process of its own. What is put into $OUTPUT_DIR is given "
    "to the user as files.\",\"input_schema\":{\"type\":\"object\","
    "\"properties\":{\"command\":{\"type\":\"string\"}},"
    "\"required\":[\"command\"]}}";

static const char  anthropic_editor_tool[] =
    "{\"name\":\"text_editor_code_execution\",\"description\":\"Views, creates "
    "and changes text files in the sandbox. view takes path and perhaps "
    "view_range; create takes path and file_text; str_replace takes path, "
    "old_str, which must be in the file exactly once, and new_str.\","
    "\"input_schema\":{\"type\":\"object\",\"properties\":{"
    "\"command\":{\"type\":\"string\",\"enum\":[\"view\",\"create\","
    "\"str_replace\"]},\"path\":{\"type\":\"string\"},"
    "\"view_range\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},"
    "\"file_text\":{\"type\":\"string\"},\"old_str\":{\"type\":\"string\"},"
    "\"new_str\":{\"type\":\"string\"}},"
    "\"required\":[\"command\",\"path\"]}}";

static const char  anthropic_python_tool[] =
    "{\"name\":\"code_execution\",\"description\":\"Runs Python code in a "
    "sandbox without network.\",\"input_schema\":{\"type\":\"object\","
    "\"properties\":{\"code\":{\"type\":\"string\"}},"
    "\"required\":[\"code\"]}}";


int
anthropic_is_tool(const char *name)
{
    return strcmp(name, "bash_code_execution") == 0
           || strcmp(name, "text_editor_code_execution") == 0
           || strcmp(name, "code_execution") == 0;
}


static void
anthropic_offer(json_object *to, const char *text, size_t len)
{
    err_t  e;

    (void) json_object_array_add(to, json_in(text, len, &e));
}


int
anthropic_tools_in(anthropic_talk_t *t, json_object *tools, err_t *e)
{
    size_t        i, n;
    json_object  *to, *one, *type;
    const char   *text;

    if (!json_object_is_type(tools, json_type_array)) {
        return err_set(e, 400, "bad_value",
                       "tools: Input should be an array");
    }

    to = json_object_new_array();
    n = json_object_array_length(tools);

    for (i = 0; i < n; i++) {
        one = json_object_array_get_idx(tools, i);
        text = json_object_object_get_ex(one, "type", &type)
               && json_object_is_type(type, json_type_string)
               ? json_object_get_string(type) : "";

        if (strncmp(text, ANTHROPIC_TOOL, strlen(ANTHROPIC_TOOL)) != 0) {
            (void) json_object_array_add(to, json_object_get(one));
            continue;
        }

        t->offered = 1;

        if (strcmp(text, ANTHROPIC_OLDEST) == 0) {
            anthropic_offer(to, anthropic_python_tool,
                            sizeof(anthropic_python_tool) - 1);
            continue;
        }

        anthropic_offer(to, anthropic_bash_tool,
                        sizeof(anthropic_bash_tool) - 1);
        anthropic_offer(to, anthropic_editor_tool,
                        sizeof(anthropic_editor_tool) - 1);
    }

    native_add(t->ask, "tools", to);

    return 0;
}
