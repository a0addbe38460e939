
/*
 * In retort-front, as its own uid without any capability.  Texts come from
 * clients and sandboxes: each byte that JSON has not as it is, is escaped.
 */

#include <string.h>

#include "json_out.h"
#include "utf8.h"


#define JSON_BLOCK  32
#define JSON_KEY    64          /* the longest one */


static void
json_out_key(buf_t *b, const char *key)
{
    char    last, text[JSON_KEY + 4];
    size_t  n, len;

    last = b->len != 0 ? b->data[b->len - 1] : '[';
    n = 0;

    if (last != '[' && last != '{') {
        text[n++] = ',';
    }

    if (key != NULL) {
        len = strnlen(key, JSON_KEY);
        text[n++] = '"';
        memcpy(text + n, key, len);
        n += len;
        text[n++] = '"';
        text[n++] = ':';
    }

    (void) buf_add(b, text, n);
}


void
json_out_open(buf_t *b, const char *key, char bracket)
{
    json_out_key(b, key);
    (void) buf_add(b, &bracket, 1);
}


void
json_out_close(buf_t *b, char bracket)
{
    (void) buf_add(b, &bracket, 1);
}


static void
json_out_escape(buf_t *b, unsigned char ch)
{
    char               text[6] = "\\u00";
    static const char  digits[] = "0123456789abcdef";
    static const char  letters[] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r',
        ['\t'] = 't', ['"'] = '"', ['\\'] = '\\'
    };

    if (letters[ch] != 0) {
        text[1] = letters[ch];
        (void) buf_add(b, text, 2);
        return;
    }

    text[4] = digits[ch >> 4];
    text[5] = digits[ch & 15];
    (void) buf_add(b, text, sizeof(text));
}


static int
json_out_odd(unsigned char ch)
{
    return (ch < ' ') | (ch == '"') | (ch == '\\');
}


/* how many bytes stand in a string as they are: by blocks, then one by one */

static size_t
json_out_plain(const char *p, size_t n)
{
    int     odd;
    size_t  at, i;

    for (at = 0; n - at >= JSON_BLOCK; at += JSON_BLOCK) {
        odd = 0;

        for (i = 0; i < JSON_BLOCK; i++) {
            odd |= json_out_odd((unsigned char) p[at + i]);
        }

        if (odd) {
            break;
        }
    }

    while (at < n && !json_out_odd((unsigned char) p[at])) {
        at++;
    }

    return at;
}


void
json_out_text(buf_t *b, const char *key, const char *p, size_t n)
{
    size_t  len;

    json_out_key(b, key);
    (void) buf_add(b, "\"", 1);

    while (n != 0) {
        len = json_out_plain(p, n);
        (void) buf_add(b, p, len);

        if (len < n) {
            json_out_escape(b, (unsigned char) p[len++]);
        }

        p += len;
        n -= len;
    }

    (void) buf_add(b, "\"", 1);
}


void
json_out_bytes(buf_t *b, const char *key, const char *p, size_t n)
{
    buf_t  clean;

    memset(&clean, 0, sizeof(clean));
    utf8_clean(&clean, p, n);
    json_out_text(b, key, clean.data, clean.len);
    b->failed |= clean.failed;
    buf_free(&clean);
}


void
json_out_string(buf_t *b, const char *key, const char *s)
{
    if (s != NULL && s[0] != '\0') {
        json_out_text(b, key, s, strlen(s));

    } else {
        json_out_word(b, key, "null");
    }
}


void
json_out_number(buf_t *b, const char *key, uint64_t n)
{
    char    digits[20];
    size_t  i;

    i = sizeof(digits);

    do {
        digits[--i] = (char) ('0' + n % 10);
        n /= 10;
    } while (n != 0);

    json_out_key(b, key);
    (void) buf_add(b, digits + i, sizeof(digits) - i);
}


void
json_out_word(buf_t *b, const char *key, const char *word)
{
    json_out_key(b, key);
    (void) buf_puts(b, word);
}
