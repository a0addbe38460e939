
#include "ngx_http_retort_jwt.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>


#define NGX_HTTP_RETORT_RSA_MIN   2048       /* bits */
#define NGX_HTTP_RETORT_RSA_MAX   8192
#define NGX_HTTP_RETORT_POINT     32         /* bytes, of P-256, Ed25519 */


typedef struct {
    ngx_conf_t   *cf;
    ngx_str_t    *file;
    ngx_array_t  *keys;
    ngx_uint_t    secret;        /* the file has one */
} ngx_http_retort_jwks_reader_t;


static const char *ngx_http_retort_read_pem(
    ngx_http_retort_jwks_reader_t *kr, ngx_str_t *text);
static const char *ngx_http_retort_read_block(
    ngx_http_retort_jwks_reader_t *kr, const char *name, const u_char *data,
    long len);
static const char *ngx_http_retort_read_set(
    ngx_http_retort_jwks_reader_t *kr, ngx_str_t *text);
static const char *ngx_http_retort_read_jwk(
    ngx_http_retort_jwks_reader_t *kr, ngx_array_t *jwk);
static ngx_uint_t ngx_http_retort_jwk_says(ngx_pool_t *pool,
    ngx_array_t *jwk, const char *name, const char *value);
static const char *ngx_http_retort_jwk_bytes(
    ngx_http_retort_jwks_reader_t *kr, ngx_array_t *jwk, const char *name,
    ngx_str_t *bytes);
static const char *ngx_http_retort_jwk_rsa(ngx_http_retort_jwks_reader_t *kr,
    ngx_array_t *jwk, EVP_PKEY **pkey);
static const char *ngx_http_retort_jwk_ec(ngx_http_retort_jwks_reader_t *kr,
    ngx_array_t *jwk, EVP_PKEY **pkey);
static const char *ngx_http_retort_jwk_ed(ngx_http_retort_jwks_reader_t *kr,
    ngx_array_t *jwk, EVP_PKEY **pkey);
static const char *ngx_http_retort_jwk_secret(
    ngx_http_retort_jwks_reader_t *kr, ngx_array_t *jwk, ngx_str_t *kid);
static EVP_PKEY *ngx_http_retort_from_data(const char *type,
    OSSL_PARAM_BLD *build);
static const char *ngx_http_retort_add_pkey(
    ngx_http_retort_jwks_reader_t *kr, EVP_PKEY *pkey, ngx_str_t *kid);
static const char *ngx_http_retort_judge_pkey(EVP_PKEY *pkey,
    ngx_http_retort_jwk_t *jwk);
static ngx_uint_t ngx_http_retort_is_sound(EVP_PKEY *pkey);
static ngx_http_retort_jwk_t *ngx_http_retort_push_jwk(
    ngx_http_retort_jwks_reader_t *kr);
static void ngx_http_retort_free_pkey(void *data);
static ngx_int_t ngx_http_retort_ec_der(ngx_str_t *signature, u_char **der);


ngx_array_t *
ngx_http_retort_read_jwks(ngx_conf_t *cf, ngx_str_t *name)
{
    ngx_str_t                       text;
    const char                     *error;
    ngx_http_retort_jwks_reader_t   kr;

    if (ngx_conf_full_name(cf->cycle, name, 1) != NGX_OK
        || ngx_http_retort_read_file(cf, name, 0, &text) != NGX_OK)
    {
        return NULL;
    }

    kr.cf = cf;
    kr.file = name;
    kr.secret = 0;
    kr.keys = ngx_array_create(cf->pool, 4, sizeof(ngx_http_retort_jwk_t));
    if (kr.keys == NULL) {
        return NULL;
    }

    error = ngx_strlchr(text.data, text.data + text.len, '{')
            ? ngx_http_retort_read_set(&kr, &text)
            : ngx_http_retort_read_pem(&kr, &text);

    ERR_clear_error();

    if (error == NULL && kr.keys->nelts == 0) {
        error = "no key of RS256, ES256, EdDSA or HS256";
    }

    if (error) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "%s in %V", error, name);
        return NULL;
    }

    /* who can read a secret can sign with it */

    if (kr.secret && ngx_http_retort_read_file(cf, name, 1, &text) != NGX_OK)
    {
        return NULL;
    }

    return kr.keys;
}


