
/*
 * In retort-front, as its own uid without any capability.  The params come
 * from a web server that was let in by its uid; they are checked all the same,
 * and what a location may set can only lower a profile's limits.
 */

#include <openssl/crypto.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "identity.h"
#include "request.h"
#include "settings.h"
#include "text.h"
#include "utf8.h"


typedef struct {
    const char  *name;
    size_t       def;           /* offsets in request_t */
    size_t       max;
    size_t       width;
} request_limit_t;


#define REQUEST_KEY   "RETORT_LINK_KEY"
#define REQUEST_SEEN  16        /* words of 64 names each */

#define REQUEST_RUN(name, field)                                              \
    { "RETORT_LIMIT_" name, offsetof(request_t, run.field),                   \
      offsetof(request_t, run_max.field), sizeof(uint64_t) }
#define REQUEST_BOX(name, field, type)                                        \
    { "RETORT_LIMIT_" name, offsetof(request_t, box.field),                   \
      offsetof(request_t, box_max.field), sizeof(type) }

static const request_limit_t  request_limits[] = {
    REQUEST_RUN("TIMEOUT", timeout),
    REQUEST_RUN("OUTPUT", output),
    REQUEST_RUN("IMAGE", image),
    REQUEST_BOX("MEMORY", memory, uint64_t),
    REQUEST_BOX("DISK", disk, uint64_t),
    REQUEST_BOX("PROCESSES", processes, uint32_t),
    REQUEST_BOX("CPU", cpu, uint32_t)
};


const char *
request_param(char **envp, const char *name)
{
    size_t  n;

    n = strlen(name);

    for ( /* void */ ; *envp != NULL; envp++) {
        if (**envp == *name && strncmp(*envp, name, n) == 0
            && (*envp)[n] == '=')
        {
            return *envp + n + 1;
        }
    }

    return NULL;
}


static const char *
request_text(char **envp, const char *name)
{
    const char  *value;

    value = request_param(envp, name);

    return value != NULL ? value : "";
}


/* is any name after this one the same? "n" has its "=" in it */

static int
request_again(char **envp, size_t n)
{
    char  **p;

    for (p = envp + 1; *p != NULL; p++) {
        if (strncmp(*envp, *p, n) == 0) {
            return 1;
        }
    }

    return 0;
}


/*
 * A name that stands twice would mean two things to two readers.  Most names
 * are seen to be new by a digest of theirs that no other one has.
 */

static int
request_twice(char **envp)
{
    size_t       n;
    uint64_t     seen[REQUEST_SEEN];
    unsigned     hash;
    const char  *p;

    memset(seen, 0, sizeof(seen));

    /* from the end: what is the same comes after */
    for (n = 0; envp[n] != NULL; n++) { /* void */ }

    while (n-- > 0) {
        if (strncmp(envp[n], "HTTP_", 5) == 0) {
            continue;
        }

        hash = 5381;

        for (p = envp[n]; *p != '\0' && *p != '='; p++) {
            hash = hash * 33 + (unsigned char) *p;
        }

        hash %= REQUEST_SEEN * 64;

        if ((seen[hash / 64] & 1ULL << hash % 64) != 0
            && request_again(envp + n, (size_t) (p - envp[n]) + 1))
        {
            return 1;
        }

        seen[hash / 64] |= 1ULL << hash % 64;
    }

    return 0;
}


static void
request_lower(request_t *r, const request_limit_t *l, uint64_t value)
{
    char      *at[2];
    size_t     i;
    uint32_t   narrow;
    uint64_t   wide;

    at[0] = (char *) r + l->def;
    at[1] = (char *) r + l->max;

    for (i = 0; i < 2; i++) {
        if (l->width == sizeof(wide)) {
            memcpy(&wide, at[i], sizeof(wide));
            wide = value < wide ? value : wide;
            memcpy(at[i], &wide, sizeof(wide));

        } else {
            memcpy(&narrow, at[i], sizeof(narrow));
            narrow = value < narrow ? (uint32_t) value : narrow;
            memcpy(at[i], &narrow, sizeof(narrow));
        }
    }
}


