
#include "ngx_http_retort_module.h"


#define NGX_HTTP_RETORT_ARTIFACT_STEM   32
#define NGX_HTTP_RETORT_ARTIFACT_EXT    8
#define NGX_HTTP_RETORT_ARTIFACT_AGE    86400


typedef struct {
    ngx_str_t    ext;
    ngx_str_t    type;
    ngx_uint_t   text;           /* say that it is UTF-8 */
    ngx_uint_t   attachment;     /* save it, do not show it */
} ngx_http_retort_type_t;


static ngx_int_t ngx_http_retort_artifact_name(ngx_http_request_t *r,
    ngx_str_t *name);
static ngx_int_t ngx_http_retort_open_artifact(ngx_http_request_t *r,
    ngx_str_t *name, ngx_str_t *path, ngx_open_file_info_t *of);
static ngx_int_t ngx_http_retort_artifact_headers(ngx_http_request_t *r,
    ngx_str_t *name, ngx_open_file_info_t *of);
static ngx_int_t ngx_http_retort_artifact_age(ngx_http_request_t *r,
    time_t left);
static ngx_int_t ngx_http_retort_artifact_body(ngx_http_request_t *r,
    ngx_str_t *path, ngx_open_file_info_t *of);


static ngx_http_retort_type_t  ngx_http_retort_artifact_types[] = {
    { ngx_string("png"), ngx_string("image/png"), 0, 0 },
    { ngx_string("jpg"), ngx_string("image/jpeg"), 0, 0 },
    { ngx_string("jpeg"), ngx_string("image/jpeg"), 0, 0 },
    { ngx_string("gif"), ngx_string("image/gif"), 0, 0 },
    { ngx_string("webp"), ngx_string("image/webp"), 0, 0 },
    { ngx_string("pdf"), ngx_string("application/pdf"), 0, 1 },
    { ngx_string("csv"), ngx_string("text/csv"), 1, 0 },
    { ngx_string("txt"), ngx_string("text/plain"), 1, 0 },
    { ngx_string("json"), ngx_string("application/json"), 0, 0 },
    { ngx_null_string, ngx_string("application/octet-stream"), 0, 1 }
};


/* with every artifact: it was made by code that nobody has read */

static struct {
    const char  *key;
    const char  *value;
} ngx_http_retort_artifact_lines[] = {
    { "X-Content-Type-Options", "nosniff" },
    { "Content-Security-Policy",
      "sandbox; default-src 'none'; style-src 'unsafe-inline'" },
    { "Cross-Origin-Resource-Policy", "cross-origin" },
    { "Referrer-Policy", "no-referrer" },
    { NULL, NULL }
};


ngx_int_t
ngx_http_retort_artifacts_handler(ngx_http_request_t *r)
{
    time_t                       left;
    ngx_int_t                    rc;
    ngx_str_t                    name, path;
    ngx_open_file_info_t         of;
    ngx_http_retort_loc_conf_t  *rlcf;

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {

        if (ngx_http_retort_add_header(r, "Allow", "GET, HEAD") == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_http_retort_artifact_name(r, &name) != NGX_OK) {
        return NGX_HTTP_NOT_FOUND;
    }

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);
    left = NGX_HTTP_RETORT_ARTIFACT_AGE;

    /* before the file: a wrong link does not learn what is there */

    if (rlcf->secrets) {
        rc = ngx_http_retort_check_link(r, &name, &left);
        if (rc != NGX_OK) {
            return rc;
        }
    }

    rc = ngx_http_retort_open_artifact(r, &name, &path, &of);
    if (rc != NGX_OK) {
        return rc;
    }

    rc = ngx_http_retort_artifact_headers(r, &name, &of);

    if (rc == NGX_OK) {
        rc = ngx_http_retort_artifact_age(r, left);
    }

    if (rc != NGX_OK) {
        return rc;
    }

    return ngx_http_retort_artifact_body(r, &path, &of);
}


/* <32 lower hex digits>.<1 to 8 of [a-z0-9]>, right under the location */

