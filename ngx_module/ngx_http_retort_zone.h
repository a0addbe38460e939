
/*
 * Admission: who runs, who waits.  The memory is shared by every worker, of
 * old configurations and of an older binary as well, and may be left by a
 * worker that dies at any instruction: everything in it can be made again
 * from the state of each run and the name of each workspace.
 *
 * Files: zone (the memory and the workers that use it), queue (workspaces and
 * runs in it), limits (directives), admit (a request's side), status.
 */

#ifndef _NGX_HTTP_RETORT_ZONE_H_INCLUDED_
#define _NGX_HTTP_RETORT_ZONE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include <pthread.h>


#define NGX_HTTP_RETORT_ZONE_NAME    31
#define NGX_HTTP_RETORT_ZONE_MIN     (32 * 1024)
#define NGX_HTTP_RETORT_ZONE_MAX     (1024 * 1024 * 1024)
#define NGX_HTTP_RETORT_WORKSPACE    64
#define NGX_HTTP_RETORT_WORKERS      128
#define NGX_HTTP_RETORT_RUNS         4         /* for each workspace */
#define NGX_HTTP_RETORT_NOBODY       0xffffffff

/* rates and bursts count in parts of a request, so that 1r/m is exact enough */
#define NGX_HTTP_RETORT_REQUEST      1000000


enum {
    RETORT_RUN_FREE = 0,
    RETORT_RUN_WAITING,
    RETORT_RUN_RUNNING
};


/* what became of requests */

typedef struct {
    uint64_t                       admitted;
    uint64_t                       queued;     /* of them, after a wait */
    uint64_t                       limited;    /* 429 */
    uint64_t                       refused;    /* 503 */
    uint64_t                       lost;       /* runs whose front died */
} ngx_http_retort_count_t;


typedef struct {
    u_char                         name[NGX_HTTP_RETORT_WORKSPACE];
    uint32_t                       len;        /* 0: the record is free */
    uint32_t                       next;       /* of its bucket, or free */
    uint32_t                       running;
    uint32_t                       waiting;
    uint64_t                       turn;       /* when it was served last */
    int64_t                        excess;     /* parts of requests */
    int64_t                        rate;       /* parts a second */
    int64_t                        last;       /* msec */
    ngx_http_retort_count_t        count;
} ngx_http_retort_workspace_t;


typedef struct {
    uint32_t                       state;
    uint32_t                       next;       /* free one */
    uint32_t                       workspace;
    uint32_t                       worker;
    uint32_t                       limit;      /* of its workspace; 0: none */
    uint64_t                       number;     /* in the order of arrival */
} ngx_http_retort_run_t;


typedef struct {
    uint64_t                       magic;
    uint64_t                       size;
    int                            wake;       /* the same in each process */

    pthread_mutex_t                mutex;      /* of all below, robust */

    uint32_t                       max_running;  /* 0: no limit */
    uint32_t                       max_waiting;
    uint32_t                       running;
    uint32_t                       waiting;
    uint32_t                       top;        /* no run is behind it */
    uint32_t                       free_run;
    uint32_t                       free_workspace;
    uint64_t                       number;
    uint64_t                       turn;
    ngx_http_retort_count_t        count;

    /* held by the worker of that place as long as it lives, robust */
    pthread_mutex_t                life[NGX_HTTP_RETORT_WORKERS];
} ngx_http_retort_shared_t;


/* a zone as one process sees it */

typedef struct ngx_http_retort_zone_s  ngx_http_retort_zone_t;

struct ngx_http_retort_zone_s {
    ngx_http_retort_zone_t        *next;
    u_char                         name[NGX_HTTP_RETORT_ZONE_NAME + 1];
    size_t                         size;
    int                            fd;
    ngx_uint_t                     used;       /* by the configuration */

    ngx_http_retort_shared_t      *shared;
    ngx_http_retort_workspace_t   *workspaces;
    ngx_http_retort_run_t         *runs;
    uint32_t                      *buckets;
    uint32_t                       nworkspaces;
    uint32_t                       nruns;

    uint32_t                       worker;     /* our place */
    ngx_queue_t                    waiting;    /* requests of this worker */
    ngx_connection_t              *connection; /* of wake, while they wait */
};


/* retort_zone */

typedef struct {
    ngx_str_t                      name;
    size_t                         size;       /* 0: not declared */
    ngx_uint_t                     running;
    ngx_uint_t                     waiting;
    ngx_http_retort_zone_t        *zone;
} ngx_http_retort_zone_conf_t;


/* retort_limits */

typedef struct {
    ngx_http_retort_zone_conf_t   *zone;
    ngx_uint_t                     running;    /* 0: no limit */
    ngx_uint_t                     waiting;
    ngx_int_t                      rate;       /* parts a second; 0: none */
    ngx_int_t                      burst;      /* parts */
    ngx_msec_t                     wait;
} ngx_http_retort_admission_t;


/* ngx_http_retort_zone.c */

/* memory for a zone, new or that of an earlier configuration or binary */
ngx_http_retort_zone_t *ngx_http_retort_zone_get(ngx_str_t *name,
    size_t size, ngx_log_t *log);

/* the configuration holds: zones that it does not name are let go */
void ngx_http_retort_zones_sweep(ngx_log_t *log);
void ngx_http_retort_zones_unmark(void);

/* NGX_ERROR: the zone cannot be used; nothing is locked then */
ngx_int_t ngx_http_retort_zone_lock(ngx_http_retort_zone_t *zone,
    ngx_log_t *log);
void ngx_http_retort_zone_unlock(ngx_http_retort_zone_t *zone);

/* with the lock: a place for this worker */
ngx_int_t ngx_http_retort_zone_join(ngx_http_retort_zone_t *zone);

/* with the lock: ends the runs of workers that are gone, counts them */
ngx_uint_t ngx_http_retort_zone_bury(ngx_http_retort_zone_t *zone);

/* every worker with a request that waits looks whether it may run */
void ngx_http_retort_zone_wake(ngx_http_retort_zone_t *zone);


/* ngx_http_retort_queue.c: all with the lock */

/* free lists, buckets and sums out of records and runs */
void ngx_http_retort_queue_rebuild(ngx_http_retort_zone_t *zone);

/* NULL: no room, and nobody idle whose record could be taken */
ngx_http_retort_workspace_t *ngx_http_retort_queue_workspace(
    ngx_http_retort_zone_t *zone, ngx_str_t *name, int64_t now);

/* NGX_OK, or after how many msec to come again */
ngx_int_t ngx_http_retort_queue_rate(ngx_http_retort_workspace_t *ws,
    ngx_http_retort_admission_t *limits, int64_t now);

/* a run that waits; NGX_HTTP_RETORT_NOBODY: no room */
uint32_t ngx_http_retort_queue_add(ngx_http_retort_zone_t *zone,
    ngx_http_retort_workspace_t *ws, uint32_t limit);

/* admits whom it can, returns how many */
ngx_uint_t ngx_http_retort_queue_run(ngx_http_retort_zone_t *zone);

void ngx_http_retort_queue_end(ngx_http_retort_zone_t *zone, uint32_t run);


#endif /* _NGX_HTTP_RETORT_ZONE_H_INCLUDED_ */
