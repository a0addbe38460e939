
/*
 * What the module's way of an answer wants of nginx's core, besides what is in
 * nginx_bed.c.
 */

#include "ngx_http_retort_module.h"

#include "fuzz.h"


static ngx_uint_t
bed_digits(u_char *p, size_t n, off_t *value)
{
    if (n == 0) {
        return 0;
    }

    for (*value = 0; n-- != 0; p++) {
        if (*p < '0' || *p > '9'
            || *value > (NGX_MAX_OFF_T_VALUE - (*p - '0')) / 10)
        {
            return 0;
        }

        *value = *value * 10 + (*p - '0');
    }

    return 1;
}


off_t
ngx_atoof(u_char *line, size_t n)
{
    off_t  value;

    return bed_digits(line, n, &value) ? value : NGX_ERROR;
}


ngx_int_t
ngx_atoi(u_char *line, size_t n)
{
    return ngx_atoof(line, n);
}


/* digits with a point: so many behind it count */

ngx_int_t
ngx_atofp(u_char *line, size_t n, size_t point)
{
    off_t       value;
    ngx_uint_t  dot;

    if (n == 0 || n > 15) {
        return NGX_ERROR;
    }

    for (value = 0, dot = 0; n-- != 0; line++) {
        if (*line == '.' && !dot) {
            dot = 1;
            continue;
        }

        if (*line < '0' || *line > '9' || (dot && point == 0)) {
            return NGX_ERROR;
        }

        value = value * 10 + (*line - '0');
        point -= dot;
    }

    while (point-- != 0) {
        value *= 10;
    }

    return value;
}


u_char *
ngx_cpystrn(u_char *dst, u_char *src, size_t n)
{
    for ( /* void */ ; n > 1 && *src != '\0'; n--) {
        *dst++ = *src++;
    }

    if (n != 0) {
        *dst = '\0';
    }

    return dst;
}


ngx_uint_t
ngx_hash_key(u_char *data, size_t len)
{
    return len;
}


ngx_uint_t
ngx_hash_strlow(u_char *dst, u_char *src, size_t n)
{
    while (n-- != 0) {
        *dst++ = ngx_tolower(*src);
        src++;
    }

    return 1;
}


void *
ngx_list_push(ngx_list_t *l)
{
    ngx_list_part_t  *last;

    last = l->last;

    if (last->nelts == l->nalloc) {
        last = ngx_pcalloc(l->pool, sizeof(ngx_list_part_t));
        last->elts = ngx_pnalloc(l->pool, l->nalloc * l->size);
        l->last->next = last;
        l->last = last;
    }

    return (char *) last->elts + l->size * last->nelts++;
}


ngx_chain_t *
ngx_chain_get_free_buf(ngx_pool_t *p, ngx_chain_t **free)
{
    ngx_chain_t  *cl;

    (void) free;
    cl = ngx_pcalloc(p, sizeof(ngx_chain_t));
    cl->buf = ngx_pcalloc(p, sizeof(ngx_buf_t));

    return cl;
}


static ngx_uint_t
bed_of_a_name(u_char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '-' || c == '_';
}


/* a line is looked at once it is whole; what nginx takes for one */

ngx_int_t
ngx_http_parse_header_line(ngx_http_request_t *r, ngx_buf_t *b,
    ngx_uint_t allow_underscores)
{
    u_char  *p, *line, *end;

    line = b->pos;
    end = memchr(line, '\n', (size_t) (b->last - line));

    if (end == NULL) {
        return NGX_AGAIN;
    }

    b->pos = end + 1;
    end -= end > line && end[-1] == '\r';

    if (end == line) {
        return NGX_HTTP_PARSE_HEADER_DONE;
    }

    if (memchr(line, '\0', (size_t) (end - line)) != NULL) {
        return NGX_HTTP_PARSE_INVALID_HEADER;
    }

    p = memchr(line, ':', (size_t) (end - line));
    r->invalid_header = 0;
    r->header_name_start = line;
    r->header_name_end = p != NULL ? p : end;

    for ( /* void */ ; line < r->header_name_end; line++) {
        r->invalid_header |= !bed_of_a_name(*line);
    }

    for (p = p != NULL ? p + 1 : end; p < end && *p == ' '; p++) { /* void */ }

    while (end > p && end[-1] == ' ') {
        end--;
    }

    r->header_start = p;
    r->header_end = end;

    return NGX_OK;
}