static ngx_int_t
ngx_http_retort_artifact_name(ngx_http_request_t *r, ngx_str_t *name)
{
    u_char      ch;
    size_t      i;
    ngx_str_t   script;

    ngx_http_retort_split_path(r, &script, name);

    if (name->len == 0 || name->data[0] != '/') {
        return NGX_DECLINED;
    }

    name->data++;
    name->len--;

    if (name->len < NGX_HTTP_RETORT_ARTIFACT_STEM + 2
        || name->len > NGX_HTTP_RETORT_ARTIFACT_STEM + 1
                       + NGX_HTTP_RETORT_ARTIFACT_EXT
        || name->data[NGX_HTTP_RETORT_ARTIFACT_STEM] != '.')
    {
        return NGX_DECLINED;
    }

    for (i = 0; i < name->len; i++) {
        ch = name->data[i];

        if (i == NGX_HTTP_RETORT_ARTIFACT_STEM || (ch >= '0' && ch <= '9')) {
            continue;
        }

        if (ch < 'a'
            || ch > ((i < NGX_HTTP_RETORT_ARTIFACT_STEM) ? 'f' : 'z'))
        {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_retort_open_artifact(ngx_http_request_t *r, ngx_str_t *name,
    ngx_str_t *path, ngx_open_file_info_t *of)
{
    u_char                      *p;
    ngx_uint_t                   level;
    ngx_http_core_loc_conf_t    *clcf;
    ngx_http_retort_loc_conf_t  *rlcf;

    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);
    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    path->len = rlcf->artifacts.len + 1 + name->len;
    path->data = ngx_pnalloc(r->pool, path->len + 1);
    if (path->data == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    p = ngx_cpymem(path->data, rlcf->artifacts.data, rlcf->artifacts.len);
    *p++ = '/';
    p = ngx_cpymem(p, name->data, name->len);
    *p = '\0';

    ngx_memzero(of, sizeof(ngx_open_file_info_t));

    of->read_ahead = clcf->read_ahead;
    of->directio = clcf->directio;
    of->valid = clcf->open_file_cache_valid;
    of->min_uses = clcf->open_file_cache_min_uses;
    of->errors = clcf->open_file_cache_errors;
    of->events = clcf->open_file_cache_events;

#if (NGX_HAVE_OPENAT)
    /* the directory is the operator's word, what is in it is not */
    of->disable_symlinks = NGX_DISABLE_SYMLINKS_ON;
    of->disable_symlinks_from = rlcf->artifacts.len;
#else
#error "artifacts need openat()"
#endif

    if (ngx_open_cached_file(clcf->open_file_cache, path, of, r->pool)
        == NGX_OK)
    {
        return of->is_file ? NGX_OK : NGX_HTTP_NOT_FOUND;
    }

    if (of->err == 0) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    level = (of->err == NGX_ENOENT) ? NGX_LOG_INFO : NGX_LOG_ERR;

    ngx_log_error(level, r->connection->log, of->err, "%s \"%V\" failed",
                  of->failed, path);

    return NGX_HTTP_NOT_FOUND;
}


static ngx_int_t
ngx_http_retort_artifact_headers(ngx_http_request_t *r, ngx_str_t *name,
    ngx_open_file_info_t *of)
{
    u_char                  *ext;
    size_t                   len;
    ngx_uint_t               i;
    ngx_http_retort_type_t  *t;

    ext = name->data + NGX_HTTP_RETORT_ARTIFACT_STEM + 1;
    len = name->data + name->len - ext;

    for (t = ngx_http_retort_artifact_types; t->ext.len; t++) {
        if (t->ext.len == len && ngx_memcmp(t->ext.data, ext, len) == 0) {
            break;
        }
    }

    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = of->size;
    r->headers_out.last_modified_time = of->mtime;

    r->headers_out.content_type = t->type;
    r->headers_out.content_type_len = t->type.len;
    r->headers_out.content_type_lowcase = NULL;

    if (t->text) {
        ngx_str_set(&r->headers_out.charset, "utf-8");
    }

    if (ngx_http_set_etag(r) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (t->attachment
        && ngx_http_retort_add_header(r, "Content-Disposition", "attachment")
           == NULL)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    for (i = 0; ngx_http_retort_artifact_lines[i].key; i++) {

        if (ngx_http_retort_add_header(r,
                                     ngx_http_retort_artifact_lines[i].key,
                                     ngx_http_retort_artifact_lines[i].value)
            == NULL)
        {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    r->allow_ranges = 1;

    return NGX_OK;
}


/* nobody keeps it for longer than its link is good */

static ngx_int_t
ngx_http_retort_artifact_age(ngx_http_request_t *r, time_t left)
{
    u_char  *p;

    p = ngx_pnalloc(r->pool, sizeof("private, max-age=, immutable")
                             + NGX_TIME_T_LEN);
    if (p == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_sprintf(p, "private, max-age=%T, immutable%Z",
                ngx_min(left, NGX_HTTP_RETORT_ARTIFACT_AGE));

    return ngx_http_retort_add_header(r, "Cache-Control", (char *) p)
           ? NGX_OK : NGX_HTTP_INTERNAL_SERVER_ERROR;
}


static ngx_int_t
ngx_http_retort_artifact_body(ngx_http_request_t *r, ngx_str_t *path,
    ngx_open_file_info_t *of)
{
    ngx_int_t     rc;
    ngx_buf_t    *b;
    ngx_chain_t   out;

    /* before the header goes out: nothing may fail behind it */

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    b->file = ngx_pcalloc(r->pool, sizeof(ngx_file_t));
    if (b->file == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    b->file_pos = 0;
    b->file_last = of->size;

    b->in_file = b->file_last ? 1 : 0;
    b->last_buf = (r == r->main);
    b->sync = (b->last_buf || b->in_file) ? 0 : 1;
    b->last_in_chain = 1;

    b->file->fd = of->fd;
    b->file->name = *path;
    b->file->log = r->connection->log;
    b->file->directio = of->is_directio;

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}
