
#include "ngx_http_retort_module.h"


static ngx_int_t ngx_http_retort_record_start(
    ngx_http_retort_record_t *record);
static void ngx_http_retort_stderr_char(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, u_char ch);


ngx_int_t
ngx_http_retort_record(ngx_http_retort_record_t *record, ngx_buf_t *b,
    ngx_str_t *part)
{
    size_t  n;

    for ( ;; ) {

        if (record->have < NGX_HTTP_RETORT_FCGI_HEADER) {

            if (b->pos == b->last) {
                return NGX_AGAIN;
            }

            record->header[record->have++] = *b->pos++;

            if (record->have == NGX_HTTP_RETORT_FCGI_HEADER
                && ngx_http_retort_record_start(record) != NGX_OK)
            {
                return NGX_ERROR;
            }

            continue;
        }

        n = ngx_min(record->content, (size_t) (b->last - b->pos));

        if (n) {
            part->data = b->pos;
            part->len = n;

            b->pos += n;
            record->content -= n;

            if (record->type != NGX_HTTP_RETORT_FCGI_END) {
                return NGX_OK;
            }

            ngx_memcpy(record->end + (sizeof(record->end) - n
                                      - record->content),
                       part->data, n);
        }

        if (record->content) {
            return NGX_AGAIN;
        }

        n = ngx_min(record->padding, (size_t) (b->last - b->pos));

        b->pos += n;
        record->padding -= n;

        if (record->padding) {
            return NGX_AGAIN;
        }

        record->have = 0;

        if (record->type == NGX_HTTP_RETORT_FCGI_END) {
            return NGX_DONE;
        }
    }
}


ngx_uint_t
ngx_http_retort_record_ends(ngx_http_retort_record_t *record, ngx_buf_t *b)
{
    u_char  *p;
    size_t   n, content;

    p = b->pos;
    n = record->content + record->padding;

    while ((size_t) (b->last - p) >= n + NGX_HTTP_RETORT_FCGI_HEADER) {
        p += n;
        content = (size_t) p[4] << 8 | p[5];
        n = NGX_HTTP_RETORT_FCGI_HEADER + content + p[6];

        if (p[0] != 1 || p[2] != 0 || p[3] != 1) {
            return 0;
        }

        if (p[1] == NGX_HTTP_RETORT_FCGI_END) {
            return content == sizeof(record->end)
                   && (size_t) (b->last - p) >= n
                   && p[NGX_HTTP_RETORT_FCGI_HEADER + 4] == 0;
        }

        if (content || p[1] != NGX_HTTP_RETORT_FCGI_STDOUT) {
            return 0;
        }
    }

    return 0;
}


/* only what a front may say about the one request on this connection */

static ngx_int_t
ngx_http_retort_record_start(ngx_http_retort_record_t *record)
{
    u_char  *p;

    p = record->header;

    record->type = p[1];
    record->content = (size_t) p[4] << 8 | p[5];
    record->padding = p[6];

    if (p[0] != 1 || p[2] != 0 || p[3] != 1) {
        return NGX_ERROR;
    }

    switch (record->type) {

    case NGX_HTTP_RETORT_FCGI_STDOUT:

        if (record->content == 0) {
            record->eof = 1;
            return NGX_OK;
        }

        return record->eof ? NGX_ERROR : NGX_OK;

    case NGX_HTTP_RETORT_FCGI_STDERR:
        return NGX_OK;

    case NGX_HTTP_RETORT_FCGI_END:
        return record->content == sizeof(record->end) ? NGX_OK : NGX_ERROR;

    default:
        return NGX_ERROR;
    }
}


void
ngx_http_retort_stderr(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_str_t *part)
{
    size_t  i;

    if (ctx->err == NULL) {
        ctx->err = ngx_pnalloc(r->pool, NGX_HTTP_RETORT_STDERR_LINE + 4);
        if (ctx->err == NULL) {
            return;
        }
    }

    for (i = 0; i < part->len; i++) {

        if (ctx->err_total > NGX_HTTP_RETORT_STDERR_MAX) {
            return;
        }

        if (ctx->err_total++ == NGX_HTTP_RETORT_STDERR_MAX) {
            ngx_http_retort_stderr_flush(r, ctx);
            ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                          "retort front wrote more than %d bytes to stderr",
                          NGX_HTTP_RETORT_STDERR_MAX);
            return;
        }

        ngx_http_retort_stderr_char(r, ctx, part->data[i]);
    }
}


static void
ngx_http_retort_stderr_char(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, u_char ch)
{
    if (ch == '\n' || ctx->err_len >= NGX_HTTP_RETORT_STDERR_LINE) {
        ngx_http_retort_stderr_flush(r, ctx);
    }

    if (ch == '\n') {
        return;
    }

    if (ch < 0x20 || ch >= 0x7f || ch == '\\') {
        ctx->err_len = ngx_sprintf(ctx->err + ctx->err_len, "\\x%02xd", ch)
                       - ctx->err;
        return;
    }

    ctx->err[ctx->err_len++] = ch;
}


void
ngx_http_retort_stderr_flush(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx)
{
    if (ctx->err_len == 0) {
        return;
    }

    ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                  "retort front: %*s", ctx->err_len, ctx->err);

    ctx->err_len = 0;
}
