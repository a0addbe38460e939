
#include "ngx_http_retort_module.h"


#define NGX_HTTP_RETORT_KEY_FILE_MAX  (16 * 1024 * 1024)


typedef struct {
    ngx_conf_t   *cf;
    ngx_str_t    *file;
    ngx_uint_t    line;
    ngx_array_t  *keys;
} ngx_http_retort_key_reader_t;


static ngx_int_t ngx_http_retort_read_fd(ngx_conf_t *cf, ngx_file_t *file,
    ngx_uint_t secret, ngx_str_t *text);
static const char *ngx_http_retort_parse_key(
    ngx_http_retort_key_reader_t *kr, ngx_str_t *line);
static const char *ngx_http_retort_parse_profiles(
    ngx_http_retort_key_reader_t *kr, ngx_http_retort_key_t *key,
    ngx_str_t *list);
static ngx_int_t ngx_http_retort_unhex(u_char *dst, ngx_str_t *hex);


char *
ngx_http_retort_set_key_file(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_retort_loc_conf_t *rlcf = conf;

    ngx_str_t                     *value, text, line;
    const char                    *error;
    ngx_http_retort_key_reader_t   kr;

    if (rlcf->keys != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (value[1].len == 0) {
        return "has an empty path";
    }

    if (ngx_conf_full_name(cf->cycle, &value[1], 1) != NGX_OK
        || ngx_http_retort_read_file(cf, &value[1], 0, &text) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    kr.cf = cf;
    kr.file = &value[1];
    kr.line = 0;
    kr.keys = ngx_array_create(cf->pool, 16, sizeof(ngx_http_retort_key_t));
    if (kr.keys == NULL) {
        return NGX_CONF_ERROR;
    }

    while (text.len) {
        line = ngx_http_retort_cut(&text, '\n');
        kr.line++;

        error = ngx_http_retort_parse_key(&kr, &line);

        if (error) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "%s in %V:%ui",
                               error, &value[1], kr.line);
            return NGX_CONF_ERROR;
        }
    }

    rlcf->keys = kr.keys;

    return NGX_CONF_OK;
}


ngx_int_t
ngx_http_retort_read_file(ngx_conf_t *cf, ngx_str_t *name, ngx_uint_t secret,
    ngx_str_t *text)
{
    ngx_int_t   rc;
    ngx_file_t  file;

    ngx_memzero(&file, sizeof(ngx_file_t));

    file.name = *name;
    file.log = cf->log;

    /* a FIFO must not stop the master */
    file.fd = ngx_open_file(name->data, NGX_FILE_RDONLY|NGX_FILE_NONBLOCK,
                            NGX_FILE_OPEN, 0);

    if (file.fd == NGX_INVALID_FILE) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_open_file_n " \"%V\" failed", name);
        return NGX_ERROR;
    }

    rc = ngx_http_retort_read_fd(cf, &file, secret, text);

    if (ngx_close_file(file.fd) == NGX_FILE_ERROR) {
        ngx_log_error(NGX_LOG_ALERT, cf->log, ngx_errno,
                      ngx_close_file_n " \"%V\" failed", name);
    }

    return rc;
}


static ngx_int_t
ngx_http_retort_read_fd(ngx_conf_t *cf, ngx_file_t *file, ngx_uint_t secret,
    ngx_str_t *text)
{
    off_t            size;
    ssize_t          n;
    ngx_file_info_t  fi;

    if (ngx_fd_info(file->fd, &fi) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_fd_info_n " \"%V\" failed", &file->name);
        return NGX_ERROR;
    }

    if (!ngx_is_file(&fi)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not a regular file", &file->name);
        return NGX_ERROR;
    }

    if (secret && ((fi.st_uid != 0 && fi.st_uid != geteuid())
                   || (fi.st_mode & 027)))
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" must be root's, and no other's to read",
                           &file->name);
        return NGX_ERROR;
    }

    size = ngx_file_size(&fi);

    if (size > NGX_HTTP_RETORT_KEY_FILE_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is larger than 16 megabytes",
                           &file->name);
        return NGX_ERROR;
    }

    text->len = (size_t) size;
    text->data = ngx_pnalloc(cf->temp_pool, text->len + 1);
    if (text->data == NULL) {
        return NGX_ERROR;
    }

    n = ngx_read_file(file, text->data, text->len, 0);

    if (n < 0 || (size_t) n != text->len) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, (n < 0) ? ngx_errno : 0,
                           "cannot read \"%V\"", &file->name);
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* workspace:sha256-hex-of-key[:[profile,...][:scope,...]] */

