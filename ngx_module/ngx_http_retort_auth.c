
#include "ngx_http_retort_module.h"


#define NGX_HTTP_RETORT_NO_KEY  3


static ngx_int_t ngx_http_retort_decide(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);
static ngx_int_t ngx_http_retort_by_key(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_http_retort_key_t *k);
static ngx_int_t ngx_http_retort_by_credential(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *value);
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
    ngx_int_t                    rc;
    ngx_http_retort_ctx_t       *ctx;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (rlcf->upstream.upstream == NULL
        || !ngx_http_retort_needs_identity(rlcf))
    {
        return NGX_DECLINED;
    }

    ctx = ngx_http_retort_ctx(r);
    if (ctx == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_http_retort_identify(r, ctx);

    /* with "satisfy any" a variable must not make up for who was refused */

    return (rc == NGX_OK && !ctx->presented) ? NGX_DECLINED : rc;
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

    rc = NGX_OK;

    if (ngx_http_retort_needs_identity(rlcf)) {
        rc = ngx_http_retort_decide(r, ctx);

        if (rc == NGX_OK
            && !(ctx->scopes & ngx_http_retort_needed_scope(r)))
        {
            ctx->lacks = ngx_http_retort_needed_scope(r);
            rc = NGX_HTTP_FORBIDDEN;

            ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                          "workspace \"%V\" lacks a scope",
                          &ctx->workspace);
        }
    }

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


/* an operator may ask for one where the api does not */

ngx_uint_t
ngx_http_retort_needs_identity(ngx_http_retort_loc_conf_t *rlcf)
{
    return rlcf->api->identity || rlcf->scope;
}


static ngx_int_t
ngx_http_retort_decide(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx)
{
    ngx_int_t                    rc;
    ngx_str_t                    value;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    ctx->scopes = RETORT_SCOPE_DEFAULT;
    ctx->presented = 0;
    ctx->lacks = 0;

    if (rlcf->keys || rlcf->jwt) {
        ngx_http_retort_presented_key(r, &value);

        if (value.data) {
            return ngx_http_retort_by_credential(r, ctx, &value);
        }
    }

    if (rlcf->identity) {
        rc = ngx_http_retort_check_signed(r, ctx, rlcf->identity);

        if (rc != NGX_DECLINED) {
            return rc;
        }
    }

    rc = ngx_http_retort_by_token(r, ctx);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    if (rlcf->workspace) {
        return ngx_http_retort_by_variable(r, ctx);
    }

    return NGX_HTTP_UNAUTHORIZED;
}


/* what is no key of ours may be a token */

static ngx_int_t
ngx_http_retort_by_credential(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *value)
{
    ngx_int_t                    rc;
    ngx_http_retort_key_t       *k;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    ctx->presented = 1;

    if (rlcf->keys) {

        if (ngx_http_retort_find_key(rlcf->keys, value, &k) != NGX_OK) {
            return NGX_ERROR;
        }

        if (k) {
            return ngx_http_retort_by_key(r, ctx, k);
        }
    }

    rc = ngx_http_retort_by_bearer(r, ctx, value);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    if (rlcf->jwt) {
        return ngx_http_retort_check_jwt(r, ctx, rlcf->jwt, value);
    }

    ngx_log_error(NGX_LOG_INFO, r->connection->log, 0, "unknown retort key");

    return NGX_HTTP_UNAUTHORIZED;
}


static ngx_int_t
ngx_http_retort_by_key(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_http_retort_key_t *k)
{
    ngx_str_t                   *profile;
    ngx_uint_t                   i;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    ctx->workspace = k->workspace;
    ctx->scopes = k->scopes;

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

    if (rlcf->peers
        && ngx_cidr_match(r->connection->sockaddr, rlcf->peers) != NGX_OK)
    {
        ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                      "this peer's word does not count");
        return NGX_HTTP_UNAUTHORIZED;
    }

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
    const char       *lack;
    ngx_table_elt_t  *h;

    h = r->headers_out.www_authenticate;

    if (rc == NGX_HTTP_UNAUTHORIZED) {
        ctx->answer = ngx_http_retort_error(r, rc, "unauthorized",
                                            "a valid key is needed");

    } else if (ctx->lacks) {
        (void) ngx_http_retort_scope_name(ctx->lacks, &lack);
        ctx->answer = ngx_http_retort_error(r, rc, "forbidden", lack);

    } else {
        ctx->answer = ngx_http_retort_error(r, rc, "forbidden",
                                    "this workspace may not do that here");
    }

    /* "satisfy any" may have crossed out an earlier one */

    if ((ctx->lacks
         || (rc == NGX_HTTP_UNAUTHORIZED && (h == NULL || h->hash == 0)))
        && ngx_http_retort_challenge(r, ctx, rc) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (ctx->answer == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /* a program asks here: an "error_page" of the site is not for it */
    r->error_page = 1;

    return rc;
}
