
/*
 * In retort-front, as its own uid without any capability.  Texts come from
 * clients and sandboxes: each byte that JSON has not as it is, is escaped.
 */

#include <string.h>

#include "json_out.h"


static void
json_out_key(buf_t *b, const char *key)
{
    char  last;

    last = b->len != 0 ? b->data[b->len - 1] : '[';

    if (last != '[' && last != '{') {
        (void) buf_add(b, ",", 1);
    }

    if (key != NULL) {
        (void) buf_add(b, "\"", 1);
        (void) buf_puts(b, key);
        (void) buf_add(b, "\":", 2);
    }
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
    size_t             i;
    char               text[6] = "\\u00";
    static const char  from[] = "\"\\\b\f\n\r\t";
    static const char  to[] = "\"\\bfnrt";
    static const char  digits[] = "0123456789abcdef";

    for (i = 0; i < sizeof(from) - 1; i++) {
        if (ch == (unsigned char) from[i]) {
            text[1] = to[i];
            (void) buf_add(b, text, 2);
            return;
        }
    }

    text[4] = digits[ch >> 4];
    text[5] = digits[ch & 15];
    (void) buf_add(b, text, sizeof(text));
}


void
json_out_text(buf_t *b, const char *key, const char *p, size_t n)
{
    size_t         i, from;
    unsigned char  ch;

    json_out_key(b, key);
    (void) buf_add(b, "\"", 1);

    for (i = from = 0; i < n; i++) {
        ch = (unsigned char) p[i];

        if (ch < ' ' || ch == '"' || ch == '\\') {
            (void) buf_add(b, p + from, i - from);
            json_out_escape(b, ch);
            from = i + 1;
        }
    }

    (void) buf_add(b, p + from, n - from);
    (void) buf_add(b, "\"", 1);
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
