
#include "ngx_http_retort_module.h"


static ngx_uint_t ngx_http_retort_native_is_run(ngx_http_request_t *r);
static ngx_uint_t ngx_http_retort_qwen_is_run(ngx_http_request_t *r);
static ngx_uint_t ngx_http_retort_azure_is_run(ngx_http_request_t *r);
static ngx_uint_t ngx_http_retort_mcp_is_run(ngx_http_request_t *r);
static ngx_uint_t ngx_http_retort_anthropic_is_run(ngx_http_request_t *r);
static ngx_uint_t ngx_http_retort_ends_with(ngx_http_request_t *r,
    ngx_str_t *tail);
static ngx_uint_t ngx_http_retort_never_is_run(ngx_http_request_t *r);
static off_t ngx_http_retort_parse_msec(ngx_str_t *value);
static off_t ngx_http_retort_parse_bytes(ngx_str_t *value);
static off_t ngx_http_retort_parse_count(ngx_str_t *value);
static off_t ngx_http_retort_parse_cores(ngx_str_t *value);
static char *ngx_http_retort_words(ngx_conf_t *cf, ngx_str_t *to);
static char *ngx_http_retort_check_msec(ngx_conf_t *cf, void *post,
    void *data);
static char *ngx_http_retort_check_expires(ngx_conf_t *cf, void *post,
    void *data);
static char *ngx_http_retort_check_buffer(ngx_conf_t *cf, void *post,
    void *data);


ngx_http_retort_api_t  ngx_http_retort_apis[] = {
    { ngx_string("native"), 1, ngx_http_retort_native_is_run,
      ngx_null_string, 0, ngx_http_retort_face_native },

    { ngx_string("qwen"), 1, ngx_http_retort_qwen_is_run,
      ngx_string("text/plain; charset=utf-8"), 0,
      ngx_http_retort_face_native },

    { ngx_string("mcp"), 1, ngx_http_retort_mcp_is_run,
      ngx_null_string, 1, ngx_http_retort_face_rpc },

    { ngx_string("prisme"), 1, ngx_http_retort_mcp_is_run,
      ngx_null_string, 1, ngx_http_retort_face_prisme },

    { ngx_string("anthropic"), 1, ngx_http_retort_anthropic_is_run,
      ngx_null_string, 0, ngx_http_retort_face_anthropic },
    { ngx_string("e2b"), 1, ngx_http_retort_native_is_run,
      ngx_null_string, 0, ngx_http_retort_face_e2b },

    { ngx_string("ubik"), 1, ngx_http_retort_native_is_run,
      ngx_null_string, 0, ngx_http_retort_face_ubik },

    { ngx_string("azure"), 1, ngx_http_retort_azure_is_run,
      ngx_null_string, 0, ngx_http_retort_face_azure },

    { ngx_string("azure_image"), 1, ngx_http_retort_azure_is_run,
      ngx_null_string, 0, ngx_http_retort_face_azure },

    { ngx_string("azure_mcp"), 1, ngx_http_retort_mcp_is_run,
      ngx_null_string, 1, ngx_http_retort_face_rpc },

    { ngx_string("health"), 0, ngx_http_retort_never_is_run,
      ngx_null_string, 0, ngx_http_retort_face_native },

    { ngx_string("metrics"), 0, ngx_http_retort_never_is_run,
      ngx_null_string, 0, ngx_http_retort_face_native },

    { ngx_string("status"), 0, ngx_http_retort_never_is_run,
      ngx_null_string, 0, ngx_http_retort_face_native },

    { ngx_null_string, 0, NULL, ngx_null_string, 0, NULL }
};


/* those that the front's table of tools has */

static ngx_str_t  ngx_http_retort_tools[] = {
    ngx_string("python"),
    ngx_string("bash"),
    ngx_string("write_file"),
    ngx_string("read_file"),
    ngx_string("list_files"),
    ngx_string("execute_python"),
    ngx_string("code_interpreter"),
    ngx_string("code_execution"),
    ngx_string("bash_code_execution"),
    ngx_string("text_editor_code_execution"),
    ngx_string("launchShell"),
    ngx_string("runPythonCodeInRemoteEnvironment"),
    ngx_string("runShellCommandInRemoteEnvironment"),
    ngx_null_string
};


/* what Azure's clients get for one session too many */

ngx_conf_enum_t  ngx_http_retort_azure_full[] = {
    { ngx_string("429"), 0 },
    { ngx_string("404"), 1 },
    { ngx_null_string, 0 }
};


ngx_conf_enum_t  ngx_http_retort_mcp_pictures[] = {
    { ngx_string("image"), 0 },
    { ngx_string("link"), 1 },
    { ngx_null_string, 0 }
};


