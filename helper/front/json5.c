
/*
 * In retort-front, as its own uid without any capability.  The text is a
 * client's, usually a model's: any byte may be in it.
 *
 * The grammar is that of JSON5, with the reading of it that the Python package
 * json5 has: no line may end inside of a string, not even by U+2028.  Names
 * without quotes are taken more freely: any character outside of ASCII may be
 * in one.
 */

#include <string.h>

#include "json5.h"
#include "utf8.h"


typedef struct {
    const char  *p;
    const char  *end;
    int          depth;
} json5_in_t;


static json5_kind_t json5_value(json5_in_t *in, buf_t *to, json5_t *whole);


static int
json5_at(const json5_in_t *in, const char *word)
{
    size_t  n;

    n = strlen(word);

    return (size_t) (in->end - in->p) >= n && memcmp(in->p, word, n) == 0;
}


static int
json5_take(json5_in_t *in, const char *word)
{
    if (!json5_at(in, word)) {
        return 0;
    }

    in->p += strlen(word);

    return 1;
}


/* length of the end of a line at "p" */

static size_t
json5_eol(const json5_in_t *in)
{
    if (json5_at(in, "\r\n")) {
        return 2;
    }

    if (json5_at(in, "\n") || json5_at(in, "\r")) {
        return 1;
    }

    return json5_at(in, "\xe2\x80\xa8") || json5_at(in, "\xe2\x80\xa9") ? 3
                                                                        : 0;
}


static int
json5_blank(json5_in_t *in)
{
    size_t               n;
    const char *const   *s;

    static const char *const  spaces[] = {
        " ", "\t", "\v", "\f", "\xc2\xa0", "\xef\xbb\xbf", "\xe1\x9a\x80",
        "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80", NULL
    };

    n = json5_eol(in);

    if (n != 0) {
        in->p += n;
        return 1;
    }

    for (s = spaces; *s != NULL; s++) {
        if (json5_take(in, *s)) {
            return 1;
        }
    }

    /* U+2000 to U+200A */

    if (in->end - in->p >= 3 && memcmp(in->p, "\xe2\x80", 2) == 0
        && (unsigned char) in->p[2] >= 0x80
        && (unsigned char) in->p[2] <= 0x8a)
    {
        in->p += 3;
        return 1;
    }

    return 0;
}


/* blanks and comments; -1 if a comment has no end */

static int
json5_space(json5_in_t *in)
{
    const char  *end;

    for ( ;; ) {
        if (json5_blank(in)) {
            continue;
        }

        if (json5_take(in, "//")) {
            while (in->p < in->end && json5_eol(in) == 0) {
                in->p++;
            }

            continue;
        }

        if (!json5_take(in, "/*")) {
            return 0;
        }

        end = memmem(in->p, (size_t) (in->end - in->p), "*/", 2);

        if (end == NULL) {
            return -1;
        }

        in->p = end + 2;
    }
}


static int
json5_hex(json5_in_t *in, size_t digits, unsigned *value)
{
    int  c;

    for (*value = 0; digits != 0; digits--, in->p++) {
        if (in->p == in->end) {
            return -1;
        }

        c = *in->p;

        if (c >= '0' && c <= '9') {
            c -= '0';

        } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
            c = (c | 0x20) - 'a' + 10;

        } else {
            return -1;
        }

        *value = *value * 16 + (unsigned) c;
    }

    return 0;
}


static void
json5_put(buf_t *to, unsigned c)
{
    char    s[4];
    size_t  n;

    if (c < 0x80) {
        s[0] = (char) c;
        n = 1;

    } else if (c < 0x800) {
        s[0] = (char) (0xc0 | c >> 6);
        s[1] = (char) (0x80 | (c & 0x3f));
        n = 2;

    } else if (c < 0x10000) {
        s[0] = (char) (0xe0 | c >> 12);
        s[1] = (char) (0x80 | (c >> 6 & 0x3f));
        s[2] = (char) (0x80 | (c & 0x3f));
        n = 3;

    } else {
        s[0] = (char) (0xf0 | c >> 18);
        s[1] = (char) (0x80 | (c >> 12 & 0x3f));
        s[2] = (char) (0x80 | (c >> 6 & 0x3f));
        s[3] = (char) (0x80 | (c & 0x3f));
        n = 4;
    }

    (void) buf_add(to, s, n);
}


/* behind "\u"; two halves of a pair are one character */

