
/*
 * libcrypto, for short texts.  What fails leaves nothing in its queue of
 * errors: nginx's own TLS would take that for its own.
 */

#include "ngx_http_retort_module.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>


/* to look for it each time takes longer than a key's digest */

static EVP_MD  *ngx_http_retort_md;


ngx_int_t
ngx_http_retort_sha256(u_char result[NGX_HTTP_RETORT_SHA256], u_char *data,
    size_t len)
{
    if (ngx_http_retort_md == NULL) {
        ngx_http_retort_md = EVP_MD_fetch(NULL, "SHA256", NULL);
    }

    if (ngx_http_retort_md == NULL
        || EVP_Digest(data, len, result, NULL, ngx_http_retort_md, NULL) != 1)
    {
        ERR_clear_error();
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_http_retort_hmac(u_char result[NGX_HTTP_RETORT_SHA256], u_char *key,
    size_t key_len, ngx_str_t *text)
{
    if (HMAC(EVP_sha256(), key, (int) key_len, text->data, text->len, result,
             NULL)
        == NULL)
    {
        ERR_clear_error();
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_uint_t
ngx_http_retort_equal(u_char *a, u_char *b, size_t len)
{
    return CRYPTO_memcmp(a, b, len) == 0;
}