#define RETORT_TERABYTE  ((off_t) 1 << 40)

ngx_http_retort_limit_t  ngx_http_retort_limits[] = {

    { ngx_string("RETORT_LIMIT_TIMEOUT"),
      1, 24 * 3600 * 1000, ngx_http_retort_parse_msec },

    { ngx_string("RETORT_LIMIT_MEMORY"),
      1024 * 1024, RETORT_TERABYTE, ngx_http_retort_parse_bytes },

    { ngx_string("RETORT_LIMIT_DISK"),
      64 * 1024, RETORT_TERABYTE, ngx_http_retort_parse_bytes },

    { ngx_string("RETORT_LIMIT_OUTPUT"),
      1, RETORT_TERABYTE, ngx_http_retort_parse_bytes },

    { ngx_string("RETORT_LIMIT_IMAGE"),
      1, RETORT_TERABYTE, ngx_http_retort_parse_bytes },

    { ngx_string("RETORT_LIMIT_PROCESSES"),
      1, 32768, ngx_http_retort_parse_count },

    { ngx_string("RETORT_LIMIT_CPU"),
      10, 1024 * 1000, ngx_http_retort_parse_cores },

    { ngx_string("RETORT_LIMIT_TURN"),
      1, 24 * 3600 * 1000, ngx_http_retort_parse_msec }
};


/* what may still be tried elsewhere: only a front that was not reached */

ngx_conf_bitmask_t  ngx_http_retort_next_upstream[] = {
    { ngx_string("error"), NGX_HTTP_UPSTREAM_FT_ERROR },
    { ngx_string("timeout"), NGX_HTTP_UPSTREAM_FT_TIMEOUT },
    { ngx_string("off"), NGX_HTTP_UPSTREAM_FT_OFF },
    { ngx_null_string, 0 }
};


ngx_conf_post_t  ngx_http_retort_positive_msec =
    { ngx_http_retort_check_msec };

ngx_conf_post_t  ngx_http_retort_expires_bounds =
    { ngx_http_retort_check_expires };

ngx_conf_post_t  ngx_http_retort_buffer_bounds =
    { ngx_http_retort_check_buffer };


static ngx_uint_t
ngx_http_retort_ends_with(ngx_http_request_t *r, ngx_str_t *tail)
{
    return r->uri.len >= tail->len
           && ngx_memcmp(r->uri.data + r->uri.len - tail->len, tail->data,
                         tail->len)
              == 0;
}


static ngx_uint_t
ngx_http_retort_native_is_run(ngx_http_request_t *r)
{
    static ngx_str_t  tail = ngx_string("/execute");

    return r->method == NGX_HTTP_POST && ngx_http_retort_ends_with(r, &tail);
}


static ngx_uint_t
ngx_http_retort_anthropic_is_run(ngx_http_request_t *r)
{
    static ngx_str_t  code = ngx_string("/code_execution");
    static ngx_str_t  messages = ngx_string("/messages");

    return r->method == NGX_HTTP_POST
           && (ngx_http_retort_ends_with(r, &code)
               || ngx_http_retort_ends_with(r, &messages));
}


static ngx_uint_t
ngx_http_retort_azure_is_run(ngx_http_request_t *r)
{
    ngx_uint_t  i;

    static ngx_str_t  tails[] = {
        ngx_string("/execute"),
        ngx_string("/executions"),
        ngx_string("/shellExecute")
    };

    if (r->method != NGX_HTTP_POST) {
        return 0;
    }

    for (i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        if (ngx_http_retort_ends_with(r, &tails[i])) {
            return 1;
        }
    }

    return 0;
}


/* the dialect has no other path */

static ngx_uint_t
ngx_http_retort_qwen_is_run(ngx_http_request_t *r)
{
    return r->method == NGX_HTTP_POST;
}


/*
 * A message is not read here.  What its Mcp-Method says is true, or the front
 * refuses it; without one, and with several, it may be a call.
 */

static ngx_uint_t
ngx_http_retort_mcp_is_run(ngx_http_request_t *r)
{
    ngx_uint_t              i, said;
    ngx_table_elt_t        *h;
    ngx_list_part_t        *part;
    ngx_http_retort_ctx_t  *ctx;

    static ngx_str_t  name = ngx_string("mcp-method");

    if (r->method != NGX_HTTP_POST) {
        return 0;
    }

    said = 0;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (h[i].key.len != name.len
                || ngx_memcmp(h[i].lowcase_key, name.data, name.len) != 0)
            {
                continue;
            }

            if (said++ || ngx_http_retort_is_call(&h[i].value)) {
                return 1;
            }
        }
    }

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);

    return said == 0 && !(ctx && ctx->told);
}


