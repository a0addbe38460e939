
#include "ngx_http_retort_jwt.h"


#define NGX_HTTP_RETORT_JWT_MAX     8192
#define NGX_HTTP_RETORT_JWT_LEEWAY  300      /* seconds, at most */


typedef struct {
    ngx_str_t     text;          /* what is signed */
    ngx_str_t     header;        /* still in base64url */
    ngx_str_t     payload;
    ngx_str_t     signature;     /* bytes */
} ngx_http_retort_token_t;


static const char *ngx_http_retort_jwt_arg(ngx_conf_t *cf, ngx_str_t *arg,
    ngx_http_retort_jwt_t *jwt);
static const char *ngx_http_retort_jwt_leeway(ngx_str_t *value,
    ngx_http_retort_jwt_t *jwt);
static const char *ngx_http_retort_jwt_push(ngx_array_t *texts,
    ngx_str_t *value);
static const char *ngx_http_retort_cut_token(ngx_pool_t *pool,
    ngx_str_t *value, ngx_http_retort_token_t *token);
static ngx_http_retort_jwk_t *ngx_http_retort_signer(
    ngx_http_retort_jwt_t *jwt, ngx_http_retort_token_t *token);
static ngx_array_t *ngx_http_retort_token_object(ngx_pool_t *pool,
    ngx_str_t *part);
static ngx_uint_t ngx_http_retort_is_text(ngx_pool_t *pool,
    ngx_array_t *members, const char *name, ngx_str_t *text);
static const char *ngx_http_retort_check_header(ngx_pool_t *pool,
    ngx_http_retort_jwk_t *jwk, ngx_array_t *header);
static const char *ngx_http_retort_check_times(ngx_http_retort_jwt_t *jwt,
    ngx_array_t *claims);
static const char *ngx_http_retort_check_parties(ngx_pool_t *pool,
    ngx_http_retort_jwt_t *jwt, ngx_array_t *claims);
static const char *ngx_http_retort_token_workspace(ngx_pool_t *pool,
    ngx_http_retort_jwt_t *jwt, ngx_array_t *claims, ngx_str_t *workspace);
static const char *ngx_http_retort_token_scopes(ngx_pool_t *pool,
    ngx_http_retort_jwt_t *jwt, ngx_array_t *claims, ngx_uint_t *scopes);


/* retort_auth_jwt file | off [iss=I] [aud=A] [workspace=C] [scope=C] ... */

char *
ngx_http_retort_set_jwt(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_str_t              *value;
    ngx_uint_t              i;
    const char             *error;
    ngx_http_retort_jwt_t  *jwt;

    static ngx_str_t  sub = ngx_string("sub");

    if (rlcf->jwt != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        rlcf->jwt = NULL;
        return NGX_CONF_OK;
    }

    jwt = ngx_pcalloc(cf->pool, sizeof(ngx_http_retort_jwt_t));

    if (jwt == NULL
        || ngx_array_init(&jwt->aud, cf->pool, 2, sizeof(ngx_str_t))
           != NGX_OK
        || ngx_array_init(&jwt->workspace, cf->pool, 2, sizeof(ngx_str_t))
           != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    for (i = 2; i < cf->args->nelts; i++) {
        error = ngx_http_retort_jwt_arg(cf, &value[i], jwt);

        if (error) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "%s \"%V\"", error,
                               &value[i]);
            return NGX_CONF_ERROR;
        }
    }

    if (jwt->workspace.nelts == 0
        && ngx_http_retort_jwt_push(&jwt->workspace, &sub) != NULL)
    {
        return NGX_CONF_ERROR;
    }

    if (value[1].len == 0) {
        return "has an empty path";
    }

    jwt->keys = ngx_http_retort_read_jwks(cf, &value[1]);
    if (jwt->keys == NULL) {
        return NGX_CONF_ERROR;
    }

    rlcf->jwt = jwt;

    return NGX_CONF_OK;
}


static const char *
ngx_http_retort_jwt_arg(ngx_conf_t *cf, ngx_str_t *arg,
    ngx_http_retort_jwt_t *jwt)
{
    ngx_str_t  name, value;

    value = *arg;
    name = ngx_http_retort_cut(&value, '=');

    if (value.len == 0) {
        return "invalid parameter";
    }

#define is(text)                                                              \
    (name.len == sizeof(text) - 1                                             \
     && ngx_memcmp(name.data, text, sizeof(text) - 1) == 0)

    if (is("iss") && jwt->iss.len == 0) {
        jwt->iss = value;
        return NULL;
    }

    if (is("scope") && jwt->scope.len == 0) {
        jwt->scope = value;
        return NULL;
    }

    if (is("aud")) {
        return ngx_http_retort_jwt_push(&jwt->aud, &value);
    }

    if (is("workspace")) {
        return ngx_http_retort_jwt_push(&jwt->workspace, &value);
    }

    if (is("leeway")) {
        return ngx_http_retort_jwt_leeway(&value, jwt);
    }

#undef is

    return "invalid parameter";
}


