
/*
 * In retort-front, as its own uid without any capability.  MCP: arguments that
 * stand in headers, too, so that what lies between can go by them.  The two
 * must be one.
 */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "mcp.h"


/* "Mcp-Param-Name", as its FastCGI param is called */

static int
mcp_param_says(const mcp_t *m, const char *header, json_object *arg)
{
    char   name[80];
    char  *p;

    (void) snprintf(name, sizeof(name), "HTTP_MCP_PARAM_%.60s", header);

    for (p = name; *p != '\0'; p++) {
        *p = *p == '-' ? '_' : (char) toupper((unsigned char) *p);
    }

    return arg != NULL ? mcp_says(m, name, json_object_get_string(arg))
                       : request_param(m->call->req->params, name) == NULL;
}


static int
mcp_params_say(const mcp_t *m, json_object *properties, json_object *args)
{
    json_object  *header, *arg;

    json_object_object_foreach(properties, key, property) {
        if (!json_object_object_get_ex(property, "x-mcp-header", &header)) {
            continue;
        }

        if (args == NULL || !json_object_object_get_ex(args, key, &arg)) {
            arg = NULL;
        }

        if (!mcp_param_says(m, json_object_get_string(header), arg)) {
            return 0;
        }
    }

    return 1;
}


int
mcp_mirrored(mcp_t *m, const char *input)
{
    int           says;
    json_object  *schema, *all, *args;

    if (!json_object_object_get_ex(m->params, "arguments", &args)) {
        args = NULL;
    }

    schema = mcp_json(input);
    says = !json_object_object_get_ex(schema, "properties", &all)
           || mcp_params_say(m, all, args);
    json_object_put(schema);

    return says ? 0 : mcp_error(m, 400, MCP_HEADER, "a header Mcp-Param- is "
                                "not what \"arguments\" say", NULL);
}
