
/*
 * What parts of the module want of nginx's core, whose sources Debian does not
 * ship: a pool is a list of allocations of their own, so that ASan sees each.
 */

#include "ngx_http_retort_module.h"

#include "fuzz.h"


static ngx_time_t        bed_time = { 1700000000, 0, 0 };

volatile ngx_time_t     *ngx_cached_time = &bed_time;


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


void *
ngx_palloc(ngx_pool_t *pool, size_t size)
{
    return ngx_pnalloc(pool, size);
}


void *
ngx_pcalloc(ngx_pool_t *pool, size_t size)
{
    void  *p;

    p = ngx_pnalloc(pool, size);
    ngx_memzero(p, size);

    return p;
}


u_char *
ngx_pstrdup(ngx_pool_t *pool, ngx_str_t *src)
{
    u_char  *dst;

    dst = ngx_pnalloc(pool, src->len);
    ngx_memcpy(dst, src->data, src->len);

    return dst;
}


ngx_pool_cleanup_t *
ngx_pool_cleanup_add(ngx_pool_t *pool, size_t size)
{
    ngx_pool_cleanup_t  *c;

    c = ngx_pcalloc(pool, sizeof(ngx_pool_cleanup_t));
    c->next = pool->cleanup;
    pool->cleanup = c;

    return c;
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
    ngx_pool_large_t    *l;
    ngx_pool_cleanup_t  *c;

    for (c = pool->cleanup; c != NULL; c = c->next) {
        if (c->handler != NULL) {
            c->handler(c->data);
        }
    }

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


u_char *
ngx_hex_dump(u_char *dst, u_char *src, size_t len)
{
    static u_char  hex[] = "0123456789abcdef";

    while (len-- != 0) {
        *dst++ = hex[*src >> 4];
        *dst++ = hex[*src++ & 0xf];
    }

    return dst;
}


ngx_int_t
ngx_strncasecmp(u_char *a, u_char *b, size_t n)
{
    return strncasecmp((char *) a, (char *) b, n);
}


static ngx_uint_t
bed_digit(u_char c)
{
    return c >= 'A' && c <= 'Z' ? (ngx_uint_t) c - 'A'
           : c >= 'a' && c <= 'z' ? (ngx_uint_t) c - 'a' + 26
           : c >= '0' && c <= '9' ? (ngx_uint_t) c - '0' + 52
           : c == '-' ? 62 : c == '_' ? 63 : 64;
}


ngx_int_t
ngx_decode_base64url(ngx_str_t *dst, ngx_str_t *src)
{
    u_char      *p;
    size_t       i, n;
    ngx_uint_t   bits;

    for (n = 0; n < src->len && bed_digit(src->data[n]) < 64; n++) {
        /* void */
    }

    if (n % 4 == 1) {
        return NGX_ERROR;
    }

    p = dst->data;
    bits = 0;

    for (i = 0; i < n; i++) {
        bits = bits << 6 | bed_digit(src->data[i]);

        if (i % 4 != 0) {
            *p++ = (u_char) (bits >> (6 - i % 4 * 2));
        }
    }

    dst->len = p - dst->data;

    return NGX_OK;
}


/* what these parts have of it: %V, %s, %ui, %O, %03O and %02xd */

u_char *ngx_cdecl
ngx_sprintf(u_char *buf, const char *fmt, ...)
{
    va_list     args;
    ngx_str_t  *s;

    va_start(args, fmt);

    for ( /* void */ ; *fmt != '\0'; fmt++) {
        if (*fmt != '%') {
            *buf++ = (u_char) *fmt;
            continue;
        }

        switch (*++fmt) {

        case 'V':
            s = va_arg(args, ngx_str_t *);
            buf = s->len != 0 ? ngx_cpymem(buf, s->data, s->len) : buf;
            break;

        case 's':
            buf += sprintf((char *) buf, "%s", va_arg(args, char *));
            break;

        case 'u':
            buf += sprintf((char *) buf, "%lu", va_arg(args, ngx_uint_t));
            fmt++;
            break;

        case 'O':
            buf += sprintf((char *) buf, "%ld", va_arg(args, off_t));
            break;

        default:
            buf += fmt[1] == '3'
                   ? sprintf((char *) buf, "%03ld", va_arg(args, off_t))
                   : sprintf((char *) buf, "%02x", va_arg(args, int));
            fmt += fmt[1] == '3' ? 2 : 3;
        }
    }

    va_end(args);

    return buf;
}


/* ---- of the configuration ---- */

ngx_int_t
ngx_conf_full_name(ngx_cycle_t *cycle, ngx_str_t *name, ngx_uint_t prefix)
{
    (void) cycle;
    (void) name;
    (void) prefix;

    return NGX_OK;
}


ssize_t
ngx_read_file(ngx_file_t *file, u_char *buf, size_t size, off_t offset)
{
    return pread(file->fd, buf, size, offset);
}


void ngx_cdecl
ngx_conf_log_error(ngx_uint_t level, ngx_conf_t *cf, ngx_err_t err,
    const char *fmt, ...)
{
    (void) level;
    (void) cf;
    (void) err;
    (void) fmt;
}


time_t
ngx_parse_time(ngx_str_t *line, ngx_uint_t is_sec)
{
    (void) is_sec;

    return ngx_atotm(line->data, line->len);
}


ngx_int_t
ngx_ptocidr(ngx_str_t *text, ngx_cidr_t *cidr)
{
    (void) text;
    (void) cidr;

    return NGX_ERROR;
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
