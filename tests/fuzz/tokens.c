
/*
 * Who a client is, as the module reads it: tokens, and identities that somebody
 * has signed; and what root wrote down to tell them by, sets of keys in JSON or
 * PEM, and the file of keys.  The first byte says which.  A signature that is
 * wrong is taken for right, once it was looked at: what is behind it is read as
 * well.
 *
 * links: ngx_module/ngx_http_retort_jwt.c ngx_module/ngx_http_retort_jwks.c
 * links: ngx_module/ngx_http_retort_json.c ngx_module/ngx_http_retort_claims.c
 * links: ngx_module/ngx_http_retort_crypto.c ngx_module/ngx_http_retort_keys.c
 * links: ngx_module/ngx_http_retort_signed.c
 * links: ngx_module/ngx_http_retort_scope.c tests/fuzz/lib/nginx_bed.c
 * wraps: ngx_http_retort_jwk_verify ngx_http_retort_equal
 */

#include "ngx_http_retort_module.h"
#include "ngx_http_retort_jwt.h"

#include <sys/mman.h>

#include "fuzz.h"


#define TOKENS_MAX  16384


ngx_module_t             ngx_http_retort_module;

static ngx_log_t         log_of_nobody;
static ngx_connection_t  connection = { .log = &log_of_nobody };
static int               file;
static char              path[32];


ngx_uint_t __real_ngx_http_retort_jwk_verify(ngx_http_retort_jwk_t *jwk,
    ngx_str_t *text, ngx_str_t *signature);
ngx_uint_t __wrap_ngx_http_retort_jwk_verify(ngx_http_retort_jwk_t *jwk,
    ngx_str_t *text, ngx_str_t *signature);
ngx_uint_t __real_ngx_http_retort_equal(u_char *a, u_char *b, size_t len);
ngx_uint_t __wrap_ngx_http_retort_equal(u_char *a, u_char *b, size_t len);


ngx_uint_t
__wrap_ngx_http_retort_jwk_verify(ngx_http_retort_jwk_t *jwk,
    ngx_str_t *text, ngx_str_t *signature)
{
    (void) __real_ngx_http_retort_jwk_verify(jwk, text, signature);

    return 1;
}


ngx_uint_t
__wrap_ngx_http_retort_equal(u_char *a, u_char *b, size_t len)
{
    (void) __real_ngx_http_retort_equal(a, b, len);

    return 1;
}


/* of requests' paths, and of a file: neither is read here */

void
ngx_http_retort_split_path(ngx_http_request_t *r, ngx_str_t *script,
    ngx_str_t *rest)
{
    (void) r;
    ngx_str_null(script);
    ngx_str_null(rest);
}


ngx_array_t *
ngx_http_retort_read_secrets(ngx_conf_t *cf, ngx_str_t *name)
{
    (void) cf;
    (void) name;

    return NULL;
}


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;
    file = memfd_create("tokens", MFD_CLOEXEC);

    if (file == -1 || fchmod(file, 0600) == -1) {
        abort();
    }

    (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", file);

    return 0;
}


static void
tokens_conf(ngx_conf_t *cf, ngx_pool_t *pool, const uint8_t *p, size_t n)
{
    if (ftruncate(file, 0) == -1 || pwrite(file, p, n, 0) != (ssize_t) n) {
        abort();
    }

    ngx_memzero(cf, sizeof(ngx_conf_t));
    cf->pool = cf->temp_pool = pool;
    cf->log = &log_of_nobody;
}


static ngx_array_t *
tokens_set(ngx_pool_t *pool, const uint8_t *p, size_t n)
{
    ngx_str_t    name;
    ngx_conf_t   cf;

    tokens_conf(&cf, pool, p, n);
    name.data = (u_char *) path;
    name.len = ngx_strlen(path);

    return ngx_http_retort_read_jwks(&cf, &name);
}


static void
tokens_jwks(ngx_pool_t *pool, const uint8_t *p, size_t n)
{
    u_char                 *bytes;
    ngx_str_t               text = ngx_string("a.b"), signature;
    ngx_uint_t              i;
    ngx_array_t            *keys;
    ngx_http_retort_jwk_t  *jwk;

    keys = tokens_set(pool, p, n);

    if (keys == NULL) {
        return;
    }

    FUZZ_CHECK(keys->nelts != 0 && keys->nelts <= NGX_HTTP_RETORT_JWT_KEYS);

    for (i = 0; i < keys->nelts; i++) {
        jwk = (ngx_http_retort_jwk_t *) keys->elts + i;
        FUZZ_CHECK((jwk->pkey != NULL) != (jwk->secret.len != 0));
        FUZZ_CHECK(jwk->pkey != NULL || jwk->secret.len >= 32);

        bytes = ngx_pcalloc(pool, jwk->signature);
        signature.data = bytes;
        signature.len = jwk->signature;
        (void) __real_ngx_http_retort_jwk_verify(jwk, &text, &signature);
    }
}


