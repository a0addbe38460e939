
#include "ngx_http_retort_module.h"


#define NGX_HTTP_RETORT_SECRET_MIN   32
#define NGX_HTTP_RETORT_SECRET_MAX   256
#define NGX_HTTP_RETORT_HMAC_MAX     512
#define NGX_HTTP_RETORT_TAG          16      /* hex digits */
#define NGX_HTTP_RETORT_SIGNATURE    16      /* bytes */
#define NGX_HTTP_RETORT_EXPIRY_MAX   12      /* digits */


static const char *ngx_http_retort_parse_secret(ngx_conf_t *cf,
    ngx_array_t *secrets, ngx_str_t *line);
static ngx_uint_t ngx_http_retort_is_signed(ngx_http_request_t *r,
    ngx_str_t *workspace, ngx_str_t *tag, ngx_str_t *text,
    ngx_str_t *signature);
static ngx_int_t ngx_http_retort_parse_link(ngx_str_t *args, ngx_str_t *tag,
    ngx_str_t *signature, time_t *expires);


char *
ngx_http_retort_set_secret(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_str_t  *value;

    if (rlcf->secrets != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    rlcf->secrets = ngx_http_retort_read_secrets(cf, &value[1]);

    return rlcf->secrets ? NGX_CONF_OK : NGX_CONF_ERROR;
}


/* a line is a secret: the first one signs, each one verifies */

ngx_array_t *
ngx_http_retort_read_secrets(ngx_conf_t *cf, ngx_str_t *name)
{
    ngx_str_t     text, line;
    ngx_uint_t    n;
    const char   *error;
    ngx_array_t  *secrets;

    if (name->len == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "a file of secrets has an empty path");
        return NULL;
    }

    secrets = ngx_array_create(cf->pool, 2, sizeof(ngx_str_t));

    if (secrets == NULL
        || ngx_conf_full_name(cf->cycle, name, 1) != NGX_OK
        || ngx_http_retort_read_file(cf, name, 1, &text) != NGX_OK)
    {
        return NULL;
    }

    for (n = 1; text.len; n++) {
        line = ngx_http_retort_cut(&text, '\n');
        error = ngx_http_retort_parse_secret(cf, secrets, &line);

        if (error) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "%s in %V:%ui",
                               error, name, n);
            return NULL;
        }
    }

    if (secrets->nelts == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "no secret in %V", name);
        return NULL;
    }

    return secrets;
}


static const char *
ngx_http_retort_parse_secret(ngx_conf_t *cf, ngx_array_t *secrets,
    ngx_str_t *line)
{
    size_t      i;
    ngx_str_t  *secret;

    if (line->len && line->data[line->len - 1] == '\r') {
        line->len--;
    }

    if (line->len == 0 || line->data[0] == '#') {
        return NULL;
    }

    if (line->len < NGX_HTTP_RETORT_SECRET_MIN
        || line->len > NGX_HTTP_RETORT_SECRET_MAX)
    {
        return "a secret must be 32 to 256 characters";
    }

    for (i = 0; i < line->len; i++) {
        if (line->data[i] <= ' ' || line->data[i] > '~') {
            return "a secret must be printable ASCII without blanks";
        }
    }

    secret = ngx_array_push(secrets);
    if (secret == NULL) {
        return "no memory for a secret";
    }

    secret->len = line->len;
    secret->data = ngx_pstrdup(cf->pool, line);

    return secret->data ? NULL : "no memory for a secret";
}


ngx_int_t
ngx_http_retort_derive(u_char result[NGX_HTTP_RETORT_SHA256],
    ngx_str_t *secret, const char *label, ngx_str_t *name)
{
    u_char     text[32 + NGX_HTTP_RETORT_NAME_MAX];
    ngx_str_t  s;

    s.data = text;
    s.len = ngx_sprintf(text, "%s %V", label, name) - text;

    return ngx_http_retort_hmac(result, secret->data, secret->len, &s);
}


