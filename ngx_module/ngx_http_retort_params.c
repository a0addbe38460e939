
#include "ngx_http_retort_module.h"


typedef struct {
    ngx_str_t    name;
    ngx_str_t    value;
} ngx_http_retort_param_t;


/* content of PARAMS, cut into records on its way */

typedef struct {
    u_char      *p;
    size_t       total;          /* content not written yet */
    size_t       room;           /* of the record at hand */
} ngx_http_retort_writer_t;


static ngx_int_t ngx_http_retort_own_params(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_array_t *params);
static ngx_int_t ngx_http_retort_add_user(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_array_t *params);
static ngx_int_t ngx_http_retort_add_link(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_array_t *params);
static ngx_int_t ngx_http_retort_add_zones(ngx_http_request_t *r,
    ngx_array_t *params);
static ngx_int_t ngx_http_retort_add_mcp(ngx_http_request_t *r,
    ngx_array_t *params);
static ngx_int_t ngx_http_retort_cgi_params(ngx_http_request_t *r,
    ngx_array_t *params);
static ngx_int_t ngx_http_retort_limit_params(ngx_http_request_t *r,
    ngx_array_t *params);
static ngx_int_t ngx_http_retort_add_number(ngx_http_request_t *r,
    ngx_array_t *params, const char *name, off_t n);
static ngx_int_t ngx_http_retort_header_params(ngx_http_request_t *r,
    ngx_array_t *params);
static ngx_int_t ngx_http_retort_header_name(ngx_http_request_t *r,
    ngx_table_elt_t *h, ngx_str_t *name);
static ngx_int_t ngx_http_retort_static_url(ngx_http_request_t *r,
    ngx_str_t *url);
static ngx_int_t ngx_http_retort_add(ngx_array_t *params, const char *name,
    ngx_str_t *value);
static size_t ngx_http_retort_params_size(ngx_array_t *params);
static void ngx_http_retort_write_params(ngx_http_retort_writer_t *w,
    ngx_array_t *params);
static void ngx_http_retort_write_size(ngx_http_retort_writer_t *w,
    size_t len);
static void ngx_http_retort_write(ngx_http_retort_writer_t *w, u_char *data,
    size_t len);


/*
 * Lines of the client that are not passed on: credentials, what CGI gives
 * another name, and what only concerns the client's connection.
 */

static ngx_str_t  ngx_http_retort_dropped[] = {
    ngx_string("authorization"),
    ngx_string("x-api-key"),
    ngx_string("x-ms-apikey"),
    ngx_string("x-retort-identity"),
    ngx_string("x-access-token"),
    ngx_string("e2b-traffic-access-token"),
    ngx_string("cookie"),
    ngx_string("proxy"),
    ngx_string("proxy-authorization"),
    ngx_string("content-length"),
    ngx_string("content-type"),
    ngx_string("transfer-encoding"),
    ngx_string("connection"),
    ngx_string("keep-alive"),
    ngx_string("expect"),
    ngx_string("upgrade"),
    ngx_string("te"),
    ngx_null_string
};


ngx_buf_t *
ngx_http_retort_params(ngx_http_request_t *r)
{
    size_t                     size, records;
    ngx_buf_t                 *b;
    ngx_array_t               *params;
    ngx_http_retort_ctx_t     *ctx;
    ngx_http_retort_writer_t   w;

    static u_char  begin[NGX_HTTP_RETORT_FCGI_HEADER] = {
        0, 1,                    /* role: responder */
        1,                       /* keep the connection */
        0, 0, 0, 0, 0
    };

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);

    params = ngx_array_create(r->pool, 48, sizeof(ngx_http_retort_param_t));

    if (params == NULL
        || ngx_http_retort_own_params(r, ctx, params) != NGX_OK
        || ngx_http_retort_limit_params(r, params) != NGX_OK
        || ngx_http_retort_cgi_params(r, params) != NGX_OK
        || ngx_http_retort_header_params(r, params) != NGX_OK)
    {
        return NULL;
    }

    size = ngx_http_retort_params_size(params);

    records = (size + NGX_HTTP_RETORT_RECORD_MAX - 1)
              / NGX_HTTP_RETORT_RECORD_MAX;

    /* BEGIN_REQUEST, its content, an empty PARAMS at the end */

    b = ngx_create_temp_buf(r->pool,
                      size + (records + 3) * NGX_HTTP_RETORT_FCGI_HEADER);
    if (b == NULL) {
        return NULL;
    }

    w.p = ngx_http_retort_record_header(b->last, NGX_HTTP_RETORT_FCGI_BEGIN,
                                        sizeof(begin));
    w.p = ngx_cpymem(w.p, begin, sizeof(begin));
    w.total = size;
    w.room = 0;

    ngx_http_retort_write_params(&w, params);

    b->last = ngx_http_retort_record_header(w.p, NGX_HTTP_RETORT_FCGI_PARAMS,
                                            0);

    return b;
}


