
#include "ngx_http_retort_module.h"


#define NGX_HTTP_RETORT_LIMIT_MAX  1000000


static ngx_int_t ngx_http_retort_limit_value(ngx_str_t *arg, const char *name,
    ngx_int_t min, ngx_uint_t *value);
static ngx_int_t ngx_http_retort_limit_arg(ngx_conf_t *cf, ngx_str_t *arg,
    ngx_http_retort_admission_t *a);
static ngx_int_t ngx_http_retort_limit_rate(ngx_str_t *arg, ngx_int_t *rate);


/* retort_zone name size [running=N] [waiting=N] */

char *
ngx_http_retort_set_zone(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ssize_t                       size;
    ngx_int_t                     rc;
    ngx_str_t                    *value;
    ngx_uint_t                    i;
    ngx_http_retort_zone_conf_t  *zc;

    value = cf->args->elts;

    zc = ngx_http_retort_zone_conf(cf, &value[1]);
    if (zc == NULL) {
        return NGX_CONF_ERROR;
    }

    if (zc->size) {
        return "is duplicate";
    }

    size = ngx_parse_size(&value[2]);

    if (size < NGX_HTTP_RETORT_ZONE_MIN || size > NGX_HTTP_RETORT_ZONE_MAX) {
        return "needs a size between 32k and 1024m";
    }

    zc->size = ngx_align(size, ngx_pagesize);

    for (i = 3; i < cf->args->nelts; i++) {

        rc = ngx_http_retort_limit_value(&value[i], "running=", 1,
                                         &zc->running);
        if (rc == NGX_DECLINED) {
            rc = ngx_http_retort_limit_value(&value[i], "waiting=", 0,
                                             &zc->waiting);
        }

        if (rc != NGX_OK) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid parameter \"%V\"", &value[i]);
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


/* a zone may be used before it is declared */

ngx_http_retort_zone_conf_t *
ngx_http_retort_zone_conf(ngx_conf_t *cf, ngx_str_t *name)
{
    ngx_uint_t                     i;
    ngx_http_retort_zone_conf_t   *zc, **zones;
    ngx_http_retort_main_conf_t   *rmcf;

    if (!ngx_http_retort_is_name(name, NGX_HTTP_RETORT_ZONE_NAME)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "the name of a zone must be "
                           "1 to 31 characters of [A-Za-z0-9._-]");
        return NULL;
    }

    rmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_retort_module);
    zones = rmcf->zones.elts;

    for (i = 0; i < rmcf->zones.nelts; i++) {

        if (zones[i]->name.len == name->len
            && ngx_memcmp(zones[i]->name.data, name->data, name->len) == 0)
        {
            return zones[i];
        }
    }

    zc = ngx_pcalloc(cf->pool, sizeof(ngx_http_retort_zone_conf_t));
    zones = ngx_array_push(&rmcf->zones);

    if (zc == NULL || zones == NULL) {
        return NULL;
    }

    zc->name = *name;
    zc->waiting = NGX_CONF_UNSET_UINT;
    *zones = zc;

    return zc;
}


/* retort_limits off | zone=N [running=N] [waiting=N] [rate=R] ... */

char *
ngx_http_retort_set_limits(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_str_t                    *value;
    ngx_uint_t                    i;
    ngx_http_retort_admission_t  *a;

    if (rlcf->admission != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        rlcf->admission = NULL;
        return NGX_CONF_OK;
    }

    a = ngx_pcalloc(cf->pool, sizeof(ngx_http_retort_admission_t));
    if (a == NULL) {
        return NGX_CONF_ERROR;
    }

    a->wait = 10000;

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_http_retort_limit_arg(cf, &value[i], a) != NGX_OK) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid parameter \"%V\"", &value[i]);
            return NGX_CONF_ERROR;
        }
    }

    if (a->zone == NULL) {
        return "needs a \"zone=\"";
    }

    if (a->burst && a->rate == 0) {
        return "has a \"burst=\" without a \"rate=\"";
    }

    rlcf->admission = a;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_http_retort_limit_arg(ngx_conf_t *cf, ngx_str_t *arg,
    ngx_http_retort_admission_t *a)
{
    ngx_int_t   rc;
    ngx_str_t   s;
    ngx_uint_t  n;

    if (ngx_strncmp(arg->data, "zone=", 5) == 0) {
        s.data = arg->data + 5;
        s.len = arg->len - 5;
        a->zone = ngx_http_retort_zone_conf(cf, &s);

        return a->zone ? NGX_OK : NGX_ERROR;
    }

    if (ngx_strncmp(arg->data, "rate=", 5) == 0) {
        return ngx_http_retort_limit_rate(arg, &a->rate);
    }

    if (ngx_strncmp(arg->data, "wait=", 5) == 0) {
        s.data = arg->data + 5;
        s.len = arg->len - 5;
        rc = ngx_parse_time(&s, 0);

        if (rc == NGX_ERROR || rc == 0 || rc > 3600 * 1000) {
            return NGX_ERROR;
        }

        a->wait = (ngx_msec_t) rc;
        return NGX_OK;
    }

    rc = ngx_http_retort_limit_value(arg, "burst=", 0, &n);

    if (rc == NGX_OK) {
        a->burst = (ngx_int_t) n * NGX_HTTP_RETORT_REQUEST;
    }

    if (rc != NGX_DECLINED) {
        return rc;
    }

    rc = ngx_http_retort_limit_value(arg, "running=", 1, &a->running);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    return ngx_http_retort_limit_value(arg, "waiting=", 0, &a->waiting);
}


