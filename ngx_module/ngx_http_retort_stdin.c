
#include "ngx_http_retort_module.h"


/* the chain that goes out */

typedef struct {
    ngx_http_retort_ctx_t   *ctx;
    ngx_chain_t             *out;
    ngx_chain_t            **last;
} ngx_http_retort_frames_t;


static ngx_int_t ngx_http_retort_append_body(ngx_http_request_t *r,
    ngx_chain_t **ll);
static void ngx_http_retort_no_room_event(ngx_connection_t *c);
static ngx_uint_t ngx_http_retort_is_gone(ngx_connection_t *c);
static void ngx_http_retort_unsent(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);
static ngx_int_t ngx_http_retort_frames(ngx_http_retort_ctx_t *ctx,
    ngx_chain_t *in);
static ngx_int_t ngx_http_retort_frame(ngx_http_retort_frames_t *f,
    ngx_buf_t *b);
static ngx_buf_t *ngx_http_retort_frame_buf(ngx_http_retort_frames_t *f);
static ngx_int_t ngx_http_retort_frame_header(ngx_http_retort_frames_t *f,
    size_t len);
static ngx_int_t ngx_http_retort_pass_buf(ngx_http_retort_frames_t *f,
    ngx_buf_t *b);
static ngx_int_t ngx_http_retort_write_out(ngx_http_retort_frames_t *f);
static void ngx_http_retort_drop(ngx_chain_t *cl);
static void ngx_http_retort_mark_sent(ngx_chain_t *cl);


/* tags: buffers that go out as they are, and those that the filter made */

static ngx_uint_t  ngx_http_retort_raw;
static ngx_uint_t  ngx_http_retort_framed;


ngx_int_t
ngx_http_retort_create_request(ngx_http_request_t *r)
{
    ngx_buf_t              *b;
    ngx_chain_t            *cl;
    ngx_http_upstream_t    *u;
    ngx_http_retort_ctx_t  *ctx;

    u = r->upstream;

    b = ngx_http_retort_params(r);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->tag = (ngx_buf_tag_t) &ngx_http_retort_raw;
    b->flush = 1;

    cl = ngx_alloc_chain_link(r->pool);
    if (cl == NULL) {
        return NGX_ERROR;
    }

    cl->buf = b;
    cl->next = NULL;

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);
    ctx->unsent_handler = r->read_event_handler;

    u->output.output_filter = ngx_http_retort_stdin_filter;
    u->output.filter_ctx = ctx;
    u->output.need_in_memory = 1;

    if (!r->request_body_no_buffering
        && ngx_http_retort_append_body(r, &cl->next) != NGX_OK)
    {
        return NGX_ERROR;
    }

    u->request_bufs = cl;

    return NGX_OK;
}


/* a body that somebody has read before us, and the end of it */