static const char *
ngx_http_retort_read_pem(ngx_http_retort_jwks_reader_t *kr, ngx_str_t *text)
{
    BIO         *bio;
    char        *name, *header;
    long         len;
    u_char      *data;
    const char  *error;

    error = NULL;

    bio = BIO_new_mem_buf(text->data, (int) text->len);
    if (bio == NULL) {
        return "no memory for a key";
    }

    while (error == NULL
           && PEM_read_bio(bio, &name, &header, &data, &len) == 1)
    {
        error = ngx_http_retort_read_block(kr, name, data, len);

        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_free(data);
    }

    BIO_free(bio);

    if (error == NULL
        && ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
    {
        return "PEM that cannot be read";
    }

    return error;
}


static const char *
ngx_http_retort_read_block(ngx_http_retort_jwks_reader_t *kr,
    const char *name, const u_char *data, long len)
{
    EVP_PKEY   *pkey;
    ngx_str_t   kid;

    if (ngx_strcmp(name, "PUBLIC KEY") != 0) {
        return "something that is no PUBLIC KEY";
    }

    pkey = d2i_PUBKEY(NULL, &data, len);
    if (pkey == NULL) {
        return "a public key that cannot be read";
    }

    ngx_str_null(&kid);

    return ngx_http_retort_add_pkey(kr, pkey, &kid);
}


/* RFC 7517: keys that we have no use for are none of ours */

static const char *
ngx_http_retort_read_set(ngx_http_retort_jwks_reader_t *kr, ngx_str_t *text)
{
    ngx_str_t                 *value;
    ngx_uint_t                 i;
    const char                *error;
    ngx_array_t               *set, *keys, *jwk;
    ngx_http_retort_member_t  *m;

    static ngx_str_t  name = ngx_string("keys");

    set = ngx_http_retort_json_members(kr->cf->temp_pool, text, '{');
    value = set ? ngx_http_retort_json_find(set, &name) : NULL;

    keys = value ? ngx_http_retort_json_members(kr->cf->temp_pool, value,
                                                '[')
                 : NULL;
    if (keys == NULL) {
        return "no set of keys, {\"keys\":[...]}";
    }

    m = keys->elts;

    for (i = 0; i < keys->nelts; i++) {
        jwk = ngx_http_retort_json_members(kr->cf->temp_pool, &m[i].value,
                                           '{');
        if (jwk == NULL) {
            return "a key that is no object, or has a name twice";
        }

        error = ngx_http_retort_read_jwk(kr, jwk);
        if (error) {
            return error;
        }
    }

    return NULL;
}


static const char *
ngx_http_retort_read_jwk(ngx_http_retort_jwks_reader_t *kr, ngx_array_t *jwk)
{
    EVP_PKEY    *pkey;
    ngx_str_t    kid, *value;
    const char  *error;
    ngx_pool_t  *pool;

    static ngx_str_t  private = ngx_string("d");
    static ngx_str_t  id = ngx_string("kid");
    static ngx_str_t  use = ngx_string("use");
    static ngx_str_t  alg = ngx_string("alg");

#define says(name, text)  ngx_http_retort_jwk_says(pool, jwk, name, text)
#define bound(name, text)                                                     \
    (ngx_http_retort_json_find(jwk, name) == NULL                             \
     || says((char *) (name)->data, text))

    pool = kr->cf->temp_pool;
    pkey = NULL;
    ngx_str_null(&kid);

    value = ngx_http_retort_json_find(jwk, &id);

    if (value && ngx_http_retort_json_text(kr->cf->pool, value, &kid)
                 != NGX_OK)
    {
        return "a \"kid\" that is no string";
    }

    if (ngx_http_retort_json_find(jwk, &private)) {
        return "a private key, which must not be here,";
    }

    if (!bound(&use, "sig")) {
        return NULL;
    }

    if (says("kty", "oct") && says("alg", "HS256")) {
        return ngx_http_retort_jwk_secret(kr, jwk, &kid);
    }

    if (says("kty", "RSA") && bound(&alg, "RS256")) {
        error = ngx_http_retort_jwk_rsa(kr, jwk, &pkey);

    } else if (says("kty", "EC") && says("crv", "P-256")
               && bound(&alg, "ES256"))
    {
        error = ngx_http_retort_jwk_ec(kr, jwk, &pkey);

    } else if (says("kty", "OKP") && says("crv", "Ed25519")
               && (bound(&alg, "EdDSA") || says("alg", "Ed25519")))
    {
        error = ngx_http_retort_jwk_ed(kr, jwk, &pkey);

    } else {
        return NULL;
    }

#undef says
#undef bound

    return error ? error : ngx_http_retort_add_pkey(kr, pkey, &kid);
}


static ngx_uint_t
ngx_http_retort_jwk_says(ngx_pool_t *pool, ngx_array_t *jwk,
    const char *name, const char *value)
{
    ngx_str_t  key, text, *found;

    key.data = (u_char *) name;
    key.len = ngx_strlen(name);

    found = ngx_http_retort_json_find(jwk, &key);

    return found
           && ngx_http_retort_json_text(pool, found, &text) == NGX_OK
           && text.len == ngx_strlen(value)
           && ngx_memcmp(text.data, value, text.len) == 0;
}


static const char *
ngx_http_retort_jwk_bytes(ngx_http_retort_jwks_reader_t *kr,
    ngx_array_t *jwk, const char *name, ngx_str_t *bytes)
{
    ngx_str_t  key, text, *found;

    key.data = (u_char *) name;
    key.len = ngx_strlen(name);

    found = ngx_http_retort_json_find(jwk, &key);

    if (found == NULL
        || ngx_http_retort_json_text(kr->cf->temp_pool, found, &text)
           != NGX_OK
        || ngx_http_retort_base64url(kr->cf->pool, &text, bytes) != NGX_OK
        || bytes->len == 0)
    {
        return "a key that cannot be read";
    }

    return NULL;
}


static const char *
ngx_http_retort_jwk_rsa(ngx_http_retort_jwks_reader_t *kr, ngx_array_t *jwk,
    EVP_PKEY **pkey)
{
    BIGNUM          *n, *e;
    ngx_str_t        modulus, exponent;
    const char      *error;
    OSSL_PARAM_BLD  *build;

    error = ngx_http_retort_jwk_bytes(kr, jwk, "n", &modulus);

    if (error == NULL) {
        error = ngx_http_retort_jwk_bytes(kr, jwk, "e", &exponent);
    }

    if (error) {
        return error;
    }

    n = BN_bin2bn(modulus.data, (int) modulus.len, NULL);
    e = BN_bin2bn(exponent.data, (int) exponent.len, NULL);
    build = OSSL_PARAM_BLD_new();
    *pkey = NULL;

    if (n && e && build
        && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n)
        && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e))
    {
        *pkey = ngx_http_retort_from_data("RSA", build);
    }

    OSSL_PARAM_BLD_free(build);
    BN_free(n);
    BN_free(e);

    return *pkey ? NULL : "an RSA key that is none";
}


