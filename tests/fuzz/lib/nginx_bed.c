
/*
 * What parts of the module want of nginx's core, whose sources Debian does not
 * ship: a pool is a list of allocations of their own, so that ASan sees each.
 */

#include "ngx_http_retort_module.h"

#include "fuzz.h"


void *
ngx_pnalloc(ngx_pool_t *pool, size_t size)
{
    ngx_pool_large_t  *l;

    l = malloc(sizeof(ngx_pool_large_t));

    if (l == NULL) {
        abort();
    }

    l->alloc = malloc(size != 0 ? size : 1);
    l->next = pool->large;
    pool->large = l;

    return l->alloc;
}


ngx_pool_t *
ngx_create_pool(size_t size, ngx_log_t *log)
{
    (void) size;
    (void) log;

    return calloc(1, sizeof(ngx_pool_t));
}


void
ngx_destroy_pool(ngx_pool_t *pool)
{
    ngx_pool_large_t  *l;

    while (pool->large != NULL) {
        l = pool->large;
        pool->large = l->next;
        free(l->alloc);
        free(l);
    }

    free(pool);
}


ngx_array_t *
ngx_array_create(ngx_pool_t *pool, ngx_uint_t n, size_t size)
{
    ngx_array_t  *a;

    a = ngx_pnalloc(pool, sizeof(ngx_array_t));
    a->elts = ngx_pnalloc(pool, n * size);
    a->nelts = 0;
    a->size = size;
    a->nalloc = n;
    a->pool = pool;

    return a;
}


void *
ngx_array_push(ngx_array_t *a)
{
    void  *elts;

    if (a->nelts == a->nalloc) {
        elts = ngx_pnalloc(a->pool, 2 * a->nalloc * a->size);
        ngx_memcpy(elts, a->elts, a->nelts * a->size);
        a->elts = elts;
        a->nalloc *= 2;
    }

    return (u_char *) a->elts + a->size * a->nelts++;
}


time_t
ngx_atotm(u_char *line, size_t n)
{
    time_t  t;

    if (n == 0) {
        return NGX_ERROR;
    }

    for (t = 0; n-- != 0; line++) {
        if (*line < '0' || *line > '9'
            || t > (NGX_MAX_TIME_T_VALUE - (*line - '0')) / 10)
        {
            return NGX_ERROR;
        }

        t = t * 10 + (*line - '0');
    }

    return t;
}


ngx_int_t
ngx_hextoi(u_char *line, size_t n)
{
    u_char     c;
    ngx_int_t  value;

    if (n == 0 || n > 15) {
        return NGX_ERROR;
    }

    for (value = 0; n-- != 0; line++) {
        c = (u_char) (*line | 0x20);

        if (*line >= '0' && *line <= '9') {
            value = value * 16 + (*line - '0');

        } else if (c >= 'a' && c <= 'f') {
            value = value * 16 + (c - 'a' + 10);

        } else {
            return NGX_ERROR;
        }
    }

    return value;
}


u_char *ngx_cdecl
ngx_sprintf(u_char *buf, const char *fmt, ...)
{
    (void) fmt;

    return buf;
}


void
ngx_log_error_core(ngx_uint_t level, ngx_log_t *log, ngx_err_t err,
    const char *fmt, ...)
{
    (void) level;
    (void) log;
    (void) err;
    (void) fmt;
}
