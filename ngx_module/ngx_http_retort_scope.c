
/* what an identity may do, and what a request needs */

#include "ngx_http_retort_module.h"


typedef struct {
    ngx_str_t    name;
    ngx_uint_t   scope;
    const char  *lack;           /* what is said to who has not got it */
} ngx_http_retort_scope_t;


static ngx_uint_t ngx_http_retort_is_of_files(ngx_http_request_t *r);


static ngx_http_retort_scope_t  ngx_http_retort_scopes[] = {
    { ngx_string("execute"), RETORT_SCOPE_EXECUTE,
      "this needs the scope execute" },
    { ngx_string("files"), RETORT_SCOPE_FILES,
      "this needs the scope files" },
    { ngx_string("admin"), RETORT_SCOPE_ADMIN,
      "this needs the scope admin" },
    { ngx_null_string, 0, NULL }
};


/* in tokens, among scopes of others, ours may be called "retort:NAME" */

ngx_uint_t
ngx_http_retort_scope(ngx_str_t *name)
{
    ngx_str_t                 s;
    ngx_http_retort_scope_t  *scope;

    s = *name;

    if (s.len > 7 && ngx_memcmp(s.data, "retort:", 7) == 0) {
        s.data += 7;
        s.len -= 7;
    }

    for (scope = ngx_http_retort_scopes; scope->scope; scope++) {

        if (scope->name.len == s.len
            && ngx_memcmp(scope->name.data, s.data, s.len) == 0)
        {
            break;
        }
    }

    return scope->scope;
}


ngx_uint_t
ngx_http_retort_scope_list(ngx_str_t *list)
{
    ngx_str_t   name, rest;
    ngx_uint_t  scope, scopes;

    scopes = 0;
    rest = *list;

    do {
        name = ngx_http_retort_cut(&rest, ',');
        scope = ngx_http_retort_scope(&name);

        if (scope == 0) {
            return 0;
        }

        scopes |= scope;

    } while (rest.len);

    return scopes;
}


const char *
ngx_http_retort_scope_name(ngx_uint_t scope, const char **lack)
{
    ngx_http_retort_scope_t  *s;

    for (s = ngx_http_retort_scopes; s->scope != scope; s++) {
        /* void */
    }

    *lack = s->lack;

    return (const char *) s->name.data;
}


char *
ngx_http_retort_set_scope(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_str_t  *value;

    if (rlcf->scope != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;
    rlcf->scope = ngx_http_retort_scope(&value[1]);

    return rlcf->scope ? NGX_CONF_OK : "must be execute, files or admin";
}


/* what would be a run is one, whatever its path is called */

ngx_uint_t
ngx_http_retort_needed_scope(ngx_http_request_t *r)
{
    ngx_http_retort_loc_conf_t  *rlcf;

    rlcf = ngx_http_get_module_loc_conf(r, ngx_http_retort_module);

    if (rlcf->scope) {
        return rlcf->scope;
    }

    if (!rlcf->api->is_run(r) && ngx_http_retort_is_of_files(r)) {
        return RETORT_SCOPE_FILES;
    }

    return RETORT_SCOPE_EXECUTE;
}


static ngx_uint_t
ngx_http_retort_is_of_files(ngx_http_request_t *r)
{
    ngx_str_t   script, rest, part;
    ngx_uint_t  found;

    ngx_http_retort_split_path(r, &script, &rest);

    for (found = 0; rest.len && !found; /* void */ ) {
        part = ngx_http_retort_cut(&rest, '/');

        found = part.len == 5 && ngx_memcmp(part.data, "files", 5) == 0;
    }

    return found;
}
