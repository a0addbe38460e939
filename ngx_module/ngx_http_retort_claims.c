
/*
 * Objects and arrays of JSON, one level at a time.  Only what an issuer has
 * signed, or root has written, gets here: no client's text.  The follower
 * (json.c) has to find the text whole before it is cut; nothing recurses.
 */

#include "ngx_http_retort_jwt.h"


#define NGX_HTTP_RETORT_MEMBERS  128
#define NGX_HTTP_RETORT_DIGITS   12


static ngx_uint_t ngx_http_retort_is_json(ngx_str_t *text);
static u_char *ngx_http_retort_skip_blanks(u_char *p, u_char *last);
static u_char *ngx_http_retort_skip_value(u_char *p, u_char *last);
static ngx_int_t ngx_http_retort_member(ngx_pool_t *pool,
    ngx_array_t *members, ngx_str_t *name, ngx_str_t *value);
static u_char *ngx_http_retort_unescape(u_char *p, u_char **src,
    u_char *last);


ngx_array_t *
ngx_http_retort_json_members(ngx_pool_t *pool, ngx_str_t *text, u_char open)
{
    u_char       *p, *end, *last;
    ngx_str_t     name, value;
    ngx_array_t  *members;

    if (!ngx_http_retort_is_json(text)) {
        return NULL;
    }

    last = text->data + text->len;
    p = ngx_http_retort_skip_blanks(text->data, last);

    if (p == last || *p++ != open) {
        return NULL;
    }

    members = ngx_array_create(pool, 8, sizeof(ngx_http_retort_member_t));
    if (members == NULL) {
        return NULL;
    }

    ngx_str_null(&name);

    for ( ;; ) {
        p = ngx_http_retort_skip_blanks(p, last);

        if (p == last || *p == '}' || *p == ']') {
            return members;
        }

        if (open == '{') {
            end = ngx_http_retort_skip_value(p, last);
            name.data = p;
            name.len = end - p;
            p = ngx_http_retort_skip_blanks(end, last);
        }

        end = ngx_http_retort_skip_value(p, last);
        value.data = p;
        value.len = end - p;
        p = end;

        if (ngx_http_retort_member(pool, members, &name, &value) != NGX_OK) {
            return NULL;
        }
    }
}


static ngx_uint_t
ngx_http_retort_is_json(ngx_str_t *text)
{
    size_t                  i;
    ngx_http_retort_json_t  js;

    ngx_memzero(&js, sizeof(ngx_http_retort_json_t));

    for (i = 0; i < text->len; i++) {
        ngx_http_retort_json_feed(&js, text->data[i]);
    }

    return js.state == RETORT_JSON_DONE;
}


/* commas and colons stand where they must: the follower has seen to it */

static u_char *
ngx_http_retort_skip_blanks(u_char *p, u_char *last)
{
    while (p < last && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'
                        || *p == ',' || *p == ':'))
    {
        p++;
    }

    return p;
}


static u_char *
ngx_http_retort_skip_value(u_char *p, u_char *last)
{
    ngx_uint_t  depth, string;

    depth = 0;
    string = 0;

    for ( /* void */ ; p < last; p++) {

        if (string) {

            if (*p == '\\') {
                p++;

            } else if (*p == '"') {
                string = 0;

                if (depth == 0) {
                    return p + 1;
                }
            }

            continue;
        }

        switch (*p) {

        case '"':
            string = 1;
            break;

        case '{':
        case '[':
            depth++;
            break;

        case '}':
        case ']':
            if (depth == 0) {
                return p;
            }

            if (--depth == 0) {
                return p + 1;
            }

            break;

        case ',':
        case ' ':
        case '\t':
        case '\r':
        case '\n':
            if (depth == 0) {
                return p;
            }
        }
    }

    return last;
}


/* a name that stands twice would mean two things to two readers */

static ngx_int_t
ngx_http_retort_member(ngx_pool_t *pool, ngx_array_t *members,
    ngx_str_t *name, ngx_str_t *value)
{
    ngx_str_t                  plain;
    ngx_uint_t                 i;
    ngx_http_retort_member_t  *m;

    ngx_str_null(&plain);

    if (members->nelts == NGX_HTTP_RETORT_MEMBERS) {
        return NGX_DECLINED;
    }

    if (name->data) {

        if (ngx_http_retort_json_text(pool, name, &plain) != NGX_OK) {
            return NGX_DECLINED;
        }

        m = members->elts;

        for (i = 0; i < members->nelts; i++) {

            if (m[i].name.len == plain.len
                && ngx_memcmp(m[i].name.data, plain.data, plain.len) == 0)
            {
                return NGX_DECLINED;
            }
        }
    }

    m = ngx_array_push(members);
    if (m == NULL) {
        return NGX_ERROR;
    }

    m->name = plain;
    m->value = *value;

    return NGX_OK;
}