static int
request_ceilings(request_t *r, char **envp, err_t *e)
{
    size_t                  i;
    uint64_t                value;
    const char             *text;
    const request_limit_t  *l;

    for (i = 0; i < sizeof(request_limits) / sizeof(request_limits[0]); i++) {
        l = &request_limits[i];
        text = request_param(envp, l->name);

        if (text == NULL) {
            continue;
        }

        if (text_number(text, &value) == -1 || value == 0) {
            return err_set(e, 500, "bad_param", "%s is not a number above 0",
                           l->name);
        }

        request_lower(r, l, value);
    }

    return 0;
}


static int
request_running(request_t *r, const char *text, err_t *e)
{
    uint64_t  n;

    if (text == NULL) {
        return 0;
    }

    if (text_number(text, &n) == -1 || n == 0 || n > UINT32_MAX) {
        return err_set(e, 500, "bad_param",
                       "RETORT_RUNNING is not a number above 0");
    }

    r->running = (uint32_t) n;

    return 0;
}


static int
request_execution(request_t *r, const char *id, const char *node, err_t *e)
{
    if (id == NULL) {
        return text_id(r->execution, sizeof(r->execution), "exec", node);
    }

    if (strlen(id) >= sizeof(r->execution) || !text_is_id(id, "exec")) {
        return err_set(e, 500, "bad_param", "RETORT_EXECUTION is not an id");
    }

    (void) snprintf(r->execution, sizeof(r->execution), "%s", id);

    return 0;
}


static int
request_static(request_t *r, const char *url, err_t *e)
{
    size_t  i, n;

    n = strlen(url);

    for (i = 0; i < n; i++) {
        if ((unsigned char) url[i] <= ' ' || url[i] == '"' || url[i] == ')'
            || (unsigned char) url[i] >= 0x7f)
        {
            break;
        }
    }

    if (i < n || n >= sizeof(r->link.base)) {
        return err_set(e, 500, "bad_param", "RETORT_STATIC_URL is not a URL");
    }

    memcpy(r->link.base, url, n + 1);

    return 0;
}


static int
request_imports(request_t *r, const char *names, err_t *e)
{
    size_t  n;

    n = strspn(names, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
               "0123456789_.- ");

    if (names[n] != '\0' || n >= sizeof(r->imports)) {
        return err_set(e, 500, "bad_param", "RETORT_IMPORT_ALLOW has no names "
                       "of packages");
    }

    memcpy(r->imports, names, n + 1);

    return 0;
}


static int
request_link(request_t *r, char **envp, err_t *e)
{
    return link_parse(&r->link, request_param(envp, "RETORT_LINK_TAG"),
                      request_param(envp, REQUEST_KEY),
                      request_param(envp, "RETORT_LINK_EXPIRES"), e);
}


/* the module has found it out, or somebody else has signed it; never both */

static int
request_workspace(request_t *r, char **envp, err_t *e)
{
    const char  *text, *identity;

    text = request_param(envp, "RETORT_WORKSPACE");
    identity = request_param(envp, "RETORT_IDENTITY");

    if (identity != NULL && text != NULL) {
        return err_set(e, 400, "bad_param", "two identities");
    }

    if (identity != NULL || (identity_required() && !r->control)) {
        return identity_check(r, identity != NULL ? identity : "",
                              request_text(envp, "REQUEST_URI"), e);
    }

    if (text == NULL || !text_is_name(text, sizeof(r->workspace) - 1)) {
        return err_set(e, 403, "forbidden", "no valid workspace");
    }

    (void) snprintf(r->workspace, sizeof(r->workspace), "%s", text);

    return 0;
}


