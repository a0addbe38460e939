
#include <ngx_config.h>
#include <ngx_core.h>
#include "ngx_http_retort_json.h"


enum {
    NUMBER_MINUS = 0,
    NUMBER_ZERO,
    NUMBER_INT,
    NUMBER_DOT,
    NUMBER_FRAC,
    NUMBER_E,
    NUMBER_SIGN,
    NUMBER_EXP
};


static void ngx_http_retort_json_value(ngx_http_retort_json_t *js,
    u_char ch);
static void ngx_http_retort_json_key(ngx_http_retort_json_t *js, u_char ch);
static void ngx_http_retort_json_after(ngx_http_retort_json_t *js,
    u_char ch);
static void ngx_http_retort_json_string(ngx_http_retort_json_t *js,
    u_char ch);
static void ngx_http_retort_json_hex(ngx_http_retort_json_t *js, u_char ch);
static ngx_int_t ngx_http_retort_json_number(ngx_http_retort_json_t *js,
    u_char ch);
static void ngx_http_retort_json_open(ngx_http_retort_json_t *js,
    ngx_uint_t object);
static void ngx_http_retort_json_shut(ngx_http_retort_json_t *js,
    ngx_uint_t object);
static u_char *ngx_http_retort_json_end_string(ngx_http_retort_json_t *js,
    u_char *p);
static u_char *ngx_http_retort_json_end_hex(ngx_http_retort_json_t *js,
    u_char *p);
static u_char *ngx_http_retort_json_end_token(ngx_http_retort_json_t *js,
    u_char *p);


#define RETORT_JSON_BLOCK  32    /* bytes that one step can look at */

#define ngx_http_retort_json_in_object(js)                                    \
    ((js)->object[((js)->depth - 1) / 8] & (1 << (((js)->depth - 1) % 8)))


void
ngx_http_retort_utf8_feed(ngx_http_retort_utf8_t *u, u_char ch)
{
    if (u->need && (ch & 0xc0) == 0x80) {
        u->need--;
        u->low = 0x80;
        return;
    }

    u->need = 0;
    u->low = 0x80;

    if (ch >= 0xc2 && ch <= 0xdf) {
        u->need = 1;

    } else if ((ch & 0xf0) == 0xe0) {
        u->need = 2;
        u->low = (ch == 0xe0) ? 0xa0 : 0x80;

    } else if (ch >= 0xf0 && ch <= 0xf4) {
        u->need = 3;
        u->low = (ch == 0xf0) ? 0x90 : 0x80;
    }
}


/* whatever came before, four bytes tell how many must still come */

void
ngx_http_retort_utf8_skip(ngx_http_retort_utf8_t *u, u_char *p, size_t len)
{
    u_char  *last;

    last = p + len;

    for (p = (len > 4) ? last - 4 : p; p < last; p++) {
        ngx_http_retort_utf8_feed(u, *p);
    }
}


u_char *
ngx_http_retort_utf8_close(ngx_http_retort_utf8_t *u, u_char *p)
{
    while (u->need) {
        *p++ = u->low;
        u->low = 0x80;
        u->need--;
    }

    return p;
}


static ngx_inline ngx_uint_t
ngx_http_retort_json_space(u_char ch)
{
    return ch == ' ' || ch == '\n' || ch == '\r' || ch == '\t';
}


static ngx_inline void
ngx_http_retort_json_ended(ngx_http_retort_json_t *js)
{
    js->state = js->depth ? RETORT_JSON_AFTER : RETORT_JSON_DONE;
}