static int
json5_unicode(json5_in_t *in, buf_t *to)
{
    unsigned     c, low;
    json5_in_t   next;

    if (json5_hex(in, 4, &c) == -1) {
        return -1;
    }

    if (c >= 0xd800 && c <= 0xdbff) {
        next = *in;

        if (json5_take(&next, "\\u") && json5_hex(&next, 4, &low) == 0
            && low >= 0xdc00 && low <= 0xdfff)
        {
            *in = next;
            json5_put(to, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
            return 0;
        }
    }

    json5_put(to, c >= 0xd800 && c <= 0xdfff ? 0xfffd : c);

    return 0;
}


/* behind the backslash */

static int
json5_escape(json5_in_t *in, buf_t *to)
{
    char         c;
    size_t       n;
    unsigned     value;
    const char  *at;

    static const char  names[] = "bfnrtv", values[] = "\b\f\n\r\t\v";

    n = json5_eol(in);

    if (n != 0) {
        in->p += n;
        return 0;
    }

    if (in->p == in->end) {
        return -1;
    }

    c = *in->p++;
    at = c != '\0' ? strchr(names, c) : NULL;

    if (at != NULL) {
        (void) buf_add(to, &values[at - names], 1);
        return 0;
    }

    if (c == 'u') {
        return json5_unicode(in, to);
    }

    if (c == 'x') {
        if (json5_hex(in, 2, &value) == -1) {
            return -1;
        }

        json5_put(to, value);
        return 0;
    }

    if (c >= '0' && c <= '9') {
        if (c != '0' || (in->p < in->end && *in->p >= '0' && *in->p <= '9')) {
            return -1;
        }

        c = '\0';
    }

    /* the rest of a longer character follows as itself */
    return buf_add(to, &c, 1);
}


static int
json5_string(json5_in_t *in, buf_t *to)
{
    char         quote;
    const char  *from;

    quote = *in->p++;

    for ( ;; ) {
        from = in->p;

        while (in->p < in->end && *in->p != quote && *in->p != '\\'
               && json5_eol(in) == 0)
        {
            in->p++;
        }

        (void) buf_add(to, from, (size_t) (in->p - from));

        if (in->p == in->end || (*in->p != quote && *in->p != '\\')) {
            return -1;
        }

        if (*in->p++ == quote) {
            return 0;
        }

        if (json5_escape(in, to) == -1) {
            return -1;
        }
    }
}


/* the character at "p", if it may be in a name; digits not at the start */

static int
json5_name_char(json5_in_t *in, buf_t *to, int first)
{
    char         c;
    size_t       n;
    json5_in_t   probe;

    if (in->p == in->end) {
        return 0;
    }

    c = *in->p;
    probe = *in;

    if (c == '\\') {
        in->p++;
        return json5_take(in, "u") && json5_unicode(in, to) == 0;
    }

    if ((unsigned char) c >= 0x80) {
        n = utf8_char(in->p, (size_t) (in->end - in->p));

        if (n == 0 || json5_blank(&probe)) {
            return 0;
        }

    } else {
        n = 1;

        if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '_' && c != '$'
            && (first || c < '0' || c > '9'))
        {
            return 0;
        }
    }

    (void) buf_add(to, in->p, n);
    in->p += n;

    return 1;
}


static int
json5_key(json5_in_t *in, buf_t *to)
{
    if (json5_at(in, "\"") || json5_at(in, "'")) {
        return json5_string(in, to);
    }

    if (!json5_name_char(in, to, 1)) {
        return -1;
    }

    while (json5_name_char(in, to, 0)) { /* void */ }

    return 0;
}


static size_t
json5_digits(json5_in_t *in)
{
    size_t  n;

    for (n = 0; in->p < in->end && *in->p >= '0' && *in->p <= '9'; n++) {
        in->p++;
    }

    return n;
}


static json5_kind_t
json5_hex_number(json5_in_t *in)
{
    size_t    n;
    unsigned  digit;

    for (n = 0; json5_hex(in, 1, &digit) == 0; n++) { /* void */ }

    return n != 0 ? JSON5_INT : JSON5_NONE;
}


