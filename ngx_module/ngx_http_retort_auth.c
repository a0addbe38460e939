
#include "ngx_http_retort_module.h"


#define NGX_HTTP_RETORT_NO_KEY  3


static ngx_int_t ngx_http_retort_decide(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);
static ngx_int_t ngx_http_retort_by_key(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *key);
static ngx_int_t ngx_http_retort_by_variable(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);
static ngx_uint_t ngx_http_retort_key_rank(ngx_table_elt_t *h);
static void ngx_http_retort_presented_key(ngx_http_request_t *r,
    ngx_str_t *key);
static ngx_int_t ngx_http_retort_refuse(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_int_t rc);


/*
 * Runs before a byte of the body is read.  Subrequests skip this phase: the
 * content handler asks again if nobody did.
 */

ngx_int_t
ngx_http_retort_access_handler(ngx_http_request_t *r)
{
    ngx_http_retort_ctx_t       *ctx;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (rlcf->upstream.upstream == NULL || !rlcf->api->identity) {
        return NGX_DECLINED;
    }

    ctx = ngx_http_retort_ctx(r);
    if (ctx == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_retort_identify(r, ctx);
}


ngx_int_t
ngx_http_retort_identify(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx)
{
    ngx_int_t                    rc;
    ngx_http_retort_loc_conf_t  *rlcf;

    if (ctx->identified) {
        return NGX_OK;
    }

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    rc = rlcf->api->identity ? ngx_http_retort_decide(r, ctx) : NGX_OK;

    if (rc == NGX_OK) {
        ctx->identified = 1;
        ctx->answer = NULL;
        return NGX_OK;
    }

    ngx_str_null(&ctx->workspace);

    if (rc == NGX_ERROR) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_retort_refuse(r, ctx, rc);
}


static ngx_int_t
ngx_http_retort_decide(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx)
{
    ngx_str_t                    key;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (rlcf->keys) {
        ngx_http_retort_presented_key(r, &key);

        if (key.data) {
            return ngx_http_retort_by_key(r, ctx, &key);
        }
    }

    if (rlcf->workspace) {
        return ngx_http_retort_by_variable(r, ctx);
    }

    return NGX_HTTP_UNAUTHORIZED;
}


static ngx_int_t
ngx_http_retort_by_key(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_str_t *key)
{
    ngx_str_t                   *profile;
    ngx_uint_t                   i;
    ngx_http_retort_key_t       *k;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    k = ngx_http_retort_find_key(rlcf->keys, key);

    if (k == NULL) {
        ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                      "unknown retort key");
        return NGX_HTTP_UNAUTHORIZED;
    }

    ctx->workspace = k->workspace;

    if (k->profiles == NULL) {
        return NGX_OK;
    }

    profile = k->profiles->elts;

    for (i = 0; i < k->profiles->nelts; i++) {

        if (profile[i].len == rlcf->profile.len
            && ngx_memcmp(profile[i].data, rlcf->profile.data,
                          rlcf->profile.len)
               == 0)
        {
            return NGX_OK;
        }
    }

    ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                  "workspace \"%V\" has no right to profile \"%V\"",
                  &k->workspace, &rlcf->profile);

    return NGX_HTTP_FORBIDDEN;
}


static ngx_int_t
ngx_http_retort_by_variable(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx)
{
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (ngx_http_complex_value(r, rlcf->workspace, &ctx->workspace)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ctx->workspace.len == 0) {
        return NGX_HTTP_UNAUTHORIZED;
    }

    if (!ngx_http_retort_is_name(&ctx->workspace, NGX_HTTP_RETORT_NAME_MAX))
    {
        ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                      "malformed workspace of %uz bytes",
                      ctx->workspace.len);
        return NGX_HTTP_FORBIDDEN;
    }

    return NGX_OK;
}


/* the place in the order of headers that may carry a key */

static ngx_uint_t
ngx_http_retort_key_rank(ngx_table_elt_t *h)
{
    ngx_uint_t         rank;
    static ngx_str_t   names[NGX_HTTP_RETORT_NO_KEY] = {
        ngx_string("authorization"),
        ngx_string("x-api-key"),
        ngx_string("x-ms-apikey")
    };

    for (rank = 0; rank < NGX_HTTP_RETORT_NO_KEY; rank++) {

        if (h->key.len == names[rank].len
            && ngx_memcmp(h->lowcase_key, names[rank].data, h->key.len) == 0)
        {
            break;
        }
    }

    if (rank == 0
        && (h->value.len < sizeof("Bearer ") - 1
            || ngx_strncasecmp(h->value.data, (u_char *) "Bearer ",
                               sizeof("Bearer ") - 1)
               != 0))
    {
        return NGX_HTTP_RETORT_NO_KEY;
    }

    return rank;
}


/*
 * Authorization comes first, then x-api-key, then x-ms-apikey; of several
 * lines of one name, the first.  key->data is NULL if there is none.
 */

static void
ngx_http_retort_presented_key(ngx_http_request_t *r, ngx_str_t *key)
{
    ngx_uint_t        i, rank, best;
    ngx_table_elt_t  *h;
    ngx_list_part_t  *part;

    ngx_str_null(key);
    best = NGX_HTTP_RETORT_NO_KEY;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            rank = ngx_http_retort_key_rank(&h[i]);

            if (rank < best) {
                best = rank;
                *key = h[i].value;
            }
        }
    }

    if (best == 0) {
        key->data += sizeof("Bearer ") - 1;
        key->len -= sizeof("Bearer ") - 1;

        while (key->len && *key->data == ' ') {
            key->data++;
            key->len--;
        }
    }
}


static ngx_int_t
ngx_http_retort_refuse(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_int_t rc)
{
    ngx_table_elt_t  *h;

    if (rc == NGX_HTTP_FORBIDDEN) {
        ctx->answer = ngx_http_retort_error(r, rc, "forbidden",
                                    "this workspace may not do that here");

    } else {
        ctx->answer = ngx_http_retort_error(r, rc, "unauthorized",
                                            "a valid key is needed");

        h = r->headers_out.www_authenticate;

        /* "satisfy any" may have crossed out an earlier one */

        if (h == NULL || h->hash == 0) {
            h = ngx_http_retort_add_header(r, "WWW-Authenticate", "Bearer");
            if (h == NULL) {
                return NGX_HTTP_INTERNAL_SERVER_ERROR;
            }

            r->headers_out.www_authenticate = h;
        }
    }

    if (ctx->answer == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /* a program asks here: an "error_page" of the site is not for it */
    r->error_page = 1;

    return rc;
}