void
ngx_http_retort_json_feed(ngx_http_retort_json_t *js, u_char ch)
{
    if (js->state == RETORT_JSON_STRING) {
        ngx_http_retort_json_string(js, ch);
        return;
    }

    if (js->state == RETORT_JSON_NUMBER) {

        if (ngx_http_retort_json_number(js, ch) == NGX_OK) {
            return;
        }

        /* the byte that ends a number is not a part of it */
        ngx_http_retort_json_ended(js);
    }

    switch (js->state) {

    case RETORT_JSON_ESCAPE:
        if (js->key) {
            js->match = RETORT_JSON_NO_MATCH;
        }

        js->sub = 0;
        js->code = 0;

        if (ch == 'u') {
            js->state = RETORT_JSON_HEX;
            return;
        }

        js->high = 0;
        js->state = RETORT_JSON_STRING;
        return;

    case RETORT_JSON_HEX:
        ngx_http_retort_json_hex(js, ch);
        return;

    case RETORT_JSON_LITERAL:
        if (ch != (u_char) js->literal[js->sub]) {
            js->state = RETORT_JSON_BROKEN;

        } else if (js->literal[++js->sub] == '\0') {
            ngx_http_retort_json_ended(js);
        }

        return;

    case RETORT_JSON_BROKEN:
        return;
    }

    if (ngx_http_retort_json_space(ch)) {
        return;
    }

    switch (js->state) {

    case RETORT_JSON_FIRST_VALUE:
        if (ch == ']') {
            ngx_http_retort_json_shut(js, 0);
            return;
        }

        /* fall through */

    case RETORT_JSON_VALUE:
        ngx_http_retort_json_value(js, ch);
        return;

    case RETORT_JSON_FIRST_KEY:
    case RETORT_JSON_KEY:
        ngx_http_retort_json_key(js, ch);
        return;

    case RETORT_JSON_COLON:
        js->state = (ch == ':') ? RETORT_JSON_VALUE : RETORT_JSON_BROKEN;
        return;

    case RETORT_JSON_AFTER:
        ngx_http_retort_json_after(js, ch);
        return;

    default: /* RETORT_JSON_DONE */
        js->state = RETORT_JSON_BROKEN;
    }
}


static ngx_inline ngx_uint_t
ngx_http_retort_json_odd(u_char ch)
{
    return (ch < 0x20) | (ch == '"') | (ch == '\\');
}


size_t
ngx_http_retort_json_skip(ngx_http_retort_json_t *js, u_char *p, size_t len)
{
    size_t   i, n;
    u_char   odd;

    if (js->state != RETORT_JSON_STRING || js->key || len == 0
        || ngx_http_retort_json_odd(*p))
    {
        return 0;
    }

    js->high = 0;

    for (n = 0; len - n >= RETORT_JSON_BLOCK; n += RETORT_JSON_BLOCK) {
        odd = 0;

        for (i = 0; i < RETORT_JSON_BLOCK; i++) {
            odd |= ngx_http_retort_json_odd(p[n + i]);
        }

        if (odd) {
            break;
        }
    }

    while (n < len && !ngx_http_retort_json_odd(p[n])) {
        n++;
    }

    return n;
}


static void
ngx_http_retort_json_value(ngx_http_retort_json_t *js, u_char ch)
{
    js->sub = 0;

    switch (ch) {

    case '{':
        ngx_http_retort_json_open(js, 1);
        return;

    case '[':
        ngx_http_retort_json_open(js, 0);
        return;

    case '"':
        js->key = 0;
        js->high = 0;
        js->state = RETORT_JSON_STRING;
        return;

    case '-':
        js->sub = NUMBER_MINUS;
        js->state = RETORT_JSON_NUMBER;
        return;

    case 't':
        js->literal = "true";
        break;

    case 'f':
        js->literal = "false";
        break;

    case 'n':
        js->literal = "null";
        break;

    default:

        if (ch < '0' || ch > '9') {
            js->state = RETORT_JSON_BROKEN;
            return;
        }

        js->sub = (ch == '0') ? NUMBER_ZERO : NUMBER_INT;
        js->state = RETORT_JSON_NUMBER;
        return;
    }

    js->sub = 1;
    js->state = RETORT_JSON_LITERAL;
}


static void
ngx_http_retort_json_key(ngx_http_retort_json_t *js, u_char ch)
{
    if (ch == '"') {
        js->key = 1;
        js->high = 0;
        js->match = 0;
        js->state = RETORT_JSON_STRING;
        return;
    }

    if (ch == '}' && js->state == RETORT_JSON_FIRST_KEY) {
        ngx_http_retort_json_shut(js, 1);
        return;
    }

    js->state = RETORT_JSON_BROKEN;
}