static ngx_int_t
ngx_http_retort_append_body(ngx_http_request_t *r, ngx_chain_t **ll)
{
    ngx_buf_t    *b;
    ngx_chain_t  *cl, *body;

    for (body = r->upstream->request_bufs; body; body = body->next) {

        if (ngx_buf_special(body->buf) || ngx_buf_size(body->buf) == 0) {
            continue;
        }

        b = ngx_alloc_buf(r->pool);
        cl = ngx_alloc_chain_link(r->pool);

        if (b == NULL || cl == NULL) {
            return NGX_ERROR;
        }

        *b = *body->buf;
        b->last_buf = 0;

        cl->buf = b;
        *ll = cl;
        ll = &cl->next;
    }

    b = ngx_create_temp_buf(r->pool, NGX_HTTP_RETORT_FCGI_HEADER);
    cl = ngx_alloc_chain_link(r->pool);

    if (b == NULL || cl == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_http_retort_record_header(b->last,
                                            NGX_HTTP_RETORT_FCGI_STDIN, 0);
    b->tag = (ngx_buf_tag_t) &ngx_http_retort_raw;

    cl->buf = b;
    cl->next = NULL;
    *ll = cl;

    return NGX_OK;
}


ngx_int_t
ngx_http_retort_stdin_filter(void *data, ngx_chain_t *in)
{
    ngx_http_retort_ctx_t *ctx = data;

    ngx_int_t                    rc;
    ngx_uint_t                   first;
    ngx_connection_t            *c;
    ngx_http_upstream_t         *u;
    ngx_http_retort_loc_conf_t  *rlcf;

    u = ctx->request->upstream;
    c = u->peer.connection;

    if (ctx->deaf) {
        ngx_http_retort_drop(in);
        return NGX_OK;
    }

    first = (c->recv != ngx_http_retort_recv);

    if (first) {
        ctx->recv = c->recv;
        c->recv = ngx_http_retort_recv;
        ngx_http_retort_no_room_event(c);
    }

    rc = (first && u->peer.cached && ngx_http_retort_is_gone(c))
         ? NGX_ERROR : ngx_http_retort_frames(ctx, in);

    if (rc == NGX_ERROR && first && !ctx->delivered) {
        ngx_http_retort_unsent(ctx->request, ctx);
        return NGX_ERROR;
    }

    /* from here on the front may know of the request */

    rlcf = ngx_http_get_module_loc_conf(ctx->request, ngx_http_retort_module);
    u->conf = &rlcf->sent;

    return rc;
}


/*
 * Each read of the front's makes room in the socket, and would wake the worker
 * to be told so.  If there is none nginx asks for that event by itself.
 */

static void
ngx_http_retort_no_room_event(ngx_connection_t *c)
{
    if ((ngx_event_flags & NGX_USE_EPOLL_EVENT)
        && c->write->active && c->write->ready)
    {
        (void) ngx_del_event(c->write, NGX_WRITE_EVENT, NGX_CLEAR_EVENT);
    }
}


/* a front that closes ends what it keeps: nothing is to be read before */

static ngx_uint_t
ngx_http_retort_is_gone(ngx_connection_t *c)
{
    char  buf[1];

    if (recv(c->fd, buf, 1, MSG_PEEK) == -1
        && ngx_socket_errno == NGX_EAGAIN)
    {
        return 0;
    }

    ngx_log_error(NGX_LOG_INFO, c->log, 0,
                  "retort front has closed a kept connection");

    return 1;
}


/*
 * Not a byte of the request went out, and every buffer is as it was: nginx
 * may begin again with another connection, also where it tries no other
 * server.  Not so with a body in a file, of which a part has been read.
 */

static void
ngx_http_retort_unsent(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx)
{
    ngx_http_upstream_t         *u;
    ngx_http_retort_loc_conf_t  *rlcf;

    u = r->upstream;

    if (r->request_body && r->request_body->temp_file) {
        return;
    }

    u->request_sent = 0;

    /* until there is a connection, more of the body has nowhere to go */
    r->read_event_handler = ctx->unsent_handler;

    if (u->peer.cached) {
        rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);
        u->conf = &rlcf->unsent;
    }
}