ngx_int_t
ngx_http_retort_link_params(ngx_http_request_t *r, ngx_str_t *workspace,
    ngx_str_t *tag, ngx_str_t *key)
{
    u_char                       hash[NGX_HTTP_RETORT_SHA256];
    ngx_str_t                   *secret;
    ngx_http_retort_loc_conf_t  *rlcf;

    ngx_str_null(tag);
    ngx_str_null(key);

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (rlcf->secrets == NULL || workspace->len == 0) {
        return NGX_OK;
    }

    tag->data = ngx_pnalloc(r->pool, NGX_HTTP_RETORT_TAG
                                     + 2 * NGX_HTTP_RETORT_SHA256);
    if (tag->data == NULL) {
        return NGX_ERROR;
    }

    secret = rlcf->secrets->elts;

    if (ngx_http_retort_derive(hash, secret, "retort-tag", workspace)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_hex_dump(tag->data, hash, NGX_HTTP_RETORT_TAG / 2);
    tag->len = NGX_HTTP_RETORT_TAG;

    key->data = tag->data + tag->len;

    if (ngx_http_retort_derive(hash, secret, "retort-key", tag) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_hex_dump(key->data, hash, NGX_HTTP_RETORT_SHA256);
    key->len = 2 * NGX_HTTP_RETORT_SHA256;

    return NGX_OK;
}


/* of all forms of a query only the one that we make: e=…&w=…&s=… */

static ngx_int_t
ngx_http_retort_parse_link(ngx_str_t *args, ngx_str_t *tag,
    ngx_str_t *signature, time_t *expires)
{
    u_char     *p;
    size_t      digits;
    ngx_str_t   rest;

    rest = *args;

    if (rest.len < 2 || ngx_memcmp(rest.data, "e=", 2) != 0) {
        return NGX_DECLINED;
    }

    rest.data += 2;
    rest.len -= 2;

    p = ngx_strlchr(rest.data, rest.data + rest.len, '&');
    digits = p ? (size_t) (p - rest.data) : 0;

    if (digits == 0 || digits > NGX_HTTP_RETORT_EXPIRY_MAX
        || rest.len - digits != sizeof("&w=&s=") - 1 + NGX_HTTP_RETORT_TAG
                                + 2 * NGX_HTTP_RETORT_SIGNATURE
        || ngx_memcmp(p, "&w=", 3) != 0
        || ngx_memcmp(p + 3 + NGX_HTTP_RETORT_TAG, "&s=", 3) != 0)
    {
        return NGX_DECLINED;
    }

    *expires = ngx_atotm(rest.data, digits);

    if (*expires == (time_t) NGX_ERROR) {
        return NGX_DECLINED;
    }

    tag->data = p + 3;
    tag->len = NGX_HTTP_RETORT_TAG;

    signature->data = tag->data + tag->len + 3;
    signature->len = 2 * NGX_HTTP_RETORT_SIGNATURE;

    return NGX_OK;
}


ngx_int_t
ngx_http_retort_check_link(ngx_http_request_t *r, ngx_str_t *name,
    time_t *left)
{
    u_char      text[NGX_HTTP_RETORT_HMAC_MAX];
    time_t      expires;
    ngx_str_t   s, tag, signature;

    if (ngx_http_retort_parse_link(&r->args, &tag, &signature, &expires)
        != NGX_OK)
    {
        return NGX_HTTP_FORBIDDEN;
    }

    /* what is signed: the link up to its signature */

    s.data = text;
    s.len = ngx_sprintf(text, "%V?%*s", name,
                        (size_t) (signature.data - 3 - r->args.data),
                        r->args.data)
            - text;

    *left = expires - ngx_time();

    return ngx_http_retort_is_signed(r, NULL, &tag, &s, &signature)
           && *left > 0 ? NGX_OK : NGX_HTTP_FORBIDDEN;
}


/*
 * A token of the front's for one sandbox and the location's profile, made with
 * the key for links of this workspace.
 */

ngx_int_t
ngx_http_retort_check_token(ngx_http_request_t *r, ngx_str_t *workspace,
    ngx_str_t *sandbox, ngx_str_t *signature)
{
    u_char                       text[NGX_HTTP_RETORT_HMAC_MAX];
    ngx_str_t                    s;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (sandbox->len > NGX_HTTP_RETORT_NAME_MAX
        || signature->len != 2 * NGX_HTTP_RETORT_SIGNATURE)
    {
        return NGX_HTTP_UNAUTHORIZED;
    }

    s.data = text;
    s.len = ngx_sprintf(text, "retort-sandbox %V %V", &rlcf->profile, sandbox)
            - text;

    return ngx_http_retort_is_signed(r, workspace, NULL, &s, signature)
           ? NGX_OK : NGX_HTTP_UNAUTHORIZED;
}


/* by any of the secrets, for a workspace or, if that is NULL, for its tag */

static ngx_uint_t
ngx_http_retort_is_signed(ngx_http_request_t *r, ngx_str_t *workspace,
    ngx_str_t *tag, ngx_str_t *text, ngx_str_t *signature)
{
    u_char                       own[NGX_HTTP_RETORT_TAG];
    u_char                       key[NGX_HTTP_RETORT_SHA256];
    u_char                       hash[NGX_HTTP_RETORT_SHA256];
    u_char                       hex[2 * NGX_HTTP_RETORT_SIGNATURE];
    ngx_str_t                    of, *secret;
    ngx_uint_t                   i, good;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    good = 0;
    secret = rlcf->secrets->elts;

    for (i = 0; i < rlcf->secrets->nelts; i++) {

        if (workspace) {

            if (ngx_http_retort_derive(hash, &secret[i], "retort-tag",
                                       workspace)
                != NGX_OK)
            {
                return 0;
            }

            ngx_hex_dump(own, hash, NGX_HTTP_RETORT_TAG / 2);
            of.data = own;
            of.len = NGX_HTTP_RETORT_TAG;

        } else {
            of = *tag;
        }

        if (ngx_http_retort_derive(key, &secret[i], "retort-key", &of)
            != NGX_OK
            || ngx_http_retort_hmac(hash, key, sizeof(key), text) != NGX_OK)
        {
            return 0;
        }

        ngx_hex_dump(hex, hash, NGX_HTTP_RETORT_SIGNATURE);
        good |= ngx_http_retort_equal(hex, signature->data, sizeof(hex));
    }

    return good;
}
