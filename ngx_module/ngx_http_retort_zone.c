
#include "ngx_http_retort_module.h"

#include <sys/eventfd.h>
#include <sys/mman.h>


static ngx_http_retort_zone_t *ngx_http_retort_zone_find(ngx_str_t *name,
    size_t size);
static void ngx_http_retort_zone_layout(ngx_http_retort_zone_t *zone);
static ngx_int_t ngx_http_retort_zone_inherit(ngx_http_retort_zone_t *zone,
    ngx_log_t *log);
static ngx_uint_t ngx_http_retort_zone_is(int fd, const char *what);
static ngx_int_t ngx_http_retort_zone_create(ngx_http_retort_zone_t *zone,
    ngx_log_t *log);
static ngx_int_t ngx_http_retort_zone_mutex(pthread_mutex_t *mutex);
static ngx_int_t ngx_http_retort_zone_map(ngx_http_retort_zone_t *zone);
static void ngx_http_retort_zone_free(ngx_http_retort_zone_t *zone);
static ngx_int_t ngx_http_retort_zone_claim(ngx_http_retort_zone_t *zone,
    uint32_t place, ngx_uint_t *n);


/* changes with the layout: a binary of another build makes its own zones */

#define NGX_HTTP_RETORT_MAGIC                                                 \
    (0x5254525a00010000ULL + sizeof(ngx_http_retort_shared_t)                 \
     + 16 * sizeof(ngx_http_retort_workspace_t)                               \
     + 256 * sizeof(ngx_http_retort_run_t))

#define NGX_HTTP_RETORT_FDS  1024

#define ngx_http_retort_zone_label(zone, label)                               \
    ngx_sprintf(label, "retort-zone-%s%Z", (zone)->name)


/* of this process; they outlive the configurations that name them */

static ngx_http_retort_zone_t  *ngx_http_retort_zones;


ngx_http_retort_zone_t *
ngx_http_retort_zone_get(ngx_str_t *name, size_t size, ngx_log_t *log)
{
    ngx_http_retort_zone_t  *zone;

    zone = ngx_http_retort_zone_find(name, size);

    if (zone) {
        zone->used = 1;
        return zone;
    }

    zone = ngx_calloc(sizeof(ngx_http_retort_zone_t), log);
    if (zone == NULL) {
        return NULL;
    }

    ngx_memcpy(zone->name, name->data, name->len);
    ngx_queue_init(&zone->waiting);

    zone->size = size;
    zone->worker = NGX_HTTP_RETORT_NOBODY;
    zone->fd = -1;
    zone->used = 1;

    if ((!ngx_inherited || ngx_http_retort_zone_inherit(zone, log) != NGX_OK)
        && ngx_http_retort_zone_create(zone, log) != NGX_OK)
    {
        ngx_http_retort_zone_free(zone);
        return NULL;
    }

    zone->next = ngx_http_retort_zones;
    ngx_http_retort_zones = zone;

    return zone;
}


static ngx_http_retort_zone_t *
ngx_http_retort_zone_find(ngx_str_t *name, size_t size)
{
    ngx_http_retort_zone_t  *zone;

    for (zone = ngx_http_retort_zones; zone; zone = zone->next) {

        if (zone->size == size && ngx_strlen(zone->name) == name->len
            && ngx_memcmp(zone->name, name->data, name->len) == 0)
        {
            return zone;
        }
    }

    return NULL;
}


/* the largest number of records that goes into the size */

static void
ngx_http_retort_zone_layout(ngx_http_retort_zone_t *zone)
{
    u_char  *p;
    size_t   each;

    each = sizeof(ngx_http_retort_workspace_t)
           + NGX_HTTP_RETORT_RUNS * sizeof(ngx_http_retort_run_t)
           + sizeof(uint32_t);

    zone->nworkspaces = (uint32_t)
                 ((zone->size - sizeof(ngx_http_retort_shared_t)) / each);
    zone->nruns = zone->nworkspaces * NGX_HTTP_RETORT_RUNS;

    p = (u_char *) (zone->shared + 1);
    zone->workspaces = (ngx_http_retort_workspace_t *) p;

    p = (u_char *) (zone->workspaces + zone->nworkspaces);
    zone->runs = (ngx_http_retort_run_t *) p;

    p = (u_char *) (zone->runs + zone->nruns);
    zone->buckets = (uint32_t *) p;
}


/*
 * An upgrade of the binary keeps descriptors, not memory: zones live in files
 * of memory that are left open over exec(), and are found by their names.
 */

