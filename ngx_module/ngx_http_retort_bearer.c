
/*
 * Tokens of end users, which Ubik's clients ask the front for.  It makes them
 * with the key for links of one workspace, so none of them is good for
 * another: a token names that key, and has to be of its workspace.
 *
 * Nothing of a token is read before it is verified but its header, which has
 * one form.
 */

#include "ngx_http_retort_jwt.h"


#define NGX_HTTP_RETORT_BEARER_MAX   2048
#define NGX_HTTP_RETORT_BEARER_HEAD                                           \
    "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\""
#define NGX_HTTP_RETORT_BEARER_TAG   16


typedef struct {
    ngx_str_t   text;            /* what is signed */
    ngx_str_t   tag;             /* of the key that has signed it */
    ngx_str_t   payload;         /* still in base64url */
    ngx_str_t   signature;       /* bytes */
} ngx_http_retort_bearer_t;


static ngx_int_t ngx_http_retort_bearer_cut(ngx_pool_t *pool,
    ngx_str_t *value, ngx_http_retort_bearer_t *b);
static ngx_str_t *ngx_http_retort_bearer_signer(ngx_http_request_t *r,
    ngx_http_retort_bearer_t *b);
static ngx_int_t ngx_http_retort_bearer_text(ngx_pool_t *pool,
    ngx_array_t *claims, const char *name, ngx_str_t *text);
static const char *ngx_http_retort_bearer_claims(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_http_retort_bearer_t *b,
    ngx_str_t *secret);


/* NGX_DECLINED: it is none of these tokens */

ngx_int_t
ngx_http_retort_by_bearer(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_str_t *value)
{
    ngx_str_t                   *secret;
    const char                  *error;
    ngx_http_retort_bearer_t     b;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (rlcf->api->face != ngx_http_retort_face_ubik || rlcf->secrets == NULL
        || ngx_http_retort_bearer_cut(r->pool, value, &b) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    secret = ngx_http_retort_bearer_signer(r, &b);
    error = "it is not signed here";

    if (secret) {
        error = ngx_http_retort_bearer_claims(r, ctx, &b, secret);
    }

    if (error == NULL) {
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                  "token of an end user refused: %s", error);

    return NGX_HTTP_UNAUTHORIZED;
}


static ngx_int_t
ngx_http_retort_bearer_cut(ngx_pool_t *pool, ngx_str_t *value,
    ngx_http_retort_bearer_t *b)
{
    size_t     n;
    ngx_str_t  rest, part, head;

    n = sizeof(NGX_HTTP_RETORT_BEARER_HEAD) - 1;
    rest = *value;
    part = ngx_http_retort_cut(&rest, '.');
    b->payload = ngx_http_retort_cut(&rest, '.');

    b->text.data = value->data;
    b->text.len = b->payload.data + b->payload.len - value->data;

    if (value->len > NGX_HTTP_RETORT_BEARER_MAX
        || part.len == 0 || b->payload.len == 0 || rest.len == 0
        || ngx_http_retort_base64url(pool, &part, &head) != NGX_OK
        || head.len != n + NGX_HTTP_RETORT_BEARER_TAG + 2
        || ngx_memcmp(head.data, NGX_HTTP_RETORT_BEARER_HEAD, n) != 0
        || ngx_memcmp(head.data + head.len - 2, "\"}", 2) != 0
        || ngx_http_retort_base64url(pool, &rest, &b->signature) != NGX_OK
        || b->signature.len != NGX_HTTP_RETORT_SHA256)
    {
        return NGX_DECLINED;
    }

    b->tag.data = head.data + n;
    b->tag.len = NGX_HTTP_RETORT_BEARER_TAG;

    return NGX_OK;
}


static ngx_str_t *
ngx_http_retort_bearer_signer(ngx_http_request_t *r,
    ngx_http_retort_bearer_t *b)
{
    u_char                       key[NGX_HTTP_RETORT_SHA256];
    u_char                       hash[NGX_HTTP_RETORT_SHA256];
    ngx_str_t                   *secret;
    ngx_uint_t                   i;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);
    secret = rlcf->secrets->elts;

    for (i = 0; i < rlcf->secrets->nelts; i++) {

        if (ngx_http_retort_derive(key, &secret[i], "retort-key", &b->tag)
            == NGX_OK
            && ngx_http_retort_hmac(hash, key, sizeof(key), &b->text)
               == NGX_OK
            && ngx_http_retort_equal(hash, b->signature.data, sizeof(hash)))
        {
            return &secret[i];
        }
    }

    return NULL;
}


static ngx_int_t
ngx_http_retort_bearer_text(ngx_pool_t *pool, ngx_array_t *claims,
    const char *name, ngx_str_t *text)
{
    ngx_str_t  key, *value;

    key.data = (u_char *) name;
    key.len = ngx_strlen(name);
    value = ngx_http_retort_json_find(claims, &key);

    return value ? ngx_http_retort_json_text(pool, value, text)
                 : NGX_DECLINED;
}


/* whoever has the key of a workspace can write another one's name */

static const char *
ngx_http_retort_bearer_claims(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_http_retort_bearer_t *b,
    ngx_str_t *secret)
{
    u_char                       hash[NGX_HTTP_RETORT_SHA256];
    u_char                       tag[NGX_HTTP_RETORT_BEARER_TAG];
    time_t                       exp;
    ngx_str_t                    text, workspace, profile, user, scope, *value;
    ngx_array_t                 *claims;
    ngx_http_retort_loc_conf_t  *rlcf;

    static ngx_str_t  expires = ngx_string("exp");

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (ngx_http_retort_base64url(r->pool, &b->payload, &text) != NGX_OK) {
        return "its payload is no base64url";
    }

    claims = ngx_http_retort_json_members(r->pool, &text, '{');

    if (claims == NULL
        || ngx_http_retort_bearer_text(r->pool, claims, "workspace",
                                       &workspace)
           != NGX_OK
        || ngx_http_retort_bearer_text(r->pool, claims, "profile", &profile)
           != NGX_OK
        || ngx_http_retort_bearer_text(r->pool, claims, "sub", &user)
           != NGX_OK
        || ngx_http_retort_bearer_text(r->pool, claims, "scope", &scope)
           != NGX_OK)
    {
        return "it lacks something";
    }

    if (!ngx_http_retort_is_name(&workspace, NGX_HTTP_RETORT_NAME_MAX)
        || ngx_http_retort_derive(hash, secret, "retort-tag", &workspace)
           != NGX_OK)
    {
        return "it has no workspace";
    }

    ngx_hex_dump(tag, hash, NGX_HTTP_RETORT_BEARER_TAG / 2);

    if (!ngx_http_retort_equal(tag, b->tag.data, sizeof(tag))) {
        return "its key is of another workspace";
    }

    if (profile.len != rlcf->profile.len
        || ngx_memcmp(profile.data, rlcf->profile.data, profile.len) != 0)
    {
        return "it is for another profile";
    }

    value = ngx_http_retort_json_find(claims, &expires);

    if (value == NULL || ngx_http_retort_json_time(value, &exp) != NGX_OK
        || exp <= ngx_time())
    {
        return "it has expired";
    }

    ctx->workspace = workspace;
    ctx->user = user;
    ctx->scopes = ngx_http_retort_scope_list(&scope) & RETORT_SCOPE_DEFAULT;

    return NULL;
}
