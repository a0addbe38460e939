
/*
 * Part of retortctl: reads a template of Azure's Resource Manager, or a
 * resource as Azure shows it, and the few expressions that pools are written
 * with.  Run by who runs the service, on files of his choice.
 */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "arm.h"


#define ARM_POOL   "Microsoft.App/sessionPools"
#define ARM_DEPTH  8            /* expressions in expressions */
#define ARM_CALLS  8            /* functions in functions */
#define ARM_TEXT   1024


typedef struct {
    arm_t       *a;
    const char  *p;
    int          depth;
    int          calls;
} arm_expr_t;


static json_object *arm_term(arm_expr_t *x);


static json_object *
arm_file(const char *file)
{
    json_object  *o;

    o = json_object_from_file(file);

    if (!json_object_is_type(o, json_type_object)) {
        ctl_error("%s: no JSON object can be read there", file);
        (void) json_object_put(o);
        return NULL;
    }

    return o;
}


/* names count in any case */

static json_object *
arm_get(json_object *o, const char *name, size_t len)
{
    const char                   *key;
    struct json_object_iterator   it, end;

    if (!json_object_is_type(o, json_type_object)) {
        return NULL;
    }

    it = json_object_iter_begin(o);
    end = json_object_iter_end(o);

    for ( /* void */ ; !json_object_iter_equal(&it, &end);
         json_object_iter_next(&it))
    {
        key = json_object_iter_peek_name(&it);

        if (strlen(key) == len && strncasecmp(key, name, len) == 0) {
            return json_object_iter_peek_value(&it);
        }
    }

    return NULL;
}


static json_object *
arm_part(json_object *o, const char *name)
{
    return arm_get(o, name, strlen(name));
}


static json_object *
arm_find(json_object *template)
{
    size_t        i;
    json_object  *all, *one, *type;

    all = arm_part(template, "resources");

    if (!json_object_is_type(all, json_type_array)) {
        /* a resource by itself */
        return arm_part(template, "properties") != NULL ? template : NULL;
    }

    for (i = 0; i < json_object_array_length(all); i++) {
        one = json_object_array_get_idx(all, i);
        type = arm_part(one, "type");

        if (json_object_is_type(type, json_type_string)
            && strcasecmp(json_object_get_string(type), ARM_POOL) == 0)
        {
            return one;
        }
    }

    return NULL;
}


int
arm_read(arm_t *a, const char *file, const char *values)
{
    memset(a, 0, sizeof(arm_t));
    a->file = file;
    a->kept = json_object_new_array();
    a->template = arm_file(file);

    if (a->template == NULL) {
        return -1;
    }

    if (values != NULL) {
        a->values = arm_file(values);

        if (a->values == NULL) {
            return -1;
        }
    }

    a->parameters = arm_part(a->template, "parameters");
    a->variables = arm_part(a->template, "variables");
    a->pool = arm_find(a->template);

    if (a->pool == NULL) {
        ctl_error("%s: there is no resource of type " ARM_POOL, file);
        return -1;
    }

    return 0;
}


void
arm_free(arm_t *a)
{
    (void) json_object_put(a->kept);
    (void) json_object_put(a->values);
    (void) json_object_put(a->template);
}


/* it lives as long as the template */

static json_object *
arm_keep(arm_t *a, json_object *v)
{
    (void) json_object_array_add(a->kept, v);

    return v;
}


static int
arm_skip(arm_expr_t *x, char ch)
{
    x->p += strspn(x->p, " \t\r\n");

    if (*x->p != ch) {
        return 0;
    }

    x->p++;

    return 1;
}


/* 'text', with '' for a quote */

static json_object *
arm_quoted(arm_expr_t *x)
{
    char    text[ARM_TEXT];
    size_t  n;

    for (n = 0; *x->p != '\0' && n < sizeof(text) - 1; n++, x->p++) {
        if (*x->p == '\'' && *++x->p != '\'') {
            text[n] = '\0';
            return arm_keep(x->a, json_object_new_string(text));
        }

        text[n] = *x->p;
    }

    return NULL;
}


static json_object *
arm_value(arm_t *a, json_object *v, int depth)
{
    size_t       n;
    arm_expr_t   x;
    const char  *text;

    if (!json_object_is_type(v, json_type_string)) {
        return v;
    }

    text = json_object_get_string(v);
    n = strlen(text);

    if (n < 2 || text[0] != '[' || text[1] == '[' || text[n - 1] != ']') {
        return v;
    }

    x.a = a;
    x.p = text + 1;
    x.depth = depth + 1;
    x.calls = 0;
    v = x.depth < ARM_DEPTH ? arm_term(&x) : NULL;

    return v != NULL && strcmp(x.p, "]") == 0 ? v : NULL;
}


/* given in the file of values, or by its default */

static json_object *
arm_parameter(arm_expr_t *x, const char *name)
{
    json_object  *v;

    v = arm_part(x->a->values, "parameters");
    v = arm_part(v != NULL ? v : x->a->values, name);
    v = json_object_is_type(v, json_type_object) ? arm_part(v, "value") : v;

    if (v == NULL) {
        v = arm_part(arm_part(x->a->parameters, name), "defaultValue");
    }

    return arm_value(x->a, v, x->depth);
}


static json_object *
arm_concat(arm_expr_t *x)
{
    char          text[ARM_TEXT];
    size_t        n, len;
    const char   *part;
    json_object  *v;

    n = 0;

    do {
        v = arm_term(x);

        if (v == NULL) {
            return NULL;
        }

        part = json_object_get_string(v);
        len = strlen(part);

        if (n + len >= sizeof(text)) {
            return NULL;
        }

        memcpy(text + n, part, len + 1);
        n += len;
    } while (arm_skip(x, ','));

    return arm_skip(x, ')')
           ? arm_keep(x->a, json_object_new_string(text)) : NULL;
}


static json_object *
arm_term(arm_expr_t *x)
{
    size_t        n;
    const char   *name;
    json_object  *v;

    if (arm_skip(x, '\'')) {
        return arm_quoted(x);
    }

    name = x->p;
    n = strcspn(name, "('[]) ,");
    x->p += n;

    if (!arm_skip(x, '(')) {
        return NULL;
    }

    if (n == 6 && strncasecmp(name, "concat", n) == 0) {
        if (++x->calls > ARM_CALLS) {
            return NULL;
        }

        v = arm_concat(x);
        x->calls--;

        return v;
    }

    v = arm_skip(x, '\'') ? arm_quoted(x) : NULL;

    if (v == NULL || !arm_skip(x, ')')) {
        return NULL;
    }

    if (n == 10 && strncasecmp(name, "parameters", n) == 0) {
        return arm_parameter(x, json_object_get_string(v));
    }

    if (n == 9 && strncasecmp(name, "variables", n) == 0) {
        return arm_value(x->a, arm_part(x->a->variables,
                                        json_object_get_string(v)), x->depth);
    }

    return NULL;
}


json_object *
arm_at(arm_t *a, json_object *o, const char *path, int *bad)
{
    size_t        n;
    json_object  *v;

    for (v = o; v != NULL && *path != '\0'; path += n + (path[n] == '.')) {
        n = strcspn(path, ".");
        o = arm_get(v, path, n);
        v = arm_value(a, o, 0);

        if (v == NULL && o != NULL && bad != NULL) {
            ctl_error("%s: \"%.*s\" is %s, which nothing here says: see "
                      "--parameters", a->file, (int) n, path,
                      json_object_get_string(o));
            *bad = -1;
        }
    }

    return v;
}
