
/*
 * One error, in the words of each dialect.  Code and message are constants of
 * ours: nothing in them is escaped.
 */

#include "ngx_http_retort_module.h"


typedef struct {
    ngx_uint_t   status;
    const char  *name;
} ngx_http_retort_face_name_t;


#define RETORT_PRISME_TEXT                                                    \
    "\\\"code\\\":\\\"CodeSandboxUnreachable\\\","


static const char *ngx_http_retort_face_name(
    ngx_http_retort_face_name_t *names, ngx_uint_t status);


static ngx_http_retort_face_name_t  ngx_http_retort_azure_names[] = {
    { 400, "BadRequest" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "NotFound" },
    { 405, "MethodNotAllowed" },
    { 413, "RequestEntityTooLarge" },
    { 429, "TooManyRequests" },
    { 502, "ConnectionError" },
    { 503, "ServiceUnavailable" },
    { 504, "GatewayTimeout" },
    { 0, "InternalServerError" }
};

static ngx_http_retort_face_name_t  ngx_http_retort_anthropic_names[] = {
    { 400, "invalid_request_error" },
    { 401, "authentication_error" },
    { 403, "permission_error" },
    { 404, "not_found_error" },
    { 405, "invalid_request_error" },
    { 408, "invalid_request_error" },
    { 413, "request_too_large" },
    { 414, "request_too_large" },
    { 429, "rate_limit_error" },
    { 503, "overloaded_error" },
    { 504, "timeout_error" },
    { 0, "api_error" }
};


static const char *
ngx_http_retort_face_name(ngx_http_retort_face_name_t *names,
    ngx_uint_t status)
{
    while (names->status && names->status != status) {
        names++;
    }

    return names->name;
}


u_char *
ngx_http_retort_face_native(u_char *p, ngx_http_retort_fault_t *f)
{
    return ngx_sprintf(p, "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}\n",
                       f->code, f->message);
}


/* nobody here has read the id of a message */

u_char *
ngx_http_retort_face_rpc(u_char *p, ngx_http_retort_fault_t *f)
{
    const char  *code;

    switch (f->status) {

    case NGX_HTTP_UNAUTHORIZED:
    case NGX_HTTP_FORBIDDEN:
        code = "-32001";
        break;

    case NGX_HTTP_TOO_MANY_REQUESTS:
    case NGX_HTTP_SERVICE_UNAVAILABLE:
        code = "-32000";
        break;

    default:
        code = f->status < NGX_HTTP_INTERNAL_SERVER_ERROR ? "-32600"
                                                          : "-32603";
    }

    return ngx_sprintf(p, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":"
                       "{\"code\":%s,\"message\":\"%s\","
                       "\"data\":{\"code\":\"%s\"}}}\n",
                       code, f->message, f->code);
}


/*
 * A tool that cannot be reached has a result, too: agents read it.  Without
 * the id of its message it is nobody's to clients, who are told by HTTP then.
 */

u_char *
ngx_http_retort_face_prisme(u_char *p, ngx_http_retort_fault_t *f)
{
    if (f->status < NGX_HTTP_INTERNAL_SERVER_ERROR
        && f->status != NGX_HTTP_TOO_MANY_REQUESTS)
    {
        return ngx_http_retort_face_rpc(p, f);
    }

    if (f->id.len) {
        f->status = NGX_HTTP_OK;

    } else {
        ngx_str_set(&f->id, "null");
    }

    return ngx_sprintf(p, "{\"jsonrpc\":\"2.0\",\"id\":%V,\"result\":"
                       "{\"content\":[{\"type\":\"text\",\"text\":"
                       "\"{\\\"result\\\":null,\\\"logs\\\":[],"
                       "\\\"error\\\":{" RETORT_PRISME_TEXT
                       "\\\"message\\\":\\\"%s\\\",\\\"stack\\\":"
                       "\\\"\\\"}}\"}],\"isError\":true,"
                       "\"structuredContent\":{\"result\":null,\"logs\":[],"
                       "\"error\":{\"code\":\"CodeSandboxUnreachable\","
                       "\"message\":\"%s\",\"stack\":\"\"}}}}\n",
                       &f->id, f->message, f->message);
}


u_char *
ngx_http_retort_face_azure(u_char *p, ngx_http_retort_fault_t *f)
{
    f->header = "x-ms-error-code";
    f->value = ngx_http_retort_face_name(ngx_http_retort_azure_names,
                                         f->status);

    return ngx_sprintf(p, "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}\n",
                       f->value, f->message);
}


u_char *
ngx_http_retort_face_anthropic(u_char *p, ngx_http_retort_fault_t *f)
{
    const char  *name;

    name = ngx_http_retort_face_name(ngx_http_retort_anthropic_names,
                                     f->status);

    return ngx_sprintf(p, "{\"type\":\"error\",\"error\":{\"type\":\"%s\","
                       "\"message\":\"%s\"},\"request_id\":\"req_%V\"}\n",
                       name, f->message, &f->request);
}


u_char *
ngx_http_retort_face_e2b(u_char *p, ngx_http_retort_fault_t *f)
{
    return ngx_sprintf(p, "{\"code\":%ui,\"message\":\"%s\"}\n", f->status,
                       f->message);
}


u_char *
ngx_http_retort_face_ubik(u_char *p, ngx_http_retort_fault_t *f)
{
    return ngx_sprintf(p, "{\"detail\":\"%s\"}\n", f->message);
}