static void
ngx_http_retort_json_after(ngx_http_retort_json_t *js, u_char ch)
{
    switch (ch) {

    case ',':
        js->state = ngx_http_retort_json_in_object(js) ? RETORT_JSON_KEY
                                                       : RETORT_JSON_VALUE;
        return;

    case '}':
        ngx_http_retort_json_shut(js, 1);
        return;

    case ']':
        ngx_http_retort_json_shut(js, 0);
        return;

    default:
        js->state = RETORT_JSON_BROKEN;
    }
}


static void
ngx_http_retort_json_string(ngx_http_retort_json_t *js, u_char ch)
{
    static u_char  status[] = "status";

    switch (ch) {

    case '\\':
        js->state = RETORT_JSON_ESCAPE;
        return;

    case '"':
        js->high = 0;

        if (js->key) {
            js->key = 0;
            js->state = RETORT_JSON_COLON;

            if (js->match != sizeof(status) - 1) {
                js->match = RETORT_JSON_NO_MATCH;
            }

            return;
        }

        ngx_http_retort_json_ended(js);
        return;
    }

    if (ch < 0x20) {
        js->state = RETORT_JSON_BROKEN;
        return;
    }

    js->high = 0;

    if (js->key && js->match != RETORT_JSON_NO_MATCH) {

        if (js->match < sizeof(status) - 1 && ch == status[js->match]) {
            js->match++;

        } else {
            js->match = RETORT_JSON_NO_MATCH;
        }
    }
}


static void
ngx_http_retort_json_hex(ngx_http_retort_json_t *js, u_char ch)
{
    ngx_uint_t  n;

    if (ch >= '0' && ch <= '9') {
        n = ch - '0';

    } else {
        ch |= 0x20;

        if (ch < 'a' || ch > 'f') {
            js->state = RETORT_JSON_BROKEN;
            return;
        }

        n = ch - 'a' + 10;
    }

    js->code = js->code << 4 | n;

    if (++js->sub < 4) {
        return;
    }

    js->high = (!js->high && (js->code & 0xfc00) == 0xd800);
    js->state = RETORT_JSON_STRING;
}


static ngx_int_t
ngx_http_retort_json_number(ngx_http_retort_json_t *js, u_char ch)
{
    ngx_uint_t  digit;

    digit = (ch >= '0' && ch <= '9');

    switch (js->sub) {

    case NUMBER_MINUS:
        if (digit) {
            js->sub = (ch == '0') ? NUMBER_ZERO : NUMBER_INT;
            return NGX_OK;
        }

        break;

    case NUMBER_INT:
        if (digit) {
            return NGX_OK;
        }

        /* fall through */

    case NUMBER_ZERO:
        if (ch == '.') {
            js->sub = NUMBER_DOT;
            return NGX_OK;
        }

        /* fall through */

    case NUMBER_FRAC:
        if (digit && js->sub == NUMBER_FRAC) {
            return NGX_OK;
        }

        if ((ch | 0x20) == 'e') {
            js->sub = NUMBER_E;
            return NGX_OK;
        }

        return NGX_DECLINED;

    case NUMBER_DOT:
        js->sub = NUMBER_FRAC;
        break;

    case NUMBER_E:
        if (ch == '+' || ch == '-') {
            js->sub = NUMBER_SIGN;
            return NGX_OK;
        }

        /* fall through */

    case NUMBER_SIGN:
        js->sub = NUMBER_EXP;
        break;

    case NUMBER_EXP:
        return digit ? NGX_OK : NGX_DECLINED;
    }

    if (!digit) {
        js->state = RETORT_JSON_BROKEN;
    }

    return NGX_OK;
}


