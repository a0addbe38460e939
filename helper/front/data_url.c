
/*
 * In retort-front, as its own uid without any capability.  The URL is a
 * client's.  Decoding only makes it shorter, so it is done where it stands.
 */

#include <string.h>
#include <strings.h>

#include "data_url.h"
#include "text.h"


#define DATA_URL_SCHEME  5      /* "data:" */


static int
data_url_hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}


/* in place; the length then, or -1 */

static int
data_url_percent(char *p, size_t n, size_t *len)
{
    int     high, low;
    size_t  i, to;

    for (i = 0, to = 0; i < n; i++, to++) {
        p[to] = p[i];

        if (p[i] != '%') {
            continue;
        }

        if (n - i < 3) {
            return -1;
        }

        high = data_url_hex(p[i + 1]);
        low = data_url_hex(p[i + 2]);

        if (high == -1 || low == -1) {
            return -1;
        }

        p[to] = (char) (high * 16 + low);
        i += 2;
    }

    *len = to;

    return 0;
}


/* "type/subtype" of RFC 6838's characters; none means text */

static int
data_url_type(const char *p, size_t n, char type[DATA_URL_TYPE])
{
    size_t       i;
    const char  *slash;

    if (n == 0) {
        (void) memcpy(type, "text/plain", sizeof("text/plain"));
        return 0;
    }

    slash = memchr(p, '/', n);

    if (n >= DATA_URL_TYPE || slash == NULL || slash == p
        || slash == p + n - 1)
    {
        return -1;
    }

    for (i = 0; i < n; i++) {
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                   "0123456789!#$&-^_.+", p[i]) == NULL
            && p + i != slash)
        {
            return -1;
        }
    }

    (void) memcpy(type, p, n);
    type[n] = '\0';

    return 0;
}


/* the last parameter, if it is one */

static int
data_url_base64(const char *p, const char *comma)
{
    return comma - p >= 7 && strncasecmp(comma - 7, ";base64", 7) == 0;
}


int
data_url(char *url, size_t len, data_url_t *u)
{
    int     base64;
    char   *data, *comma, *head;
    size_t  n;

    comma = memchr(url, ',', len);

    if (len < DATA_URL_SCHEME || strncasecmp(url, "data:", DATA_URL_SCHEME) != 0
        || comma == NULL || memchr(url, '\0', (size_t) (comma - url)) != NULL)
    {
        return -1;
    }

    *comma = '\0';
    head = url + DATA_URL_SCHEME;
    base64 = data_url_base64(head, comma);

    if (data_url_type(head, strcspn(head, ";"), u->type) == -1) {
        return -1;
    }

    data = comma + 1;

    if (data_url_percent(data, len - (size_t) (data - url), &n) == -1) {
        return -1;
    }

    (void) memmove(url, data, n);
    u->len = n;

    return base64 ? text_base64(url, n, (unsigned char *) url, &u->len) : 0;
}