static const char *
ngx_http_retort_jwk_ec(ngx_http_retort_jwks_reader_t *kr, ngx_array_t *jwk,
    EVP_PKEY **pkey)
{
    u_char           point[1 + 2 * NGX_HTTP_RETORT_POINT];
    ngx_str_t        x, y;
    const char      *error;
    OSSL_PARAM_BLD  *build;

    error = ngx_http_retort_jwk_bytes(kr, jwk, "x", &x);

    if (error == NULL) {
        error = ngx_http_retort_jwk_bytes(kr, jwk, "y", &y);
    }

    if (error) {
        return error;
    }

    if (x.len != NGX_HTTP_RETORT_POINT || y.len != NGX_HTTP_RETORT_POINT) {
        return "a point that is not on P-256";
    }

    point[0] = POINT_CONVERSION_UNCOMPRESSED;
    ngx_memcpy(point + 1, x.data, x.len);
    ngx_memcpy(point + 1 + x.len, y.data, y.len);

    build = OSSL_PARAM_BLD_new();
    *pkey = NULL;

    if (build
        && OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME,
                                           SN_X9_62_prime256v1, 0)
        && OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY,
                                            point, sizeof(point)))
    {
        *pkey = ngx_http_retort_from_data("EC", build);
    }

    OSSL_PARAM_BLD_free(build);

    return *pkey ? NULL : "a point that is not on P-256";
}