/* for who runs the service */

static ngx_uint_t
ngx_http_retort_never_is_run(ngx_http_request_t *r)
{
    return 0;
}


char *
ngx_http_retort_set_pass(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_url_t                  u;
    ngx_str_t                 *value;
    ngx_http_core_loc_conf_t  *clcf;

    if (rlcf->upstream.upstream) {
        return "is duplicate";
    }

    if (rlcf->artifacts.len) {
        return "conflicts with \"retort_artifacts\"";
    }

    value = cf->args->elts;

    if (value[1].len == 0) {
        return "has an empty address";
    }

    if (ngx_http_script_variables_count(&value[1])) {
        return "takes no variables";
    }

    ngx_memzero(&u, sizeof(ngx_url_t));

    u.url = value[1];
    u.no_resolve = 1;

    rlcf->upstream.upstream = ngx_http_upstream_add(cf, &u, 0);
    if (rlcf->upstream.upstream == NULL) {
        return NGX_CONF_ERROR;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    clcf->handler = ngx_http_retort_pass_handler;

    return NGX_CONF_OK;
}


char *
ngx_http_retort_set_api(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_str_t              *value;
    ngx_http_retort_api_t  *api;

    if (rlcf->api) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (api = ngx_http_retort_apis; api->name.len; api++) {

        if (api->name.len == value[1].len
            && ngx_memcmp(api->name.data, value[1].data, value[1].len) == 0)
        {
            rlcf->api = api;
            return NGX_CONF_OK;
        }
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "unknown api \"%V\" in \"retort_api\"", &value[1]);

    return NGX_CONF_ERROR;
}


char *
ngx_http_retort_set_tools(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_str_t   *value, *tool;
    ngx_uint_t   i;

    if (rlcf->tools.data) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        for (tool = ngx_http_retort_tools; tool->len; tool++) {

            if (tool->len == value[i].len
                && ngx_memcmp(tool->data, value[i].data, tool->len) == 0)
            {
                break;
            }
        }

        if (tool->len == 0) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "unknown tool \"%V\" in \"retort_tools\"",
                               &value[i]);
            return NGX_CONF_ERROR;
        }
    }

    return ngx_http_retort_words(cf, &rlcf->tools);
}


char *
ngx_http_retort_set_imports(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    u_char      *p, *last;
    ngx_str_t   *value;
    ngx_uint_t   i;

    if (rlcf->imports.data) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        last = value[i].data + value[i].len;

        for (p = value[i].data; p < last; p++) {

            if (*p != '_' && *p != '-' && *p != '.'
                && (*p < '0' || *p > '9')
                && ((*p | 0x20) < 'a' || (*p | 0x20) > 'z'))
            {
                break;
            }
        }

        if (p < last || value[i].len == 0) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" in \"retort_import_allow\" is no "
                               "package's name", &value[i]);
            return NGX_CONF_ERROR;
        }
    }

    if (ngx_http_retort_words(cf, &rlcf->imports) != NGX_CONF_OK) {
        return NGX_CONF_ERROR;
    }

    if (rlcf->imports.len > NGX_HTTP_RETORT_IMPORTS) {
        return "is too long";
    }

    return NGX_CONF_OK;
}


/* the directive's words with blanks between them */

static char *
ngx_http_retort_words(ngx_conf_t *cf, ngx_str_t *to)
{
    u_char      *p;
    size_t       len;
    ngx_str_t   *value;
    ngx_uint_t   i;

    value = cf->args->elts;
    len = 0;

    for (i = 1; i < cf->args->nelts; i++) {
        len += value[i].len + 1;
    }

    p = ngx_pnalloc(cf->pool, len);
    if (p == NULL) {
        return NGX_CONF_ERROR;
    }

    to->data = p;
    to->len = len - 1;

    for (i = 1; i < cf->args->nelts; i++) {
        p = ngx_cpymem(p, value[i].data, value[i].len);
        *p++ = ' ';
    }

    return NGX_CONF_OK;
}


char *
ngx_http_retort_set_profile(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_str_t  *value;

    if (rlcf->profile.data) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (!ngx_http_retort_is_name(&value[1], NGX_HTTP_RETORT_PROFILE_MAX)) {
        return "must be 1 to 31 characters of [A-Za-z0-9._-]";
    }

    rlcf->profile = value[1];

    return NGX_CONF_OK;
}


