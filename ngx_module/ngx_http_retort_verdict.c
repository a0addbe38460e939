
#include "ngx_http_retort_module.h"


static ngx_int_t ngx_http_retort_request_id(ngx_http_request_t *r,
    ngx_str_t *id);
static ngx_uint_t ngx_http_retort_accept_item(ngx_str_t *item,
    ngx_uint_t *q);
static ngx_uint_t ngx_http_retort_accept_q(u_char *p, u_char *last);
static void ngx_http_retort_end(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_int_t rc);
static ngx_uint_t ngx_http_retort_client_left(ngx_http_request_t *r,
    ngx_int_t rc);
static ngx_http_retort_answer_t *ngx_http_retort_no_answer(
    ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx, ngx_int_t rc);


#define RETORT_LOST                                                           \
    "the run was lost: the service that ran it went away"

#define RETORT_LOST_ERROR                                                     \
    "\"error\":{\"name\":\"Lost\",\"message\":\"" RETORT_LOST "\"}"


/* nobody here has read the id: the status of HTTP is what tells the client */

#define RETORT_LOST_RPC                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,"            \
    "\"message\":\"" RETORT_LOST "\",\"data\":{\"code\":\"lost\","            \
    "\"execution_id\":\"%V\"}}}\n"


/* in the order of ngx_http_retort_form_e; the name counts up to ';' */

static ngx_str_t  ngx_http_retort_types[] = {
    ngx_null_string,
    ngx_string("application/json"),
    ngx_string("text/markdown; charset=utf-8"),
    ngx_string("text/event-stream"),
    ngx_string("application/x-ndjson")
};


u_char *
ngx_http_retort_lost_text(u_char *p, ngx_uint_t form, ngx_str_t *execution)
{
    switch (form) {

    case RETORT_FORM_MARKDOWN:
        return ngx_sprintf(p, "error:\n\n```\n" RETORT_LOST "\n```\n");

    case RETORT_FORM_SSE:
        return ngx_sprintf(p, "event: status\ndata: {\"status\":\"lost\","
                           "\"execution_id\":\"%V\"," RETORT_LOST_ERROR
                           "}\n\n", execution);

    case RETORT_FORM_NDJSON:
        return ngx_sprintf(p, "{\"type\":\"status\",\"status\":\"lost\","
                           "\"execution_id\":\"%V\"," RETORT_LOST_ERROR
                           "}\n", execution);

    default: /* RETORT_FORM_JSON */
        return ngx_sprintf(p, "{\"execution_id\":\"%V\",\"sandbox_id\":null,"
                           "\"stdout\":\"\",\"stderr\":\"\","
                           "\"result\":null,\"outputs\":[],"
                           RETORT_LOST_ERROR ",\"artifacts\":[],"
                           "\"markdown\":\"error:\\n\\n```\\n" RETORT_LOST
                           "\\n```\",\"usage\":null,\"timings_us\":null,"
                           "\"expires_at\":null,\"status\":\"lost\"}",
                           execution);
    }
}


u_char *
ngx_http_retort_lost_line(ngx_http_request_t *r, u_char *p,
    ngx_str_t *execution)
{
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (rlcf->api->face != ngx_http_retort_face_e2b) {
        return ngx_http_retort_lost_text(p, RETORT_FORM_NDJSON, execution);
    }

    return ngx_sprintf(p, "{\"type\":\"error\",\"name\":\"Lost\",\"value\":\""
                       RETORT_LOST "\",\"traceback\":\"\"}\n"
                       "{\"type\":\"end_of_execution\"}\n");
}


ngx_http_retort_answer_t *
ngx_http_retort_lost(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx)
{
    u_char                      *p;
    ngx_uint_t                   form;
    ngx_http_retort_answer_t    *answer;
    ngx_http_retort_loc_conf_t  *rlcf;

    answer = ngx_palloc(r->pool, sizeof(ngx_http_retort_answer_t));
    p = ngx_pnalloc(r->pool, NGX_HTTP_RETORT_LOST_TEXT + ctx->execution.len);

    if (answer == NULL || p == NULL) {
        return NULL;
    }

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (rlcf->api->rpc
        && rlcf->api->face != ngx_http_retort_face_prisme)
    {
        answer->header = NULL;
        answer->status = NGX_HTTP_BAD_GATEWAY;
        answer->type = ngx_http_retort_types[RETORT_FORM_JSON];
        answer->body.data = p;
        answer->body.len = ngx_sprintf(p, RETORT_LOST_RPC, &ctx->execution)
                           - p;
        return answer;
    }

    if (rlcf->api->face != ngx_http_retort_face_native) {
        return ngx_http_retort_error(r, NGX_HTTP_BAD_GATEWAY, "lost",
                                     RETORT_LOST);
    }

    form = rlcf->api->text.len ? (ngx_uint_t) RETORT_FORM_MARKDOWN
                               : ngx_http_retort_accepted_form(r);

    answer->header = NULL;
    answer->status = NGX_HTTP_OK;
    answer->type = rlcf->api->text.len ? rlcf->api->text
                                       : ngx_http_retort_types[form];
    answer->body.data = p;
    answer->body.len = ngx_http_retort_lost_text(p, form, &ctx->execution)
                       - p;

    return answer;
}


