
/*
 * In retort-front, as its own uid without any capability.  Paths and URLs come
 * from a client.
 */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "file_name.h"
#include "job.h"


static int
file_name_hex(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }

    c |= 0x20;

    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}


size_t
file_percent(char *s, size_t n)
{
    int     high, low;
    size_t  i, to;

    for (i = 0, to = 0; i < n; i++, to++) {
        s[to] = s[i];

        if (s[i] != '%' || n - i < 3) {
            continue;
        }

        high = file_name_hex(s[i + 1]);
        low = file_name_hex(s[i + 2]);

        if (high != -1 && low != -1) {
            s[to] = (char) (high * 16 + low);
            i += 2;
        }
    }

    return to;
}


char *
file_name(const char *p, size_t n)
{
    char    *name;
    size_t   i, from;

    from = 0;

    for (i = 0; i < n; i++) {
        if (p[i] == '/' || (p[i] == '\\' && n > 2 && p[1] == ':')) {
            from = i + 1;
        }
    }

    while (from < n && (p[from] == ' ' || p[from] == '\t')) {
        from++;
    }

    name = strndup(p + from, n - from);

    if (name == NULL) {
        return NULL;
    }

    n = file_percent(name, strlen(name));

    while (n != 0 && (name[n - 1] == ' ' || name[n - 1] == '\t')) {
        n--;
    }

    name[n] = '\0';

    if (memchr(name, '/', n) == NULL && job_file_name(name, n)) {
        return name;
    }

    free(name);

    return NULL;
}


int
file_name_is_web(const char *url)
{
    return strncasecmp(url, "http://", 7) == 0
           || strncasecmp(url, "https://", 8) == 0;
}


/* without a path that ends in a name it is the last piece before that */

char *
file_name_url(const char *url)
{
    size_t       n;
    const char  *p;

    p = strstr(url, "://");
    p = p != NULL ? p + 3 : url;
    n = strcspn(p, "?#");

    while (n != 0 && p[n - 1] == '/') {
        n--;
    }

    return file_name(p, n);
}
