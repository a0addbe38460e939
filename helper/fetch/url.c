
/*
 * Part of retort-fetch: which URLs are asked for.  Whoever wrote one wants to
 * be where he should not: it is read by libcurl, as it will be when it is
 * fetched, and refused if it is not written plainly.
 */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fetch.h"


#define URL_DIGITS  8


static bool
url_usual(const fetch_conf_t *c, uint16_t port)
{
    size_t  i;

    for (i = 0; i < c->nports; i++) {
        if (c->port[i] == port) {
            return true;
        }
    }

    return false;
}


static bool
url_port(const fetch_conf_t *c, const fetch_allow_t *a, uint16_t port)
{
    return a->port != 0 ? a->port == port : url_usual(c, port);
}


/* the name itself, or "*.example.org" for what is below it */

static bool
url_is_host(const char *pattern, const char *host)
{
    size_t  n, m;

    if (pattern[0] != '*') {
        return strcasecmp(pattern, host) == 0;
    }

    n = strlen(pattern + 1);
    m = strlen(host);

    return m > n && strcasecmp(host + m - n, pattern + 1) == 0;
}


static bool
url_literal(const char *host, struct sockaddr_storage *sa)
{
    char                 text[INET6_ADDRSTRLEN];
    size_t               n;
    struct sockaddr_in   *in;
    struct sockaddr_in6  *in6;

    memset(sa, 0, sizeof(*sa));
    in = (struct sockaddr_in *) (void *) sa;
    in6 = (struct sockaddr_in6 *) (void *) sa;

    if (inet_pton(AF_INET, host, &in->sin_addr) == 1) {
        sa->ss_family = AF_INET;
        return true;
    }

    n = strlen(host);

    if (host[0] != '[' || n < 4 || n - 2 >= sizeof(text)) {
        return false;
    }

    memcpy(text, host + 1, n - 2);
    text[n - 2] = '\0';
    sa->ss_family = AF_INET6;

    return inet_pton(AF_INET6, text, &in6->sin6_addr) == 1;
}


static bool
url_allows(const fetch_conf_t *c, const fetch_url_t *url,
    const struct sockaddr *sa)
{
    size_t               i;
    const fetch_allow_t  *a;

    for (i = 0; i < c->nallows; i++) {
        a = &c->allow[i];

        if (url_port(c, a, url->port)
            && (a->host != NULL ? url_is_host(a->host, url->host)
                                : sa != NULL && net_has(&a->net, sa)))
        {
            return true;
        }
    }

    return false;
}


bool
url_address(const fetch_conf_t *c, const fetch_url_t *url,
    const struct sockaddr *sa)
{
    return (net_public(sa) && url_usual(c, url->port))
           || url_allows(c, url, sa);
}


/* what can be told before the name is resolved */

static const char *
url_refused(const fetch_conf_t *c, const fetch_url_t *url)
{
    bool                     literal;
    size_t                   i;
    struct sockaddr_storage  sa;

    literal = url_literal(url->host, &sa);

    if (literal) {
        if (url_allows(c, url, (struct sockaddr *) &sa)) {
            return NULL;
        }

        if (!net_public((struct sockaddr *) &sa)) {
            return "its address is not on the public internet";
        }

    } else if (url_allows(c, url, NULL)) {
        return NULL;
    }

    for (i = 0; i < c->nhosts && !url_is_host(c->host[i], url->host); i++) {
        /* void */
    }

    if (c->nhosts != 0 && i == c->nhosts) {
        return "its host is not one of those that are allowed here";
    }

    if (url_usual(c, url->port)) {
        return NULL;
    }

    /* an address with that port may be allowed, once it is known */

    for (i = 0; i < c->nallows && !literal; i++) {
        if (c->allow[i].host == NULL && c->allow[i].port == url->port) {
            return NULL;
        }
    }

    return "its port is not one of those that are allowed here";
}


/* libcurl knows the host by the same bytes: no other notation of it */

static bool
url_plain(const char *text, const char *scheme, const char *host)
{
    size_t  i, n, m;

    n = strlen(scheme);
    m = strlen(host);

    for (i = 0; i < m; i++) {
        if ((unsigned char) host[i] <= ' ' || (unsigned char) host[i] > '~') {
            return false;
        }
    }

    return strncasecmp(text, scheme, n) == 0
           && strncmp(text + n, "://", 3) == 0
           && strncasecmp(text + n + 3, host, m) == 0
           && strchr(":/?#", text[n + 3 + m]) != NULL;
}


static const char *
url_host(const char *text, CURLU *u, fetch_url_t *url)
{
    char        *scheme, *host;
    const char  *why;

    scheme = host = NULL;
    why = "it has no host";

    if (curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK
        && curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK
        && strlen(host) < sizeof(url->host))
    {
        (void) snprintf(url->host, sizeof(url->host), "%s", host);
        why = NULL;

        if (strcasecmp(scheme, "http") != 0
            && strcasecmp(scheme, "https") != 0)
        {
            why = "only http and https are fetched";

        } else if (!url_plain(text, scheme, host)) {
            why = "its host is not written plainly";
        }
    }

    curl_free(scheme);
    curl_free(host);

    return why;
}


static const char *
url_rest(CURLU *u, fetch_url_t *url)
{
    char           *port, *whole;
    unsigned long  n;
    const char     *why;

    port = whole = NULL;
    why = "it is longer than a URL may be";

    if (curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK
        && curl_url_get(u, CURLUPART_URL, &whole, 0) == CURLUE_OK
        && strlen(whole) < sizeof(url->text))
    {
        n = strlen(port) < URL_DIGITS ? strtoul(port, NULL, 10) : 0;
        url->port = n <= UINT16_MAX ? (uint16_t) n : 0;
        (void) snprintf(url->text, sizeof(url->text), "%s", whole);
        why = url->port != 0 ? NULL : "it has no port";
    }

    curl_free(port);
    curl_free(whole);

    return why;
}


static const char *
url_parse(const char *text, fetch_url_t *url)
{
    CURLU       *u;
    CURLUcode   rc;
    const char  *p, *why;

    for (p = text; *p != '\0'; p++) {
        if ((unsigned char) *p <= 0x1f || *p == 0x7f || *p == '\\') {
            return "there is a character in it that a URL has not";
        }
    }

    if (strlen(text) >= FETCH_URL) {
        return "it is longer than a URL may be";
    }

    u = curl_url();

    if (u == NULL) {
        return "out of memory";
    }

    rc = curl_url_set(u, CURLUPART_URL, text,
                      CURLU_DISALLOW_USER|CURLU_URLENCODE);
    why = rc == CURLUE_UNSUPPORTED_SCHEME ? "only http and https are fetched"
          : rc == CURLUE_USER_NOT_ALLOWED ? "it has a user's name in it"
          : rc != CURLUE_OK ? "it is not a URL" : NULL;

    if (why == NULL) {
        why = url_host(text, u, url);
    }

    if (why == NULL) {
        why = url_rest(u, url);
    }

    curl_url_cleanup(u);

    return why;
}


int
url_read(const fetch_conf_t *c, const char *text, fetch_url_t *url,
    const char **why)
{
    memset(url, 0, sizeof(*url));
    *why = url_parse(text, url);

    if (*why == NULL) {
        *why = url_refused(c, url);
    }

    return *why == NULL ? 0 : -1;
}