static void
ngx_http_retort_json_open(ngx_http_retort_json_t *js, ngx_uint_t object)
{
    u_char  *byte, bit;

    if (js->depth == NGX_HTTP_RETORT_JSON_DEPTH) {
        js->state = RETORT_JSON_BROKEN;
        return;
    }

    byte = &js->object[js->depth / 8];
    bit = (u_char) (1 << (js->depth % 8));

    js->depth++;

    if (object) {
        *byte |= bit;
        js->state = RETORT_JSON_FIRST_KEY;

    } else {
        *byte &= (u_char) ~bit;
        js->state = RETORT_JSON_FIRST_VALUE;
    }
}


static void
ngx_http_retort_json_shut(ngx_http_retort_json_t *js, ngx_uint_t object)
{
    if (!ngx_http_retort_json_in_object(js) != !object) {
        js->state = RETORT_JSON_BROKEN;
        return;
    }

    js->depth--;
    ngx_http_retort_json_ended(js);
}


u_char *
ngx_http_retort_json_close(ngx_http_retort_json_t *js, u_char *p,
    ngx_str_t *add)
{
    p = ngx_http_retort_json_end_token(js, p);

    while (js->depth) {

        if (!ngx_http_retort_json_in_object(js)) {
            *p++ = ']';

        } else {

            if (js->depth == 1 && add) {

                if (js->state == RETORT_JSON_AFTER) {
                    *p++ = ',';
                }

                p = ngx_cpymem(p, add->data, add->len);

            } else if (js->state == RETORT_JSON_KEY) {
                /* a comma cannot be taken back */
                p = ngx_cpymem(p, "\"\":null", 7);
            }

            *p++ = '}';
        }

        js->depth--;
        js->state = RETORT_JSON_AFTER;
    }

    js->state = RETORT_JSON_DONE;

    return p;
}


static u_char *
ngx_http_retort_json_end_token(ngx_http_retort_json_t *js, u_char *p)
{
    switch (js->state) {

    case RETORT_JSON_STRING:
    case RETORT_JSON_ESCAPE:
    case RETORT_JSON_HEX:
        p = ngx_http_retort_json_end_string(js, p);

        if (js->key) {
            p = ngx_cpymem(p, ":null", 5);
        }

        break;

    case RETORT_JSON_LITERAL:
        while (js->literal[js->sub] != '\0') {
            *p++ = js->literal[js->sub++];
        }

        break;

    case RETORT_JSON_NUMBER:
        if (js->sub == NUMBER_MINUS || js->sub == NUMBER_DOT
            || js->sub == NUMBER_E || js->sub == NUMBER_SIGN)
        {
            *p++ = '0';
        }

        break;

    case RETORT_JSON_COLON:
        p = ngx_cpymem(p, ":null", 5);
        break;

    case RETORT_JSON_VALUE:
        p = ngx_cpymem(p, "null", 4);
        break;

    default: /* nothing is half written */
        return p;
    }

    js->state = RETORT_JSON_AFTER;

    return p;
}


static u_char *
ngx_http_retort_json_end_string(ngx_http_retort_json_t *js, u_char *p)
{
    switch (js->state) {

    case RETORT_JSON_STRING:
        if (js->high) {
            p = ngx_cpymem(p, "\\udc00", 6);
        }

        break;

    case RETORT_JSON_ESCAPE:
        if (js->high) {
            p = ngx_cpymem(p, "udc00", 5);

        } else {
            *p++ = 'n';
        }

        break;

    default: /* RETORT_JSON_HEX */
        p = ngx_http_retort_json_end_hex(js, p);
    }

    *p++ = '"';

    return p;
}


static u_char *
ngx_http_retort_json_end_hex(ngx_http_retort_json_t *js, u_char *p)
{
    u_char  *digits;

    if (js->high) {
        digits = (u_char *) "dc00";

    } else {
        /* a space, if nothing else was begun */
        digits = (u_char *) ((js->code == 0) ? "0020" : "0000");
    }

    p = ngx_cpymem(p, digits + js->sub, 4 - js->sub);

    js->code <<= 4 * (4 - js->sub);

    if (!js->high && (js->code & 0xfc00) == 0xd800) {
        p = ngx_cpymem(p, "\\udc00", 6);
    }

    return p;
}
