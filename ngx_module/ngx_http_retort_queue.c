
#include "ngx_http_retort_module.h"


static uint32_t *ngx_http_retort_queue_bucket(ngx_http_retort_zone_t *zone,
    u_char *name, size_t len);
static ngx_http_retort_workspace_t *ngx_http_retort_queue_evict(
    ngx_http_retort_zone_t *zone, int64_t now);
static int64_t ngx_http_retort_queue_excess(ngx_http_retort_workspace_t *ws,
    int64_t now);
static uint32_t ngx_http_retort_queue_next(ngx_http_retort_zone_t *zone);


void
ngx_http_retort_queue_rebuild(ngx_http_retort_zone_t *zone)
{
    uint32_t                      i, *bucket;
    ngx_http_retort_run_t        *run;
    ngx_http_retort_shared_t     *sh;
    ngx_http_retort_workspace_t  *ws;

    sh = zone->shared;

    sh->running = 0;
    sh->waiting = 0;
    sh->top = 0;
    sh->free_run = NGX_HTTP_RETORT_NOBODY;
    sh->free_workspace = NGX_HTTP_RETORT_NOBODY;

    for (i = 0; i < zone->nworkspaces; i++) {
        zone->buckets[i] = NGX_HTTP_RETORT_NOBODY;
    }

    for (i = zone->nworkspaces; i-- > 0; /* void */) {
        ws = &zone->workspaces[i];

        ws->running = 0;
        ws->waiting = 0;

        bucket = (ws->len == 0) ? &sh->free_workspace
                 : ngx_http_retort_queue_bucket(zone, ws->name, ws->len);

        ws->next = *bucket;
        *bucket = i;
    }

    for (i = zone->nruns; i-- > 0; /* void */) {
        run = &zone->runs[i];

        if (run->state == RETORT_RUN_FREE) {
            run->next = sh->free_run;
            sh->free_run = i;
            continue;
        }

        ws = &zone->workspaces[run->workspace];
        sh->top = ngx_max(sh->top, i + 1);

        if (run->state == RETORT_RUN_RUNNING) {
            sh->running++;
            ws->running++;

        } else {
            sh->waiting++;
            ws->waiting++;
        }
    }
}


static uint32_t *
ngx_http_retort_queue_bucket(ngx_http_retort_zone_t *zone, u_char *name,
    size_t len)
{
    return &zone->buckets[ngx_crc32_short(name, len) % zone->nworkspaces];
}


ngx_http_retort_workspace_t *
ngx_http_retort_queue_workspace(ngx_http_retort_zone_t *zone, ngx_str_t *name,
    int64_t now)
{
    uint32_t                      i, *bucket;
    ngx_http_retort_workspace_t  *ws;

    bucket = ngx_http_retort_queue_bucket(zone, name->data, name->len);

    for (i = *bucket; i != NGX_HTTP_RETORT_NOBODY; i = ws->next) {
        ws = &zone->workspaces[i];

        if (ws->len == name->len
            && ngx_memcmp(ws->name, name->data, name->len) == 0)
        {
            return ws;
        }
    }

    if (zone->shared->free_workspace == NGX_HTTP_RETORT_NOBODY
        && ngx_http_retort_queue_evict(zone, now) == NULL)
    {
        return NULL;
    }

    i = zone->shared->free_workspace;
    ws = &zone->workspaces[i];

    zone->shared->free_workspace = ws->next;

    ngx_memzero(ws, sizeof(ngx_http_retort_workspace_t));
    ngx_memcpy(ws->name, name->data, name->len);

    ws->last = now;
    ws->next = *bucket;
    *bucket = i;

    /* what has a length is somebody's, also for who finds it left behind */
    ngx_memory_barrier();
    ws->len = (uint32_t) name->len;

    return ws;
}


/* the record of who has been idle for longest becomes free */

static ngx_http_retort_workspace_t *
ngx_http_retort_queue_evict(ngx_http_retort_zone_t *zone, int64_t now)
{
    uint32_t                      i, *link;
    ngx_http_retort_workspace_t  *ws, *oldest;

    oldest = NULL;

    for (i = 0; i < zone->nworkspaces; i++) {
        ws = &zone->workspaces[i];

        if (ws->running == 0 && ws->waiting == 0
            && ngx_http_retort_queue_excess(ws, now) == 0
            && (oldest == NULL || ws->last < oldest->last))
        {
            oldest = ws;
        }
    }

    if (oldest == NULL) {
        return NULL;
    }

    i = (uint32_t) (oldest - zone->workspaces);
    link = ngx_http_retort_queue_bucket(zone, oldest->name, oldest->len);

    while (*link != i) {
        link = &zone->workspaces[*link].next;
    }

    *link = oldest->next;

    oldest->len = 0;
    oldest->next = zone->shared->free_workspace;
    zone->shared->free_workspace = i;

    return oldest;
}