static const char *
ngx_http_retort_jwk_ed(ngx_http_retort_jwks_reader_t *kr, ngx_array_t *jwk,
    EVP_PKEY **pkey)
{
    ngx_str_t    x;
    const char  *error;

    error = ngx_http_retort_jwk_bytes(kr, jwk, "x", &x);
    if (error) {
        return error;
    }

    *pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, x.data,
                                        x.len);

    return *pkey ? NULL : "a key that is none of Ed25519";
}


static const char *
ngx_http_retort_jwk_secret(ngx_http_retort_jwks_reader_t *kr,
    ngx_array_t *jwk, ngx_str_t *kid)
{
    ngx_str_t               secret;
    const char             *error;
    ngx_http_retort_jwk_t  *key;

    error = ngx_http_retort_jwk_bytes(kr, jwk, "k", &secret);
    if (error) {
        return error;
    }

    if (secret.len < NGX_HTTP_RETORT_SHA256) {
        return "a secret of less than 32 bytes";
    }

    key = ngx_http_retort_push_jwk(kr);
    if (key == NULL) {
        return "more than 16 keys";
    }

    ngx_str_set(&key->alg, "HS256");
    key->secret = secret;
    key->kid = *kid;
    key->signature = NGX_HTTP_RETORT_SHA256;
    kr->secret = 1;

    return NULL;
}


static EVP_PKEY *
ngx_http_retort_from_data(const char *type, OSSL_PARAM_BLD *build)
{
    EVP_PKEY      *pkey;
    OSSL_PARAM    *params;
    EVP_PKEY_CTX  *ctx;

    pkey = NULL;
    params = OSSL_PARAM_BLD_to_param(build);
    ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);

    if (params == NULL || ctx == NULL
        || EVP_PKEY_fromdata_init(ctx) != 1
        || EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY, params) != 1)
    {
        EVP_PKEY_free(pkey);
        pkey = NULL;
    }

    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);

    return pkey;
}


/* takes pkey, whatever becomes of it */

static const char *
ngx_http_retort_add_pkey(ngx_http_retort_jwks_reader_t *kr, EVP_PKEY *pkey,
    ngx_str_t *kid)
{
    const char             *error;
    ngx_pool_cleanup_t     *cln;
    ngx_http_retort_jwk_t  *key, jwk;

    error = ngx_http_retort_judge_pkey(pkey, &jwk);
    cln = error ? NULL : ngx_pool_cleanup_add(kr->cf->pool, 0);

    if (cln == NULL) {
        EVP_PKEY_free(pkey);
        return error ? error : "no memory for a key";
    }

    cln->handler = ngx_http_retort_free_pkey;
    cln->data = pkey;

    key = ngx_http_retort_push_jwk(kr);
    if (key == NULL) {
        return "more than 16 keys";
    }

    *key = jwk;
    key->pkey = pkey;
    key->kid = *kid;
    ngx_str_null(&key->secret);

    return NULL;
}


static const char *
ngx_http_retort_judge_pkey(EVP_PKEY *pkey, ngx_http_retort_jwk_t *jwk)
{
    int     bits;
    char    group[32];
    size_t  len;

    switch (EVP_PKEY_get_base_id(pkey)) {

    case EVP_PKEY_RSA:
        bits = EVP_PKEY_get_bits(pkey);

        if (bits < NGX_HTTP_RETORT_RSA_MIN || bits > NGX_HTTP_RETORT_RSA_MAX
            || !ngx_http_retort_is_sound(pkey))
        {
            return "an RSA key that is not sound, or not of 2048 to 8192 bits,";
        }

        ngx_str_set(&jwk->alg, "RS256");
        jwk->signature = (size_t) EVP_PKEY_get_size(pkey);
        return NULL;

    case EVP_PKEY_EC:
        if (EVP_PKEY_get_group_name(pkey, group, sizeof(group), &len) != 1
            || ngx_strcmp(group, SN_X9_62_prime256v1) != 0
            || !ngx_http_retort_is_sound(pkey))
        {
            return "a key of a curve that is not P-256";
        }

        ngx_str_set(&jwk->alg, "ES256");
        jwk->signature = 2 * NGX_HTTP_RETORT_POINT;
        return NULL;

    case EVP_PKEY_ED25519:
        ngx_str_set(&jwk->alg, "EdDSA");
        jwk->signature = 2 * NGX_HTTP_RETORT_POINT;
        return NULL;
    }

    return "a key that is not RSA, P-256 or Ed25519";
}


