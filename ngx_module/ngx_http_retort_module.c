
#include "ngx_http_retort_module.h"


static ngx_int_t ngx_http_retort_init(ngx_conf_t *cf);
static void *ngx_http_retort_create_main_conf(ngx_conf_t *cf);
static void *ngx_http_retort_create_loc_conf(ngx_conf_t *cf);
static char *ngx_http_retort_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child);
static char *ngx_http_retort_merge_upstream(ngx_conf_t *cf,
    ngx_http_retort_loc_conf_t *prev, ngx_http_retort_loc_conf_t *conf);
static void ngx_http_retort_inherit_handler(ngx_conf_t *cf,
    ngx_http_retort_loc_conf_t *prev, ngx_http_retort_loc_conf_t *conf);


#define NGX_HTTP_RETORT_ANY                                                   \
    NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF

#define ngx_http_retort_limit_offset(n)                                       \
    (offsetof(ngx_http_retort_loc_conf_t, limits) + (n) * sizeof(off_t))


static ngx_command_t  ngx_http_retort_commands[] = {

    { ngx_string("retort_pass"),
      NGX_HTTP_LOC_CONF|NGX_HTTP_LIF_CONF|NGX_CONF_TAKE1,
      ngx_http_retort_set_pass,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_api"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_api,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_azure_strict"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_retort_loc_conf_t, strict),
      NULL },

    { ngx_string("retort_azure_full"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_conf_set_enum_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_retort_loc_conf_t, azure_full),
      ngx_http_retort_azure_full },

    { ngx_string("retort_tools"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_1MORE,
      ngx_http_retort_set_tools,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_mcp_pictures"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_conf_set_enum_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_retort_loc_conf_t, mcp_links),
      ngx_http_retort_mcp_pictures },

    { ngx_string("retort_mcp_fixtures"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_retort_loc_conf_t, mcp_fixtures),
      NULL },

    { ngx_string("retort_import_allow"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_1MORE,
      ngx_http_retort_set_imports,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_planner"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_planner,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_profile"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_profile,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_workspace"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_workspace,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_retort_loc_conf_t, workspace),
      NULL },

    { ngx_string("retort_auth_key_file"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_key_file,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_auth_jwt"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_1MORE,
      ngx_http_retort_set_jwt,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_auth_signed"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE12,
      ngx_http_retort_set_signed,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_auth_peers"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_1MORE,
      ngx_http_retort_set_peers,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_scope"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_scope,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_resource_metadata"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_set_complex_value_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_retort_loc_conf_t, resource),
      NULL },

    { ngx_string("retort_resource_document"),
      NGX_HTTP_LOC_CONF|NGX_CONF_2MORE,
      ngx_http_retort_set_document,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_node"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_node,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_static_url"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_set_complex_value_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_retort_loc_conf_t, static_url),
      NULL },

    { ngx_string("retort_limit_timeout"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_limit,
      NGX_HTTP_LOC_CONF_OFFSET,
      ngx_http_retort_limit_offset(RETORT_LIMIT_TIMEOUT),
      &ngx_http_retort_limits[RETORT_LIMIT_TIMEOUT] },

    { ngx_string("retort_limit_memory"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_limit,
      NGX_HTTP_LOC_CONF_OFFSET,
      ngx_http_retort_limit_offset(RETORT_LIMIT_MEMORY),
      &ngx_http_retort_limits[RETORT_LIMIT_MEMORY] },

    { ngx_string("retort_limit_disk"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_limit,
      NGX_HTTP_LOC_CONF_OFFSET,
      ngx_http_retort_limit_offset(RETORT_LIMIT_DISK),
      &ngx_http_retort_limits[RETORT_LIMIT_DISK] },

    { ngx_string("retort_limit_output"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_limit,
      NGX_HTTP_LOC_CONF_OFFSET,
      ngx_http_retort_limit_offset(RETORT_LIMIT_OUTPUT),
      &ngx_http_retort_limits[RETORT_LIMIT_OUTPUT] },

    { ngx_string("retort_limit_image"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_limit,
      NGX_HTTP_LOC_CONF_OFFSET,
      ngx_http_retort_limit_offset(RETORT_LIMIT_IMAGE),
      &ngx_http_retort_limits[RETORT_LIMIT_IMAGE] },

    { ngx_string("retort_limit_processes"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_limit,
      NGX_HTTP_LOC_CONF_OFFSET,
      ngx_http_retort_limit_offset(RETORT_LIMIT_PROCESSES),
      &ngx_http_retort_limits[RETORT_LIMIT_PROCESSES] },

    { ngx_string("retort_limit_cpu"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_limit,
      NGX_HTTP_LOC_CONF_OFFSET,
      ngx_http_retort_limit_offset(RETORT_LIMIT_CPU),
      &ngx_http_retort_limits[RETORT_LIMIT_CPU] },

    { ngx_string("retort_limit_turn"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_limit,
      NGX_HTTP_LOC_CONF_OFFSET,
      ngx_http_retort_limit_offset(RETORT_LIMIT_TURN),
      &ngx_http_retort_limits[RETORT_LIMIT_TURN] },

    { ngx_string("retort_connect_timeout"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_retort_loc_conf_t, upstream.connect_timeout),
      &ngx_http_retort_positive_msec },

    { ngx_string("retort_send_timeout"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_retort_loc_conf_t, upstream.send_timeout),
      &ngx_http_retort_positive_msec },

    { ngx_string("retort_read_timeout"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_retort_loc_conf_t, upstream.read_timeout),
      &ngx_http_retort_positive_msec },

    { ngx_string("retort_buffer_size"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_conf_set_size_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_retort_loc_conf_t, upstream.buffer_size),
      &ngx_http_retort_buffer_bounds },

    { ngx_string("retort_next_upstream"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_1MORE,
      ngx_conf_set_bitmask_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_retort_loc_conf_t, upstream.next_upstream),
      &ngx_http_retort_next_upstream },

    { ngx_string("retort_artifacts"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_retort_set_artifacts,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_artifacts_secret"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_http_retort_set_secret,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_artifacts_expires"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_TAKE1,
      ngx_conf_set_sec_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_retort_loc_conf_t, expires),
      &ngx_http_retort_expires_bounds },

    { ngx_string("retort_zone"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_2MORE,
      ngx_http_retort_set_zone,
      0,
      0,
      NULL },

    { ngx_string("retort_limits"),
      NGX_HTTP_RETORT_ANY|NGX_CONF_1MORE,
      ngx_http_retort_set_limits,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("retort_status"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_http_retort_set_status,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_retort_module_ctx = {
    ngx_http_retort_add_variables,         /* preconfiguration */
    ngx_http_retort_init,                  /* postconfiguration */

    ngx_http_retort_create_main_conf,      /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    ngx_http_retort_create_loc_conf,       /* create location configuration */
    ngx_http_retort_merge_loc_conf         /* merge location configuration */
};


ngx_module_t  ngx_http_retort_module = {
    NGX_MODULE_V1,
    &ngx_http_retort_module_ctx,           /* module context */
    ngx_http_retort_commands,              /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    ngx_http_retort_init_module,           /* init module */
    ngx_http_retort_init_process,          /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    NULL,                                  /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


/*
 * Lines of the front that the client must not see.  X-Accel-Buffering is not
 * ours to keep: another nginx on the way would hold streams back without it.
 */

static ngx_str_t  ngx_http_retort_hide_headers[] = {
    ngx_string("Status"),
    ngx_string("Server"),
    ngx_string("Date"),
    ngx_string("Connection"),
    ngx_string("Transfer-Encoding"),
    ngx_string("X-Accel-Expires"),
    ngx_string("X-Accel-Redirect"),
    ngx_string("X-Accel-Limit-Rate"),
    ngx_string("X-Accel-Charset"),
    ngx_null_string
};


static ngx_int_t
ngx_http_retort_init(ngx_conf_t *cf)
{
    ngx_array_t                *handlers;
    ngx_http_handler_pt        *h;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    handlers = &cmcf->phases[NGX_HTTP_ACCESS_PHASE].handlers;

    if (ngx_array_push(handlers) == NULL) {
        return NGX_ERROR;
    }

    /*
     * The first of them is called last: what "auth_request" has found and
     * "auth_basic" has verified may be in the variable of a workspace.
     */

    h = handlers->elts;
    ngx_memmove(h + 1, h, (handlers->nelts - 1) * sizeof(*h));
    *h = ngx_http_retort_access_handler;

    if (ngx_http_retort_limits_init(cf) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_retort_filter_init(cf);
}


static void *
ngx_http_retort_create_main_conf(ngx_conf_t *cf)
{
    ngx_http_retort_main_conf_t  *conf;

    conf = ngx_pcalloc(cf->pool, sizeof(ngx_http_retort_main_conf_t));
    if (conf == NULL) {
        return NULL;
    }

    if (ngx_array_init(&conf->zones, cf->pool, 2,
                       sizeof(ngx_http_retort_zone_conf_t *))
        != NGX_OK)
    {
        return NULL;
    }

    return conf;
}


static void *
ngx_http_retort_create_loc_conf(ngx_conf_t *cf)
{
    ngx_uint_t                   i;
    ngx_http_retort_loc_conf_t  *conf;

    conf = ngx_pcalloc(cf->pool, sizeof(ngx_http_retort_loc_conf_t));
    if (conf == NULL) {
        return NULL;
    }

    /*
     * set by ngx_pcalloc():
     *
     *     conf->upstream.* that is not named here = 0;
     *     conf->api = NULL;
     *     conf->names = NULL;
     *     conf->tools, imports, profile, node = { 0, NULL };
     *     conf->artifacts, document = { 0, NULL };
     */

    conf->mcp_links = NGX_CONF_UNSET_UINT;
    conf->mcp_fixtures = NGX_CONF_UNSET;
    conf->workspace = NGX_CONF_UNSET_PTR;
    conf->static_url = NGX_CONF_UNSET_PTR;
    conf->keys = NGX_CONF_UNSET_PTR;
    conf->jwt = NGX_CONF_UNSET_PTR;
    conf->identity = NGX_CONF_UNSET_PTR;
    conf->peers = NGX_CONF_UNSET_PTR;
    conf->scope = NGX_CONF_UNSET_UINT;
    conf->resource = NGX_CONF_UNSET_PTR;
    conf->admission = NGX_CONF_UNSET_PTR;
    conf->secrets = NGX_CONF_UNSET_PTR;
    conf->expires = NGX_CONF_UNSET;
    conf->strict = NGX_CONF_UNSET;
    conf->azure_full = NGX_CONF_UNSET_UINT;

    for (i = 0; i < RETORT_LIMITS; i++) {
        conf->limits[i] = NGX_CONF_UNSET;
    }

    conf->upstream.connect_timeout = NGX_CONF_UNSET_MSEC;
    conf->upstream.send_timeout = NGX_CONF_UNSET_MSEC;
    conf->upstream.read_timeout = NGX_CONF_UNSET_MSEC;
    conf->upstream.buffer_size = NGX_CONF_UNSET_SIZE;

    conf->upstream.hide_headers = NGX_CONF_UNSET_PTR;
    conf->upstream.pass_headers = NGX_CONF_UNSET_PTR;

    /* the hardcoded values */

    conf->upstream.pass_request_headers = 1;
    conf->upstream.pass_request_body = 1;
    conf->upstream.ignore_headers = NGX_HTTP_UPSTREAM_IGN_XA_REDIRECT
                                    |NGX_HTTP_UPSTREAM_IGN_XA_EXPIRES
                                    |NGX_HTTP_UPSTREAM_IGN_XA_LIMIT_RATE
                                    |NGX_HTTP_UPSTREAM_IGN_XA_BUFFERING
                                    |NGX_HTTP_UPSTREAM_IGN_XA_CHARSET;

    ngx_str_set(&conf->upstream.module, "retort");

    return conf;
}


static char *
ngx_http_retort_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_retort_loc_conf_t *prev = parent;
    ngx_http_retort_loc_conf_t *conf = child;

    ngx_uint_t  i;

    if (conf->api == NULL) {
        conf->api = prev->api ? prev->api : &ngx_http_retort_apis[0];
    }

    conf->names = prev->names ? prev->names : ngx_http_retort_server_names(cf);
    if (conf->names == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_conf_merge_str_value(conf->tools, prev->tools, "");
    ngx_conf_merge_value(conf->strict, prev->strict, 0);
    ngx_conf_merge_uint_value(conf->azure_full, prev->azure_full, 0);
    ngx_conf_merge_uint_value(conf->mcp_links, prev->mcp_links, 0);
    ngx_conf_merge_value(conf->mcp_fixtures, prev->mcp_fixtures, 0);
    ngx_conf_merge_str_value(conf->imports, prev->imports, "");
    ngx_conf_merge_str_value(conf->profile, prev->profile, "default");
    ngx_conf_merge_str_value(conf->node, prev->node, "local");
    ngx_conf_merge_str_value(conf->planner, prev->planner, "");
    ngx_conf_merge_ptr_value(conf->workspace, prev->workspace, NULL);
    ngx_conf_merge_ptr_value(conf->keys, prev->keys, NULL);
    ngx_conf_merge_ptr_value(conf->jwt, prev->jwt, NULL);
    ngx_conf_merge_ptr_value(conf->identity, prev->identity, NULL);
    ngx_conf_merge_ptr_value(conf->peers, prev->peers, NULL);
    ngx_conf_merge_uint_value(conf->scope, prev->scope, 0);
    ngx_conf_merge_ptr_value(conf->resource, prev->resource, NULL);
    ngx_conf_merge_ptr_value(conf->admission, prev->admission, NULL);
    ngx_conf_merge_ptr_value(conf->secrets, prev->secrets, NULL);
    ngx_conf_merge_sec_value(conf->expires, prev->expires, 86400);
    ngx_conf_merge_ptr_value(conf->static_url, prev->static_url, NULL);

    for (i = 0; i < RETORT_LIMITS; i++) {
        ngx_conf_merge_off_value(conf->limits[i], prev->limits[i], 0);
    }

    ngx_http_retort_inherit_handler(cf, prev, conf);

    if (conf->upstream.upstream && ngx_http_retort_needs_identity(conf)
        && conf->keys == NULL && conf->jwt == NULL && conf->identity == NULL
        && conf->workspace == NULL)
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"retort_pass\" with the api \"%V\" needs "
                      "\"retort_auth_key_file\", \"retort_auth_jwt\", "
                      "\"retort_auth_signed\" or \"retort_workspace\" "
                      "in %s:%ui",
                      &conf->api->name, cf->conf_file->file.name.data,
                      cf->conf_file->line);
        return NGX_CONF_ERROR;
    }

    return ngx_http_retort_merge_upstream(cf, prev, conf);
}


/* as everywhere in nginx, only "if" and "limit_except" inherit a handler */

static void
ngx_http_retort_inherit_handler(ngx_conf_t *cf,
    ngx_http_retort_loc_conf_t *prev, ngx_http_retort_loc_conf_t *conf)
{
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    if (!clcf->noname || conf->upstream.upstream) {
        return;
    }

    if (clcf->handler == NULL) {
        conf->upstream.upstream = prev->upstream.upstream;
        conf->artifacts = prev->artifacts;
    }

    if (!clcf->lmt_excpt || clcf->handler) {
        return;
    }

    if (conf->upstream.upstream) {
        clcf->handler = ngx_http_retort_pass_handler;

    } else if (conf->artifacts.len) {
        clcf->handler = ngx_http_retort_artifacts_handler;
    }
}


static char *
ngx_http_retort_merge_upstream(ngx_conf_t *cf,
    ngx_http_retort_loc_conf_t *prev, ngx_http_retort_loc_conf_t *conf)
{
    ngx_hash_init_t  hash;

    ngx_conf_merge_msec_value(conf->upstream.connect_timeout,
                              prev->upstream.connect_timeout, 5000);

    ngx_conf_merge_msec_value(conf->upstream.send_timeout,
                              prev->upstream.send_timeout, 60000);

    ngx_conf_merge_msec_value(conf->upstream.read_timeout,
                              prev->upstream.read_timeout, 3600000);

    ngx_conf_merge_size_value(conf->upstream.buffer_size,
                              prev->upstream.buffer_size, 16384);

    ngx_conf_merge_bitmask_value(conf->upstream.next_upstream,
                                 prev->upstream.next_upstream,
                                 (NGX_CONF_BITMASK_SET
                                  |NGX_HTTP_UPSTREAM_FT_ERROR
                                  |NGX_HTTP_UPSTREAM_FT_TIMEOUT));

    if (conf->upstream.next_upstream & NGX_HTTP_UPSTREAM_FT_OFF) {
        conf->upstream.next_upstream = NGX_CONF_BITMASK_SET
                                       |NGX_HTTP_UPSTREAM_FT_OFF;
    }

    hash.max_size = 512;
    hash.bucket_size = ngx_align(64, ngx_cacheline_size);
    hash.name = "retort_headers_hash";

    if (ngx_http_upstream_hide_headers_hash(cf, &conf->upstream,
            &prev->upstream, ngx_http_retort_hide_headers, &hash)
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    conf->sent = conf->upstream;
    conf->sent.next_upstream = NGX_CONF_BITMASK_SET|NGX_HTTP_UPSTREAM_FT_OFF;

    conf->unsent = conf->upstream;
    conf->unsent.next_upstream &= ~NGX_HTTP_UPSTREAM_FT_OFF;
    conf->unsent.next_upstream |= NGX_HTTP_UPSTREAM_FT_ERROR;

    return NGX_CONF_OK;
}


ngx_http_retort_ctx_t *
ngx_http_retort_ctx(ngx_http_request_t *r)
{
    ngx_http_retort_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);
    if (ctx) {
        return ctx;
    }

    ctx = ngx_pcalloc(r->pool, sizeof(ngx_http_retort_ctx_t));
    if (ctx == NULL) {
        return NULL;
    }

    ctx->request = r;
    ctx->rest = -1;

    ngx_http_set_ctx(r, ctx, ngx_http_retort_module);

    return ctx;
}


void
ngx_http_retort_split_path(ngx_http_request_t *r, ngx_str_t *script,
    ngx_str_t *rest)
{
    size_t                     len;
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

    len = clcf->name.len;

    if (len && clcf->name.data[len - 1] == '/') {
        len--;
    }

    /* a regular expression or a named location has no prefix to take off */

    if (
#if (NGX_PCRE)
        clcf->regex ||
#endif
        clcf->named || len > r->uri.len
        || ngx_memcmp(r->uri.data, clcf->name.data, len) != 0
        || (len < r->uri.len && r->uri.data[len] != '/'))
    {
        len = 0;
    }

    script->len = len;
    script->data = r->uri.data;

    rest->len = r->uri.len - len;
    rest->data = r->uri.data + len;
}


ngx_table_elt_t *
ngx_http_retort_add_header(ngx_http_request_t *r, const char *key,
    const char *value)
{
    ngx_table_elt_t  *h;

    h = ngx_list_push(&r->headers_out.headers);
    if (h == NULL) {
        return NULL;
    }

    h->hash = 1;
    h->key.len = ngx_strlen(key);
    h->key.data = (u_char *) key;
    h->value.len = ngx_strlen(value);
    h->value.data = (u_char *) value;
    h->lowcase_key = NULL;

    return h;
}
