
/*
 * In retort-front, as its own uid without any capability.  The text comes from
 * a client.  A scan of our own runs before json-c sees a byte: it bounds the
 * depth, finds what json-c lets pass in strings, and counts keys, so that an
 * object that has fewer of them afterwards had one twice.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "json_in.h"
#include "utf8.h"


typedef struct {
    size_t  depth;
    size_t  colons;
    int     half;               /* a lone surrogate escape */
    int     control;            /* a control character in a string */
    int     nul;                /* the last string has a NUL */
    int     nul_key;            /* and it was a key: json-c would cut it */
    int     foreign;            /* what only json-c takes for JSON */
} json_scan_t;


/* the value of \uXXXX at "p", or -1 */

static long
json_unit(const char *p, const char *end)
{
    int   i, d;
    long  v;

    if (end - p < 6 || p[0] != '\\' || p[1] != 'u') {
        return -1;
    }

    for (v = 0, i = 2; i < 6; i++) {
        if (p[i] >= '0' && p[i] <= '9') {
            d = p[i] - '0';

        } else if ((p[i] | 0x20) >= 'a' && (p[i] | 0x20) <= 'f') {
            d = (p[i] | 0x20) - 'a' + 10;

        } else {
            return -1;
        }

        v = v * 16 + d;
    }

    return v;
}


/* behind the escape at "p" */

static const char *
json_skip_escape(const char *p, const char *end, json_scan_t *s)
{
    long  unit, next;

    unit = json_unit(p, end);
    s->nul |= (unit == 0);

    if (unit < 0xd800 || unit > 0xdfff) {
        return end - p > 2 ? p + 2 : end;
    }

    next = json_unit(p + 6, end);

    if (unit > 0xdbff || next < 0xdc00 || next > 0xdfff) {
        s->half = 1;
        return p + 6;
    }

    return p + 12;
}


static const char *
json_skip_string(const char *p, const char *end, json_scan_t *s)
{
    s->nul = 0;

    while (p < end && *p != '"') {
        s->control |= ((unsigned char) *p < 0x20);
        p = *p == '\\' ? json_skip_escape(p, end, s) : p + 1;
    }

    return p < end ? p + 1 : end;
}


static const char *
json_digits(const char *p, const char *end, json_scan_t *s)
{
    const char  *from;

    for (from = p; p < end && *p >= '0' && *p <= '9'; p++) { /* void */ }

    s->foreign |= (p == from);

    return p;
}


/* a number as RFC 8259 has it */

static const char *
json_skip_number(const char *p, const char *end, json_scan_t *s)
{
    p += (*p == '-');
    s->foreign |= (end - p > 1 && p[0] == '0' && p[1] >= '0' && p[1] <= '9');
    p = json_digits(p, end, s);

    if (p < end && *p == '.') {
        p = json_digits(p + 1, end, s);
    }

    if (p < end && (*p | 0x20) == 'e') {
        p++;
        p += (p < end && (*p == '+' || *p == '-'));
        p = json_digits(p, end, s);
    }

    return p;
}


/*
 * A word, a number, or what is neither: json-c takes NaN, Infinity, other
 * quotes and white space, and half of a number, even where it is strict.
 */

static const char *
json_skip_token(const char *p, const char *end, json_scan_t *s)
{
    size_t                    i, len;
    static const char *const  words[] = { "true", "false", "null", ",", " ",
                                          "\t", "\n", "\r" };

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        len = strlen(words[i]);

        if ((size_t) (end - p) >= len && memcmp(p, words[i], len) == 0) {
            return p + len;
        }
    }

    if (*p == '-' || (*p >= '0' && *p <= '9')) {
        return json_skip_number(p, end, s);
    }

    s->foreign = 1;

    return p + 1;
}


static void
json_scan(json_scan_t *s, const char *p, size_t n)
{
    size_t       depth;
    const char  *end;

    memset(s, 0, sizeof(json_scan_t));
    depth = 0;

    for (end = p + n; p < end; /* void */ ) {
        switch (*p++) {

        case '"':
            p = json_skip_string(p, end, s);
            break;

        case '{':
        case '[':
            depth++;
            s->depth = depth > s->depth ? depth : s->depth;
            break;

        case '}':
        case ']':
            depth -= (depth != 0);
            break;

        case ':':
            s->colons++;
            s->nul_key |= s->nul;
            break;

        default:
            p = json_skip_token(p - 1, end, s);
        }
    }
}


/* as deep as json_in() let it be */

static size_t
json_count(json_object *o)
{
    size_t                         i, n;
    struct json_object_iterator    it, end;

    n = 0;

    if (json_object_is_type(o, json_type_array)) {
        for (i = 0; i < json_object_array_length(o); i++) {
            n += json_count(json_object_array_get_idx(o, i));
        }

        return n;
    }

    if (!json_object_is_type(o, json_type_object)) {
        return 0;
    }

    it = json_object_iter_begin(o);
    end = json_object_iter_end(o);

    for ( /* void */ ; !json_object_iter_equal(&it, &end);
         json_object_iter_next(&it))
    {
        n += 1 + json_count(json_object_iter_peek_value(&it));
    }

    return n;
}


