
#include "ngx_http_retort_module.h"

#include <sys/random.h>


static ngx_uint_t ngx_http_retort_reads_first(ngx_http_request_t *r);
static void ngx_http_retort_read(ngx_http_request_t *r);
static ngx_int_t ngx_http_retort_reinit_request(ngx_http_request_t *r);
static void ngx_http_retort_abort_request(ngx_http_request_t *r);


#define NGX_HTTP_RETORT_RANDOM  16


ngx_int_t
ngx_http_retort_pass_handler(ngx_http_request_t *r)
{
    ngx_int_t               rc;
    ngx_http_retort_ctx_t  *ctx;

    ctx = ngx_http_retort_ctx(r);
    if (ctx == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_http_retort_identify(r, ctx);
    if (rc != NGX_OK) {
        return rc;
    }

    if (ngx_http_retort_reads_first(r)) {
        r->request_body_no_buffering = 0;
        rc = ngx_http_read_client_request_body(r, ngx_http_retort_read);

        return (rc >= NGX_HTTP_SPECIAL_RESPONSE) ? rc : NGX_DONE;
    }

    rc = ngx_http_retort_admit(r, ctx);

    if (rc == NGX_AGAIN) {
        r->main->count++;
        return NGX_DONE;
    }

    return (rc == NGX_OK) ? ngx_http_retort_start(r, ctx) : rc;
}


/*
 * Of messages only calls are runs.  Where runs have limits, the end of one may
 * be such a message: it must not wait behind what it is to end.
 */

static ngx_uint_t
ngx_http_retort_reads_first(ngx_http_request_t *r)
{
    off_t                        len;
    ngx_http_core_loc_conf_t    *clcf;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);
    clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);
    len = r->headers_in.content_length_n;

    return rlcf->api->rpc && rlcf->admission && r == r->main
           && len > 0 && len <= (off_t) clcf->client_body_buffer_size
           && rlcf->api->is_run(r);
}


static void
ngx_http_retort_read(ngx_http_request_t *r)
{
    ngx_int_t               rc;
    ngx_http_retort_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);
    ctx->told = ngx_http_retort_message_is_told(r);

    rc = ngx_http_retort_admit(r, ctx);

    if (rc == NGX_AGAIN) {
        return;
    }

    ngx_http_finalize_request(r, (rc == NGX_OK)
                                 ? ngx_http_retort_start(r, ctx) : rc);
}


ngx_int_t
ngx_http_retort_start(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx)
{
    ngx_int_t                    rc;
    ngx_http_upstream_t         *u;
    ngx_http_retort_loc_conf_t  *rlcf;

    if (ngx_http_retort_name_execution(r, ctx) != NGX_OK
        || ngx_http_upstream_create(r) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    u = r->upstream;

    ngx_str_set(&u->schema, "retort://");
    u->output.tag = (ngx_buf_tag_t) &ngx_http_retort_module;

    u->conf = &rlcf->upstream;

    u->create_request = ngx_http_retort_create_request;
    u->reinit_request = ngx_http_retort_reinit_request;
    u->process_header = ngx_http_retort_process_header;
    u->abort_request = ngx_http_retort_abort_request;
    u->finalize_request = ngx_http_retort_finalize_request;

    u->input_filter_init = ngx_http_retort_input_filter_init;
    u->input_filter = ngx_http_retort_input_filter;
    u->input_filter_ctx = r;

    u->buffering = 0;

    /* of a message that is answered whatever happens the id is kept */
    r->request_body_no_buffering =
                         rlcf->api->face != ngx_http_retort_face_prisme;

    rc = ngx_http_read_client_request_body(r, ngx_http_upstream_init);

    if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
        return rc;
    }

    return NGX_DONE;
}


ngx_int_t
ngx_http_retort_name_execution(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx)
{
    u_char                      *p, random[NGX_HTTP_RETORT_RANDOM];
    ssize_t                      n;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    n = getrandom(random, sizeof(random), GRND_NONBLOCK);

    if (n != (ssize_t) sizeof(random)) {
        ngx_log_error(NGX_LOG_CRIT, r->connection->log,
                      (n == -1) ? ngx_errno : 0, "getrandom() failed");
        return NGX_ERROR;
    }

    p = ngx_pnalloc(r->pool, sizeof("exec__") - 1 + rlcf->node.len
                             + 2 * sizeof(random));
    if (p == NULL) {
        return NGX_ERROR;
    }

    ctx->execution.data = p;

    p = ngx_sprintf(p, "exec_%V_", &rlcf->node);
    p = ngx_hex_dump(p, random, sizeof(random));

    ctx->execution.len = p - ctx->execution.data;

    return NGX_OK;
}


/* another peer is tried, which can only be before a byte was sent */

static ngx_int_t
ngx_http_retort_reinit_request(ngx_http_request_t *r)
{
    return NGX_OK;
}


static void
ngx_http_retort_abort_request(ngx_http_request_t *r)
{
    ngx_log_debug0(NGX_LOG_DEBUG_HTTP, r->connection->log, 0,
                   "abort retort request");
}
