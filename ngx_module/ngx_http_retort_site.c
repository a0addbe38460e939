
/*
 * What the front has to know about "Host" before it believes that a page which
 * calls MCP is of our own site: anybody's name may resolve to this machine, and
 * a browser there says that name.
 */

#include "ngx_http_retort_module.h"


static ngx_uint_t ngx_http_retort_is_named(ngx_http_request_t *r);
static ngx_uint_t ngx_http_retort_is_below(ngx_str_t *name, ngx_str_t *host);
static ngx_uint_t ngx_http_retort_is_loopback(ngx_http_request_t *r);


/*
 * "host": it has to be a local one, since only this machine could ask here, or
 * a page that was bent to it.  "site": links lead to wherever "Host" says, so
 * they do not tell which site is ours.  Neither, if the server has that name.
 */

void
ngx_http_retort_site(ngx_http_request_t *r, ngx_uint_t *host,
    ngx_uint_t *site)
{
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    *host = 0;
    *site = 0;

    if (!rlcf->api->rpc || r->headers_in.server.len == 0
        || ngx_http_retort_is_named(r))
    {
        return;
    }

    *host = ngx_http_retort_is_loopback(r);
    *site = rlcf->static_url && rlcf->static_url->lengths;
}


/* nginx forgets them when it has read its configuration */

ngx_array_t *
ngx_http_retort_server_names(ngx_conf_t *cf)
{
    ngx_str_t                 *name;
    ngx_uint_t                 i;
    ngx_array_t               *names;
    ngx_http_server_name_t    *sn;
    ngx_http_core_srv_conf_t  *cscf;

    cscf = ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module);
    sn = cscf->server_names.elts;

    names = ngx_array_create(cf->pool, cscf->server_names.nelts + 1,
                             sizeof(ngx_str_t));

    for (i = 0; names && i < cscf->server_names.nelts; i++) {
        name = ngx_array_push(names);
        if (name == NULL) {
            return NULL;
        }

        *name = sn[i].name;
    }

    return names;
}


/* by its "server_name": any server but the default one was chosen by that */

static ngx_uint_t
ngx_http_retort_is_named(ngx_http_request_t *r)
{
    ngx_str_t                   *host, *name;
    ngx_uint_t                   i;
    ngx_http_retort_loc_conf_t  *rlcf;

    if (ngx_http_get_module_srv_conf(r, ngx_http_core_module)
        != r->http_connection->addr_conf->default_server)
    {
        return 1;
    }

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);
    host = &r->headers_in.server;
    name = rlcf->names->elts;

    for (i = 0; i < rlcf->names->nelts; i++) {

        if (name[i].len == host->len
            && ngx_strncasecmp(name[i].data, host->data, host->len) == 0)
        {
            return 1;
        }

        if (ngx_http_retort_is_below(&name[i], host)) {
            return 1;
        }
    }

    return 0;
}


/* "*.example.org", or ".example.org", which is the name itself, too */

static ngx_uint_t
ngx_http_retort_is_below(ngx_str_t *name, ngx_str_t *host)
{
    ngx_str_t  tail;

    tail = *name;

    if (tail.len > 2 && tail.data[0] == '*') {
        tail.data++;
        tail.len--;
    }

    if (tail.len < 2 || tail.data[0] != '.') {
        return 0;
    }

    if (host->len > tail.len) {
        return ngx_strncasecmp(host->data + host->len - tail.len, tail.data,
                               tail.len) == 0;
    }

    return tail.data == name->data && host->len == tail.len - 1
           && ngx_strncasecmp(host->data, tail.data + 1, host->len) == 0;
}


static ngx_uint_t
ngx_http_retort_is_loopback(ngx_http_request_t *r)
{
    struct sockaddr_in   *sin;
#if (NGX_HAVE_INET6)
    u_char               *p;
    struct sockaddr_in6  *sin6;
#endif

    if (ngx_connection_local_sockaddr(r->connection, NULL, 0) != NGX_OK) {
        return 1;
    }

    switch (r->connection->local_sockaddr->sa_family) {

#if (NGX_HAVE_INET6)
    case AF_INET6:
        sin6 = (struct sockaddr_in6 *) r->connection->local_sockaddr;
        p = sin6->sin6_addr.s6_addr;

        return IN6_IS_ADDR_LOOPBACK(&sin6->sin6_addr)
               || (IN6_IS_ADDR_V4MAPPED(&sin6->sin6_addr) && p[12] == 127);
#endif

    case AF_INET:
        sin = (struct sockaddr_in *) r->connection->local_sockaddr;

        return ntohl(sin->sin_addr.s_addr) >> 24 == 127;

    default:
        return 0;
    }
}
