
#include "ngx_http_retort_module.h"


typedef enum {
    RETORT_REFUSED_RATE = 0,
    RETORT_REFUSED_LIMIT,
    RETORT_REFUSED_CAPACITY
} ngx_http_retort_refusal_e;


static ngx_int_t ngx_http_retort_ask(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_http_retort_admission_t *a);
static ngx_int_t ngx_http_retort_ask_run(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_http_retort_admission_t *a,
    ngx_http_retort_workspace_t *ws);
static ngx_int_t ngx_http_retort_may_wait(ngx_http_retort_zone_t *zone,
    ngx_http_retort_admission_t *a, ngx_http_retort_workspace_t *ws);
static ngx_int_t ngx_http_retort_refused(ngx_http_retort_ctx_t *ctx,
    ngx_http_retort_workspace_t *ws, ngx_uint_t reason, ngx_uint_t retry);
static ngx_int_t ngx_http_retort_refusal(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);
static ngx_int_t ngx_http_retort_wait(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_http_retort_admission_t *a);
static void ngx_http_retort_wait_handler(ngx_event_t *ev);
static ngx_int_t ngx_http_retort_wait_over(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_uint_t timedout);
static void ngx_http_retort_stop_waiting(ngx_http_retort_ctx_t *ctx);
static ngx_int_t ngx_http_retort_queue_time(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx);
static ngx_int_t ngx_http_retort_listen(ngx_http_retort_zone_t *zone,
    ngx_log_t *log);
static void ngx_http_retort_listen_no_more(ngx_http_retort_zone_t *zone);
static void ngx_http_retort_woken(ngx_event_t *ev);
static void ngx_http_retort_admit_cleanup(void *data);


static struct {
    ngx_uint_t   status;
    const char  *code;
    const char  *message;
} ngx_http_retort_refusals[] = {
    { NGX_HTTP_TOO_MANY_REQUESTS, "too_many_requests",
      "this workspace sends too many requests" },
    { NGX_HTTP_TOO_MANY_REQUESTS, "too_many_runs",
      "this workspace has too many runs" },
    { NGX_HTTP_SERVICE_UNAVAILABLE, "capacity",
      "the service is at its capacity, try again" }
};


/* NGX_OK: go on; NGX_AGAIN: the request waits; otherwise ctx->answer is set */

ngx_int_t
ngx_http_retort_admit(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx)
{
    ngx_int_t                     rc;
    ngx_http_cleanup_t           *cln;
    ngx_http_retort_loc_conf_t   *rlcf;
    ngx_http_retort_admission_t  *a;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);
    a = rlcf->admission;

    if (a == NULL || ctx->workspace.len == 0 || ctx->zone) {
        return NGX_OK;
    }

    cln = ngx_http_cleanup_add(r, 0);
    if (cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cln->handler = ngx_http_retort_admit_cleanup;
    cln->data = ctx;

    ctx->zone = a->zone->zone;
    ctx->run = NGX_HTTP_RETORT_NOBODY;
    ctx->asked = ngx_current_msec;

    if (ngx_http_retort_zone_lock(ctx->zone, r->connection->log) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    rc = ngx_http_retort_ask(r, ctx, a);

    ngx_http_retort_zone_unlock(ctx->zone);

    if (ctx->wakes) {
        ctx->wakes = 0;
        ngx_http_retort_zone_wake(ctx->zone);
    }

    if (rc == NGX_AGAIN) {
        return ngx_http_retort_wait(r, ctx, a);
    }

    if (rc == NGX_DECLINED) {
        return ngx_http_retort_refusal(r, ctx);
    }

    return (ctx->run == NGX_HTTP_RETORT_NOBODY)
           ? NGX_OK : ngx_http_retort_queue_time(r, ctx);
}


/* with the lock; NGX_DECLINED: ctx->refusal says why */

static ngx_int_t
ngx_http_retort_ask(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_http_retort_admission_t *a)
{
    ngx_int_t                     msec;
    ngx_http_retort_loc_conf_t   *rlcf;
    ngx_http_retort_workspace_t  *ws;

    if (ngx_http_retort_zone_join(ctx->zone) != NGX_OK) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "retort zone \"%s\" has too many workers",
                      ctx->zone->name);
        return ngx_http_retort_refused(ctx, NULL, RETORT_REFUSED_CAPACITY, 1);
    }

    ws = ngx_http_retort_queue_workspace(ctx->zone, &ctx->workspace,
                                         (int64_t) ngx_current_msec);

    if (ws == NULL) {
        (void) ngx_http_retort_zone_bury(ctx->zone);
        ws = ngx_http_retort_queue_workspace(ctx->zone, &ctx->workspace,
                                             (int64_t) ngx_current_msec);
    }

    if (ws == NULL) {
        ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                      "retort zone \"%s\" is full", ctx->zone->name);
        return ngx_http_retort_refused(ctx, NULL, RETORT_REFUSED_CAPACITY, 1);
    }

    msec = ngx_http_retort_queue_rate(ws, a, (int64_t) ngx_current_msec);

    if (msec != NGX_OK) {
        return ngx_http_retort_refused(ctx, ws, RETORT_REFUSED_RATE,
                                       (msec + 999) / 1000);
    }

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    return rlcf->api->is_run(r) ? ngx_http_retort_ask_run(r, ctx, a, ws)
                                : NGX_OK;
}


