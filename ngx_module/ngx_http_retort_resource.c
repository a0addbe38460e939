
/*
 * RFC 9728 and RFC 6750: where a client that was refused learns how to get a
 * token, and what it lacks.
 */

#include "ngx_http_retort_module.h"


static ngx_int_t ngx_http_retort_resource_handler(ngx_http_request_t *r);
static ngx_uint_t ngx_http_retort_is_url(ngx_str_t *s);


/* retort_resource_document resource issuer ... */

char *
ngx_http_retort_set_document(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    u_char                    *p;
    size_t                     len;
    ngx_str_t                 *value;
    ngx_uint_t                 i;
    ngx_http_core_loc_conf_t  *clcf;

    if (rlcf->document.len) {
        return "is duplicate";
    }

    value = cf->args->elts;
    len = 256;

    for (i = 1; i < cf->args->nelts; i++) {

        if (!ngx_http_retort_is_url(&value[i])) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" is not the URL of a resource or an "
                               "issuer", &value[i]);
            return NGX_CONF_ERROR;
        }

        len += value[i].len + sizeof("\"\",");
    }

    p = ngx_pnalloc(cf->pool, len);
    if (p == NULL) {
        return NGX_CONF_ERROR;
    }

    rlcf->document.data = p;
    p = ngx_sprintf(p, "{\"resource\":\"%V\",\"authorization_servers\":[",
                    &value[1]);

    for (i = 2; i < cf->args->nelts; i++) {
        p = ngx_sprintf(p, "%s\"%V\"", i > 2 ? "," : "", &value[i]);
    }

    p = ngx_sprintf(p, "],\"scopes_supported\":[\"execute\",\"files\","
                    "\"admin\"],\"bearer_methods_supported\":[\"header\"]}"
                    "\n");
    rlcf->document.len = p - rlcf->document.data;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    clcf->handler = ngx_http_retort_resource_handler;

    return NGX_CONF_OK;
}


static ngx_uint_t
ngx_http_retort_is_url(ngx_str_t *s)
{
    size_t  i;

    if (ngx_strncmp(s->data, "https://", 8) != 0
        && ngx_strncmp(s->data, "http://", 7) != 0)
    {
        return 0;
    }

    for (i = 0; i < s->len; i++) {

        if (s->data[i] <= ' ' || s->data[i] > '~' || s->data[i] == '"'
            || s->data[i] == '\\')
        {
            return 0;
        }
    }

    return 1;
}


static ngx_int_t
ngx_http_retort_resource_handler(ngx_http_request_t *r)
{
    ngx_http_complex_value_t     body;
    ngx_http_retort_loc_conf_t  *rlcf;

    static ngx_str_t  type = ngx_string("application/json");

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    ngx_memzero(&body, sizeof(ngx_http_complex_value_t));
    body.value = rlcf->document;

    return ngx_http_send_response(r, NGX_HTTP_OK, &type, &body);
}


ngx_int_t
ngx_http_retort_challenge(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_uint_t status)
{
    u_char                      *p, *line;
    ngx_str_t                    url;
    const char                  *lack, *comma;
    ngx_table_elt_t             *h;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    ngx_str_null(&url);

    if (rlcf->resource
        && ngx_http_complex_value(r, rlcf->resource, &url) != NGX_OK)
    {
        return NGX_ERROR;
    }

    line = ngx_pnalloc(r->pool, 128 + url.len);
    if (line == NULL) {
        return NGX_ERROR;
    }

    p = ngx_sprintf(line, "Bearer");
    comma = "";

    if (status == NGX_HTTP_FORBIDDEN) {
        p = ngx_sprintf(p, " error=\"insufficient_scope\", scope=\"%s\"",
                        ngx_http_retort_scope_name(ctx->lacks, &lack));
        comma = ",";

    } else if (ctx->presented) {
        p = ngx_sprintf(p, " error=\"invalid_token\"");
        comma = ",";
    }

    if (url.len) {
        p = ngx_sprintf(p, "%s resource_metadata=\"%V\"", comma, &url);
    }

    *p = '\0';

    h = ngx_http_retort_add_header(r, "WWW-Authenticate", (char *) line);
    if (h == NULL) {
        return NGX_ERROR;
    }

    if (status == NGX_HTTP_UNAUTHORIZED) {
        r->headers_out.www_authenticate = h;
    }

    return NGX_OK;
}
