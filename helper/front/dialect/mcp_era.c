
/*
 * In retort-front, as its own uid without any capability.  MCP: in which era
 * a message was written, and is it what its headers say?
 */

#include <stdlib.h>
#include <string.h>

#include "../text.h"
#include "mcp.h"
#include "native.h"


static const char *const  mcp_versions[] = {
    "2025-03-26", "2025-06-18", MCP_NEWEST, NULL
};


static const char *
mcp_header(const mcp_t *m, const char *name)
{
    return request_param(m->call->req->params, name);
}


int
mcp_is_version(const char *version)
{
    const char *const  *v;

    for (v = mcp_versions; *v != NULL; v++) {
        if (strcmp(*v, version) == 0) {
            return 1;
        }
    }

    return 0;
}


static json_object *
mcp_meta(const mcp_t *m, const char *name, json_type type)
{
    json_object  *v;

    if (m->meta == NULL || !json_object_object_get_ex(m->meta, name, &v)
        || !json_object_is_type(v, type))
    {
        return NULL;
    }

    return v;
}


/* dates in this form have their order as texts */

static int
mcp_is_late(const char *version)
{
    return strlen(version) == sizeof(MCP_MODERN) - 1
           && strspn(version, "0123456789-") == sizeof(MCP_MODERN) - 1
           && strcmp(version, MCP_MODERN) >= 0;
}


void
mcp_era(mcp_t *m)
{
    json_object  *v;
    const char   *header;

    v = mcp_meta(m, MCP_META "protocolVersion", json_type_string);
    header = mcp_header(m, "HTTP_MCP_PROTOCOL_VERSION");

    m->version = v != NULL ? json_object_get_string(v)
                 : header != NULL ? header : "";
    m->modern = v != NULL || mcp_is_late(m->version);
}


/* what may be in base64 because it would not fit into a header */

static int
mcp_decoded(const char *p, size_t n, const char *value)
{
    int             rc;
    size_t          len;
    unsigned char  *out;

    out = malloc(n + 4);

    if (out == NULL) {
        return 0;
    }

    rc = text_base64(p, n, out, &len) == 0 && len == strlen(value)
         && memcmp(out, value, len) == 0;
    free(out);

    return rc;
}


int
mcp_says(const mcp_t *m, const char *name, const char *value)
{
    size_t       n;
    const char  *p;

    p = mcp_header(m, name);

    if (p == NULL) {
        return 0;
    }

    p += strspn(p, " \t");
    n = strlen(p);

    while (n != 0 && (p[n - 1] == ' ' || p[n - 1] == '\t')) {
        n--;
    }

    if (n > 11 && strncmp(p, "=?base64?", 9) == 0
        && strncmp(p + n - 2, "?=", 2) == 0)
    {
        return mcp_decoded(p + 9, n - 11, value);
    }

    return n == strlen(value) && memcmp(p, value, n) == 0;
}


/* of which thing, for the methods that are about one */

static const char *
mcp_named(const mcp_t *m)
{
    const char   *key;
    json_object  *v;

    key = strcmp(m->method, "tools/call") == 0
          || strcmp(m->method, "prompts/get") == 0 ? "name"
          : strcmp(m->method, "resources/read") == 0 ? "uri"
          : strcmp(m->method, "tasks/get") == 0
          || strcmp(m->method, "tasks/update") == 0
          || strcmp(m->method, "tasks/cancel") == 0 ? "taskId" : NULL;

    if (key == NULL || m->params == NULL
        || !json_object_object_get_ex(m->params, key, &v)
        || !json_object_is_type(v, json_type_string))
    {
        return NULL;
    }

    return json_object_get_string(v);
}


json_object *
mcp_capability(const mcp_t *m, const char *what)
{
    json_object  *v;

    v = mcp_meta(m, MCP_META "clientCapabilities", json_type_object);

    return v != NULL && json_object_object_get_ex(v, what, &v) ? v : NULL;
}


int
mcp_capable(const mcp_t *m, const char *what)
{
    return mcp_capability(m, what) != NULL;
}


static int
mcp_modern_headers(mcp_t *m)
{
    const char   *name;
    json_object  *v;

    v = mcp_meta(m, MCP_META "protocolVersion", json_type_string);
    name = mcp_named(m);

    if (v != NULL && !mcp_says(m, "HTTP_MCP_PROTOCOL_VERSION", m->version)) {
        return mcp_error(m, 400, MCP_HEADER, "MCP-Protocol-Version is not what "
                         "\"_meta\" says", NULL);
    }

    if (!mcp_says(m, "HTTP_MCP_METHOD", m->method)) {
        return mcp_error(m, 400, MCP_HEADER, "Mcp-Method is not the message's "
                         "\"method\"", NULL);
    }

    if (name != NULL && !mcp_says(m, "HTTP_MCP_NAME", name)) {
        return mcp_error(m, 400, MCP_HEADER, "Mcp-Name is not what \"params\" "
                         "say", NULL);
    }

    return 0;
}


static int
mcp_modern(mcp_t *m)
{
    json_object  *data;

    if (mcp_modern_headers(m) == -1) {
        return -1;
    }

    if (mcp_meta(m, MCP_META "protocolVersion", json_type_string) == NULL
        || mcp_meta(m, MCP_META "clientCapabilities", json_type_object)
           == NULL)
    {
        return mcp_error(m, 400, MCP_PARAMS, "\"_meta\" must have "
                         "\"" MCP_META "protocolVersion\" and \""
                         MCP_META "clientCapabilities\"", NULL);
    }

    if (strcmp(m->version, MCP_MODERN) == 0) {
        return 0;
    }

    data = mcp_json("{\"supported\":[\"" MCP_MODERN "\"]}");
    native_add(data, "requested", mcp_text(m->version));

    return mcp_error(m, 400, MCP_VERSION, "unsupported protocol version",
                     data);
}


/*
 * A method in a header has to be true in both eras: the worker lets what is
 * no call pass by without counting it among the runs.
 */

static int
mcp_before(mcp_t *m)
{
    if (*m->version != '\0' && !mcp_is_version(m->version)) {
        return mcp_error(m, 400, MCP_REQUEST, "unsupported protocol version",
                         NULL);
    }

    if (m->method != NULL && mcp_header(m, "HTTP_MCP_METHOD") != NULL
        && !mcp_says(m, "HTTP_MCP_METHOD", m->method))
    {
        return mcp_error(m, 400, MCP_REQUEST, "Mcp-Method is not the message's "
                         "\"method\"", NULL);
    }

    if (*m->session == '\0'
        || (m->method != NULL && strcmp(m->method, "initialize") == 0))
    {
        return 0;
    }

    if (!session_live(m->session, m->call->req->workspace, m->agreed)) {
        return mcp_error(m, 404, MCP_SESSION, "no such session", NULL);
    }

    if (*m->version == '\0') {
        m->version = m->agreed;
    }

    return 0;
}


int
mcp_check(mcp_t *m)
{
    if (!m->modern) {
        return mcp_before(m);
    }

    m->session = "";

    return m->id != NULL && m->method != NULL ? mcp_modern(m) : 0;
}
