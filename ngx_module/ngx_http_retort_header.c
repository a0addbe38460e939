
#include "ngx_http_retort_module.h"


typedef ngx_int_t (*ngx_http_retort_line_pt)(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *value, ngx_uint_t offset);

typedef struct {
    ngx_str_t                name;
    ngx_http_retort_line_pt  handler;
    ngx_uint_t               offset;
} ngx_http_retort_line_t;


static ngx_int_t ngx_http_retort_header_part(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *part);
static ngx_int_t ngx_http_retort_parse_header(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);
static ngx_int_t ngx_http_retort_header_line(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);
static ngx_int_t ngx_http_retort_own_line(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_table_elt_t *h);
static ngx_int_t ngx_http_retort_header_done(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, size_t here);
static ngx_int_t ngx_http_retort_line_id(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *value, ngx_uint_t offset);
static ngx_int_t ngx_http_retort_line_status(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *value, ngx_uint_t offset);
static ngx_int_t ngx_http_retort_line_time(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *value, ngx_uint_t offset);
static ngx_int_t ngx_http_retort_line_number(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *value, ngx_uint_t offset);
static ngx_int_t ngx_http_retort_line_form(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *value, ngx_uint_t offset);


static ngx_http_retort_line_t  ngx_http_retort_lines[] = {

    { ngx_string("x-retort-execution"), ngx_http_retort_line_id,
      offsetof(ngx_http_retort_ctx_t, execution) },

    { ngx_string("x-retort-sandbox"), ngx_http_retort_line_id,
      offsetof(ngx_http_retort_ctx_t, sandbox) },

    { ngx_string("x-retort-status"), ngx_http_retort_line_status,
      offsetof(ngx_http_retort_ctx_t, status) },

    { ngx_string("x-retort-wall-us"), ngx_http_retort_line_time,
      offsetof(ngx_http_retort_ctx_t, wall) },

    { ngx_string("x-retort-cpu-us"), ngx_http_retort_line_time,
      offsetof(ngx_http_retort_ctx_t, cpu) },

    { ngx_string("x-retort-peak-memory"), ngx_http_retort_line_number,
      offsetof(ngx_http_retort_ctx_t, memory) },

    { ngx_string("x-retort-form"), ngx_http_retort_line_form, 0 },

    { ngx_null_string, NULL, 0 }
};


static ngx_str_t  ngx_http_retort_statuses[] = {
    ngx_string("ok"),
    ngx_string("error"),
    ngx_string("timeout"),
    ngx_string("oom"),
    ngx_string("killed"),
    ngx_string("cancelled"),
    ngx_string("lost"),
    ngx_null_string
};


/* in the order of ngx_http_retort_form_e */

static ngx_str_t  ngx_http_retort_forms[] = {
    ngx_string("none"),
    ngx_string("json"),
    ngx_string("markdown"),
    ngx_string("sse"),
    ngx_string("ndjson"),
    ngx_null_string
};


/*
 * u->buffer is always used up here, except for a piece of the body behind
 * the header: the header itself is gathered in ctx->header.
 */

ngx_int_t
ngx_http_retort_process_header(ngx_http_request_t *r)
{
    ngx_int_t               rc;
    ngx_str_t               part;
    ngx_buf_t              *b;
    ngx_http_retort_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);
    b = &r->upstream->buffer;

    for ( ;; ) {
        rc = ngx_http_retort_record(&ctx->record, b, &part);

        if (rc == NGX_AGAIN) {
            b->pos = b->start;
            b->last = b->start;
            return NGX_AGAIN;
        }

        if (rc != NGX_OK) {
            break;
        }

        if (ctx->record.type == NGX_HTTP_RETORT_FCGI_STDERR) {
            ngx_http_retort_stderr(r, ctx, &part);
            continue;
        }

        rc = ngx_http_retort_header_part(r, ctx, &part);

        if (rc == NGX_OK || rc == NGX_ERROR) {
            return rc;
        }

        if (rc == NGX_HTTP_UPSTREAM_INVALID_HEADER) {
            ctx->broken = 1;
            return rc;
        }
    }

    if (rc == NGX_DONE && ctx->record.end[4] == 2) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "retort front is overloaded");
        ctx->overloaded = 1;

    } else {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      (rc == NGX_DONE)
                      ? "retort front ended the request without a header"
                      : "retort front sent a broken FastCGI record");
    }

    ctx->broken = 1;

    return NGX_HTTP_UPSTREAM_INVALID_HEADER;
}


