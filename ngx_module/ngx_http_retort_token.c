
/*
 * E2B's clients have a key for the service and, for each sandbox, a token that
 * the front has made with what the worker gave it for links.
 */

#include "ngx_http_retort_module.h"


static ngx_int_t ngx_http_retort_token_header(ngx_http_request_t *r,
    ngx_str_t *name, ngx_str_t *value);


static ngx_str_t  ngx_http_retort_token_names[] = {
    ngx_string("x-access-token"),
    ngx_string("e2b-traffic-access-token"),
    ngx_null_string
};

static ngx_str_t  ngx_http_retort_sandbox_name = ngx_string("e2b-sandbox-id");


/* of several lines, none: nobody is to know another one than we do */

static ngx_int_t
ngx_http_retort_token_header(ngx_http_request_t *r, ngx_str_t *name,
    ngx_str_t *value)
{
    ngx_uint_t        i;
    ngx_table_elt_t  *h;
    ngx_list_part_t  *part;

    ngx_str_null(value);

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (h[i].key.len != name->len
                || ngx_memcmp(h[i].lowcase_key, name->data, name->len) != 0)
            {
                continue;
            }

            if (value->data) {
                return NGX_DECLINED;
            }

            *value = h[i].value;
        }
    }

    return value->len ? NGX_OK : NGX_DECLINED;
}


/*
 * NGX_DECLINED: this request has none.  The token is WORKSPACE.SIGNATURE, and
 * is for the sandbox of its own header alone.
 */

ngx_int_t
ngx_http_retort_by_token(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx)
{
    u_char                      *dot;
    ngx_str_t                   *name, token, sandbox, workspace, signature;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (rlcf->api->face != ngx_http_retort_face_e2b || rlcf->secrets == NULL)
    {
        return NGX_DECLINED;
    }

    for (name = ngx_http_retort_token_names; name->len; name++) {
        if (ngx_http_retort_token_header(r, name, &token) == NGX_OK) {
            break;
        }
    }

    if (name->len == 0) {
        return NGX_DECLINED;
    }

    for (dot = token.data + token.len - 1; dot > token.data && *dot != '.';
         dot--)
    {
        /* void */
    }

    workspace.data = token.data;
    workspace.len = dot - token.data;

    signature.data = dot + 1;
    signature.len = token.data + token.len - signature.data;

    ctx->presented = 1;

    if (ngx_http_retort_token_header(r, &ngx_http_retort_sandbox_name,
                                     &sandbox)
        != NGX_OK
        || !ngx_http_retort_is_name(&workspace, NGX_HTTP_RETORT_NAME_MAX)
        || ngx_http_retort_check_token(r, &workspace, &sandbox, &signature)
           != NGX_OK)
    {
        ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                      "wrong token of a sandbox");
        return NGX_HTTP_UNAUTHORIZED;
    }

    ctx->workspace = workspace;
    ctx->inside = sandbox;

    return NGX_OK;
}