char *
ngx_http_retort_set_workspace(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_str_t  *value;

    if (rlcf->workspace != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_http_script_variables_count(&value[1]) == 0
        && !ngx_http_retort_is_name(&value[1], NGX_HTTP_RETORT_NAME_MAX))
    {
        return "must be 1 to 64 characters of [A-Za-z0-9._-], or have "
               "a variable";
    }

    return ngx_http_set_complex_value_slot(cf, cmd, conf);
}


char *
ngx_http_retort_set_planner(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_str_t  *value;

    if (rlcf->planner.data) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (!ngx_http_retort_is_name(&value[1], NGX_HTTP_RETORT_PROFILE_MAX)) {
        return "must be the name of an endpoint, of 1 to 31 characters";
    }

    rlcf->planner = value[1];

    return NGX_CONF_OK;
}


char *
ngx_http_retort_set_node(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    u_char      ch;
    size_t      i;
    ngx_str_t  *value;

    if (rlcf->node.data) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (value[1].len == 0 || value[1].len > NGX_HTTP_RETORT_NODE_MAX) {
        return "must be 1 to 15 characters of [a-z0-9-]";
    }

    /* an underscore would make the ids ambiguous */

    for (i = 0; i < value[1].len; i++) {
        ch = value[1].data[i];

        if ((ch < 'a' || ch > 'z') && (ch < '0' || ch > '9') && ch != '-') {
            return "must be 1 to 15 characters of [a-z0-9-]";
        }
    }

    rlcf->node = value[1];

    return NGX_CONF_OK;
}


char *
ngx_http_retort_set_limit(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char  *p = conf;

    off_t                    *field, n;
    ngx_str_t                *value;
    ngx_http_retort_limit_t  *limit;

    field = (off_t *) (p + cmd->offset);

    if (*field != NGX_CONF_UNSET) {
        return "is duplicate";
    }

    limit = cmd->post;
    value = cf->args->elts;

    n = limit->parse(&value[1]);

    if (n == NGX_ERROR) {
        return "has an invalid value";
    }

    if (n < limit->min || n > limit->max) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" must be between %O and %O, \"%V\" is %O",
                           &cmd->name, limit->min, limit->max, &value[1], n);
        return NGX_CONF_ERROR;
    }

    *field = n;

    return NGX_CONF_OK;
}


static off_t
ngx_http_retort_parse_msec(ngx_str_t *value)
{
    return ngx_parse_time(value, 0);
}


static off_t
ngx_http_retort_parse_bytes(ngx_str_t *value)
{
    return ngx_parse_offset(value);
}


static off_t
ngx_http_retort_parse_count(ngx_str_t *value)
{
    return ngx_atoi(value->data, value->len);
}


/* "1.5" is 1500 thousandths */

static off_t
ngx_http_retort_parse_cores(ngx_str_t *value)
{
    return ngx_atofp(value->data, value->len, 3);
}


static char *
ngx_http_retort_check_msec(ngx_conf_t *cf, void *post, void *data)
{
    ngx_msec_t  *msec = data;

    return *msec ? NGX_CONF_OK : "must not be 0";
}


static char *
ngx_http_retort_check_expires(ngx_conf_t *cf, void *post, void *data)
{
    time_t  *sec = data;

    if (*sec < 1 || *sec > 366 * 86400) {
        return "must be between 1s and 366d";
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_retort_check_buffer(ngx_conf_t *cf, void *post, void *data)
{
    size_t  *size = data;

    if (*size < 1024 || *size > 16 * 1024 * 1024) {
        return "must be between 1k and 16m";
    }

    return NGX_CONF_OK;
}


char *
ngx_http_retort_set_artifacts(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_str_t                 *value;
    ngx_http_core_loc_conf_t  *clcf;

    if (rlcf->artifacts.len) {
        return "is duplicate";
    }

    if (rlcf->upstream.upstream) {
        return "conflicts with \"retort_pass\"";
    }

    value = cf->args->elts;
    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

#if (NGX_PCRE)
    if (clcf->regex) {
        return "needs a location with a prefix, not a regular expression";
    }
#endif

    if (clcf->named || clcf->exact_match) {
        return "needs a location with a prefix";
    }

    if (value[1].len == 0) {
        return "has an empty path";
    }

    if (ngx_http_script_variables_count(&value[1])) {
        return "takes no variables";
    }

    rlcf->artifacts = value[1];

    if (ngx_conf_full_name(cf->cycle, &rlcf->artifacts, 0) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    while (rlcf->artifacts.len > 1
           && rlcf->artifacts.data[rlcf->artifacts.len - 1] == '/')
    {
        rlcf->artifacts.len--;
    }

    clcf->handler = ngx_http_retort_artifacts_handler;

    return NGX_CONF_OK;
}