static const char *
ngx_http_retort_jwt_leeway(ngx_str_t *value, ngx_http_retort_jwt_t *jwt)
{
    jwt->leeway = ngx_parse_time(value, 1);

    if (jwt->leeway == (time_t) NGX_ERROR
        || jwt->leeway > NGX_HTTP_RETORT_JWT_LEEWAY)
    {
        return "a leeway is 0 to 5 minutes:";
    }

    return NULL;
}


static const char *
ngx_http_retort_jwt_push(ngx_array_t *texts, ngx_str_t *value)
{
    ngx_str_t  *text;

    text = ngx_array_push(texts);
    if (text == NULL) {
        return "no memory for";
    }

    *text = *value;

    return NULL;
}


ngx_int_t
ngx_http_retort_check_jwt(ngx_http_request_t *r, ngx_http_retort_ctx_t *ctx,
    ngx_http_retort_jwt_t *jwt, ngx_str_t *value)
{
    const char               *error;
    ngx_array_t              *header, *claims;
    ngx_http_retort_jwk_t    *jwk;
    ngx_http_retort_token_t   token;

    error = ngx_http_retort_cut_token(r->pool, value, &token);
    if (error) {
        goto refused;
    }

    jwk = ngx_http_retort_signer(jwt, &token);
    if (jwk == NULL) {
        error = "no key of ours has signed it";
        goto refused;
    }

    header = ngx_http_retort_token_object(r->pool, &token.header);
    claims = ngx_http_retort_token_object(r->pool, &token.payload);

    if (header == NULL || claims == NULL) {
        error = "a part is no object, or has a name twice";
        goto refused;
    }

    error = ngx_http_retort_check_header(r->pool, jwk, header);

    if (error == NULL) {
        error = ngx_http_retort_check_times(jwt, claims);
    }

    if (error == NULL) {
        error = ngx_http_retort_check_parties(r->pool, jwt, claims);
    }

    if (error == NULL) {
        error = ngx_http_retort_token_workspace(r->pool, jwt, claims,
                                                &ctx->workspace);
    }

    if (error == NULL) {
        error = ngx_http_retort_token_scopes(r->pool, jwt, claims,
                                             &ctx->scopes);
    }

    if (error == NULL) {
        return NGX_OK;
    }

refused:

    ngx_log_error(NGX_LOG_INFO, r->connection->log, 0,
                  "retort token refused: %s", error);

    return NGX_HTTP_UNAUTHORIZED;
}


static const char *
ngx_http_retort_cut_token(ngx_pool_t *pool, ngx_str_t *value,
    ngx_http_retort_token_t *token)
{
    ngx_str_t  rest;

    if (value->len > NGX_HTTP_RETORT_JWT_MAX) {
        return "it is longer than 8192 bytes";
    }

    rest = *value;
    token->header = ngx_http_retort_cut(&rest, '.');
    token->payload = ngx_http_retort_cut(&rest, '.');

    token->text.data = value->data;
    token->text.len = token->payload.data + token->payload.len - value->data;

    /* a second dot is in no signature, which may not be empty either */

    if (token->header.len == 0 || token->payload.len == 0 || rest.len == 0
        || ngx_http_retort_base64url(pool, &rest, &token->signature)
           != NGX_OK)
    {
        return "it is not of three parts";
    }

    return NULL;
}


static ngx_http_retort_jwk_t *
ngx_http_retort_signer(ngx_http_retort_jwt_t *jwt,
    ngx_http_retort_token_t *token)
{
    ngx_uint_t              i;
    ngx_http_retort_jwk_t  *jwk;

    jwk = jwt->keys->elts;

    for (i = 0; i < jwt->keys->nelts; i++) {

        if (ngx_http_retort_jwk_verify(&jwk[i], &token->text,
                                       &token->signature))
        {
            return &jwk[i];
        }
    }

    return NULL;
}


static ngx_array_t *
ngx_http_retort_token_object(ngx_pool_t *pool, ngx_str_t *part)
{
    ngx_str_t  text;

    if (ngx_http_retort_base64url(pool, part, &text) != NGX_OK) {
        return NULL;
    }

    return ngx_http_retort_json_members(pool, &text, '{');
}


static ngx_uint_t
ngx_http_retort_is_text(ngx_pool_t *pool, ngx_array_t *members,
    const char *name, ngx_str_t *text)
{
    ngx_str_t  key, said, *value;

    key.data = (u_char *) name;
    key.len = ngx_strlen(name);

    value = ngx_http_retort_json_find(members, &key);

    return value
           && ngx_http_retort_json_text(pool, value, &said) == NGX_OK
           && said.len == text->len
           && ngx_memcmp(said.data, text->data, text->len) == 0;
}


/* what the token says of itself must be what has verified it */

