
/*
 * In retort-front, as its own uid without any capability.  Believes nothing
 * about the text.
 */

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "text.h"


#define TEXT_HEX   32
#define TEXT_NODE  15


int
text_number(const char *s, uint64_t *value)
{
    uint64_t  v, d;

    if (*s == '\0') {
        return -1;
    }

    for (v = 0; *s != '\0'; s++) {
        if (*s < '0' || *s > '9') {
            return -1;
        }

        d = (uint64_t) (*s - '0');

        if (v > (UINT64_MAX - d) / 10) {
            return -1;
        }

        v = v * 10 + d;
    }

    *value = v;

    return 0;
}


static size_t
text_span(const char *s)
{
    return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789._-");
}


int
text_is_name(const char *s, size_t max)
{
    size_t  n;

    n = text_span(s);

    return n != 0 && n <= max && s[n] == '\0';
}


int
text_is_id(const char *s, const char *kind)
{
    size_t       n;
    const char  *hex;

    n = strlen(kind);

    if (strncmp(s, kind, n) != 0 || s[n] != '_') {
        return 0;
    }

    s += n + 1;
    hex = strrchr(s, '_');

    if (hex == NULL || hex == s || hex - s > TEXT_NODE
        || text_span(s) < (size_t) (hex - s))
    {
        return 0;
    }

    n = strspn(hex + 1, "0123456789abcdef");

    return n == TEXT_HEX && hex[1 + TEXT_HEX] == '\0';
}


int
text_random(char hex[33])
{
    size_t         i;
    unsigned char  raw[TEXT_HEX / 2];

    if (getrandom(raw, sizeof(raw), 0) != (ssize_t) sizeof(raw)) {
        return -1;
    }

    for (i = 0; i < sizeof(raw); i++) {
        (void) snprintf(hex + 2 * i, 3, "%02x", raw[i]);
    }

    return 0;
}


int
text_id(char *s, size_t size, const char *kind, const char *node)
{
    int   n;
    char  hex[TEXT_HEX + 1];

    if (text_random(hex) == -1) {
        return -1;
    }

    n = snprintf(s, size, "%s_%s_%s", kind, node, hex);

    return n > 0 && (size_t) n < size ? 0 : -1;
}


static int
text_digit(char c)
{
    static const char  digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char        *p;

    p = c != '\0' ? strchr(digits, c) : NULL;

    return p != NULL ? (int) (p - digits) : -1;
}


/* four digits into "bits"; those from "real" on have to be padding */

static int
text_quad(const char *s, size_t real, uint32_t *bits)
{
    int     d;
    size_t  i;

    *bits = 0;

    for (i = 0; i < 4; i++) {
        d = (i < real) ? text_digit(s[i]) : 0;

        if (d == -1 || (i >= real && s[i] != '=')) {
            return -1;
        }

        *bits = *bits << 6 | (uint32_t) d;
    }

    return 0;
}


int
text_base64(const char *s, size_t n, unsigned char *out, size_t *len)
{
    size_t    i, real;
    uint32_t  bits;

    *len = 0;

    if (n % 4 != 0) {
        return -1;
    }

    for (i = 0; i < n; i += 4) {
        real = 4;

        if (i + 4 == n && s[n - 1] == '=') {
            real = s[n - 2] == '=' ? 2 : 3;
        }

        if (text_quad(s + i, real, &bits) == -1) {
            return -1;
        }

        out[(*len)++] = (unsigned char) (bits >> 16);

        if (real > 2) {
            out[(*len)++] = (unsigned char) (bits >> 8 & 0xff);
        }

        if (real > 3) {
            out[(*len)++] = (unsigned char) (bits & 0xff);
        }
    }

    return 0;
}
