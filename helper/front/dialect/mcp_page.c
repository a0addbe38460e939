
/*
 * In retort-front, as its own uid without any capability.  MCP: lists, page by
 * page.  A cursor is a number under a mark that only we can make.
 */

#include <stdio.h>
#include <string.h>

#include "../secret.h"
#include "../text.h"
#include "mcp.h"
#include "native.h"


#define MCP_PAGE    100
#define MCP_MARK    16
#define MCP_CURSOR  (MCP_MARK + 24)


static void
mcp_cursor(const mcp_t *m, const char *key, size_t at, char to[MCP_CURSOR])
{
    char  mark[MCP_MARK + 1];

    mark[0] = '\0';
    (void) secret_hex(mark, MCP_MARK, "cursor %s %s %zu",
                      m->call->req->workspace, key, at);
    (void) snprintf(to, MCP_CURSOR, "%s%zu", mark, at);
}


/* where the page begins that the client wants; -1: it was never told so */

static int
mcp_page_from(const mcp_t *m, const char *key, size_t *at)
{
    char          cursor[MCP_CURSOR];
    uint64_t      n;
    const char   *text;
    json_object  *v;

    *at = 0;

    if (m->params == NULL
        || !json_object_object_get_ex(m->params, "cursor", &v))
    {
        return 0;
    }

    text = mcp_param(m, "cursor");

    if (strlen(text) <= MCP_MARK
        || text_number(text + MCP_MARK, &n) == -1 || n > UINT32_MAX)
    {
        return -1;
    }

    *at = (size_t) n;
    mcp_cursor(m, key, *at, cursor);

    return strcmp(text, cursor) == 0 ? 0 : -1;
}


call_do_t
mcp_page(mcp_t *m, const char *key, json_object *all)
{
    char          cursor[MCP_CURSOR];
    size_t        i, at, n;
    json_object  *o, *page;

    if (mcp_page_from(m, key, &at) == -1) {
        json_object_put(all);
        (void) mcp_error(m, 200, MCP_PARAMS, "no such cursor", NULL);
        return CALL_ANSWERED;
    }

    n = json_object_array_length(all);
    page = json_object_new_array();

    for (i = at; i < n && i < at + MCP_PAGE; i++) {
        (void) json_object_array_add(page, json_object_get(
                                         json_object_array_get_idx(all, i)));
    }

    json_object_put(all);
    o = json_object_new_object();
    native_add(o, key, page);

    if (i < n) {
        mcp_cursor(m, key, i, cursor);
        native_add(o, "nextCursor", mcp_text(cursor));
    }

    mcp_result(m, mcp_cached(m, o));

    return CALL_ANSWERED;
}
