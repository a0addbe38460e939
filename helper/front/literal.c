
/*
 * In retort-front, as its own uid without any capability.  The text is a
 * sandbox's: any byte may be in it, and it may nest as deep as it likes.
 */

#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "buf.h"
#include "literal.h"
#include "utf8.h"


#define LITERAL_NUMBER  400     /* characters of one */
#define LITERAL_MAX     65536   /* longer data is shown as a text */


typedef struct {
    const char  *p;
    const char  *end;
    unsigned     depth;
} literal_t;


static int literal_value(literal_t *l, json_object **to);


static void
literal_blank(literal_t *l)
{
    while (l->p < l->end && (*l->p == ' ' || *l->p == '\n')) {
        l->p++;
    }
}


/* behind this character, which may have blanks around it; 1 or 0 */

static int
literal_is(literal_t *l, char ch)
{
    literal_blank(l);

    if (l->p == l->end || *l->p != ch) {
        return 0;
    }

    l->p++;
    literal_blank(l);

    return 1;
}


static int
literal_word(literal_t *l, json_object **to)
{
    size_t  i, n;

    static const struct {
        const char  *word;
        int          kind;      /* 0 None, 1 a truth, 2 a string */
    } words[] = {
        { "None", 0 }, { "True", 1 }, { "False", 1 }, { "nan", 2 },
        { "inf", 2 }, { "-inf", 2 }
    };

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        n = strlen(words[i].word);

        if ((size_t) (l->end - l->p) < n
            || memcmp(l->p, words[i].word, n) != 0)
        {
            continue;
        }

        l->p += n;

        if (words[i].kind != 0) {
            *to = words[i].kind == 1
                  ? json_object_new_boolean(words[i].word[0] == 'T')
                  : json_object_new_string(words[i].word);
        }

        return 0;
    }

    return -1;
}


static size_t
literal_digits(const char *p)
{
    return strspn(p, "0123456789");
}


/* is it one that JSON has as well? */

static int
literal_is_number(const char *s)
{
    size_t  n;

    s += *s == '-';
    n = literal_digits(s);

    if (n == 0 || (n > 1 && *s == '0')) {
        return 0;
    }

    s += n;

    if (*s == '.') {
        n = literal_digits(s + 1);
        s += n + 1;
    }

    if (n != 0 && *s == 'e') {
        s += 1 + (s[1] == '+' || s[1] == '-');
        n = literal_digits(s);
        s += n;
    }

    return n != 0 && *s == '\0';
}


/* written as it was: no digit of it is lost */

static int
literal_number(literal_t *l, json_object **to)
{
    char    text[LITERAL_NUMBER];
    size_t  n;

    for (n = 0; l->p + n < l->end && l->p[n] != '\0'
                && strchr("0123456789+-.e", l->p[n]) != NULL; n++)
    {
        if (n == sizeof(text) - 1) {
            return -1;
        }

        text[n] = l->p[n];
    }

    text[n] = '\0';

    if (!literal_is_number(text)) {
        return -1;
    }

    l->p += n;
    *to = json_object_new_double_s(strtod(text, NULL), text);

    return 0;
}


static void
literal_utf8(buf_t *to, unsigned long c)
{
    char  s[4];

    if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) || c == 0) {
        c = 0xfffd;
    }

    if (c < 0x80) {
        s[0] = (char) c;
        (void) buf_add(to, s, 1);

    } else if (c < 0x800) {
        s[0] = (char) (0xc0 | c >> 6);
        s[1] = (char) (0x80 | (c & 0x3f));
        (void) buf_add(to, s, 2);

    } else if (c < 0x10000) {
        s[0] = (char) (0xe0 | c >> 12);
        s[1] = (char) (0x80 | (c >> 6 & 0x3f));
        s[2] = (char) (0x80 | (c & 0x3f));
        (void) buf_add(to, s, 3);

    } else {
        s[0] = (char) (0xf0 | c >> 18);
        s[1] = (char) (0x80 | (c >> 12 & 0x3f));
        s[2] = (char) (0x80 | (c >> 6 & 0x3f));
        s[3] = (char) (0x80 | (c & 0x3f));
        (void) buf_add(to, s, 4);
    }
}


/* behind the backslash */