static ngx_int_t
ngx_http_retort_limit_value(ngx_str_t *arg, const char *name, ngx_int_t min,
    ngx_uint_t *value)
{
    size_t     len;
    ngx_int_t  n;

    len = ngx_strlen(name);

    if (arg->len < len || ngx_strncmp(arg->data, name, len) != 0) {
        return NGX_DECLINED;
    }

    n = ngx_atoi(arg->data + len, arg->len - len);

    if (n == NGX_ERROR || n < min || n > NGX_HTTP_RETORT_LIMIT_MAX) {
        return NGX_ERROR;
    }

    *value = (ngx_uint_t) n;

    return NGX_OK;
}


/* rate=10r/s, rate=30r/m */

static ngx_int_t
ngx_http_retort_limit_rate(ngx_str_t *arg, ngx_int_t *rate)
{
    u_char     *p;
    size_t      len;
    ngx_int_t   n, scale;

    if (arg->len < sizeof("rate=1r/s") - 1) {
        return NGX_ERROR;
    }

    len = arg->len - 3;
    p = arg->data + len;

    if (ngx_strncmp(p, "r/s", 3) == 0) {
        scale = 1;

    } else if (ngx_strncmp(p, "r/m", 3) == 0) {
        scale = 60;

    } else {
        return NGX_ERROR;
    }

    n = ngx_atoi(arg->data + 5, len - 5);

    if (n <= 0 || n > NGX_HTTP_RETORT_LIMIT_MAX) {
        return NGX_ERROR;
    }

    *rate = n * NGX_HTTP_RETORT_REQUEST / scale;

    return NGX_OK;
}


/* the whole configuration has been read */

ngx_int_t
ngx_http_retort_limits_init(ngx_conf_t *cf)
{
    ngx_uint_t                     i;
    ngx_http_retort_zone_conf_t  **zones;
    ngx_http_retort_main_conf_t   *rmcf;

    rmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_retort_module);
    zones = rmcf->zones.elts;

    ngx_http_retort_zones_unmark();

    for (i = 0; i < rmcf->zones.nelts; i++) {

        if (zones[i]->size == 0) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "no \"retort_zone\" declares \"%V\"",
                               &zones[i]->name);
            return NGX_ERROR;
        }

        if (ngx_test_config) {
            continue;
        }

        zones[i]->zone = ngx_http_retort_zone_get(&zones[i]->name,
                                                  zones[i]->size, cf->log);
        if (zones[i]->zone == NULL) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* it has been accepted: from here on its limits count, for old workers too */

ngx_int_t
ngx_http_retort_init_module(ngx_cycle_t *cycle)
{
    ngx_uint_t                     i;
    ngx_http_retort_zone_t        *zone;
    ngx_http_retort_zone_conf_t  **zones;
    ngx_http_retort_main_conf_t   *rmcf;

    rmcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_retort_module);

    if (rmcf == NULL || ngx_test_config) {
        return NGX_OK;
    }

    zones = rmcf->zones.elts;

    for (i = 0; i < rmcf->zones.nelts; i++) {
        zone = zones[i]->zone;

        if (ngx_http_retort_zone_lock(zone, cycle->log) != NGX_OK) {
            continue;
        }

        zone->shared->max_running = (uint32_t) zones[i]->running;
        zone->shared->max_waiting = (uint32_t) zones[i]->waiting;

        (void) ngx_http_retort_zone_bury(zone);
        (void) ngx_http_retort_queue_run(zone);

        ngx_http_retort_zone_unlock(zone);
        ngx_http_retort_zone_wake(zone);
    }

    ngx_http_retort_zones_sweep(cycle->log);

    return NGX_OK;
}


/* a new worker stands in for one that may have died with runs of its own */

ngx_int_t
ngx_http_retort_init_process(ngx_cycle_t *cycle)
{
    ngx_uint_t                     i, n;
    ngx_http_retort_zone_t        *zone;
    ngx_http_retort_zone_conf_t  **zones;
    ngx_http_retort_main_conf_t   *rmcf;

    rmcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_retort_module);

    if (rmcf == NULL
        || (ngx_process != NGX_PROCESS_WORKER
            && ngx_process != NGX_PROCESS_SINGLE))
    {
        return NGX_OK;
    }

    zones = rmcf->zones.elts;

    for (i = 0; i < rmcf->zones.nelts; i++) {
        zone = zones[i]->zone;

        if (ngx_http_retort_zone_lock(zone, cycle->log) != NGX_OK) {
            continue;
        }

        (void) ngx_http_retort_zone_bury(zone);
        n = ngx_http_retort_queue_run(zone);

        ngx_http_retort_zone_unlock(zone);

        if (n) {
            ngx_http_retort_zone_wake(zone);
        }
    }

    return NGX_OK;
}
