
#include "ngx_http_retort_module.h"


static void ngx_http_retort_read_upstream(ngx_http_request_t *r,
    ngx_http_upstream_t *u);
static ngx_int_t ngx_http_retort_body_part(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *part);
static ngx_int_t ngx_http_retort_counted_part(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *part);
static ngx_int_t ngx_http_retort_end(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);
static ngx_int_t ngx_http_retort_lose(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);
static ngx_int_t ngx_http_retort_emit(ngx_http_request_t *r,
    ngx_str_t *part);


/*
 * u->length tells nginx when the answer is over: it is 1 until END_REQUEST
 * or the end that we write ourselves, then 0.
 */

ngx_int_t
ngx_http_retort_input_filter_init(void *data)
{
    ngx_http_request_t *r = data;

    ngx_http_upstream_t    *u;
    ngx_http_retort_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);
    u = r->upstream;

    u->length = 1;

    /* set by nginx right before; ours looks at the time-out first */

    ctx->read_event_handler = u->read_event_handler;
    u->read_event_handler = ngx_http_retort_read_upstream;

    return NGX_OK;
}


ngx_int_t
ngx_http_retort_input_filter(void *data, ssize_t bytes)
{
    ngx_http_request_t *r = data;

    ngx_int_t               rc;
    ngx_buf_t              *b;
    ngx_str_t               part;
    ngx_http_upstream_t    *u;
    ngx_http_retort_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);
    u = r->upstream;

    if (ctx->ended) {
        /* there is nothing to say after the end */
        u->keepalive = 0;
        return NGX_OK;
    }

    b = &u->buffer;

    b->pos = b->last;
    b->last += bytes;

    for ( ;; ) {
        rc = ngx_http_retort_record(&ctx->record, b, &part);

        if (rc == NGX_AGAIN) {
            return NGX_OK;
        }

        if (rc == NGX_DONE) {
            return ngx_http_retort_end(r, ctx);
        }

        if (rc == NGX_ERROR) {
            ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                          "retort front sent a broken FastCGI record");
            return ngx_http_retort_lose(r, ctx);
        }

        if (ctx->record.type == NGX_HTTP_RETORT_FCGI_STDERR) {
            ngx_http_retort_stderr(r, ctx, &part);
            continue;
        }

        if (ngx_http_retort_body_part(r, ctx, &part) != NGX_OK) {
            return NGX_ERROR;
        }
    }
}


static ngx_int_t
ngx_http_retort_body_part(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_str_t *part)
{
    size_t     keep;
    ngx_int_t  rc;
    ngx_str_t  before;

    if (ctx->follow.form == RETORT_FORM_NONE) {
        return ngx_http_retort_counted_part(r, ctx, part);
    }

    rc = ngx_http_retort_follow(r, &ctx->follow, part, &keep, &before);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc == NGX_AGAIN) {
        part->len = keep;
    }

    if (ngx_http_retort_emit(r, &before) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_retort_emit(r, part);
}


static ngx_int_t
ngx_http_retort_counted_part(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *part)
{
    if (ctx->rest == -1) {
        return ngx_http_retort_emit(r, part);
    }

    if ((off_t) part->len > ctx->rest) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "retort front sent more than its \"Content-Length\"");
        part->len = (size_t) ctx->rest;
    }

    ctx->rest -= part->len;

    return ngx_http_retort_emit(r, part);
}


/* END_REQUEST is the only good end */

static ngx_int_t
ngx_http_retort_end(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx)
{
    ngx_str_t             held;
    ngx_http_upstream_t  *u;

    u = r->upstream;

    if (ctx->record.end[4] != 0
        || (ctx->follow.form == RETORT_FORM_NONE && ctx->rest > 0))
    {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "retort front gave up the request");
        return ngx_http_retort_lose(r, ctx);
    }

    ctx->ended = 1;
    ngx_http_retort_end_status(ctx);
    ngx_http_retort_stderr_flush(r, ctx);

    held.data = ctx->follow.hold;
    held.len = ctx->follow.held;

    if (ngx_http_retort_emit(r, &held) != NGX_OK) {
        return NGX_ERROR;
    }

    u->length = 0;
    u->keepalive = (u->buffer.pos == u->buffer.last && !ctx->deaf);

    return NGX_OK;
}