/* every run joins the queue; who can be admitted at once leaves it at once */

static ngx_int_t
ngx_http_retort_ask_run(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_http_retort_admission_t *a, ngx_http_retort_workspace_t *ws)
{
    ngx_int_t                rc;
    ngx_uint_t               n;
    ngx_http_retort_run_t   *run;
    ngx_http_retort_zone_t  *zone;

    zone = ctx->zone;

    ctx->run = ngx_http_retort_queue_add(zone, ws, (uint32_t) a->running);

    if (ctx->run == NGX_HTTP_RETORT_NOBODY
        && ngx_http_retort_zone_bury(zone))
    {
        ctx->run = ngx_http_retort_queue_add(zone, ws, (uint32_t) a->running);
    }

    if (ctx->run == NGX_HTTP_RETORT_NOBODY) {
        return ngx_http_retort_refused(ctx, ws, RETORT_REFUSED_CAPACITY, 1);
    }

    ws->last = (int64_t) ngx_current_msec;
    run = &zone->runs[ctx->run];

    n = ngx_http_retort_queue_run(zone);

    /* before anybody waits or goes: is somebody in the way who has died? */

    if (run->state == RETORT_RUN_WAITING && ngx_http_retort_zone_bury(zone)) {
        n += ngx_http_retort_queue_run(zone);
    }

    if (run->state == RETORT_RUN_RUNNING) {
        ctx->wakes = (n > 1);
        return NGX_OK;
    }

    ctx->wakes = (n > 0);

    rc = ngx_http_retort_may_wait(zone, a, ws);

    if (rc == NGX_AGAIN) {
        return NGX_AGAIN;
    }

    ngx_http_retort_queue_end(zone, ctx->run);
    ctx->run = NGX_HTTP_RETORT_NOBODY;

    return ngx_http_retort_refused(ctx, ws, rc, 1);
}


/*
 * The request is among those that wait already.  It is its own workspace's
 * limit if one more run, or one more that waits, is too many of them.
 */

static ngx_int_t
ngx_http_retort_may_wait(ngx_http_retort_zone_t *zone,
    ngx_http_retort_admission_t *a, ngx_http_retort_workspace_t *ws)
{
    ngx_uint_t  own;

    own = (a->running && ws->running >= a->running);

    if (ws->waiting > a->waiting) {
        return (own || a->waiting) ? RETORT_REFUSED_LIMIT
                                   : RETORT_REFUSED_CAPACITY;
    }

    /* nothing tells a worker in time without edge-triggered events */

    if (zone->shared->waiting > zone->shared->max_waiting
        || !(ngx_event_flags & NGX_USE_CLEAR_EVENT))
    {
        return own ? RETORT_REFUSED_LIMIT : RETORT_REFUSED_CAPACITY;
    }

    return NGX_AGAIN;
}


static ngx_int_t
ngx_http_retort_refused(ngx_http_retort_ctx_t *ctx,
    ngx_http_retort_workspace_t *ws, ngx_uint_t reason, ngx_uint_t retry)
{
    ctx->refusal = reason;
    ctx->retry = retry;

    if (reason == RETORT_REFUSED_CAPACITY) {
        ctx->zone->shared->count.refused++;

        if (ws) {
            ws->count.refused++;
        }

    } else {
        ctx->zone->shared->count.limited++;
        ws->count.limited++;
    }

    return NGX_DECLINED;
}