ngx_http_retort_answer_t *
ngx_http_retort_error(ngx_http_request_t *r, ngx_uint_t status,
    const char *code, const char *message)
{
    u_char                      *p;
    ngx_http_retort_fault_t      fault;
    ngx_http_retort_answer_t    *answer;
    ngx_http_retort_loc_conf_t  *rlcf;

    fault.status = status;
    fault.code = code;
    fault.message = message;
    fault.header = NULL;
    fault.value = NULL;
    ngx_str_null(&fault.id);

    if (ngx_http_retort_message_id(r, &fault.id) == NGX_ERROR) {
        return NULL;
    }

    answer = ngx_palloc(r->pool, sizeof(ngx_http_retort_answer_t));
    p = ngx_pnalloc(r->pool, NGX_HTTP_RETORT_FACE + fault.id.len
                             + ngx_strlen(code) + 2 * ngx_strlen(message));

    if (answer == NULL || p == NULL
        || ngx_http_retort_request_id(r, &fault.request) != NGX_OK)
    {
        return NULL;
    }

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    answer->type = ngx_http_retort_types[RETORT_FORM_JSON];
    answer->body.data = p;
    answer->body.len = rlcf->api->face(p, &fault) - p;
    answer->status = fault.status;
    answer->header = fault.header;
    answer->value = fault.value;

    return answer;
}


/* $request_id, that a log may have as well */

static ngx_int_t
ngx_http_retort_request_id(ngx_http_request_t *r, ngx_str_t *id)
{
    ngx_http_variable_value_t  *v;

    static ngx_str_t  name = ngx_string("request_id");

    v = ngx_http_get_variable(r, &name, ngx_hash_key(name.data, name.len));

    if (v == NULL || v->not_found || v->len > 64) {
        return NGX_ERROR;
    }

    id->len = v->len;
    id->data = v->data;

    return NGX_OK;
}


/* the form of greatest quality, of several the first; others do not count */

ngx_uint_t
ngx_http_retort_accepted_form(ngx_http_request_t *r)
{
    u_char           *p, *last, *comma;
    ngx_str_t         item;
    ngx_uint_t        i, q, best, form, found;
    ngx_table_elt_t  *h;
    ngx_list_part_t  *part;

    best = 0;
    found = RETORT_FORM_JSON;

    for (part = &r->headers_in.headers.part; part; part = part->next) {
        h = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (h[i].key.len != sizeof("accept") - 1
                || ngx_memcmp(h[i].lowcase_key, "accept", h[i].key.len) != 0)
            {
                continue;
            }

            last = h[i].value.data + h[i].value.len;

            for (p = h[i].value.data; p < last; p = comma + 1) {
                comma = ngx_strlchr(p, last, ',');
                comma = comma ? comma : last;

                item.data = p;
                item.len = comma - p;

                form = ngx_http_retort_accept_item(&item, &q);

                if (form != RETORT_FORM_NONE && q > best) {
                    best = q;
                    found = form;
                }
            }
        }
    }

    return found;
}


static ngx_uint_t
ngx_http_retort_accept_item(ngx_str_t *item, ngx_uint_t *q)
{
    u_char      *p, *last, *semicolon;
    size_t       len;
    ngx_str_t   *type;
    ngx_uint_t   form;

    p = item->data;
    last = p + item->len;

    while (p < last && (*p == ' ' || *p == '\t')) {
        p++;
    }

    semicolon = ngx_strlchr(p, last, ';');
    semicolon = semicolon ? semicolon : last;
    len = semicolon - p;

    while (len && (p[len - 1] == ' ' || p[len - 1] == '\t')) {
        len--;
    }

    *q = ngx_http_retort_accept_q(semicolon, last);

    if ((len == 3 && ngx_memcmp(p, "*/*", 3) == 0)
        || (len == 13 && ngx_strncasecmp(p, (u_char *) "application/*", 13)
                         == 0))
    {
        return RETORT_FORM_JSON;
    }

    for (form = RETORT_FORM_JSON; form <= RETORT_FORM_NDJSON; form++) {
        type = &ngx_http_retort_types[form];

        if (len && len <= type->len
            && (len == type->len || type->data[len] == ';')
            && ngx_strncasecmp(p, type->data, len) == 0)
        {
            return form;
        }
    }

    return RETORT_FORM_NONE;
}