/* NGX_AGAIN: the header goes on; NGX_OK: the body's start is given back */

static ngx_int_t
ngx_http_retort_header_part(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *part)
{
    size_t      n, rest;
    ngx_int_t   rc;
    ngx_buf_t  *b;

    b = &ctx->header;

    if (b->start == NULL) {
        n = r->upstream->conf->buffer_size;

        b->start = ngx_palloc(r->pool, n);
        if (b->start == NULL) {
            return NGX_ERROR;
        }

        b->pos = b->start;
        b->last = b->start;
        b->end = b->start + n;
        r->state = 0;
    }

    n = ngx_min(part->len, (size_t) (b->end - b->last));
    b->last = ngx_cpymem(b->last, part->data, n);

    rc = ngx_http_retort_parse_header(r, ctx);

    if (rc == NGX_AGAIN && n < part->len) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "retort front sent too big header");
        return NGX_HTTP_UPSTREAM_INVALID_HEADER;
    }

    if (rc != NGX_OK) {
        return rc;
    }

    rest = (b->last - b->pos) + (part->len - n);

    r->upstream->buffer.pos -= rest;
    ctx->record.content += rest;

    return ngx_http_retort_header_done(r, ctx, rest);
}


static ngx_int_t
ngx_http_retort_parse_header(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx)
{
    ngx_int_t  rc;

    for ( ;; ) {
        rc = ngx_http_parse_header_line(r, &ctx->header, 1);

        if (rc == NGX_HTTP_PARSE_HEADER_DONE) {
            return NGX_OK;
        }

        if (rc == NGX_AGAIN) {
            return NGX_AGAIN;
        }

        if (rc != NGX_OK || r->invalid_header
            || *r->header_name_end != ':')
        {
            ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                          "retort front sent an invalid header");
            return NGX_HTTP_UPSTREAM_INVALID_HEADER;
        }

        rc = ngx_http_retort_header_line(r, ctx);

        if (rc != NGX_OK) {
            return rc;
        }
    }
}