static json5_kind_t
json5_number(json5_in_t *in)
{
    size_t         n, fraction;
    const char    *from;
    json5_kind_t   kind;

    if (!json5_take(in, "-")) {
        (void) json5_take(in, "+");
    }

    if (json5_take(in, "Infinity") || json5_take(in, "NaN")) {
        return JSON5_FLOAT;
    }

    if (json5_take(in, "0x") || json5_take(in, "0X")) {
        return json5_hex_number(in);
    }

    from = in->p;
    kind = JSON5_INT;
    fraction = 0;
    n = json5_digits(in);

    if (n > 1 && *from == '0') {
        return JSON5_NONE;
    }

    if (json5_take(in, ".")) {
        kind = JSON5_FLOAT;
        fraction = json5_digits(in);
    }

    if (n + fraction == 0) {
        return JSON5_NONE;
    }

    if (json5_take(in, "e") || json5_take(in, "E")) {
        kind = JSON5_FLOAT;

        if (!json5_take(in, "-")) {
            (void) json5_take(in, "+");
        }

        if (json5_digits(in) == 0) {
            return JSON5_NONE;
        }
    }

    return kind;
}


/* one member; "whole" takes it if it is the outermost object's "code" */

static int
json5_member(json5_in_t *in, json5_t *whole)
{
    int            rc, code;
    buf_t          key, text;
    json5_kind_t   kind;

    memset(&key, 0, sizeof(key));
    memset(&text, 0, sizeof(text));

    rc = json5_key(in, &key);
    code = whole != NULL && key.len == 4 && memcmp(key.data, "code", 4) == 0;

    if (rc == 0 && json5_space(in) == 0 && json5_take(in, ":")) {
        kind = json5_value(in, &text, NULL);

    } else {
        kind = JSON5_NONE;
    }

    if (code) {
        whole->code = kind;
        buf_free(&whole->text);
        whole->text = text;

    } else {
        buf_free(&text);
    }

    buf_free(&key);

    return kind != JSON5_NONE ? 0 : -1;
}


/* behind the opening bracket, up to the closing one */

static int
json5_list(json5_in_t *in, int object, json5_t *whole)
{
    buf_t        text;
    int          rc;
    const char  *close;

    close = object ? "}" : "]";

    if (json5_space(in) == -1) {
        return -1;
    }

    while (!json5_take(in, close)) {
        if (object) {
            rc = json5_member(in, whole);

        } else {
            memset(&text, 0, sizeof(text));
            rc = json5_value(in, &text, NULL) == JSON5_NONE ? -1 : 0;
            buf_free(&text);
        }

        if (rc == -1 || json5_space(in) == -1) {
            return -1;
        }

        if (json5_take(in, ",")) {
            if (json5_space(in) == -1) {
                return -1;
            }

        } else if (!json5_at(in, close)) {
            return -1;
        }
    }

    return 0;
}


static json5_kind_t
json5_nested(json5_in_t *in, json5_t *whole)
{
    int  rc, object;

    object = *in->p++ == '{';

    if (in->depth == JSON5_DEPTH) {
        return JSON5_NONE;
    }

    in->depth++;
    rc = json5_list(in, object, whole);
    in->depth--;

    return rc == -1 ? JSON5_NONE : object ? JSON5_OBJECT : JSON5_ARRAY;
}


static json5_kind_t
json5_value(json5_in_t *in, buf_t *to, json5_t *whole)
{
    if (json5_space(in) == -1 || in->p == in->end) {
        return JSON5_NONE;
    }

    switch (*in->p) {

    case '{':
    case '[':
        return json5_nested(in, whole);

    case '"':
    case '\'':
        return json5_string(in, to) == 0 ? JSON5_STRING : JSON5_NONE;

    default:
        break;
    }

    if (json5_take(in, "null")) {
        return JSON5_NULL;
    }

    if (json5_take(in, "true") || json5_take(in, "false")) {
        return JSON5_BOOL;
    }

    return json5_number(in);
}


void
json5_read(json5_t *v, const char *p, size_t n)
{
    buf_t        text;
    json5_in_t   in;

    memset(v, 0, sizeof(json5_t));
    memset(&text, 0, sizeof(text));
    in.p = n != 0 ? p : "";
    in.end = in.p + n;
    in.depth = 0;

    v->kind = json5_value(&in, &text, v);

    if (v->kind != JSON5_NONE && (json5_space(&in) == -1 || in.p != in.end)) {
        v->kind = JSON5_NONE;
    }

    if (v->kind == JSON5_STRING) {
        v->text = text;

    } else {
        buf_free(&text);
    }

    if (v->kind != JSON5_OBJECT) {
        v->code = JSON5_NONE;
    }
}