/* thousandths; without a "q" it is one */

static ngx_uint_t
ngx_http_retort_accept_q(u_char *p, u_char *last)
{
    u_char     *end;
    ngx_int_t   q;

    while (p < last) {
        p++;                                     /* the semicolon */

        while (p < last && (*p == ' ' || *p == '\t')) {
            p++;
        }

        end = ngx_strlchr(p, last, ';');
        end = end ? end : last;

        if (end - p > 2 && (*p | 0x20) == 'q' && p[1] == '=') {
            p += 2;

            while (end > p && (end[-1] == ' ' || end[-1] == '\t')) {
                end--;
            }

            q = ngx_atofp(p, end - p, 3);

            return (q == NGX_ERROR || q > 1000) ? 1000 : (ngx_uint_t) q;
        }

        p = end;
    }

    return 1000;
}


/*
 * nginx calls this once, before it decides what the client gets.  Behind the
 * header everything has been said (body.c); before it, ctx->answer makes our
 * filter put the verdict in the place of nginx's own error page.
 */

void
ngx_http_retort_finalize_request(ngx_http_request_t *r, ngx_int_t rc)
{
    ngx_connection_t       *c;
    ngx_http_upstream_t    *u;
    ngx_http_retort_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);
    u = r->upstream;
    c = u->peer.connection;

    /* the connection may go on to serve somebody else */

    if (c && c->recv == ngx_http_retort_recv) {
        c->recv = ctx->recv;
    }

    ngx_http_retort_stderr_flush(r, ctx);
    ngx_http_retort_end(r, ctx, rc);
    ngx_http_retort_release(ctx);
}


static void
ngx_http_retort_end(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_int_t rc)
{
    if (ctx->ended) {
        return;
    }

    if (ngx_http_retort_client_left(r, rc)) {
        ngx_str_set(&ctx->status, "cancelled");
        return;
    }

    if (r->upstream->header_sent || rc < NGX_HTTP_INTERNAL_SERVER_ERROR) {
        return;
    }

    ctx->answer = ngx_http_retort_no_answer(r, ctx, rc);

    /* a program asks here: an "error_page" of the site is not for it */
    r->error_page = 1;
}


static ngx_uint_t
ngx_http_retort_client_left(ngx_http_request_t *r, ngx_int_t rc)
{
    switch (rc) {

    case NGX_ERROR:
    case NGX_DONE:
    case NGX_HTTP_BAD_REQUEST:
    case NGX_HTTP_REQUEST_TIME_OUT:
    case NGX_HTTP_REQUEST_ENTITY_TOO_LARGE:
    case NGX_HTTP_CLIENT_CLOSED_REQUEST:
        return 1;
    }

    return r->connection->error;
}


static ngx_http_retort_answer_t *
ngx_http_retort_no_answer(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_int_t rc)
{
    ngx_uint_t                   run;
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (rc == NGX_HTTP_INTERNAL_SERVER_ERROR) {
        return ngx_http_retort_error(r, rc, "internal",
                                     "the web server failed");
    }

    if (!ctx->delivered || ctx->overloaded) {
        return ngx_http_retort_error(r, NGX_HTTP_SERVICE_UNAVAILABLE,
                                     "unavailable",
                                     "the service is not there, try again");
    }

    run = rlcf->api->is_run(r);

    if (run) {
        ctx->lost = 1;
        ngx_str_set(&ctx->status, "lost");
    }

    if (ctx->broken) {
        return ngx_http_retort_error(r, NGX_HTTP_BAD_GATEWAY, "bad_gateway",
                                     "the service gave a broken answer");
    }

    if (run) {
        return ngx_http_retort_lost(r, ctx);
    }

    if (rc == NGX_HTTP_GATEWAY_TIME_OUT) {
        return ngx_http_retort_error(r, rc, "timeout",
                                     "the service did not answer in time");
    }

    return ngx_http_retort_error(r, NGX_HTTP_BAD_GATEWAY, "bad_gateway",
                             "the service went away before it answered");
}