/*
 * The front is gone in the middle of its answer: end the body in its form.
 * Where that is impossible u->error makes nginx cut the connection, which
 * tells the client that the body is not whole.
 */

static ngx_int_t
ngx_http_retort_lose(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx)
{
    ngx_int_t             rc;
    ngx_str_t             text;
    ngx_http_upstream_t  *u;

    u = r->upstream;

    if (ctx->ended) {
        return NGX_OK;
    }

    ctx->ended = 1;
    ctx->lost = 1;
    ngx_str_set(&ctx->status, "lost");
    ngx_http_retort_stderr_flush(r, ctx);

    rc = ngx_http_retort_close_form(r, ctx, &text);

    if (rc == NGX_DECLINED) {
        u->error = 1;
        return NGX_OK;
    }

    if (rc != NGX_OK || ngx_http_retort_emit(r, &text) != NGX_OK) {
        return NGX_ERROR;
    }

    u->length = 0;

    return NGX_OK;
}


/* appends to what nginx will send; part must outlive the buffer */

static ngx_int_t
ngx_http_retort_emit(ngx_http_request_t *r, ngx_str_t *part)
{
    ngx_chain_t          *cl, **ll;
    ngx_http_upstream_t  *u;

    if (part->len == 0) {
        return NGX_OK;
    }

    u = r->upstream;

    for (ll = &u->out_bufs; *ll; ll = &(*ll)->next) { /* void */ }

    cl = ngx_chain_get_free_buf(r->pool, &u->free_bufs);
    if (cl == NULL) {
        return NGX_ERROR;
    }

    cl->buf->flush = 1;
    cl->buf->memory = 1;
    cl->buf->pos = part->data;
    cl->buf->last = part->data + part->len;
    cl->buf->tag = u->output.tag;

    cl->next = NULL;
    *ll = cl;

    return NGX_OK;
}


/*
 * A Unix peer that is killed with unread data makes ECONNRESET out of its
 * end.  Once the header is out, both ends are the same to us.
 */

ssize_t
ngx_http_retort_recv(ngx_connection_t *c, u_char *buf, size_t size)
{
    ssize_t                 n;
    ngx_http_request_t     *r;
    ngx_http_upstream_t    *u;
    ngx_http_retort_ctx_t  *ctx;

    r = c->data;
    u = r->upstream;
    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);

    n = ctx->recv(c, buf, size);

    if (n > 0 || n == NGX_AGAIN || !u->header_sent) {
        return n;
    }

    if (!ctx->ended) {
        ngx_log_error(NGX_LOG_ERR, c->log, 0,
                      "retort front went away in the middle of its answer");
    }

    if (ngx_http_retort_lose(r, ctx) != NGX_OK || u->length != 0) {
        return n;
    }

    c->read->error = 0;
    c->read->eof = 1;

    return 0;
}


static void
ngx_http_retort_read_upstream(ngx_http_request_t *r, ngx_http_upstream_t *u)
{
    ngx_event_t            *rev;
    ngx_http_retort_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);
    rev = u->peer.connection->read;

    if (!rev->timedout) {
        ctx->read_event_handler(r, u);
        return;
    }

    if (ctx->ended && u->length == 0) {
        /* it is the client that is slow */
        rev->timedout = 0;
        return;
    }

    ngx_log_error(NGX_LOG_ERR, r->connection->log, NGX_ETIMEDOUT,
                  "retort front was silent for too long");

    if (ngx_http_retort_lose(r, ctx) == NGX_OK && u->length == 0) {
        rev->timedout = 0;
        r->write_event_handler(r);
        return;
    }

    ctx->read_event_handler(r, u);
}
