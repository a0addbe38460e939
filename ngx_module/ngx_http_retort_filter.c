
#include "ngx_http_retort_module.h"


typedef struct {
    ngx_uint_t   status;
    const char  *code;
    const char  *message;
} ngx_http_retort_code_t;


static ngx_int_t ngx_http_retort_header_filter(ngx_http_request_t *r);
static ngx_int_t ngx_http_retort_retry_after(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);
static ngx_int_t ngx_http_retort_body_filter(ngx_http_request_t *r,
    ngx_chain_t *in);
static ngx_http_retort_ctx_t *ngx_http_retort_nginx_error(
    ngx_http_request_t *r);


static ngx_http_output_header_filter_pt  ngx_http_next_header_filter;
static ngx_http_output_body_filter_pt    ngx_http_next_body_filter;


/* what nginx itself refuses, said in the words of the API */

static ngx_http_retort_code_t  ngx_http_retort_codes[] = {
    { 400, "bad_request", "the request is malformed" },
    { 401, "unauthorized", "a valid key is needed" },
    { 403, "forbidden", "this is not allowed here" },
    { 404, "not_found", "there is nothing here" },
    { 405, "method_not_allowed", "this method is not allowed here" },
    { 408, "request_timeout", "the request took too long" },
    { 413, "too_large", "the request is too large" },
    { 414, "too_large", "the request line is too large" },
    { 416, "bad_range", "the range cannot be served" },
    { 429, "too_many_requests", "too many requests, try again later" },
    { 500, "internal", "the web server failed" },
    { 502, "bad_gateway", "the service gave no answer" },
    { 503, "unavailable", "the service is not there, try again" },
    { 504, "timeout", "the service did not answer in time" },
    { 0, "error", "the request was refused" }
};


ngx_int_t
ngx_http_retort_filter_init(ngx_conf_t *cf)
{
    ngx_http_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_retort_header_filter;

    ngx_http_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_http_retort_body_filter;

    return NGX_OK;
}


static ngx_int_t
ngx_http_retort_header_filter(ngx_http_request_t *r)
{
    ngx_http_retort_ctx_t     *ctx;
    ngx_http_retort_answer_t  *answer;

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);

    if (ctx == NULL || ctx->answer == NULL) {
        ctx = ngx_http_retort_nginx_error(r);
    }

    if (ctx == NULL) {
        return ngx_http_next_header_filter(r);
    }

    answer = ctx->answer;
    ctx->replaced = 1;

    r->headers_out.status = answer->status;
    r->headers_out.status_line.len = 0;
    r->err_status = (answer->status < 400) ? 0 : answer->status;

    r->headers_out.content_type = answer->type;
    r->headers_out.content_type_len = answer->type.len;
    r->headers_out.content_type_lowcase = NULL;
    r->headers_out.charset.len = 0;

    ngx_http_clear_content_length(r);
    r->headers_out.content_length_n = answer->body.len;

    if (ngx_http_retort_retry_after(r, ctx) != NGX_OK
        || (answer->header
            && !ngx_http_retort_add_header(r, answer->header, answer->value)))
    {
        return NGX_ERROR;
    }

    return ngx_http_next_header_filter(r);
}


static ngx_int_t
ngx_http_retort_retry_after(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx)
{
    u_char      *p;
    ngx_uint_t   seconds;

    seconds = ctx->retry;

    if (seconds == 0 && ctx->answer->status == NGX_HTTP_SERVICE_UNAVAILABLE) {
        seconds = 1;
    }

    if (seconds == 0) {
        return NGX_OK;
    }

    p = ngx_pnalloc(r->pool, NGX_INT_T_LEN + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_sprintf(p, "%ui%Z", seconds);

    return ngx_http_retort_add_header(r, "Retry-After", (char *) p)
           ? NGX_OK : NGX_ERROR;
}


/*
 * An error page that nginx made for a location of ours (r->err_status is set
 * by nothing else) has a program as its reader.
 */

static ngx_http_retort_ctx_t *
ngx_http_retort_nginx_error(ngx_http_request_t *r)
{
    ngx_http_retort_ctx_t       *ctx;
    ngx_http_retort_code_t      *code;
    ngx_http_retort_loc_conf_t  *rlcf;

    if (r->err_status < NGX_HTTP_BAD_REQUEST) {
        return NULL;
    }

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (rlcf->upstream.upstream == NULL && rlcf->artifacts.len == 0
        && rlcf->status == NULL) {
        return NULL;
    }

    if (r->upstream && r->upstream->headers_in.status_n) {
        return NULL;
    }

    ctx = ngx_http_retort_ctx(r);
    if (ctx == NULL) {
        return NULL;
    }

    for (code = ngx_http_retort_codes; code->status; code++) {
        if (code->status == r->err_status) {
            break;
        }
    }

    ctx->answer = ngx_http_retort_error(r, r->err_status, code->code,
                                        code->message);

    return ctx->answer ? ctx : NULL;
}


static ngx_int_t
ngx_http_retort_body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_buf_t              *b;
    ngx_chain_t             out;
    ngx_http_retort_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);

    if (ctx == NULL || !ctx->replaced || in == NULL) {
        return ngx_http_next_body_filter(r, in);
    }

    if (ctx->replaced_body) {
        return ngx_http_next_body_filter(r, NULL);
    }

    ctx->replaced_body = 1;

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->memory = 1;
    b->pos = ctx->answer->body.data;
    b->last = b->pos + ctx->answer->body.len;
    b->last_buf = (r == r->main);
    b->last_in_chain = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_next_body_filter(r, &out);
}