static const char *
ngx_http_retort_check_header(ngx_pool_t *pool, ngx_http_retort_jwk_t *jwk,
    ngx_array_t *header)
{
    ngx_str_t  type, *value;

    static ngx_str_t  kid = ngx_string("kid");
    static ngx_str_t  typ = ngx_string("typ");
    static ngx_str_t  crit = ngx_string("crit");

    if (!ngx_http_retort_is_text(pool, header, "alg", &jwk->alg)) {
        return "its algorithm is not its key's";
    }

    if (ngx_http_retort_json_find(header, &crit)) {
        return "it has extensions that must be understood";
    }

    if (jwk->kid.len && ngx_http_retort_json_find(header, &kid)
        && !ngx_http_retort_is_text(pool, header, "kid", &jwk->kid))
    {
        return "it names another key";
    }

    value = ngx_http_retort_json_find(header, &typ);

    if (value == NULL) {
        return NULL;
    }

    if (ngx_http_retort_json_text(pool, value, &type) == NGX_OK
        && ((type.len == 3
             && ngx_strncasecmp(type.data, (u_char *) "JWT", 3) == 0)
            || (type.len == 6
                && ngx_strncasecmp(type.data, (u_char *) "at+jwt", 6) == 0)))
    {
        return NULL;
    }

    return "it is of another type than JWT or at+jwt";
}


static const char *
ngx_http_retort_check_times(ngx_http_retort_jwt_t *jwt, ngx_array_t *claims)
{
    time_t      now, t;
    ngx_str_t  *value;

    static ngx_str_t  exp = ngx_string("exp");
    static ngx_str_t  nbf = ngx_string("nbf");

    now = ngx_time();
    value = ngx_http_retort_json_find(claims, &exp);

    if (value == NULL || ngx_http_retort_json_time(value, &t) != NGX_OK) {
        return "it has no time at which it expires";
    }

    if (now - jwt->leeway >= t) {
        return "it has expired";
    }

    value = ngx_http_retort_json_find(claims, &nbf);

    if (value == NULL) {
        return NULL;
    }

    if (ngx_http_retort_json_time(value, &t) != NGX_OK) {
        return "its \"nbf\" is no time";
    }

    return (now + jwt->leeway < t) ? "it is not good yet" : NULL;
}


/* a token that names whom it is for is for nobody else */

static const char *
ngx_http_retort_check_parties(ngx_pool_t *pool, ngx_http_retort_jwt_t *jwt,
    ngx_array_t *claims)
{
    ngx_str_t    *value, *said, *ours;
    ngx_uint_t    i, j;
    ngx_array_t  *parties;

    static ngx_str_t  aud = ngx_string("aud");

    if (jwt->iss.len
        && !ngx_http_retort_is_text(pool, claims, "iss", &jwt->iss))
    {
        return "it has another issuer";
    }

    value = ngx_http_retort_json_find(claims, &aud);

    if (value == NULL) {
        return jwt->aud.nelts ? "it has no audience" : NULL;
    }

    parties = ngx_http_retort_json_texts(pool, value);
    if (parties == NULL) {
        return "its audience is no string";
    }

    said = parties->elts;
    ours = jwt->aud.elts;

    for (i = 0; i < parties->nelts; i++) {
        for (j = 0; j < jwt->aud.nelts; j++) {

            if (said[i].len == ours[j].len
                && ngx_memcmp(said[i].data, ours[j].data, ours[j].len) == 0)
            {
                return NULL;
            }
        }
    }

    return "it is for another audience";
}


static const char *
ngx_http_retort_token_workspace(ngx_pool_t *pool, ngx_http_retort_jwt_t *jwt,
    ngx_array_t *claims, ngx_str_t *workspace)
{
    ngx_str_t   *name, *value;
    ngx_uint_t   i;

    name = jwt->workspace.elts;
    value = NULL;

    for (i = 0; i < jwt->workspace.nelts; i++) {

        if (i) {
            claims = ngx_http_retort_json_members(pool, value, '{');
        }

        value = claims ? ngx_http_retort_json_find(claims, &name[i]) : NULL;

        if (value == NULL) {
            return "it has no workspace";
        }
    }

    if (ngx_http_retort_json_text(pool, value, workspace) != NGX_OK
        || !ngx_http_retort_is_name(workspace, NGX_HTTP_RETORT_NAME_MAX))
    {
        return "its workspace is not 1 to 64 characters of [A-Za-z0-9._-]";
    }

    return NULL;
}


/* as OAuth has it, names with blanks between, or an array of names */

static const char *
ngx_http_retort_token_scopes(ngx_pool_t *pool, ngx_http_retort_jwt_t *jwt,
    ngx_array_t *claims, ngx_uint_t *scopes)
{
    ngx_str_t    *value, *list, name;
    ngx_uint_t    i;
    ngx_array_t  *lists;

    *scopes = RETORT_SCOPE_DEFAULT;

    if (jwt->scope.len == 0) {
        return NULL;
    }

    *scopes = 0;
    value = ngx_http_retort_json_find(claims, &jwt->scope);

    if (value == NULL) {
        return NULL;
    }

    lists = ngx_http_retort_json_texts(pool, value);
    if (lists == NULL) {
        return "its scope is no string";
    }

    list = lists->elts;

    for (i = 0; i < lists->nelts; i++) {
        while (list[i].len) {
            name = ngx_http_retort_cut(&list[i], ' ');
            *scopes |= ngx_http_retort_scope(&name);
        }
    }

    return NULL;
}