static int
literal_escape(literal_t *l, buf_t *to)
{
    char         hex[9];
    size_t       n;
    const char  *at;

    static const char  names[] = "nrt\\'\"";
    static const char  chars[] = "\n\r\t\\'\"";

    if (l->p == l->end || *l->p == '\0') {
        return -1;
    }

    at = strchr(names, *l->p);

    if (at != NULL) {
        (void) buf_add(to, &chars[at - names], 1);
        l->p++;
        return 0;
    }

    n = *l->p == 'x' ? 2 : *l->p == 'u' ? 4 : *l->p == 'U' ? 8 : 0;
    l->p++;

    if (n == 0 || (size_t) (l->end - l->p) < n) {
        return -1;
    }

    memcpy(hex, l->p, n);
    hex[n] = '\0';

    if (strspn(hex, "0123456789abcdef") != n) {
        return -1;
    }

    literal_utf8(to, strtoul(hex, NULL, 16));
    l->p += n;

    return 0;
}


static int
literal_text(literal_t *l, buf_t *to)
{
    char    quote;
    size_t  n;

    quote = *l->p++;

    while (l->p < l->end && *l->p != quote) {
        if (*l->p == '\\') {
            l->p++;

            if (literal_escape(l, to) == -1) {
                return -1;
            }

            continue;
        }

        for (n = 1; l->p + n < l->end && l->p[n] != quote
                    && l->p[n] != '\\'; n++)
        {
            /* void */
        }

        utf8_clean(to, l->p, n);
        l->p += n;
    }

    if (l->p == l->end || to->failed) {
        return -1;
    }

    l->p++;

    return 0;
}


static int
literal_string(literal_t *l, json_object **to)
{
    int    rc;
    buf_t  text;

    memset(&text, 0, sizeof(text));
    rc = literal_text(l, &text);

    if (rc == 0) {
        *to = json_object_new_string_len(text.data != NULL ? text.data : "",
                                         (int) text.len);
    }

    buf_free(&text);

    return rc;
}


static int
literal_list(literal_t *l, char close, json_object **to)
{
    json_object  *v;

    l->p++;
    *to = json_object_new_array();
    literal_blank(l);

    while (!literal_is(l, close)) {
        if (literal_value(l, &v) == -1) {
            return -1;
        }

        (void) json_object_array_add(*to, v);

        if (literal_is(l, ',')) {
            continue;
        }

        /* "(1)" is no tuple, and nothing that Python shows */
        return literal_is(l, close)
               && (close == ']' || json_object_array_length(*to) > 1) ? 0 : -1;
    }

    return 0;
}


static int
literal_pair(literal_t *l, json_object *to)
{
    json_object  *key, *v;

    key = NULL;

    if (literal_value(l, &key) == -1
        || json_object_is_type(key, json_type_array)
        || json_object_is_type(key, json_type_object)
        || !literal_is(l, ':'))
    {
        json_object_put(key);
        return -1;
    }

    if (literal_value(l, &v) == -1) {
        json_object_put(key);
        return -1;
    }

    (void) json_object_object_add(to, key != NULL
                                  ? json_object_get_string(key) : "null", v);
    json_object_put(key);

    return 0;
}


static int
literal_dict(literal_t *l, json_object **to)
{
    l->p++;
    *to = json_object_new_object();
    literal_blank(l);

    if (literal_is(l, '}')) {
        return 0;
    }

    do {
        if (literal_pair(l, *to) == -1) {
            return -1;
        }
    } while (literal_is(l, ','));

    return literal_is(l, '}') ? 0 : -1;
}


static int
literal_one(literal_t *l, json_object **to)
{
    switch (*l->p) {

    case '\'':
    case '"':
        return literal_string(l, to);

    case '[':
        return literal_list(l, ']', to);

    case '(':
        return literal_list(l, ')', to);

    case '{':
        return literal_dict(l, to);

    default:
        return literal_word(l, to) == 0 ? 0 : literal_number(l, to);
    }
}


/* nothing is left in "to" if it is none */

static int
literal_value(literal_t *l, json_object **to)
{
    int  rc;

    *to = NULL;

    if (l->p == l->end || ++l->depth > BOUND_JSON_DEPTH) {
        return -1;
    }

    rc = literal_one(l, to);
    l->depth--;

    if (rc == -1) {
        json_object_put(*to);
        *to = NULL;
    }

    return rc;
}


int
literal_json(const char *p, size_t n, json_object **to)
{
    literal_t  l;

    l.p = p;
    l.end = p + n;
    l.depth = 0;
    *to = NULL;

    if (n == 0 || n > LITERAL_MAX || literal_value(&l, to) == -1) {
        return -1;
    }

    if (l.p == l.end) {
        return 0;
    }

    json_object_put(*to);
    *to = NULL;

    return -1;
}
