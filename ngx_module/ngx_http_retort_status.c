
#include "ngx_http_retort_module.h"


#define NGX_HTTP_RETORT_STATUS_LINE  512


static void ngx_http_retort_status_settle(ngx_http_retort_zone_t *zone);
static ngx_int_t ngx_http_retort_status_copy(ngx_http_request_t *r,
    ngx_http_retort_zone_conf_t *zc, ngx_http_retort_shared_t *shared,
    ngx_array_t *workspaces);
static u_char *ngx_http_retort_status_count(u_char *p, uint32_t running,
    uint32_t waiting, ngx_http_retort_count_t *count);
static ngx_int_t ngx_http_retort_status_send(ngx_http_request_t *r,
    ngx_http_retort_shared_t *shared, ngx_array_t *workspaces,
    ngx_str_t *name);


char *
ngx_http_retort_set_status(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_str_t                 *value;
    ngx_http_core_loc_conf_t  *clcf;

    if (rlcf->status) {
        return "is duplicate";
    }

    if (rlcf->upstream.upstream || rlcf->artifacts.len) {
        return "conflicts with another handler of the location";
    }

    value = cf->args->elts;

    rlcf->status = ngx_http_retort_zone_conf(cf, &value[1]);
    if (rlcf->status == NULL) {
        return NGX_CONF_ERROR;
    }

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = ngx_http_retort_status_handler;

    return NGX_CONF_OK;
}


ngx_int_t
ngx_http_retort_status_handler(ngx_http_request_t *r)
{
    ngx_int_t                    rc;
    ngx_array_t                  workspaces;
    ngx_http_retort_shared_t     shared;
    ngx_http_retort_loc_conf_t  *rlcf;

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK) {
        return rc;
    }

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (ngx_http_retort_status_copy(r, rlcf->status, &shared, &workspaces)
        != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_retort_status_send(r, &shared, &workspaces,
                                       &rlcf->status->name);
}


/* the order is the front's: helper/front/zones.h */

ngx_int_t
ngx_http_retort_status_line(ngx_http_request_t *r,
    ngx_http_retort_zone_conf_t *zc, ngx_str_t *line)
{
    ngx_http_retort_zone_t    *zone;
    ngx_http_retort_shared_t  *s;

    zone = zc->zone;

    ngx_str_null(line);

    line->data = ngx_pnalloc(r->pool, NGX_HTTP_RETORT_STATUS_LINE);
    if (line->data == NULL) {
        return NGX_ERROR;
    }

    if (ngx_http_retort_zone_lock(zone, r->connection->log) != NGX_OK) {
        return NGX_OK;
    }

    ngx_http_retort_status_settle(zone);

    s = zone->shared;

    line->len = ngx_sprintf(line->data,
                            "%V %uD %uD %uD %uD %uL %uL %uL %uL %uL",
                            &zc->name, s->running, s->waiting, s->max_running,
                            s->max_waiting, s->count.admitted,
                            s->count.queued, s->count.limited,
                            s->count.refused, s->count.lost)
                - line->data;

    ngx_http_retort_zone_unlock(zone);

    return NGX_OK;
}


/* who is read about ought to be alive */

static void
ngx_http_retort_status_settle(ngx_http_retort_zone_t *zone)
{
    if (ngx_http_retort_zone_bury(zone)
        && ngx_http_retort_queue_run(zone))
    {
        ngx_http_retort_zone_wake(zone);
    }
}


/* what is written is a copy: the lock is held for no longer than that */

static ngx_int_t
ngx_http_retort_status_copy(ngx_http_request_t *r,
    ngx_http_retort_zone_conf_t *zc, ngx_http_retort_shared_t *shared,
    ngx_array_t *workspaces)
{
    uint32_t                      i;
    ngx_int_t                     rc;
    ngx_http_retort_zone_t       *zone;
    ngx_http_retort_workspace_t  *ws;

    zone = zc->zone;

    if (ngx_array_init(workspaces, r->pool, 16,
                       sizeof(ngx_http_retort_workspace_t))
        != NGX_OK
        || ngx_http_retort_zone_lock(zone, r->connection->log) != NGX_OK)
    {
        return NGX_ERROR;
    }

    rc = NGX_OK;

    ngx_http_retort_status_settle(zone);

    *shared = *zone->shared;

    for (i = 0; i < zone->nworkspaces; i++) {

        if (zone->workspaces[i].len == 0) {
            continue;
        }

        ws = ngx_array_push(workspaces);
        if (ws == NULL) {
            rc = NGX_ERROR;
            break;
        }

        *ws = zone->workspaces[i];
    }

    ngx_http_retort_zone_unlock(zone);

    return rc;
}


static u_char *
ngx_http_retort_status_count(u_char *p, uint32_t running, uint32_t waiting,
    ngx_http_retort_count_t *count)
{
    return ngx_sprintf(p, "\"running\":%uD,\"waiting\":%uD,\"admitted\":%uL,"
                       "\"queued\":%uL,\"limited\":%uL,\"refused\":%uL,"
                       "\"lost\":%uL",
                       running, waiting, count->admitted, count->queued,
                       count->limited, count->refused, count->lost);
}


static ngx_int_t
ngx_http_retort_status_send(ngx_http_request_t *r,
    ngx_http_retort_shared_t *shared, ngx_array_t *workspaces,
    ngx_str_t *name)
{
    u_char                       *p;
    ngx_int_t                     rc;
    ngx_buf_t                    *b;
    ngx_uint_t                    i;
    ngx_chain_t                   out;
    ngx_http_retort_workspace_t  *ws;

    b = ngx_create_temp_buf(r->pool, NGX_HTTP_RETORT_STATUS_LINE
                                     * (workspaces->nelts + 1));
    if (b == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /* names of zones and workspaces need no escape */

    p = ngx_sprintf(b->last, "{\"zone\":\"%V\",\"max_running\":%uD,"
                    "\"max_waiting\":%uD,", name, shared->max_running,
                    shared->max_waiting);
    p = ngx_http_retort_status_count(p, shared->running, shared->waiting,
                                     &shared->count);
    p = ngx_sprintf(p, ",\"workspaces\":[");

    ws = workspaces->elts;

    for (i = 0; i < workspaces->nelts; i++) {
        p = ngx_sprintf(p, "%s\n{\"workspace\":\"%*s\",", i ? "," : "",
                        (size_t) ws[i].len, ws[i].name);
        p = ngx_http_retort_status_count(p, ws[i].running, ws[i].waiting,
                                         &ws[i].count);
        *p++ = '}';
    }

    b->last = ngx_sprintf(p, "]}\n");
    b->last_buf = (r == r->main);
    b->last_in_chain = 1;

    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = b->last - b->pos;
    ngx_str_set(&r->headers_out.content_type, "application/json");
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    r->headers_out.content_type_lowcase = NULL;

    if (ngx_http_retort_add_header(r, "Cache-Control", "no-store") == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_http_send_header(r);

    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only) {
        return rc;
    }

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}