ngx_str_t *
ngx_http_retort_json_find(ngx_array_t *members, ngx_str_t *name)
{
    ngx_uint_t                 i;
    ngx_http_retort_member_t  *m;

    m = members->elts;

    for (i = 0; i < members->nelts; i++) {

        if (m[i].name.len == name->len
            && ngx_memcmp(m[i].name.data, name->data, name->len) == 0)
        {
            return &m[i].value;
        }
    }

    return NULL;
}


ngx_int_t
ngx_http_retort_json_text(ngx_pool_t *pool, ngx_str_t *value,
    ngx_str_t *text)
{
    u_char  *p, *src, *last;

    if (value->len < 2 || value->data[0] != '"') {
        return NGX_DECLINED;
    }

    src = value->data + 1;
    last = value->data + value->len - 1;

    p = ngx_pnalloc(pool, value->len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    text->data = p;

    while (src < last) {

        if (*src != '\\') {
            *p++ = *src++;
            continue;
        }

        src++;
        p = ngx_http_retort_unescape(p, &src, last);

        if (p == NULL) {
            return NGX_DECLINED;
        }
    }

    text->len = p - text->data;

    return NGX_OK;
}


/* surrogates and NUL are in no name that anybody compares with */

static u_char *
ngx_http_retort_unescape(u_char *p, u_char **src, u_char *last)
{
    ngx_int_t  code;

    static u_char  from[] = "\"\\/bfnrt";
    static u_char  to[] = "\"\\/\b\f\n\r\t";
    u_char        *at;

    if (*src == last) {
        return NULL;
    }

    at = ngx_strlchr(from, from + sizeof(from) - 1, **src);

    if (at) {
        (*src)++;
        *p++ = to[at - from];
        return p;
    }

    if (**src != 'u' || last - *src < 5) {
        return NULL;
    }

    code = ngx_hextoi(*src + 1, 4);

    if (code <= 0 || (code >= 0xd800 && code <= 0xdfff)) {
        return NULL;
    }

    *src += 5;

    if (code < 0x80) {
        *p++ = (u_char) code;
        return p;
    }

    if (code >= 0x800) {
        *p++ = (u_char) (0xe0 | code >> 12);
        *p++ = (u_char) (0x80 | (code >> 6 & 0x3f));

    } else {
        *p++ = (u_char) (0xc0 | code >> 6);
    }

    *p++ = (u_char) (0x80 | (code & 0x3f));

    return p;
}


ngx_int_t
ngx_http_retort_json_time(ngx_str_t *value, time_t *t)
{
    u_char  *p, *last;

    last = value->data + value->len;

    for (p = value->data; p < last && *p >= '0' && *p <= '9'; p++) {
        /* void */
    }

    if (p == value->data || p - value->data > NGX_HTTP_RETORT_DIGITS) {
        return NGX_DECLINED;
    }

    *t = ngx_atotm(value->data, p - value->data);

    if (p < last && *p == '.') {
        for (p++; p < last && *p >= '0' && *p <= '9'; p++) {
            /* void */
        }
    }

    return (p == last && *t != (time_t) NGX_ERROR) ? NGX_OK : NGX_DECLINED;
}


ngx_array_t *
ngx_http_retort_json_texts(ngx_pool_t *pool, ngx_str_t *value)
{
    ngx_str_t                 *text;
    ngx_uint_t                 i;
    ngx_array_t               *members, *texts;
    ngx_http_retort_member_t  *m, one;

    one.value = *value;
    m = &one;
    i = 1;

    if (value->len && value->data[0] == '[') {
        members = ngx_http_retort_json_members(pool, value, '[');
        if (members == NULL) {
            return NULL;
        }

        m = members->elts;
        i = members->nelts;
    }

    texts = ngx_array_create(pool, 4, sizeof(ngx_str_t));

    for ( /* void */ ; texts && i; i--, m++) {
        text = ngx_array_push(texts);

        if (text == NULL
            || ngx_http_retort_json_text(pool, &m->value, text) != NGX_OK)
        {
            return NULL;
        }
    }

    return texts;
}