static const char *
ngx_http_retort_parse_key(ngx_http_retort_key_reader_t *kr, ngx_str_t *line)
{
    size_t                  i;
    ngx_str_t               name, hash, profiles;
    ngx_uint_t              more, scoped;
    ngx_http_retort_key_t  *key, *old, k;

    while (line->len && (line->data[line->len - 1] == '\r'
                         || line->data[line->len - 1] == ' '
                         || line->data[line->len - 1] == '\t'))
    {
        line->len--;
    }

    if (line->len == 0 || line->data[0] == '#') {
        return NULL;
    }

    name = ngx_http_retort_cut(line, ':');

    if (!ngx_http_retort_is_name(&name, NGX_HTTP_RETORT_NAME_MAX)) {
        return "workspace must be 1 to 64 characters of [A-Za-z0-9._-]";
    }

    more = (line->len > NGX_HTTP_RETORT_SHA256 * 2);
    hash = ngx_http_retort_cut(line, ':');

    if (ngx_http_retort_unhex(k.sha256, &hash) != NGX_OK) {
        return "the key's SHA-256 must be 64 hex digits";
    }

    old = kr->keys->elts;

    for (i = 0; i < kr->keys->nelts; i++) {
        if (ngx_memcmp(old[i].sha256, k.sha256, sizeof(k.sha256)) == 0) {
            return "duplicate key";
        }
    }

    k.profiles = NULL;
    k.scopes = RETORT_SCOPE_DEFAULT;
    k.workspace.len = name.len;
    k.workspace.data = ngx_pstrdup(kr->cf->pool, &name);
    if (k.workspace.data == NULL) {
        return "no memory for a key";
    }

    scoped = (more && ngx_strlchr(line->data, line->data + line->len, ':'));
    profiles = ngx_http_retort_cut(line, ':');

    if (more && (profiles.len || !scoped)) {
        const char  *error;

        error = ngx_http_retort_parse_profiles(kr, &k, &profiles);
        if (error) {
            return error;
        }
    }

    if (scoped) {
        k.scopes = ngx_http_retort_scope_list(line);

        if (k.scopes == 0) {
            return "a scope must be execute, files or admin";
        }
    }

    key = ngx_array_push(kr->keys);
    if (key == NULL) {
        return "no memory for a key";
    }

    *key = k;

    return NULL;
}


static const char *
ngx_http_retort_parse_profiles(ngx_http_retort_key_reader_t *kr,
    ngx_http_retort_key_t *key, ngx_str_t *list)
{
    ngx_str_t  *profile, name;

    key->profiles = ngx_array_create(kr->cf->pool, 4, sizeof(ngx_str_t));
    if (key->profiles == NULL) {
        return "no memory for a key";
    }

    do {
        name = ngx_http_retort_cut(list, ',');

        if (!ngx_http_retort_is_name(&name, NGX_HTTP_RETORT_PROFILE_MAX)) {
            return "a profile must be 1 to 31 characters of [A-Za-z0-9._-]";
        }

        profile = ngx_array_push(key->profiles);
        if (profile == NULL) {
            return "no memory for a key";
        }

        profile->len = name.len;
        profile->data = ngx_pstrdup(kr->cf->pool, &name);
        if (profile->data == NULL) {
            return "no memory for a key";
        }

    } while (list->len);

    return NULL;
}


ngx_str_t
ngx_http_retort_cut(ngx_str_t *s, u_char ch)
{
    u_char     *p;
    ngx_str_t   part;

    part = *s;

    p = ngx_strlchr(s->data, s->data + s->len, ch);

    if (p == NULL) {
        s->data += s->len;
        s->len = 0;
        return part;
    }

    part.len = p - s->data;
    s->len -= part.len + 1;
    s->data = p + 1;

    return part;
}


static ngx_int_t
ngx_http_retort_unhex(u_char *dst, ngx_str_t *hex)
{
    ngx_int_t   n;
    ngx_uint_t  i;

    if (hex->len != NGX_HTTP_RETORT_SHA256 * 2) {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_HTTP_RETORT_SHA256; i++) {
        n = ngx_hextoi(&hex->data[i * 2], 2);

        if (n == NGX_ERROR) {
            return NGX_ERROR;
        }

        dst[i] = (u_char) n;
    }

    return NGX_OK;
}


ngx_uint_t
ngx_http_retort_is_name(ngx_str_t *s, size_t max)
{
    u_char  ch;
    size_t  i;

    if (s->len == 0 || s->len > max) {
        return 0;
    }

    for (i = 0; i < s->len; i++) {
        ch = s->data[i];

        if ((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z')
            || (ch >= '0' && ch <= '9')
            || ch == '.' || ch == '_' || ch == '-')
        {
            continue;
        }

        return 0;
    }

    return 1;
}


ngx_int_t
ngx_http_retort_find_key(ngx_array_t *keys, ngx_str_t *key,
    ngx_http_retort_key_t **k)
{
    u_char                  sha256[NGX_HTTP_RETORT_SHA256];
    ngx_uint_t              i, found, hit;
    ngx_http_retort_key_t  *all;

    *k = NULL;

    if (ngx_http_retort_sha256(sha256, key->data, key->len) != NGX_OK) {
        return NGX_ERROR;
    }

    all = keys->elts;
    found = 0;

    for (i = 0; i < keys->nelts; i++) {
        hit = ngx_http_retort_equal(all[i].sha256, sha256, sizeof(sha256));
        found |= (0 - hit) & (i + 1);
    }

    if (found) {
        *k = &all[found - 1];
    }

    return NGX_OK;
}
