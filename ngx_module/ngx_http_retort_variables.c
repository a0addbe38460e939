
#include "ngx_http_retort_module.h"


static ngx_int_t ngx_http_retort_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);


/* they change while the request goes on, so nothing is cached */

#define ngx_http_retort_var(name, field)                                      \
    { ngx_string(name), NULL, ngx_http_retort_variable,                       \
      offsetof(ngx_http_retort_ctx_t, field), NGX_HTTP_VAR_NOCACHEABLE, 0 }


static ngx_http_variable_t  ngx_http_retort_vars[] = {
    ngx_http_retort_var("retort_workspace", workspace),
    ngx_http_retort_var("retort_execution", execution),
    ngx_http_retort_var("retort_sandbox", sandbox),
    ngx_http_retort_var("retort_status", status),
    ngx_http_retort_var("retort_wall", wall),
    ngx_http_retort_var("retort_cpu", cpu),
    ngx_http_retort_var("retort_memory", memory),
    ngx_http_retort_var("retort_queue_time", queue_time),
      ngx_http_null_variable
};


ngx_int_t
ngx_http_retort_add_variables(ngx_conf_t *cf)
{
    ngx_http_variable_t  *var, *v;

    for (v = ngx_http_retort_vars; v->name.len; v++) {
        var = ngx_http_add_variable(cf, &v->name, v->flags);
        if (var == NULL) {
            return NGX_ERROR;
        }

        var->get_handler = v->get_handler;
        var->data = v->data;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_http_retort_variable(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_str_t              *s;
    ngx_http_retort_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);

    if (ctx == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    s = (ngx_str_t *) ((char *) ctx + data);

    if (s->len == 0) {
        v->not_found = 1;
        return NGX_OK;
    }

    v->len = (unsigned) s->len & 0x0fffffff;
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;
    v->data = s->data;

    return NGX_OK;
}