static ngx_int_t
ngx_http_retort_refusal(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx)
{
    ngx_uint_t  status;

    status = ngx_http_retort_refusals[ctx->refusal].status;

    ngx_log_error(NGX_LOG_WARN, r->connection->log, 0,
                  "workspace \"%V\" is refused by the retort zone \"%s\": %s",
                  &ctx->workspace, ctx->zone->name,
                  ngx_http_retort_refusals[ctx->refusal].message);

    ctx->answer = ngx_http_retort_error(r, status,
                              ngx_http_retort_refusals[ctx->refusal].code,
                              ngx_http_retort_refusals[ctx->refusal].message);
    if (ctx->answer == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    /* a program asks here: an "error_page" of the site is not for it */
    r->error_page = 1;

    return status;
}


static ngx_int_t
ngx_http_retort_wait(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_http_retort_admission_t *a)
{
    ngx_event_t  *rev;

    rev = r->connection->read;

    /* the client may leave meanwhile */

    if (rev->ready) {
        ngx_post_event(rev, &ngx_posted_events);

    } else if (ngx_handle_read_event(rev, 0) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ctx->wait.handler = ngx_http_retort_wait_handler;
    ctx->wait.data = ctx;
    ctx->wait.log = r->connection->log;

    ngx_queue_insert_tail(&ctx->zone->waiting, &ctx->queue);
    ctx->waits = 1;

    if (ngx_http_retort_listen(ctx->zone, ngx_cycle->log) != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_add_timer(&ctx->wait, a->wait);

    r->read_event_handler = ngx_http_test_reading;
    r->write_event_handler = ngx_http_request_empty_handler;

    return NGX_AGAIN;
}


/* it may run, or has waited for too long */

static void
ngx_http_retort_wait_handler(ngx_event_t *ev)
{
    ngx_int_t               rc;
    ngx_connection_t       *c;
    ngx_http_request_t     *r;
    ngx_http_retort_ctx_t  *ctx;

    ctx = ev->data;
    r = ctx->request;
    c = r->connection;

    ngx_http_set_log_request(c->log, r);

    rc = ngx_http_retort_wait_over(r, ctx, ev->timedout);

    if (rc == NGX_AGAIN) {
        return;
    }

    ngx_http_retort_stop_waiting(ctx);

    if (rc != NGX_ERROR && ngx_http_retort_queue_time(r, ctx) != NGX_OK) {
        rc = NGX_ERROR;
    }

    r->read_event_handler = ngx_http_block_reading;

    if (rc == NGX_OK) {
        rc = ngx_http_retort_start(r, ctx);

    } else if (rc == NGX_DECLINED) {
        rc = ngx_http_retort_refusal(r, ctx);

    } else {
        rc = NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ngx_http_finalize_request(r, rc);
    ngx_http_run_posted_requests(c);
}


static ngx_int_t
ngx_http_retort_wait_over(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_uint_t timedout)
{
    ngx_int_t                     rc;
    ngx_uint_t                    n;
    ngx_http_retort_run_t        *run;
    ngx_http_retort_zone_t       *zone;
    ngx_http_retort_workspace_t  *ws;

    zone = ctx->zone;

    if (ngx_http_retort_zone_lock(zone, r->connection->log) != NGX_OK) {
        return NGX_ERROR;
    }

    n = 0;
    run = &zone->runs[ctx->run];
    ws = &zone->workspaces[run->workspace];

    if (timedout && run->state == RETORT_RUN_WAITING
        && ngx_http_retort_zone_bury(zone))
    {
        n = ngx_http_retort_queue_run(zone);
    }

    if (run->state == RETORT_RUN_RUNNING) {
        ws->count.queued++;
        zone->shared->count.queued++;
        rc = NGX_OK;

    } else if (!timedout) {
        rc = NGX_AGAIN;

    } else {
        rc = ngx_http_retort_refused(ctx, ws,
                                     (run->limit && ws->running >= run->limit)
                                     ? RETORT_REFUSED_LIMIT
                                     : RETORT_REFUSED_CAPACITY, 1);

        ngx_http_retort_queue_end(zone, ctx->run);
        ctx->run = NGX_HTTP_RETORT_NOBODY;
    }

    ngx_http_retort_zone_unlock(zone);

    if (n) {
        ngx_http_retort_zone_wake(zone);
    }

    return rc;
}


static void
ngx_http_retort_stop_waiting(ngx_http_retort_ctx_t *ctx)
{
    if (!ctx->waits) {
        return;
    }

    ctx->waits = 0;

    ngx_queue_remove(&ctx->queue);

    if (ctx->wait.timer_set) {
        ngx_del_timer(&ctx->wait);
    }

    if (ctx->wait.posted) {
        ngx_delete_posted_event(&ctx->wait);
    }

    if (ngx_queue_empty(&ctx->zone->waiting)) {
        ngx_http_retort_listen_no_more(ctx->zone);
    }
}


/* $retort_queue_time */

static ngx_int_t
ngx_http_retort_queue_time(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx)
{
    ngx_msec_t  ms;

    ctx->queue_time.data = ngx_pnalloc(r->pool, NGX_TIME_T_LEN + 4);
    if (ctx->queue_time.data == NULL) {
        return NGX_ERROR;
    }

    ms = ngx_current_msec - ctx->asked;

    ctx->queue_time.len = ngx_sprintf(ctx->queue_time.data, "%T.%03M",
                                      (time_t) (ms / 1000), ms % 1000)
                          - ctx->queue_time.data;

    return NGX_OK;
}


/*
 * The zone's descriptor is in the event loop only while somebody waits here.
 * What was written to it before is an event as well, so nothing is missed.
 */

static ngx_int_t
ngx_http_retort_listen(ngx_http_retort_zone_t *zone, ngx_log_t *log)
{
    ngx_connection_t  *c;

    if (zone->connection) {
        return NGX_OK;
    }

    c = ngx_get_connection(zone->shared->wake, log);
    if (c == NULL) {
        return NGX_ERROR;
    }

    c->data = zone;
    c->log = log;
    c->read->log = log;
    c->write->log = log;
    c->read->handler = ngx_http_retort_woken;

    if (ngx_add_event(c->read, NGX_READ_EVENT, NGX_CLEAR_EVENT) != NGX_OK) {
        ngx_free_connection(c);
        c->fd = (ngx_socket_t) -1;
        return NGX_ERROR;
    }

    zone->connection = c;

    return NGX_OK;
}


static void
ngx_http_retort_listen_no_more(ngx_http_retort_zone_t *zone)
{
    ngx_connection_t  *c;

    c = zone->connection;

    if (c == NULL) {
        return;
    }

    zone->connection = NULL;

    if (c->read->posted) {
        ngx_delete_posted_event(c->read);
    }

    (void) ngx_del_event(c->read, NGX_READ_EVENT, 0);

    ngx_free_connection(c);
    c->fd = (ngx_socket_t) -1;
}


static void
ngx_http_retort_woken(ngx_event_t *ev)
{
    ngx_queue_t             *q;
    ngx_connection_t        *c;
    ngx_http_retort_ctx_t   *ctx;
    ngx_http_retort_zone_t  *zone;

    c = ev->data;
    zone = c->data;

    if (ngx_http_retort_zone_lock(zone, ev->log) != NGX_OK) {
        return;
    }

    for (q = ngx_queue_head(&zone->waiting);
         q != ngx_queue_sentinel(&zone->waiting);
         q = ngx_queue_next(q))
    {
        ctx = ngx_queue_data(q, ngx_http_retort_ctx_t, queue);

        if (zone->runs[ctx->run].state == RETORT_RUN_RUNNING) {
            ngx_post_event(&ctx->wait, &ngx_posted_events);
        }
    }

    ngx_http_retort_zone_unlock(zone);
}


void
ngx_http_retort_release(ngx_http_retort_ctx_t *ctx)
{
    ngx_uint_t                    n;
    ngx_http_retort_zone_t       *zone;
    ngx_http_retort_workspace_t  *ws;

    zone = ctx->zone;

    if (zone == NULL || ctx->run == NGX_HTTP_RETORT_NOBODY) {
        return;
    }

    if (ngx_http_retort_zone_lock(zone, ngx_cycle->log) != NGX_OK) {
        return;
    }

    ws = &zone->workspaces[zone->runs[ctx->run].workspace];
    ws->last = (int64_t) ngx_current_msec;

    if (ctx->lost) {
        ws->count.lost++;
        zone->shared->count.lost++;
    }

    ngx_http_retort_queue_end(zone, ctx->run);
    ctx->run = NGX_HTTP_RETORT_NOBODY;

    n = ngx_http_retort_queue_run(zone);

    ngx_http_retort_zone_unlock(zone);

    if (n) {
        ngx_http_retort_zone_wake(zone);
    }
}


static void
ngx_http_retort_admit_cleanup(void *data)
{
    ngx_http_retort_ctx_t *ctx = data;

    if (ctx->waits) {
        ngx_str_set(&ctx->status, "cancelled");
        (void) ngx_http_retort_queue_time(ctx->request, ctx);
        ngx_http_retort_stop_waiting(ctx);
    }

    ngx_http_retort_release(ctx);
}