/* what is left of the requests that have come, at the rate of the last one */

static int64_t
ngx_http_retort_queue_excess(ngx_http_retort_workspace_t *ws, int64_t now)
{
    int64_t  gone, excess;

    gone = now - ws->last;

    if (gone < 0) {
        gone = 0;
    }

    if (ws->excess == 0 || ws->rate == 0
        || gone > ws->excess * 1000 / ws->rate)
    {
        return 0;
    }

    excess = ws->excess - ws->rate * gone / 1000;

    return ngx_max(excess, 0);
}


ngx_int_t
ngx_http_retort_queue_rate(ngx_http_retort_workspace_t *ws,
    ngx_http_retort_admission_t *limits, int64_t now)
{
    int64_t  excess;

    if (limits->rate == 0) {
        return NGX_OK;
    }

    excess = ngx_http_retort_queue_excess(ws, now);

    if (excess > limits->burst) {
        return (ngx_int_t) ((excess - limits->burst) * 1000 / limits->rate
                            + 1);
    }

    ws->excess = excess + NGX_HTTP_RETORT_REQUEST;
    ws->rate = limits->rate;
    ws->last = now;

    return NGX_OK;
}


uint32_t
ngx_http_retort_queue_add(ngx_http_retort_zone_t *zone,
    ngx_http_retort_workspace_t *ws, uint32_t limit)
{
    uint32_t                   i;
    ngx_http_retort_run_t     *run;
    ngx_http_retort_shared_t  *sh;

    sh = zone->shared;
    i = sh->free_run;

    if (i == NGX_HTTP_RETORT_NOBODY) {
        return i;
    }

    run = &zone->runs[i];
    sh->free_run = run->next;

    run->workspace = (uint32_t) (ws - zone->workspaces);
    run->worker = zone->worker;
    run->limit = limit;
    run->number = ++sh->number;

    ngx_memory_barrier();
    run->state = RETORT_RUN_WAITING;

    ws->waiting++;
    sh->waiting++;
    sh->top = ngx_max(sh->top, i + 1);

    return i;
}


ngx_uint_t
ngx_http_retort_queue_run(ngx_http_retort_zone_t *zone)
{
    uint32_t                      i;
    ngx_uint_t                    n;
    ngx_http_retort_shared_t     *sh;
    ngx_http_retort_workspace_t  *ws;

    sh = zone->shared;

    for (n = 0; sh->waiting; n++) {

        if (sh->max_running && sh->running >= sh->max_running) {
            break;
        }

        i = ngx_http_retort_queue_next(zone);

        if (i == NGX_HTTP_RETORT_NOBODY) {
            break;
        }

        ws = &zone->workspaces[zone->runs[i].workspace];

        zone->runs[i].state = RETORT_RUN_RUNNING;

        ws->waiting--;
        ws->running++;
        ws->turn = ++sh->turn;
        ws->count.admitted++;

        sh->waiting--;
        sh->running++;
        sh->count.admitted++;
    }

    return n;
}


/*
 * Of the workspaces that may have one more, the one that was served longest
 * ago; of its runs, the one that came first.
 */

static uint32_t
ngx_http_retort_queue_next(ngx_http_retort_zone_t *zone)
{
    uint32_t                      i, best;
    uint64_t                      turn;
    ngx_http_retort_run_t        *run;
    ngx_http_retort_workspace_t  *ws;

    turn = 0;
    best = NGX_HTTP_RETORT_NOBODY;

    for (i = 0; i < zone->shared->top; i++) {
        run = &zone->runs[i];

        if (run->state != RETORT_RUN_WAITING) {
            continue;
        }

        ws = &zone->workspaces[run->workspace];

        if (run->limit && ws->running >= run->limit) {
            continue;
        }

        if (best == NGX_HTTP_RETORT_NOBODY || ws->turn < turn
            || (ws->turn == turn && run->number < zone->runs[best].number))
        {
            best = i;
            turn = ws->turn;
        }
    }

    return best;
}


void
ngx_http_retort_queue_end(ngx_http_retort_zone_t *zone, uint32_t i)
{
    ngx_http_retort_run_t        *run;
    ngx_http_retort_shared_t     *sh;
    ngx_http_retort_workspace_t  *ws;

    sh = zone->shared;
    run = &zone->runs[i];
    ws = &zone->workspaces[run->workspace];

    if (run->state == RETORT_RUN_RUNNING) {
        ws->running--;
        sh->running--;

    } else {
        ws->waiting--;
        sh->waiting--;
    }

    run->state = RETORT_RUN_FREE;
    run->next = sh->free_run;
    sh->free_run = i;

    while (sh->top && zone->runs[sh->top - 1].state == RETORT_RUN_FREE) {
        sh->top--;
    }
}