u_char *
ngx_http_retort_record_header(u_char *p, ngx_uint_t type, size_t len)
{
    *p++ = 1;                                    /* version */
    *p++ = (u_char) type;
    *p++ = 0;                                    /* request id 1 */
    *p++ = 1;
    *p++ = (u_char) (len >> 8 & 0xff);
    *p++ = (u_char) (len & 0xff);
    *p++ = 0;                                    /* no padding */
    *p++ = 0;

    return p;
}


static ngx_int_t
ngx_http_retort_add_azure(ngx_http_retort_loc_conf_t *rlcf,
    ngx_array_t *params)
{
    static ngx_str_t  full = ngx_string("404");
    static ngx_str_t  on = ngx_string("1");

    if (rlcf->strict
        && ngx_http_retort_add(params, "RETORT_STRICT", &on) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return rlcf->azure_full
           ? ngx_http_retort_add(params, "RETORT_AZURE_FULL", &full) : NGX_OK;
}


static ngx_int_t
ngx_http_retort_add_mcp(ngx_http_request_t *r, ngx_array_t *params)
{
    ngx_uint_t                   host, site;
    ngx_http_retort_loc_conf_t  *rlcf;

    static ngx_str_t  link = ngx_string("link");
    static ngx_str_t  on = ngx_string("on");

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);
    ngx_http_retort_site(r, &host, &site);

    if ((rlcf->mcp_links
         && ngx_http_retort_add(params, "RETORT_MCP_PICTURES", &link)
            != NGX_OK)
        || (rlcf->mcp_fixtures
            && ngx_http_retort_add(params, "RETORT_MCP_FIXTURES", &on)
               != NGX_OK)
        || (host
            && ngx_http_retort_add(params, "RETORT_HOST_STRANGE", &on)
               != NGX_OK)
        || (site
            && ngx_http_retort_add(params, "RETORT_SITE_UNKNOWN", &on)
               != NGX_OK))
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* what only the web server can set */

static ngx_int_t
ngx_http_retort_own_params(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_array_t *params)
{
    ngx_str_t                    url;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (ngx_http_retort_static_url(r, &url) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_http_retort_add(params, "RETORT_API", &rlcf->api->name) != NGX_OK
        || ngx_http_retort_add(params, "RETORT_WORKSPACE", &ctx->workspace)
           != NGX_OK
        || ngx_http_retort_add(params, "RETORT_TOOLS", &rlcf->tools)
           != NGX_OK
        || ngx_http_retort_add(params, "RETORT_IMPORT_ALLOW", &rlcf->imports)
           != NGX_OK
        || ngx_http_retort_add(params, "RETORT_PROFILE", &rlcf->profile)
           != NGX_OK
        || ngx_http_retort_add(params, "RETORT_EXECUTION", &ctx->execution)
           != NGX_OK
        || ngx_http_retort_add(params, "RETORT_STATIC_URL", &url) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (rlcf->planner.len
        && ngx_http_retort_add(params, "RETORT_PLANNER", &rlcf->planner)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ctx->inside.len
        && ngx_http_retort_add(params, "RETORT_SANDBOX", &ctx->inside)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_http_retort_add_user(r, ctx, params) != NGX_OK
        || ngx_http_retort_add_zones(r, params) != NGX_OK
        || ngx_http_retort_add_mcp(r, params) != NGX_OK
        || ngx_http_retort_add_azure(rlcf, params) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_retort_add_link(r, ctx, params);
}


/* whom a token is for, and what one that is asked for may be good for */

static ngx_int_t
ngx_http_retort_add_user(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_array_t *params)
{
    ngx_str_t                    scope;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (rlcf->api->face != ngx_http_retort_face_ubik) {
        return NGX_OK;
    }

    if (ctx->user.len
        && ngx_http_retort_add(params, "RETORT_END_USER", &ctx->user)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ctx->scopes & RETORT_SCOPE_FILES) {
        ngx_str_set(&scope, "execute,files");

    } else {
        ngx_str_set(&scope, "execute");
    }

    return ngx_http_retort_add(params, "RETORT_SCOPE", &scope);
}


/* what the worker counts itself, for the apis that print it */

static ngx_int_t
ngx_http_retort_add_zones(ngx_http_request_t *r, ngx_array_t *params)
{
    u_char                       *name;
    ngx_str_t                     value, *api;
    ngx_uint_t                    i;
    ngx_http_retort_loc_conf_t   *rlcf;
    ngx_http_retort_main_conf_t  *rmcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);
    api = &rlcf->api->name;

    if (ngx_strcmp(api->data, "metrics") != 0
        && ngx_strcmp(api->data, "status") != 0)
    {
        return NGX_OK;
    }

    rmcf = ngx_http_get_module_main_conf(r, ngx_http_retort_module);

    for (i = 0; i < rmcf->zones.nelts; i++) {
        name = ngx_pnalloc(r->pool, sizeof("RETORT_ZONE_") + NGX_INT_T_LEN);
        if (name == NULL) {
            return NGX_ERROR;
        }

        *ngx_sprintf(name, "RETORT_ZONE_%ui", i) = '\0';

        if (ngx_http_retort_status_line(r,
                   ((ngx_http_retort_zone_conf_t **) rmcf->zones.elts)[i],
                   &value)
            != NGX_OK
            || ngx_http_retort_add(params, (char *) name, &value) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* how the front signs links of this workspace, and of no other */

static ngx_int_t
ngx_http_retort_add_link(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_array_t *params)
{
    ngx_str_t                    tag, key, expires;
    ngx_http_retort_loc_conf_t  *rlcf;

    if (ngx_http_retort_link_params(r, &ctx->workspace, &tag, &key)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (tag.len == 0) {
        return NGX_OK;
    }

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    expires.data = ngx_pnalloc(r->pool, NGX_TIME_T_LEN);
    if (expires.data == NULL) {
        return NGX_ERROR;
    }

    expires.len = ngx_sprintf(expires.data, "%T", rlcf->expires)
                  - expires.data;

    if (ngx_http_retort_add(params, "RETORT_LINK_TAG", &tag) != NGX_OK
        || ngx_http_retort_add(params, "RETORT_LINK_KEY", &key) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_http_retort_add(params, "RETORT_LINK_EXPIRES", &expires);
}


static ngx_int_t
ngx_http_retort_limit_params(ngx_http_request_t *r, ngx_array_t *params)
{
    ngx_uint_t                   i;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    for (i = 0; i < RETORT_LIMITS; i++) {

        if (ngx_http_retort_add_number(r, params,
                                (char *) ngx_http_retort_limits[i].param.data,
                                rlcf->limits[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return rlcf->admission == NULL ? NGX_OK
           : ngx_http_retort_add_number(r, params, "RETORT_RUNNING",
                                        (off_t) rlcf->admission->running);
}


/* 0 is told by its absence */

static ngx_int_t
ngx_http_retort_add_number(ngx_http_request_t *r, ngx_array_t *params,
    const char *name, off_t n)
{
    ngx_str_t  value;

    if (n == 0) {
        return NGX_OK;
    }

    value.data = ngx_pnalloc(r->pool, NGX_OFF_T_LEN);
    if (value.data == NULL) {
        return NGX_ERROR;
    }

    value.len = ngx_sprintf(value.data, "%O", n) - value.data;

    return ngx_http_retort_add(params, name, &value);
}


static ngx_int_t
ngx_http_retort_cgi_params(ngx_http_request_t *r, ngx_array_t *params)
{
    ngx_str_t         script, rest, null, scheme;
    ngx_table_elt_t  *length;

    ngx_str_null(&null);
    ngx_str_set(&scheme, "http");

#if (NGX_HTTP_SSL)
    if (r->connection->ssl) {
        ngx_str_set(&scheme, "https");
    }
#endif

    ngx_http_retort_split_path(r, &script, &rest);

    length = r->headers_in.content_length;

    if (ngx_http_retort_add(params, "SCRIPT_NAME", &script) != NGX_OK
        || ngx_http_retort_add(params, "PATH_INFO", &rest) != NGX_OK
        || ngx_http_retort_add(params, "REQUEST_METHOD", &r->method_name)
           != NGX_OK
        || ngx_http_retort_add(params, "QUERY_STRING", &r->args) != NGX_OK
        || ngx_http_retort_add(params, "REQUEST_SCHEME", &scheme) != NGX_OK
        || ngx_http_retort_add(params, "REQUEST_URI", &r->unparsed_uri)
           != NGX_OK
        || ngx_http_retort_add(params, "SERVER_PROTOCOL", &r->http_protocol)
           != NGX_OK
        || ngx_http_retort_add(params, "REMOTE_ADDR",
                               &r->connection->addr_text)
           != NGX_OK
        || ngx_http_retort_add(params, "CONTENT_TYPE",
                               r->headers_in.content_type
                               ? &r->headers_in.content_type->value : &null)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* a chunked body has no length yet */

    if (length == NULL || r->headers_in.content_length_n < 0) {
        return NGX_OK;
    }

    return ngx_http_retort_add(params, "CONTENT_LENGTH", &length->value);
}


static ngx_int_t
ngx_http_retort_header_params(ngx_http_request_t *r, ngx_array_t *params)
{
    ngx_int_t                 rc;
    ngx_str_t                 name;
    ngx_uint_t                i;
    ngx_table_elt_t          *h;
    ngx_list_part_t          *part;
    ngx_http_retort_param_t  *param;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {
            rc = ngx_http_retort_header_name(r, &h[i], &name);

            if (rc == NGX_DECLINED) {
                continue;
            }

            if (rc == NGX_ERROR) {
                return NGX_ERROR;
            }

            param = ngx_array_push(params);
            if (param == NULL) {
                return NGX_ERROR;
            }

            param->name = name;
            param->value = h[i].value;
        }
    }

    return NGX_OK;
}


/* a header of Ubik's clients, the only one that has underscores */

static ngx_uint_t
ngx_http_retort_is_user_id(ngx_http_request_t *r, ngx_str_t *name)
{
    ngx_http_retort_loc_conf_t  *rlcf;

    static ngx_str_t  id = ngx_string("external_user_id");

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    return rlcf->api->face == ngx_http_retort_face_ubik
           && name->len == id.len
           && ngx_strncasecmp(name->data, id.data, id.len) == 0;
}


/*
 * HTTP_ and the name in capitals.  Only letters, digits and hyphens make a
 * name, so that no two headers can become one param, whatever
 * "underscores_in_headers" and "ignore_invalid_headers" say.
 */

static ngx_int_t
ngx_http_retort_header_name(ngx_http_request_t *r, ngx_table_elt_t *h,
    ngx_str_t *name)
{
    u_char      ch, *p;
    size_t      i;
    ngx_str_t  *s;

    for (i = 0; i < h->key.len; i++) {
        ch = h->key.data[i];

        if ((ch < 'a' || ch > 'z') && (ch < 'A' || ch > 'Z')
            && (ch < '0' || ch > '9') && ch != '-'
            && !ngx_http_retort_is_user_id(r, &h->key))
        {
            return NGX_DECLINED;
        }
    }

    for (s = ngx_http_retort_dropped; s->len; s++) {

        if (s->len == h->key.len
            && ngx_strncasecmp(h->key.data, s->data, s->len) == 0)
        {
            return NGX_DECLINED;
        }
    }

    name->len = sizeof("HTTP_") - 1 + h->key.len;
    name->data = ngx_pnalloc(r->pool, name->len);
    if (name->data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(name->data, "HTTP_", sizeof("HTTP_") - 1);

    for (i = 0; i < h->key.len; i++) {
        ch = ngx_toupper(h->key.data[i]);
        *p++ = (ch == '-') ? '_' : ch;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_retort_static_url(ngx_http_request_t *r, ngx_str_t *url)
{
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    ngx_str_null(url);

    if (rlcf->static_url == NULL) {
        return NGX_OK;
    }

    if (ngx_http_complex_value(r, rlcf->static_url, url) != NGX_OK) {
        return NGX_ERROR;
    }

    while (url->len && url->data[url->len - 1] == '/') {
        url->len--;
    }

    return NGX_OK;
}


/* an empty value is left out */

static ngx_int_t
ngx_http_retort_add(ngx_array_t *params, const char *name, ngx_str_t *value)
{
    ngx_http_retort_param_t  *param;

    if (value->len == 0 && ngx_strcmp(name, "SCRIPT_NAME") != 0
        && ngx_strcmp(name, "PATH_INFO") != 0
        && ngx_strcmp(name, "QUERY_STRING") != 0)
    {
        return NGX_OK;
    }

    param = ngx_array_push(params);
    if (param == NULL) {
        return NGX_ERROR;
    }

    param->name.len = ngx_strlen(name);
    param->name.data = (u_char *) name;
    param->value = *value;

    return NGX_OK;
}


static size_t
ngx_http_retort_params_size(ngx_array_t *params)
{
    size_t                    size;
    ngx_uint_t                i;
    ngx_http_retort_param_t  *param;

    param = params->elts;
    size = 0;

    for (i = 0; i < params->nelts; i++) {
        size += (param[i].name.len > 127) ? 4 : 1;
        size += (param[i].value.len > 127) ? 4 : 1;
        size += param[i].name.len + param[i].value.len;
    }

    return size;
}


static void
ngx_http_retort_write_params(ngx_http_retort_writer_t *w,
    ngx_array_t *params)
{
    ngx_uint_t                i;
    ngx_http_retort_param_t  *param;

    param = params->elts;

    for (i = 0; i < params->nelts; i++) {
        ngx_http_retort_write_size(w, param[i].name.len);
        ngx_http_retort_write_size(w, param[i].value.len);
        ngx_http_retort_write(w, param[i].name.data, param[i].name.len);
        ngx_http_retort_write(w, param[i].value.data, param[i].value.len);
    }
}


/* nginx's header buffers keep every length far below 2^31 */

static void
ngx_http_retort_write_size(ngx_http_retort_writer_t *w, size_t len)
{
    u_char  size[4];

    if (len <= 127) {
        size[0] = (u_char) len;
        ngx_http_retort_write(w, size, 1);
        return;
    }

    size[0] = (u_char) ((len >> 24 & 0x7f) | 0x80);
    size[1] = (u_char) (len >> 16 & 0xff);
    size[2] = (u_char) (len >> 8 & 0xff);
    size[3] = (u_char) (len & 0xff);

    ngx_http_retort_write(w, size, 4);
}


static void
ngx_http_retort_write(ngx_http_retort_writer_t *w, u_char *data, size_t len)
{
    size_t  n;

    while (len) {

        if (w->room == 0) {
            w->room = ngx_min(w->total, NGX_HTTP_RETORT_RECORD_MAX);
            w->p = ngx_http_retort_record_header(w->p,
                                         NGX_HTTP_RETORT_FCGI_PARAMS,
                                         w->room);
        }

        n = ngx_min(len, w->room);

        w->p = ngx_cpymem(w->p, data, n);
        w->room -= n;
        w->total -= n;

        data += n;
        len -= n;
    }
}
