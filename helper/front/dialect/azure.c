
/*
 * In retort-front, as its own uid without any capability.  Azure's dynamic
 * sessions: the REST interface of a pool, and the one that the image inside of
 * a pool's container has.
 */

#include <string.h>

#include "azure.h"


int
azure_is_image(const request_t *req)
{
    return strcmp(req->api, "azure_image") == 0;
}


int
azure_is_shell(const request_t *req)
{
    return strcmp(req->path, "/shellExecute") == 0;
}


static int
azure_form(const request_t *req, err_t *e)
{
    (void) req;
    (void) e;

    return 0;
}


static const dialect_route_t  azure_routes[] = {
    { "POST", "/executions", OP_EXECUTE },
    { "GET", "/executions/*", OP_EXEC_SHOW },
    { "POST", "/code/execute", OP_EXECUTE },
    { "POST", "/python/execute", OP_EXECUTE },
    { "POST", "/execute", OP_EXECUTE },
    { "GET", "/files", OP_FILE_LIST },
    { "POST", "/files", OP_FILE_POST },
    { "POST", "/files/upload", OP_FILE_POST },
    { "GET", "/files/content/**", OP_FILE_GET },
    { "GET", "/files/**", OP_FILE_SHOW },
    { "DELETE", "/files/**", OP_FILE_DELETE },
    { "GET", "/session", OP_BOX_SHOW },
    { "DELETE", "/session", OP_BOX_DELETE },
    { "GET", "/listSessions", OP_BOX_LIST },
    { "GET", "/metadata", OP_METADATA },
    { "POST", "/.management/getSession", OP_BOX_SHOW },
    { "POST", "/.management/listSessions", OP_BOX_LIST },
    { "POST", "/.management/stopSession", OP_BOX_DELETE },
    { NULL, NULL, OP_EXECUTE }
};


static const dialect_route_t  azure_image_routes[] = {
    { "GET", "/health", OP_HEALTH },
    { "GET", "/health/startup", OP_HEALTH },
    { "POST", "/executions", OP_EXECUTE },
    { "GET", "/executions/*", OP_EXEC_SHOW },
    { "POST", "/shellExecute", OP_EXECUTE },
    { "GET", "/files", OP_FILE_LIST },
    { "POST", "/files", OP_FILE_POST },
    { "GET", "/files/**", OP_FILE_SHOW },
    { "DELETE", "/files/**", OP_FILE_DELETE },
    { NULL, NULL, OP_EXECUTE }
};


#define AZURE_FUNCTIONS                                                       \
    .check = azure_version,                                                   \
    .form = azure_form,                                                       \
    .parse = azure_parse,                                                     \
    .render = azure_render,                                                   \
    .render_exec = azure_render_exec,                                         \
    .named = azure_named,                                                     \
    .file = azure_file,                                                       \
    .pictures = 1,                                                            \
    .render_file = azure_render_file,                                         \
    .render_files = azure_render_files

const dialect_t  dialect_azure = {
    .name = "azure",
    .routes = azure_routes,
    .fail = azure_fail,
    .retell = azure_retell,
    .ended = azure_ended,
    .render_box = azure_render_box,
    .render_boxes = azure_render_boxes,
    .render_meta = azure_render_meta,
    AZURE_FUNCTIONS
};


const dialect_t  dialect_azure_image = {
    .name = "azure_image",
    .routes = azure_image_routes,
    .fail = azure_image_fail,
    .health = azure_health,
    AZURE_FUNCTIONS
};
