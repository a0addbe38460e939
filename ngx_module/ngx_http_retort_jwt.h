
/*
 * Tokens of RFC 7519, signed by keys that root has written down.
 *
 * A token is bytes until one of the keys has verified it: each key is tried
 * with its own algorithm, whatever the token says of itself, so neither its
 * header nor its payload is read before.  A key has one algorithm, by what it
 * is: no public key is ever taken for the secret of an HMAC.
 */

#ifndef _NGX_HTTP_RETORT_JWT_H_INCLUDED_
#define _NGX_HTTP_RETORT_JWT_H_INCLUDED_


#include "ngx_http_retort_module.h"

#include <openssl/evp.h>


/* the most that one token may cost: so many verifications */
#define NGX_HTTP_RETORT_JWT_KEYS  16


typedef struct {
    ngx_str_t     alg;           /* as the header must say */
    EVP_PKEY     *pkey;          /* NULL: secret has it */
    ngx_str_t     secret;
    ngx_str_t     kid;           /* may be empty */
    size_t        signature;     /* its length */
} ngx_http_retort_jwk_t;


struct ngx_http_retort_jwt_s {
    ngx_array_t  *keys;          /* of ngx_http_retort_jwk_t */
    ngx_str_t     iss;           /* empty: any */
    ngx_array_t   aud;           /* of ngx_str_t: one of them, or no aud */
    ngx_array_t   workspace;     /* of ngx_str_t: claim, claim in it, ... */
    ngx_str_t     scope;         /* a claim; empty: none */
    time_t        leeway;
};


typedef struct {
    ngx_str_t     name;          /* of an object's member */
    ngx_str_t     value;         /* JSON */
} ngx_http_retort_member_t;


/* ngx_http_retort_jwks.c */

/*
 * All usable keys of a file, PEM or a set of JWKs, for as long as cf->pool;
 * NULL: logged.
 */
ngx_array_t *ngx_http_retort_read_jwks(ngx_conf_t *cf, ngx_str_t *name);

/* has this key signed the text? */
ngx_uint_t ngx_http_retort_jwk_verify(ngx_http_retort_jwk_t *jwk,
    ngx_str_t *text, ngx_str_t *signature);

/* without padding, and nothing else in it; NGX_OK, or it is none */
ngx_int_t ngx_http_retort_base64url(ngx_pool_t *pool, ngx_str_t *src,
    ngx_str_t *dst);


/* ngx_http_retort_claims.c */

/*
 * What is in an object ('{') or array ('['), of ngx_http_retort_member_t.
 * NULL: it is none, has a name twice or more than 128 members, or there is no
 * memory.
 */
ngx_array_t *ngx_http_retort_json_members(ngx_pool_t *pool, ngx_str_t *text,
    u_char open);

/* the value of a member, or NULL */
ngx_str_t *ngx_http_retort_json_find(ngx_array_t *members, ngx_str_t *name);

/* what a string says; NGX_OK, or it is none */
ngx_int_t ngx_http_retort_json_text(ngx_pool_t *pool, ngx_str_t *value,
    ngx_str_t *text);

/* seconds; a fraction does not count; NGX_OK, or it is none */
ngx_int_t ngx_http_retort_json_time(ngx_str_t *value, time_t *t);

/* a string, or an array of strings, as ngx_str_t; NULL: it is neither */
ngx_array_t *ngx_http_retort_json_texts(ngx_pool_t *pool, ngx_str_t *value);


#endif /* _NGX_HTTP_RETORT_JWT_H_INCLUDED_ */