static ngx_int_t
ngx_http_retort_header_line(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx)
{
    ngx_table_elt_t                *h, line;
    ngx_http_upstream_header_t     *hh;
    ngx_http_upstream_main_conf_t  *umcf;

    h = &line;
    ngx_memzero(h, sizeof(ngx_table_elt_t));

    h->key.len = r->header_name_end - r->header_name_start;
    h->value.len = r->header_end - r->header_start;

    h->key.data = ngx_pnalloc(r->pool,
                              h->key.len * 2 + h->value.len + 2);
    if (h->key.data == NULL) {
        return NGX_ERROR;
    }

    h->value.data = h->key.data + h->key.len + 1;
    h->lowcase_key = h->value.data + h->value.len + 1;

    ngx_cpystrn(h->key.data, r->header_name_start, h->key.len + 1);
    ngx_cpystrn(h->value.data, r->header_start, h->value.len + 1);
    h->hash = ngx_hash_strlow(h->lowcase_key, h->key.data, h->key.len);

    if (h->key.len >= sizeof("x-retort-") - 1
        && ngx_memcmp(h->lowcase_key, "x-retort-", sizeof("x-retort-") - 1)
           == 0)
    {
        return ngx_http_retort_own_line(r, ctx, h);
    }

    h = ngx_list_push(&r->upstream->headers_in.headers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    *h = line;

    umcf = ngx_http_get_module_main_conf(r, ngx_http_upstream_module);

    hh = ngx_hash_find(&umcf->headers_in_hash, h->hash, h->lowcase_key,
                       h->key.len);

    if (hh && hh->handler(r, h, hh->offset) != NGX_OK) {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* X-Retort-*: for the worker; a value that makes no sense is left out */

static ngx_int_t
ngx_http_retort_own_line(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_table_elt_t *h)
{
    ngx_http_retort_line_t  *line;

    for (line = ngx_http_retort_lines; line->name.len; line++) {

        if (line->name.len == h->key.len
            && ngx_memcmp(line->name.data, h->lowcase_key, h->key.len) == 0)
        {
            return line->handler(r, ctx, &h->value, line->offset);
        }
    }

    return NGX_OK;
}


/* so many bytes of the body are there with the header */

static ngx_int_t
ngx_http_retort_header_done(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, size_t here)
{
    ngx_int_t             status;
    ngx_table_elt_t      *h;
    ngx_http_upstream_t  *u;

    u = r->upstream;
    h = u->headers_in.status;

    if (h == NULL) {
        u->headers_in.status_n = NGX_HTTP_OK;
        ngx_str_set(&u->headers_in.status_line, "200 OK");

    } else {
        status = ngx_atoi(h->value.data, ngx_min(h->value.len, 3));

        if (status < 200 || status > 599
            || (h->value.len > 3 && h->value.data[3] != ' '))
        {
            ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                          "retort front sent an invalid status \"%V\"",
                          &h->value);
            return NGX_HTTP_UPSTREAM_INVALID_HEADER;
        }

        u->headers_in.status_n = status;
        u->headers_in.status_line = h->value;
    }

    if (u->state && u->state->status == 0) {
        u->state->status = u->headers_in.status_n;
    }

    if (u->headers_in.content_length
        && u->headers_in.content_length_n < 0)
    {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "retort front sent an invalid \"Content-Length\"");
        return NGX_HTTP_UPSTREAM_INVALID_HEADER;
    }

    ctx->rest = u->headers_in.content_length_n;

    if (ctx->follow.form == RETORT_FORM_NONE || ctx->rest == -1) {
        return NGX_OK;
    }

    /* a length cannot be promised where an end may have to be added */

    if (ctx->rest != (off_t) here
        || !ngx_http_retort_record_ends(&ctx->record, &u->buffer))
    {
        u->headers_in.content_length->hash = 0;
        u->headers_in.content_length = NULL;
        u->headers_in.content_length_n = -1;

        return NGX_OK;
    }

    ctx->follow.form = RETORT_FORM_NONE;

    return NGX_OK;
}


static ngx_int_t
ngx_http_retort_line_id(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_str_t *value, ngx_uint_t offset)
{
    if (ngx_http_retort_is_name(value, 128)) {
        *(ngx_str_t *) ((char *) ctx + offset) = *value;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_retort_line_status(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *value, ngx_uint_t offset)
{
    ngx_str_t  *s;

    for (s = ngx_http_retort_statuses; s->len; s++) {

        if (s->len == value->len
            && ngx_memcmp(s->data, value->data, s->len) == 0)
        {
            ctx->status = *s;
        }
    }

    return NGX_OK;
}


/*
 * A stream's header comes before its verdict: the end of the request then says
 * it, as a place in the list of statuses, counted from 1.
 */

void
ngx_http_retort_end_status(ngx_http_retort_ctx_t *ctx)
{
    u_char      *p;
    ngx_uint_t   n;

    p = ctx->record.end;
    n = sizeof(ngx_http_retort_statuses) / sizeof(ngx_str_t) - 1;

    if (ctx->status.len == 0
        && p[0] == 0 && p[1] == 0 && p[2] == 0 && p[3] >= 1 && p[3] <= n)
    {
        ctx->status = ngx_http_retort_statuses[p[3] - 1];
    }
}


/* microseconds become seconds with three decimals */

static ngx_int_t
ngx_http_retort_line_time(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_str_t *value, ngx_uint_t offset)
{
    off_t       us;
    ngx_str_t  *s;

    us = ngx_atoof(value->data, value->len);
    if (us == NGX_ERROR) {
        return NGX_OK;
    }

    s = (ngx_str_t *) ((char *) ctx + offset);

    s->data = ngx_pnalloc(r->pool, NGX_OFF_T_LEN + 4);
    if (s->data == NULL) {
        return NGX_ERROR;
    }

    s->len = ngx_sprintf(s->data, "%O.%03O", us / 1000000,
                         us / 1000 % 1000)
             - s->data;

    return NGX_OK;
}


static ngx_int_t
ngx_http_retort_line_number(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *value, ngx_uint_t offset)
{
    if (ngx_atoof(value->data, value->len) != NGX_ERROR) {
        *(ngx_str_t *) ((char *) ctx + offset) = *value;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_retort_line_form(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_str_t *value, ngx_uint_t offset)
{
    ngx_uint_t  i;

    for (i = 0; ngx_http_retort_forms[i].len; i++) {

        if (ngx_http_retort_forms[i].len == value->len
            && ngx_memcmp(ngx_http_retort_forms[i].data, value->data,
                          value->len)
               == 0)
        {
            ctx->follow.form = i;
        }
    }

    return NGX_OK;
}
