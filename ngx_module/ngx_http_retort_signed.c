
/*
 * Who asks, in a header that somebody has signed whom we share a secret with,
 * and peers whose word is enough.  The front has the same rule for servers
 * that have no module (helper/front/identity.c).
 */

#include "ngx_http_retort_module.h"


#define NGX_HTTP_RETORT_WINDOW_MAX  3600     /* seconds */
#define NGX_HTTP_RETORT_STAMP_MAX   12       /* digits */


typedef struct {
    ngx_str_t    said;           /* what comes before the signature */
    ngx_str_t    stamp;
    ngx_str_t    workspace;
    ngx_str_t    scopes;
    ngx_str_t    signature;
} ngx_http_retort_identity_t;


static ngx_int_t ngx_http_retort_identity_header(ngx_http_request_t *r,
    ngx_str_t *value);
static const char *ngx_http_retort_cut_identity(ngx_str_t *value,
    ngx_http_retort_identity_t *id);
static const char *ngx_http_retort_check_identity(ngx_http_request_t *r,
    ngx_http_retort_signed_t *sd, ngx_http_retort_identity_t *id);


/* retort_auth_signed file | off [window=time] */

char *
ngx_http_retort_set_signed(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_str_t                 *value, s;
    ngx_http_retort_signed_t  *sd;

    if (rlcf->identity != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        rlcf->identity = NULL;
        return NGX_CONF_OK;
    }

    sd = ngx_pcalloc(cf->pool, sizeof(ngx_http_retort_signed_t));
    if (sd == NULL) {
        return NGX_CONF_ERROR;
    }

    sd->window = 60;

    if (cf->args->nelts == 3) {

        if (ngx_strncmp(value[2].data, "window=", 7) != 0) {
            return "takes a path and \"window=\"";
        }

        s.data = value[2].data + 7;
        s.len = value[2].len - 7;
        sd->window = ngx_parse_time(&s, 1);

        if (sd->window == (time_t) NGX_ERROR || sd->window == 0
            || sd->window > NGX_HTTP_RETORT_WINDOW_MAX)
        {
            return "needs a window of 1 second to 1 hour";
        }
    }

    sd->secrets = ngx_http_retort_read_secrets(cf, &value[1]);
    if (sd->secrets == NULL) {
        return NGX_CONF_ERROR;
    }

    rlcf->identity = sd;

    return NGX_CONF_OK;
}


ngx_int_t
ngx_http_retort_check_signed(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_http_retort_signed_t *sd)
{
    ngx_int_t                    rc;
    ngx_str_t                    value;
    const char                  *error;
    ngx_http_retort_identity_t   id;

    rc = ngx_http_retort_identity_header(r, &value);

    if (rc == NGX_DECLINED) {
        return NGX_DECLINED;
    }

    ctx->presented = 1;

    error = (rc == NGX_OK) ? ngx_http_retort_cut_identity(&value, &id)
                           : "it stands twice";

    if (error == NULL) {
        error = ngx_http_retort_check_identity(r, sd, &id);
    }

    if (error) {
        ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                      "signed identity refused: %s", error);
        return NGX_HTTP_UNAUTHORIZED;
    }

    ctx->workspace = id.workspace;
    ctx->scopes = id.scopes.len ? ngx_http_retort_scope_list(&id.scopes)
                                : RETORT_SCOPE_DEFAULT;

    return NGX_OK;
}


static ngx_int_t
ngx_http_retort_identity_header(ngx_http_request_t *r, ngx_str_t *value)
{
    ngx_uint_t        i, found;
    ngx_table_elt_t  *h;
    ngx_list_part_t  *part;

    static ngx_str_t  name = ngx_string("x-retort-identity");

    found = 0;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (h[i].key.len == name.len
                && ngx_memcmp(h[i].lowcase_key, name.data, name.len) == 0)
            {
                *value = h[i].value;
                found++;
            }
        }
    }

    return found == 0 ? NGX_DECLINED : found == 1 ? NGX_OK : NGX_ERROR;
}


