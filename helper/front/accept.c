
/*
 * In retort-front, as its own uid without any capability.  The header is a
 * client's.
 */

#include <string.h>
#include <strings.h>

#include "accept.h"


#define ACCEPT_Q  1000          /* q=1 */


static const char *
accept_blank(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t')) {
        p++;
    }

    return p;
}


/* 0 to 1000, -1 if it is not a weight */

static int
accept_weight(const char *p, const char *end)
{
    int  q, unit;

    if (p == end || (*p != '0' && *p != '1')) {
        return -1;
    }

    q = (*p++ - '0') * ACCEPT_Q;

    if (p < end && *p == '.') {
        p++;

        for (unit = 100; p < end && *p >= '0' && *p <= '9' && unit != 0; p++) {
            q += (*p - '0') * unit;
            unit /= 10;
        }
    }

    p = accept_blank(p, end);

    return (p == end && q <= ACCEPT_Q) ? q : -1;
}


/* the q parameter among "; a=b; q=0.5", 1000 if there is none */

static int
accept_q(const char *p, const char *end)
{
    const char  *next;

    while (p < end) {
        p = accept_blank(p + 1, end);
        next = memchr(p, ';', (size_t) (end - p));
        next = next != NULL ? next : end;

        if (next - p > 2 && (*p | 0x20) == 'q' && p[1] == '=') {
            return accept_weight(p + 2, next);
        }

        p = next;
    }

    return ACCEPT_Q;
}


/* how exactly a range names the type: 0 not at all, 3 literally */

static int
accept_match(const char *p, size_t n, const char *type)
{
    size_t  major;

    while (n != 0 && (p[n - 1] == ' ' || p[n - 1] == '\t')) {
        n--;
    }

    if (n == 3 && memcmp(p, "*/*", 3) == 0) {
        return 1;
    }

    major = strcspn(type, "/") + 1;

    if (n == major + 1 && p[major] == '*'
        && strncasecmp(p, type, major) == 0)
    {
        return 2;
    }

    return (n == strlen(type) && strncasecmp(p, type, n) == 0) ? 3 : 0;
}


/* the weight of one type: its most exact range decides */

static int
accept_type(const char *header, const char *type)
{
    int          m, best, q;
    const char  *p, *end, *semi;

    best = 0;
    q = -1;

    for (p = header; *p != '\0'; p = *end == ',' ? end + 1 : end) {
        end = p + strcspn(p, ",");
        p = accept_blank(p, end);
        semi = memchr(p, ';', (size_t) (end - p));
        semi = semi != NULL ? semi : end;

        m = accept_match(p, (size_t) (semi - p), type);

        if (m > best) {
            best = m;
            q = accept_q(semi, end);
        }
    }

    return q;
}


int
accept_choose(const char *header, const char *const *types, size_t n)
{
    int     q, best, chosen;
    size_t  i;

    if (header[strspn(header, " \t")] == '\0') {
        return 0;
    }

    best = 0;
    chosen = -1;

    for (i = 0; i < n; i++) {
        q = accept_type(header, types[i]);

        if (q > best) {
            best = q;
            chosen = (int) i;
        }
    }

    return chosen;
}


int
accept_is(const char *content_type, const char *type)
{
    size_t  n;

    n = strlen(type);

    return strncasecmp(content_type, type, n) == 0
           && (content_type[n] == '\0' || content_type[n] == ';'
               || content_type[n] == ' ');
}


int
accept_is_any(const char *header)
{
    return *header == '\0' || strcmp(header, "*/*") == 0;
}