static void
tokens_keys(ngx_pool_t *pool, const uint8_t *p, size_t n)
{
    ngx_str_t                     args[2];
    ngx_conf_t                    cf;
    ngx_uint_t                    i;
    ngx_array_t                   words;
    ngx_http_retort_key_t        *key;
    ngx_http_retort_loc_conf_t    rlcf;

    tokens_conf(&cf, pool, p, n);
    ngx_memzero(&rlcf, sizeof(rlcf));
    ngx_memzero(&words, sizeof(words));
    rlcf.keys = NGX_CONF_UNSET_PTR;
    ngx_str_set(&args[0], "retort_key_file");
    args[1].data = (u_char *) path;
    args[1].len = ngx_strlen(path);
    words.elts = args;
    words.nelts = 2;
    cf.args = &words;

    if (ngx_http_retort_set_key_file(&cf, NULL, &rlcf) != NGX_CONF_OK) {
        return;
    }

    for (i = 0; i < rlcf.keys->nelts; i++) {
        key = (ngx_http_retort_key_t *) rlcf.keys->elts + i;
        FUZZ_CHECK(ngx_http_retort_is_name(&key->workspace, 64));
        FUZZ_CHECK(key->scopes != 0);
        FUZZ_CHECK(key->profiles == NULL || key->profiles->nelts != 0);
    }
}


static void
tokens_request(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_pool_t *pool)
{
    ngx_memzero(r, sizeof(ngx_http_request_t));
    ngx_memzero(ctx, sizeof(ngx_http_retort_ctx_t));
    r->pool = pool;
    r->connection = &connection;
    ngx_str_set(&r->method_name, "GET");
    ngx_str_set(&r->unparsed_uri, "/");
}


static void
tokens_known(ngx_int_t rc, ngx_http_retort_ctx_t *ctx)
{
    FUZZ_CHECK(rc == NGX_OK || rc == NGX_HTTP_UNAUTHORIZED);
    FUZZ_CHECK(rc != NGX_OK || ngx_http_retort_is_name(&ctx->workspace, 64));
}


static void
tokens_jwt(ngx_pool_t *pool, const uint8_t *p, size_t n)
{
    ngx_str_t               value, *text;
    ngx_http_request_t      r;
    ngx_http_retort_jwk_t  *jwk;
    ngx_http_retort_jwt_t   jwt;
    ngx_http_retort_ctx_t   ctx;

    tokens_request(&r, &ctx, pool);
    ngx_memzero(&jwt, sizeof(jwt));
    jwt.keys = ngx_array_create(pool, 1, sizeof(ngx_http_retort_jwk_t));
    jwk = ngx_array_push(jwt.keys);
    ngx_memzero(jwk, sizeof(ngx_http_retort_jwk_t));
    ngx_str_set(&jwk->alg, "HS256");
    ngx_str_set(&jwk->secret, "0123456789abcdef0123456789abcdef");
    ngx_str_set(&jwk->kid, "k");
    jwk->signature = NGX_HTTP_RETORT_SHA256;
    jwt.aud = *ngx_array_create(pool, 1, sizeof(ngx_str_t));
    jwt.workspace = *ngx_array_create(pool, 2, sizeof(ngx_str_t));
    text = ngx_array_push(&jwt.aud);
    ngx_str_set(text, "us");
    text = ngx_array_push(&jwt.workspace);
    ngx_str_set(text, "sub");

    if (n != 0 && p[0] == '.') {
        /* a claim in a claim */
        text = ngx_array_push(&jwt.workspace);
        ngx_str_set(text, "id");
        p++;
        n--;
    }

    ngx_str_set(&jwt.scope, "scope");
    value.data = fuzz_copy(p, n);
    value.len = n;
    tokens_known(ngx_http_retort_check_jwt(&r, &ctx, &jwt, &value), &ctx);
    free(value.data);
}


static void
tokens_signed(ngx_pool_t *pool, const uint8_t *p, size_t n)
{
    ngx_int_t                  rc;
    ngx_str_t                 *secret;
    ngx_table_elt_t            line;
    ngx_http_request_t         r;
    ngx_http_retort_ctx_t      ctx;
    ngx_http_retort_signed_t   sd;

    tokens_request(&r, &ctx, pool);
    sd.window = 60;
    sd.secrets = ngx_array_create(pool, 1, sizeof(ngx_str_t));
    secret = ngx_array_push(sd.secrets);
    ngx_str_set(secret, "0123456789abcdef0123456789abcdef");
    ngx_memzero(&line, sizeof(line));
    ngx_str_set(&line.key, "x-retort-identity");
    line.lowcase_key = line.key.data;
    line.value.data = fuzz_copy(p, n);
    line.value.len = n;
    r.headers_in.headers.part.elts = &line;
    r.headers_in.headers.part.nelts = 1;

    rc = ngx_http_retort_check_signed(&r, &ctx, &sd);
    tokens_known(rc, &ctx);
    FUZZ_CHECK(rc != NGX_OK || ctx.scopes != 0);
    free(line.value.data);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t      which;
    ngx_pool_t  *pool;

    which = fuzz_byte(&data, &size);
    size = size < TOKENS_MAX ? size : TOKENS_MAX;
    pool = ngx_create_pool(1024, &log_of_nobody);

    switch (which) {
    case 'j': tokens_jwks(pool, data, size); break;
    case 'k': tokens_keys(pool, data, size); break;
    case 's': tokens_signed(pool, data, size); break;
    default: tokens_jwt(pool, data, size);
    }

    ngx_destroy_pool(pool);

    return 0;
}
