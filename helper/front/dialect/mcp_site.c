
/*
 * In retort-front, as its own uid without any capability.  MCP: whom a request
 * comes from, before anything of its body is read.
 */

#include <string.h>
#include <strings.h>

#include "mcp.h"


#define MCP_PORT  ":0123456789"


static int
mcp_is_digits(const char *p)
{
    return strspn(p, MCP_PORT + 1) == strlen(p);
}


/* a name of this machine, with a port or without */

static int
mcp_is_local(const char *host)
{
    size_t  i, n;

    static const char *const  names[] = { "localhost", "127.0.0.1", "[::1]" };

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        n = strlen(names[i]);

        if (strncasecmp(host, names[i], n) == 0
            && (host[n] == '\0'
                || (host[n] == ':' && mcp_is_digits(host + n + 1))))
        {
            return 1;
        }
    }

    return 0;
}


/* no name that could be bent; the port, if any, is digits as well */

static int
mcp_is_address(const char *host)
{
    return host[0] == '[' || strspn(host, MCP_PORT ".") == strlen(host);
}


/*
 * Our own site is where links to artifacts lead, unless it is the request that
 * says where that is.  NULL: we do not know it.
 */

static const char *
mcp_own(const request_t *req)
{
    return strstr(req->link.base, "://") != NULL
           && request_param(req->params, "RETORT_SITE_UNKNOWN") == NULL
           ? req->link.base : NULL;
}


/* our site's host, whatever the port of either is */

static int
mcp_is_own_host(const request_t *req, const char *host)
{
    size_t       n;
    const char  *own;

    own = mcp_own(req);
    n = strcspn(host, ":");

    if (own == NULL) {
        return 0;
    }

    own = strstr(own, "://") + 3;

    return n != 0 && strcspn(own, ":/") == n && strncasecmp(own, host, n) == 0;
}


/*
 * Pages of other sites may not speak to us through somebody's browser, whatever
 * the method.  A name that somebody else lets resolve to us is in the Host as
 * well as in the Origin, and proves nothing.
 */

static int
mcp_origin(const request_t *req, err_t *e)
{
    size_t       n;
    const char  *origin, *own, *host;

    origin = request_param(req->params, "HTTP_ORIGIN");

    if (origin == NULL) {
        return 0;
    }

    own = mcp_own(req);
    host = strstr(origin, "://");
    n = strlen(origin);

    if (host != NULL
        && (mcp_is_local(host + 3)
            || (own != NULL && strncmp(own, origin, n) == 0
                && (own[n] == '/' || own[n] == '\0'))))
    {
        return 0;
    }

    return err_set(e, 403, "foreign_origin", "this origin is not allowed");
}


/* on the loopback it is this machine that is asked, or a name of the server */

static int
mcp_host(const request_t *req, err_t *e)
{
    const char  *host;

    host = request_param(req->params, "HTTP_HOST");

    if (host == NULL
        || request_param(req->params, "RETORT_HOST_STRANGE") == NULL
        || mcp_is_local(host) || mcp_is_address(host)
        || mcp_is_own_host(req, host))
    {
        return 0;
    }

    return err_set(e, 403, "foreign_host", "this host is not served here");
}


/* of a message it is told by the message's id */

static int
mcp_version(const request_t *req, err_t *e)
{
    const char  *version;

    version = request_param(req->params, "HTTP_MCP_PROTOCOL_VERSION");

    return version == NULL || strcmp(req->method, "POST") == 0
           || mcp_is_version(version) || strcmp(version, MCP_MODERN) == 0
           ? 0 : err_set(e, 400, "bad_version",
                         "unsupported protocol version");
}


int
mcp_site(const request_t *req, err_t *e)
{
    return mcp_origin(req, e) == 0 && mcp_host(req, e) == 0
           ? mcp_version(req, e) : -1;
}