static ngx_uint_t
ngx_http_retort_is_sound(EVP_PKEY *pkey)
{
    ngx_uint_t     sound;
    EVP_PKEY_CTX  *ctx;

    ctx = EVP_PKEY_CTX_new_from_pkey(NULL, pkey, NULL);
    sound = ctx && EVP_PKEY_public_check(ctx) == 1;
    EVP_PKEY_CTX_free(ctx);

    return sound;
}


static ngx_http_retort_jwk_t *
ngx_http_retort_push_jwk(ngx_http_retort_jwks_reader_t *kr)
{
    ngx_http_retort_jwk_t  *key;

    if (kr->keys->nelts == NGX_HTTP_RETORT_JWT_KEYS) {
        return NULL;
    }

    key = ngx_array_push(kr->keys);

    if (key) {
        ngx_memzero(key, sizeof(ngx_http_retort_jwk_t));
    }

    return key;
}


static void
ngx_http_retort_free_pkey(void *data)
{
    EVP_PKEY_free(data);
}


ngx_int_t
ngx_http_retort_base64url(ngx_pool_t *pool, ngx_str_t *src, ngx_str_t *dst)
{
    u_char  ch;
    size_t  i;

    for (i = 0; i < src->len; i++) {
        ch = src->data[i];

        if ((ch < 'a' || ch > 'z') && (ch < 'A' || ch > 'Z')
            && (ch < '0' || ch > '9') && ch != '-' && ch != '_')
        {
            return NGX_DECLINED;
        }
    }

    dst->data = ngx_pnalloc(pool, ngx_base64_decoded_length(src->len) + 3);
    if (dst->data == NULL) {
        return NGX_ERROR;
    }

    return ngx_decode_base64url(dst, src) == NGX_OK ? NGX_OK : NGX_DECLINED;
}


ngx_uint_t
ngx_http_retort_jwk_verify(ngx_http_retort_jwk_t *jwk, ngx_str_t *text,
    ngx_str_t *signature)
{
    int          len;
    u_char       hash[NGX_HTTP_RETORT_SHA256], *der;
    ngx_str_t    s;
    ngx_uint_t   good;
    EVP_MD_CTX  *ctx;

    if (signature->len != jwk->signature) {
        return 0;
    }

    if (jwk->pkey == NULL) {
        return ngx_http_retort_hmac(hash, jwk->secret.data, jwk->secret.len,
                                    text)
               == NGX_OK
               && ngx_http_retort_equal(hash, signature->data, sizeof(hash));
    }

    s = *signature;
    der = NULL;

    if (EVP_PKEY_get_base_id(jwk->pkey) == EVP_PKEY_EC) {
        len = (int) ngx_http_retort_ec_der(signature, &der);

        s.data = der;
        s.len = len > 0 ? (size_t) len : 0;
    }

    ctx = EVP_MD_CTX_new();

    good = ctx && s.len
           && EVP_DigestVerifyInit(ctx, NULL,
                                   EVP_PKEY_get_base_id(jwk->pkey)
                                   == EVP_PKEY_ED25519
                                   ? NULL : EVP_sha256(),
                                   NULL, jwk->pkey)
              == 1
           && EVP_DigestVerify(ctx, s.data, s.len, text->data, text->len)
              == 1;

    EVP_MD_CTX_free(ctx);
    OPENSSL_free(der);
    ERR_clear_error();

    return good;
}


/* RFC 7518: r and s side by side; libcrypto has them in DER */

static ngx_int_t
ngx_http_retort_ec_der(ngx_str_t *signature, u_char **der)
{
    int         len;
    BIGNUM     *r, *s;
    ECDSA_SIG  *sig;

    r = BN_bin2bn(signature->data, NGX_HTTP_RETORT_POINT, NULL);
    s = BN_bin2bn(signature->data + NGX_HTTP_RETORT_POINT,
                  NGX_HTTP_RETORT_POINT, NULL);
    sig = ECDSA_SIG_new();

    if (r == NULL || s == NULL || sig == NULL
        || ECDSA_SIG_set0(sig, r, s) != 1)
    {
        BN_free(r);
        BN_free(s);
        ECDSA_SIG_free(sig);
        return NGX_ERROR;
    }

    len = i2d_ECDSA_SIG(sig, der);
    ECDSA_SIG_free(sig);

    return len;
}