static json_object *
json_parse(const char *p, size_t n, err_t *e)
{
    size_t                   end;
    json_object             *o;
    enum json_tokener_error  rc;
    struct json_tokener     *t;

    t = json_tokener_new_ex(BOUND_JSON_DEPTH + 1);

    if (t == NULL) {
        (void) err_set(e, 500, "no_memory", "out of memory");
        return NULL;
    }

    json_tokener_set_flags(t, JSON_TOKENER_STRICT);

    o = json_tokener_parse_ex(t, p, (int) n);
    rc = json_tokener_get_error(t);
    end = json_tokener_get_parse_end(t);

    if (rc == json_tokener_continue && end == n) {
        /* a number or a word at the end might go on: it does not */
        o = json_tokener_parse_ex(t, "\n", 1);
        rc = json_tokener_get_error(t);
    }

    if (rc != json_tokener_success || end < n) {
        (void) err_set(e, 400, "bad_json", "the body is not JSON: %s",
                       rc == json_tokener_success ? "text behind the end"
                       : rc == json_tokener_continue ? "it ends too early"
                       : json_tokener_error_desc(rc));
        json_object_put(o);
        o = NULL;
    }

    json_tokener_free(t);

    return o;
}


json_object *
json_in(const char *p, size_t n, err_t *e)
{
    json_scan_t   s;
    json_object  *o;

    if (n > INT32_MAX) {
        (void) err_set(e, 413, "too_large", "the body is too large");
        return NULL;
    }

    /* json-c's own check lets surrogates pass */

    if (!utf8_valid(p, n)) {
        (void) err_set(e, 400, "bad_json", "the body is not valid UTF-8");
        return NULL;
    }

    json_scan(&s, p, n);

    if (s.depth > BOUND_JSON_DEPTH) {
        (void) err_set(e, 400, "bad_json", "more than %d levels",
                       BOUND_JSON_DEPTH);
        return NULL;
    }

    if (s.half || s.nul_key || s.control) {
        (void) err_set(e, 400, "bad_json", "%s in a string",
                       s.half ? "half of a surrogate pair"
                       : s.control ? "a bare control character"
                       : "the NUL of a key");
        return NULL;
    }

    /* a null is nothing and no error, and what is in "e" is the caller's */
    e->status = 0;
    o = json_parse(p, n, e);

    if (o != NULL && s.foreign) {
        json_object_put(o);
        (void) err_set(e, 400, "bad_json", "the body is not JSON: a word, a "
                       "number or a quote of another language");
        return NULL;
    }

    if (o == NULL) {
        if (e->status == 0) {
            (void) err_set(e, 400, "bad_json", "the body is no object");
        }

        return NULL;
    }

    if (!json_object_is_type(o, json_type_object)) {
        (void) err_set(e, 400, "bad_json", "the body is no object");

    } else if (json_count(o) != s.colons) {
        (void) err_set(e, 400, "bad_json", "a key stands twice");

    } else {
        return o;
    }

    json_object_put(o);

    return NULL;
}


static const char *
json_type_fault(json_object *v, json_in_type_t type)
{
    switch (type) {

    case JSON_IN_STRING:
        return json_object_is_type(v, json_type_string) ? NULL : "a string";

    case JSON_IN_BOOL:
        return json_object_is_type(v, json_type_boolean) ? NULL
                                                          : "true or false";

    case JSON_IN_WHOLE:
        return json_object_is_type(v, json_type_int) ? NULL
                                                      : "a whole number";

    case JSON_IN_NUMBER:
        return json_object_is_type(v, json_type_int)
               || json_object_is_type(v, json_type_double) ? NULL
                                                            : "a number";

    case JSON_IN_OBJECT:
        return json_object_is_type(v, json_type_object) ? NULL : "an object";

    default:
        return json_object_is_type(v, json_type_array) ? NULL : "an array";
    }
}


int
json_in_keys(json_object *o, const json_in_key_t *keys, const char *where,
    void *to, err_t *e)
{
    const char                   *name, *fault;
    json_object                  *v;
    const json_in_key_t          *k;
    struct json_object_iterator   it, end;

    it = json_object_iter_begin(o);
    end = json_object_iter_end(o);

    for ( /* void */ ; !json_object_iter_equal(&it, &end);
         json_object_iter_next(&it))
    {
        name = json_object_iter_peek_name(&it);
        v = json_object_iter_peek_value(&it);

        for (k = keys; k->name != NULL && strcmp(k->name, name) != 0; k++) {
            /* void */
        }

        if (k->name == NULL) {
            return err_set(e, 400, "unknown_key", "unknown key \"%s%.64s\"",
                           where, name);
        }

        fault = json_type_fault(v, k->type);

        if (fault != NULL) {
            return err_set(e, 400, "bad_value", "\"%s%s\" must be %s", where,
                           name, fault);
        }

        if (k->set(to, v, e) == -1) {
            return -1;
        }
    }

    return 0;
}


int
json_in_whole(json_object *value, const char *name, uint64_t max,
    uint64_t *to, err_t *e)
{
    int64_t  v;

    v = json_object_get_int64(value);

    if (v < 1 || (uint64_t) v > max) {
        return err_set(e, 400, "bad_value", "\"%s\" must be from 1 to %" PRIu64,
                       name, max);
    }

    *to = (uint64_t) v;

    return 0;
}


char *
json_in_copy(json_object *value, size_t *len, err_t *e)
{
    char  *copy;

    *len = (size_t) json_object_get_string_len(value);
    copy = malloc(*len + 1);

    if (copy == NULL) {
        (void) err_set(e, 500, "no_memory", "out of memory");
        return NULL;
    }

    memcpy(copy, json_object_get_string(value), *len);
    copy[*len] = '\0';

    return copy;
}
