
/*
 * What the module reads of others, compiled apart from nginx: the front's
 * FastCGI records, the JSON of a cut answer, which it makes whole, and the JSON
 * of tokens.  The first byte says which.
 *
 * links: ngx_module/ngx_http_retort_record.c ngx_module/ngx_http_retort_json.c
 * links: ngx_module/ngx_http_retort_claims.c tests/fuzz/lib/nginx_bed.c
 */

#include "ngx_http_retort_module.h"
#include "ngx_http_retort_json.h"
#include "ngx_http_retort_jwt.h"

#include <json-c/json.h>

#include "fuzz.h"


#define MODULE_MAX  16384


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;

    return 0;
}


/* records, cut at any place: the pieces are the same bytes */

static size_t
records(const uint8_t *data, size_t size, size_t step, u_char *out)
{
    u_char                    *copy;
    size_t                     n, len;
    ngx_buf_t                  b;
    ngx_int_t                  rc;
    ngx_str_t                  part;
    ngx_http_retort_record_t   r;

    ngx_memzero(&r, sizeof(r));
    len = 0;
    rc = NGX_AGAIN;

    for ( /* void */ ; size != 0 && rc == NGX_AGAIN; size -= n, data += n) {
        n = size < step ? size : step;
        copy = fuzz_copy(data, n);
        ngx_memzero(&b, sizeof(b));
        b.start = b.pos = copy;
        b.end = b.last = copy + n;

        while ((rc = ngx_http_retort_record(&r, &b, &part)) == NGX_OK) {
            FUZZ_CHECK(part.len != 0 && part.data >= copy
                       && part.data + part.len <= copy + n);
            ngx_memcpy(out + len, part.data, part.len);
            len += part.len;
        }

        free(copy);
    }

    return len + (size_t) (rc == NGX_DONE) + 2 * (size_t) (rc == NGX_ERROR);
}


static void
module_records(const uint8_t *data, size_t size)
{
    size_t         n;
    static u_char  whole[MODULE_MAX], cut[MODULE_MAX];

    n = records(data, size, size, whole);
    FUZZ_CHECK(n == records(data, size, size % 5 + 1, cut));
}


/* what json-c says of some text: the end of a document is a NUL */

static enum json_tokener_error
parsed(const void *p, size_t n)
{
    json_object              *o;
    json_tokener             *tok;
    enum json_tokener_error   err;

    tok = json_tokener_new_ex(NGX_HTTP_RETORT_JSON_DEPTH + 8);
    json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
    o = json_tokener_parse_ex(tok, p, (int) n);
    err = json_tokener_get_error(tok);
    (void) json_object_put(o);
    json_tokener_free(tok);

    return err;
}


/* who skips the inside of strings knows as much as who looks at each byte */

static void
module_skip(const uint8_t *data, size_t size, size_t step)
{
    size_t                   i, at, n;
    u_char                  *copy;
    ngx_http_retort_utf8_t   slow8, fast8;
    ngx_http_retort_json_t   slow, fast;

    ngx_memzero(&slow, sizeof(slow));
    ngx_memzero(&fast, sizeof(fast));
    ngx_memzero(&slow8, sizeof(slow8));
    ngx_memzero(&fast8, sizeof(fast8));
    slow8.low = fast8.low = 0x80;

    for ( /* void */ ; size != 0; size -= n, data += n) {
        n = size < step ? size : step;
        copy = fuzz_copy(data, n);

        for (i = 0; i < n; i++) {
            ngx_http_retort_json_feed(&slow, copy[i]);
            ngx_http_retort_utf8_feed(&slow8, copy[i]);
        }

        for (i = 0; i < n; i++) {
            at = i;
            i += ngx_http_retort_json_skip(&fast, copy + i, n - i);
            FUZZ_CHECK(i <= n);
            ngx_http_retort_utf8_skip(&fast8, copy + at, i - at);

            if (i < n) {
                ngx_http_retort_json_feed(&fast, copy[i]);
                ngx_http_retort_utf8_feed(&fast8, copy[i]);
            }
        }

        free(copy);
        FUZZ_CHECK(ngx_memcmp(&slow, &fast, sizeof(slow)) == 0);
        FUZZ_CHECK(ngx_memcmp(&slow8, &fast8, sizeof(slow8)) == 0);
    }
}


/* a document that was cut anywhere becomes one */

static void
module_json(const uint8_t *data, size_t size)
{
    size_t                   i;
    u_char                  *p, *end;
    ngx_str_t                add = ngx_string("\"status\":\"lost\"");
    ngx_http_retort_json_t   js;

    ngx_memzero(&js, sizeof(js));

    for (i = 0; i < size; i++) {
        if (data[i] >= 0x80) {
            /* it is told of complete characters only */
            return;
        }

        ngx_http_retort_json_feed(&js, data[i]);
    }

    if (js.state == RETORT_JSON_BROKEN || js.state == RETORT_JSON_DONE
        || size == 0 || parsed(data, size) != json_tokener_continue)
    {
        return;
    }

    p = malloc(size + NGX_HTTP_RETORT_JSON_CLOSE + add.len + 1);

    if (p == NULL) {
        abort();
    }

    ngx_memcpy(p, data, size);
    end = ngx_http_retort_json_close(&js, p + size, &add);
    FUZZ_CHECK(end <= p + size + NGX_HTTP_RETORT_JSON_CLOSE + add.len);
    *end = '\0';

    FUZZ_CHECK(parsed(p, (size_t) (end - p) + 1) == json_tokener_success);
    free(p);
}


static void
member(ngx_pool_t *pool, ngx_str_t *value)
{
    time_t     t;
    ngx_str_t  text;

    if (ngx_http_retort_json_text(pool, value, &text) == NGX_OK) {
        FUZZ_CHECK(text.len <= value->len);
    }

    (void) ngx_http_retort_json_texts(pool, value);
    (void) ngx_http_retort_json_time(value, &t);
    (void) ngx_http_retort_json_members(pool, value, '{');
}


static void
module_claims(const uint8_t *data, size_t size)
{
    ngx_str_t                 text;
    ngx_uint_t                i;
    ngx_log_t                 log;
    ngx_pool_t               *pool;
    ngx_array_t              *all;
    ngx_http_retort_member_t *m;

    ngx_memzero(&log, sizeof(log));
    pool = ngx_create_pool(1024, &log);
    text.data = fuzz_copy(data, size);
    text.len = size;
    all = ngx_http_retort_json_members(pool, &text,
                                       size != 0 && data[0] == '[' ? '[' : '{');

    for (i = 0; all != NULL && i < all->nelts; i++) {
        m = (ngx_http_retort_member_t *) all->elts + i;
        FUZZ_CHECK(text.data[0] == '['
                   || ngx_http_retort_json_find(all, &m->name) != NULL);
        member(pool, &m->value);
    }

    member(pool, &text);
    free(text.data);
    ngx_destroy_pool(pool);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t  which;

    which = fuzz_byte(&data, &size);
    size = size < MODULE_MAX ? size : MODULE_MAX;

    switch (which) {
    case 'r': module_records(data, size); break;
    case 'j':
        module_skip(data, size, size % 97 + 1);
        module_json(data, size);
        break;
    default: module_claims(data, size);
    }

    return 0;
}