static int
request_who(request_t *r, char **envp, const retort_settings_t *s, err_t *e)
{
    const char  *text;

    if (request_workspace(r, envp, e) == -1) {
        return -1;
    }

    text = request_param(envp, "RETORT_PROFILE");
    r->profile = settings_profile(s, text != NULL ? text : "default");

    if (r->profile == NULL) {
        return err_set(e, 500, "unknown_profile",
                       "the profile of this location does not exist");
    }

    r->box = r->profile->box;
    r->box_max = r->profile->box_max;
    r->run = r->profile->run;
    r->run_max = r->profile->run_max;

    return 0;
}


static int
request_line(request_t *r, char **envp, err_t *e)
{
    const char  *text;

    r->method = request_text(envp, "REQUEST_METHOD");
    r->script = request_text(envp, "SCRIPT_NAME");
    r->path = request_text(envp, "PATH_INFO");
    r->type = request_text(envp, "CONTENT_TYPE");
    r->accept = request_text(envp, "HTTP_ACCEPT");
    r->session = request_text(envp, "HTTP_X_SESSION_ID");
    r->query = request_text(envp, "QUERY_STRING");
    r->last = request_text(envp, "HTTP_LAST_EVENT_ID");

    if (!utf8_valid(r->path, strlen(r->path))) {
        return err_set(e, 404, "not_found", "no such path");
    }

    text = request_text(envp, "CONTENT_LENGTH");

    if (*text != '\0' && text_number(text, &r->length) == -1) {
        return err_set(e, 400, "bad_length", "CONTENT_LENGTH is no number");
    }

    return 0;
}


/* of these nobody is asked who he is: the operator bounds who may */

static int
request_is_open(const char *api)
{
    return strcmp(api, "health") == 0 || strcmp(api, "metrics") == 0
           || strcmp(api, "status") == 0 || strcmp(api, "control") == 0;
}


/* the web server must not reach what root's socket reaches, or the reverse */

static int
request_way(const request_t *r, err_t *e)
{
    int  control;

    control = strcmp(r->api, "control") == 0;

    if (r->control ? control || strcmp(r->api, "native") == 0 : !control) {
        return 0;
    }

    return err_set(e, 403, "forbidden", "not by this socket");
}


int
request_parse(request_t *r, char **envp, const retort_settings_t *s, err_t *e)
{
    const char  *api;

    r->params = envp;
    api = request_text(envp, "RETORT_API");

    /* first of all, so that whatever is wrong is told in its words */

    if (text_is_name(api, sizeof(r->api) - 1)) {
        (void) snprintf(r->api, sizeof(r->api), "%s", api);
    }

    if (request_twice(envp)) {
        return err_set(e, 400, "bad_param", "a param stands twice");
    }

    if (request_line(r, envp, e) == -1) {
        return -1;
    }

    if (r->api[0] == '\0') {
        return err_set(e, 500, "unknown_api", "RETORT_API names no dialect");
    }

    if (request_way(r, e) == -1) {
        return -1;
    }

    if (request_is_open(r->api)) {
        return 0;
    }

    if (request_who(r, envp, s, e) == -1
        || request_ceilings(r, envp, e) == -1
        || request_running(r, request_param(envp, "RETORT_RUNNING"), e) == -1
        || request_static(r, request_text(envp, "RETORT_STATIC_URL"), e) == -1
        || request_imports(r, request_text(envp, "RETORT_IMPORT_ALLOW"), e)
           == -1
        || request_link(r, envp, e) == -1)
    {
        return -1;
    }

    return request_execution(r, request_param(envp, "RETORT_EXECUTION"),
                             s->node, e);
}


void
request_wipe(char **envp)
{
    for ( /* void */ ; *envp != NULL; envp++) {
        if (strncmp(*envp, REQUEST_KEY "=", sizeof(REQUEST_KEY)) == 0) {
            OPENSSL_cleanse(*envp + sizeof(REQUEST_KEY),
                            strlen(*envp) - sizeof(REQUEST_KEY));
        }
    }
}


void
request_detach(request_t *r)
{
    r->method = r->script = r->path = r->type = "";
    link_wipe(&r->link);
    r->accept = r->session = r->query = r->last = "";
    r->params = NULL;
}