/* TIME:WORKSPACE:SCOPES:SIGNATURE */

static const char *
ngx_http_retort_cut_identity(ngx_str_t *value,
    ngx_http_retort_identity_t *id)
{
    ngx_str_t  rest;

    rest = *value;
    id->stamp = ngx_http_retort_cut(&rest, ':');
    id->workspace = ngx_http_retort_cut(&rest, ':');
    id->scopes = ngx_http_retort_cut(&rest, ':');
    id->signature = rest;

    id->said.data = value->data;
    id->said.len = id->scopes.data + id->scopes.len - value->data;

    if (id->stamp.len == 0 || id->stamp.len > NGX_HTTP_RETORT_STAMP_MAX
        || id->signature.len != 2 * NGX_HTTP_RETORT_SHA256
        || !ngx_http_retort_is_name(&id->workspace, NGX_HTTP_RETORT_NAME_MAX)
        || (id->scopes.len && ngx_http_retort_scope_list(&id->scopes) == 0))
    {
        return "it is malformed";
    }

    return NULL;
}


static const char *
ngx_http_retort_check_identity(ngx_http_request_t *r,
    ngx_http_retort_signed_t *sd, ngx_http_retort_identity_t *id)
{
    u_char       hash[NGX_HTTP_RETORT_SHA256];
    u_char       hex[2 * NGX_HTTP_RETORT_SHA256];
    time_t       stamp;
    ngx_str_t    text, *secret;
    ngx_uint_t   i, good;

    text.data = ngx_pnalloc(r->pool, sizeof("retort-identity   ")
                                     + id->said.len + r->method_name.len
                                     + r->unparsed_uri.len);
    if (text.data == NULL) {
        return "no memory";
    }

    text.len = ngx_sprintf(text.data, "retort-identity %V %V %V", &id->said,
                           &r->method_name, &r->unparsed_uri)
               - text.data;

    good = 0;
    secret = sd->secrets->elts;

    for (i = 0; i < sd->secrets->nelts; i++) {

        if (ngx_http_retort_hmac(hash, secret[i].data, secret[i].len, &text)
            != NGX_OK)
        {
            return "no HMAC";
        }

        ngx_hex_dump(hex, hash, sizeof(hash));
        good |= ngx_http_retort_equal(hex, id->signature.data, sizeof(hex));
    }

    if (!good) {
        return "the signature is wrong";
    }

    stamp = ngx_atotm(id->stamp.data, id->stamp.len);

    if (stamp == (time_t) NGX_ERROR
        || stamp > ngx_time() + sd->window || stamp < ngx_time() - sd->window)
    {
        return "it is too old, or of the future";
    }

    return NULL;
}


/* retort_auth_peers address | CIDR | unix: ... */

char *
ngx_http_retort_set_peers(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_int_t    rc;
    ngx_str_t   *value;
    ngx_uint_t   i;
    ngx_cidr_t  *peer;

    if (rlcf->peers != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    rlcf->peers = ngx_array_create(cf->pool, 4, sizeof(ngx_cidr_t));
    if (rlcf->peers == NULL) {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        peer = ngx_array_push(rlcf->peers);
        if (peer == NULL) {
            return NGX_CONF_ERROR;
        }

        ngx_memzero(peer, sizeof(ngx_cidr_t));

        if (ngx_strcmp(value[i].data, "unix:") == 0) {
            peer->family = AF_UNIX;
            continue;
        }

        rc = ngx_ptocidr(&value[i], peer);

        if (rc == NGX_ERROR) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid address \"%V\"", &value[i]);
            return NGX_CONF_ERROR;
        }

        if (rc == NGX_DONE) {
            ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                               "low address bits of %V are meaningless",
                               &value[i]);
        }
    }

    return NGX_CONF_OK;
}