static ngx_int_t
ngx_http_retort_zone_inherit(ngx_http_retort_zone_t *zone, ngx_log_t *log)
{
    int     fd;
    u_char  label[64];
    struct  stat st;

    ngx_http_retort_zone_label(zone, label);

    for (fd = 3; fd < NGX_HTTP_RETORT_FDS; fd++) {

        if (!ngx_http_retort_zone_is(fd, (char *) label)
            || fstat(fd, &st) == -1 || st.st_size != (off_t) zone->size)
        {
            continue;
        }

        zone->fd = fd;

        if (ngx_http_retort_zone_map(zone) != NGX_OK) {
            return NGX_ERROR;
        }

        if (zone->shared->magic == NGX_HTTP_RETORT_MAGIC
            && zone->shared->size == zone->size
            && ngx_http_retort_zone_is(zone->shared->wake, "[eventfd]"))
        {
            ngx_log_error(NGX_LOG_NOTICE, log, 0,
                          "using inherited retort zone \"%s\"", zone->name);
            return NGX_OK;
        }

        (void) munmap(zone->shared, zone->size);

        zone->shared = NULL;
        zone->fd = -1;
    }

    return NGX_DECLINED;
}


/* what the kernel calls a descriptor: "/memfd:NAME (deleted)" */

static ngx_uint_t
ngx_http_retort_zone_is(int fd, const char *what)
{
    u_char   path[sizeof("/proc/self/fd/") + NGX_INT_T_LEN];
    char     target[128], *p;
    ssize_t  n;

    if (fd < 0) {
        return 0;
    }

    ngx_sprintf(path, "/proc/self/fd/%d%Z", fd);

    n = readlink((char *) path, target, sizeof(target) - 1);

    if (n <= 0) {
        return 0;
    }

    target[n] = '\0';

    p = strrchr(target, ':');

    if (p == NULL) {
        return 0;
    }

    n = ngx_strlen(what);

    return ngx_strncmp(p + 1, what, n) == 0
           && (p[1 + n] == '\0' || p[1 + n] == ' ');
}