static ngx_int_t
ngx_http_retort_frames(ngx_http_retort_ctx_t *ctx, ngx_chain_t *in)
{
    ngx_int_t                 rc;
    ngx_http_retort_frames_t  f;

    f.ctx = ctx;
    f.out = NULL;
    f.last = &f.out;

    for ( /* void */ ; in; in = in->next) {

        if (in->buf->tag == (ngx_buf_tag_t) &ngx_http_retort_raw) {
            rc = ngx_http_retort_pass_buf(&f, in->buf);

        } else {
            rc = ngx_http_retort_frame(&f, in->buf);
        }

        if (rc != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return ngx_http_retort_write_out(&f);
}


/* STDIN records out of a piece of the body, which is not copied */

static ngx_int_t
ngx_http_retort_frame(ngx_http_retort_frames_t *f, ngx_buf_t *b)
{
    u_char     *pos;
    size_t      n;
    ngx_buf_t  *slice;

    if (ngx_buf_in_memory(b)) {

        for (pos = b->pos; pos < b->last; pos += n) {
            n = ngx_min((size_t) (b->last - pos), NGX_HTTP_RETORT_RECORD_MAX);

            if (ngx_http_retort_frame_header(f, n) != NGX_OK) {
                return NGX_ERROR;
            }

            slice = ngx_http_retort_frame_buf(f);
            if (slice == NULL) {
                return NGX_ERROR;
            }

            slice->pos = pos;
            slice->last = pos + n;
            slice->shadow = b;
            slice->last_shadow = (slice->last == b->last);
        }
    }

    return b->last_buf ? ngx_http_retort_frame_header(f, 0) : NGX_OK;
}


/* buffers are used again, so each one brings the room for a header */

static ngx_buf_t *
ngx_http_retort_frame_buf(ngx_http_retort_frames_t *f)
{
    ngx_buf_t    *b;
    ngx_chain_t  *cl;

    cl = ngx_chain_get_free_buf(f->ctx->request->pool, &f->ctx->free);
    if (cl == NULL) {
        return NULL;
    }

    b = cl->buf;

    if (b->start == NULL) {
        b->start = ngx_palloc(f->ctx->request->pool,
                              NGX_HTTP_RETORT_FCGI_HEADER);
        if (b->start == NULL) {
            return NULL;
        }

        b->end = b->start + NGX_HTTP_RETORT_FCGI_HEADER;
    }

    b->pos = b->start;
    b->last = b->start;
    b->tag = (ngx_buf_tag_t) &ngx_http_retort_framed;
    b->memory = 1;
    b->shadow = NULL;
    b->last_shadow = 0;

    *f->last = cl;
    f->last = &cl->next;
    cl->next = NULL;

    return b;
}


static ngx_int_t
ngx_http_retort_frame_header(ngx_http_retort_frames_t *f, size_t len)
{
    ngx_buf_t  *b;

    b = ngx_http_retort_frame_buf(f);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->last = ngx_http_retort_record_header(b->last,
                                            NGX_HTTP_RETORT_FCGI_STDIN, len);

    return NGX_OK;
}


static ngx_int_t
ngx_http_retort_pass_buf(ngx_http_retort_frames_t *f, ngx_buf_t *b)
{
    ngx_chain_t  *cl;

    cl = ngx_alloc_chain_link(f->ctx->request->pool);
    if (cl == NULL) {
        return NGX_ERROR;
    }

    cl->buf = b;
    cl->next = NULL;

    *f->last = cl;
    f->last = &cl->next;

    return NGX_OK;
}


/*
 * A front may answer before it has read everything, and close.  What it
 * said is then still to be read: an error while sending, once something has
 * arrived there, only makes the rest of the body be thrown away.
 */

static ngx_int_t
ngx_http_retort_write_out(ngx_http_retort_frames_t *f)
{
    ngx_int_t               rc;
    ngx_http_upstream_t    *u;
    ngx_http_retort_ctx_t  *ctx;

    ctx = f->ctx;
    u = ctx->request->upstream;

    rc = ngx_chain_writer(&u->writer, f->out);

    if (u->peer.connection->sent > 0) {
        ctx->delivered = 1;
    }

    if (rc == NGX_ERROR) {

        if (!ctx->delivered) {
            return NGX_ERROR;
        }

        ctx->deaf = 1;

        ngx_http_retort_drop(f->out);
        ngx_http_retort_drop(ctx->busy);

        return NGX_OK;
    }

    ngx_chain_update_chains(ctx->request->pool, &ctx->free, &ctx->busy,
                            &f->out, (ngx_buf_tag_t) &ngx_http_retort_framed);

    ngx_http_retort_mark_sent(ctx->free);

    return rc;
}


static void
ngx_http_retort_drop(ngx_chain_t *cl)
{
    for ( /* void */ ; cl; cl = cl->next) {
        cl->buf->pos = cl->buf->last;

        if (cl->buf->shadow) {
            cl->buf->shadow->pos = cl->buf->shadow->last;
            cl->buf->shadow = NULL;
        }
    }
}


/* the client's buffer is free once its last slice is out */

static void
ngx_http_retort_mark_sent(ngx_chain_t *cl)
{
    for ( /* void */ ; cl; cl = cl->next) {

        if (cl->buf->shadow && cl->buf->last_shadow) {
            cl->buf->shadow->pos = cl->buf->shadow->last;
        }

        cl->buf->shadow = NULL;
    }
}