static ngx_int_t
ngx_http_retort_zone_create(ngx_http_retort_zone_t *zone, ngx_log_t *log)
{
    u_char                     label[64];
    ngx_uint_t                 i;
    ngx_http_retort_shared_t  *sh;

    ngx_http_retort_zone_label(zone, label);

    /* no CLOEXEC: see above */

    zone->fd = memfd_create((char *) label, 0);

    if (zone->fd == -1
        || posix_fallocate(zone->fd, 0, (off_t) zone->size) != 0
        || ngx_http_retort_zone_map(zone) != NGX_OK)
    {
        ngx_log_error(NGX_LOG_EMERG, log, ngx_errno,
                      "cannot make %uz bytes of memory for the retort zone "
                      "\"%s\"", zone->size, zone->name);
        return NGX_ERROR;
    }

    sh = zone->shared;

    sh->wake = eventfd(0, EFD_NONBLOCK);

    if (sh->wake == -1) {
        ngx_log_error(NGX_LOG_EMERG, log, ngx_errno, "eventfd() failed");
        return NGX_ERROR;
    }

    if (ngx_http_retort_zone_mutex(&sh->mutex) != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_HTTP_RETORT_WORKERS; i++) {
        if (ngx_http_retort_zone_mutex(&sh->life[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    ngx_http_retort_queue_rebuild(zone);

    sh->size = zone->size;
    sh->magic = NGX_HTTP_RETORT_MAGIC;

    return NGX_OK;
}


static ngx_int_t
ngx_http_retort_zone_mutex(pthread_mutex_t *mutex)
{
    ngx_int_t            rc;
    pthread_mutexattr_t  attr;

    if (pthread_mutexattr_init(&attr) != 0) {
        return NGX_ERROR;
    }

    rc = NGX_ERROR;

    if (pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0
        && pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0
        && pthread_mutex_init(mutex, &attr) == 0)
    {
        rc = NGX_OK;
    }

    (void) pthread_mutexattr_destroy(&attr);

    return rc;
}


static ngx_int_t
ngx_http_retort_zone_map(ngx_http_retort_zone_t *zone)
{
    void  *p;

    p = mmap(NULL, zone->size, PROT_READ|PROT_WRITE, MAP_SHARED, zone->fd, 0);

    if (p == MAP_FAILED) {
        return NGX_ERROR;
    }

    zone->shared = p;
    ngx_http_retort_zone_layout(zone);

    return NGX_OK;
}


static void
ngx_http_retort_zone_free(ngx_http_retort_zone_t *zone)
{
    if (zone->shared) {

        if (zone->shared->wake > 0) {
            (void) close(zone->shared->wake);
        }

        (void) munmap(zone->shared, zone->size);
    }

    if (zone->fd != -1) {
        (void) close(zone->fd);
    }

    ngx_free(zone);
}


void
ngx_http_retort_zones_unmark(void)
{
    ngx_http_retort_zone_t  *zone;

    for (zone = ngx_http_retort_zones; zone; zone = zone->next) {
        zone->used = 0;
    }
}


/* only the master's own: workers have what they were forked with */

void
ngx_http_retort_zones_sweep(ngx_log_t *log)
{
    ngx_http_retort_zone_t  *zone, **link;

    if (ngx_process == NGX_PROCESS_SINGLE && ngx_http_retort_zones
        && ngx_http_retort_zones->worker != NGX_HTTP_RETORT_NOBODY)
    {
        return;
    }

    for (link = &ngx_http_retort_zones; *link; /* void */) {
        zone = *link;

        if (zone->used) {
            link = &zone->next;
            continue;
        }

        *link = zone->next;
        ngx_http_retort_zone_free(zone);
    }
}


ngx_int_t
ngx_http_retort_zone_lock(ngx_http_retort_zone_t *zone, ngx_log_t *log)
{
    int  err;

    err = pthread_mutex_lock(&zone->shared->mutex);

    if (err == EOWNERDEAD) {
        ngx_log_error(NGX_LOG_WARN, log, 0,
                      "a worker died inside of the retort zone \"%s\"",
                      zone->name);

        ngx_http_retort_queue_rebuild(zone);

        err = pthread_mutex_consistent(&zone->shared->mutex);
    }

    if (err) {
        ngx_log_error(NGX_LOG_ALERT, log, err,
                      "cannot lock the retort zone \"%s\"", zone->name);
        return NGX_ERROR;
    }

    return NGX_OK;
}


void
ngx_http_retort_zone_unlock(ngx_http_retort_zone_t *zone)
{
    (void) pthread_mutex_unlock(&zone->shared->mutex);
}


ngx_int_t
ngx_http_retort_zone_join(ngx_http_retort_zone_t *zone)
{
    uint32_t    i;
    ngx_uint_t  n;

    if (zone->worker != NGX_HTTP_RETORT_NOBODY) {
        return NGX_OK;
    }

    (void) ngx_http_retort_zone_bury(zone);

    for (i = 0; i < NGX_HTTP_RETORT_WORKERS; i++) {

        if (ngx_http_retort_zone_claim(zone, i, &n) == NGX_OK) {
            zone->worker = i;
            return NGX_OK;
        }
    }

    return NGX_ERROR;
}


ngx_uint_t
ngx_http_retort_zone_bury(ngx_http_retort_zone_t *zone)
{
    uint32_t    i;
    ngx_uint_t  n;

    n = 0;

    for (i = 0; i < NGX_HTTP_RETORT_WORKERS; i++) {

        if (i != zone->worker
            && ngx_http_retort_zone_claim(zone, i, &n) == NGX_OK)
        {
            (void) pthread_mutex_unlock(&zone->shared->life[i]);
        }
    }

    return n;
}


/*
 * The kernel gives a robust mutex up when its owner ends, however that was:
 * a place whose mutex can be had belongs to nobody who lives, and whoever gets
 * it ends the runs that are left there.
 */

static ngx_int_t
ngx_http_retort_zone_claim(ngx_http_retort_zone_t *zone, uint32_t place,
    ngx_uint_t *n)
{
    int               err;
    uint32_t          run;
    pthread_mutex_t  *life;

    life = &zone->shared->life[place];

    err = pthread_mutex_trylock(life);

    if (err == 0) {
        return NGX_OK;
    }

    if (err != EOWNERDEAD) {
        return NGX_DECLINED;
    }

    for (run = 0; run < zone->nruns; run++) {

        if (zone->runs[run].state != RETORT_RUN_FREE
            && zone->runs[run].worker == place)
        {
            ngx_http_retort_queue_end(zone, run);
            (*n)++;
        }
    }

    (void) pthread_mutex_consistent(life);

    return NGX_OK;
}


/*
 * Nobody reads the counter: with edge-triggered events each write is one, in
 * every worker that listens.  2^64 writes take longer than any machine lasts.
 */

void
ngx_http_retort_zone_wake(ngx_http_retort_zone_t *zone)
{
    (void) eventfd_write(zone->shared->wake, 1);
}
