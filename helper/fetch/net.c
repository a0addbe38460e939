
/*
 * Part of retort-fetch: addresses.  Pure functions.
 */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch.h"


/*
 * What is not on the public internet, or leads back from it: IANA's registries
 * of special addresses, and two of clouds.
 */

static const char *const  net_special[] = {
    "0.0.0.0/8",                /* this host */
    "10.0.0.0/8",
    "100.64.0.0/10",            /* carriers; a cloud's metadata */
    "127.0.0.0/8",
    "168.63.129.16",            /* a cloud's host, at a public address */
    "169.254.0.0/16",           /* the link; metadata of most clouds */
    "172.16.0.0/12",
    "192.0.0.0/24",             /* protocols; a cloud's metadata */
    "192.0.2.0/24",             /* documentation */
    "192.88.99.0/24",           /* 6to4 relays */
    "192.168.0.0/16",
    "198.18.0.0/15",            /* benchmarks */
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",              /* groups */
    "240.0.0.0/4",              /* reserved, and broadcast */
    "2001::/23",                /* protocols; Teredo, with an IPv4 inside */
    "2001:db8::/32",            /* documentation */
    "2002::/16",                /* 6to4: an IPv4 inside */
    "3ffe::/16",
    "3fff::/20"                 /* documentation */
};


int
net_read(fetch_net_t *net, const char *text)
{
    char           *end, copy[INET6_ADDRSTRLEN + 8];
    size_t         n;
    unsigned long  bits;

    n = strcspn(text, "/");

    if (strlen(text) >= sizeof(copy)) {
        return -1;
    }

    memset(net, 0, sizeof(*net));
    memcpy(copy, text, strlen(text) + 1);
    copy[n] = '\0';
    net->family = strchr(copy, ':') != NULL ? AF_INET6 : AF_INET;
    net->bits = net->family == AF_INET6 ? 128 : 32;

    if (inet_pton(net->family, copy, net->bytes) != 1) {
        return -1;
    }

    if (text[n] == '\0') {
        return 0;
    }

    bits = strtoul(text + n + 1, &end, 10);

    if (text[n + 1] < '0' || text[n + 1] > '9' || *end != '\0'
        || bits > net->bits)
    {
        return -1;
    }

    net->bits = (unsigned) bits;

    return 0;
}


static const unsigned char *
net_bytes(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET) {
        return (const unsigned char *)
               &((const struct sockaddr_in *) (const void *) sa)->sin_addr;
    }

    return (const unsigned char *)
           &((const struct sockaddr_in6 *) (const void *) sa)->sin6_addr;
}


bool
net_has(const fetch_net_t *net, const struct sockaddr *sa)
{
    unsigned             rest;
    size_t               n;
    const unsigned char  *p;

    if (sa->sa_family != net->family) {
        return false;
    }

    p = net_bytes(sa);
    n = net->bits / 8;
    rest = net->bits % 8;

    return memcmp(p, net->bytes, n) == 0
           && (rest == 0 || (p[n] ^ net->bytes[n]) >> (8 - rest) == 0);
}


/* ISATAP has an IPv4 address inside, below any prefix */

static bool
net_isatap(const struct sockaddr *sa)
{
    const unsigned char  *p;

    p = net_bytes(sa);

    return (p[8] & 0xfd) == 0 && p[9] == 0 && p[10] == 0x5e && p[11] == 0xfe;
}


bool
net_public(const struct sockaddr *sa)
{
    size_t       i;
    fetch_net_t  net;

    if (sa->sa_family != AF_INET && sa->sa_family != AF_INET6) {
        return false;
    }

    /* of IPv6 only 2000::/3 is given out: the rest maps, links or loops */

    if (sa->sa_family == AF_INET6
        && ((net_bytes(sa)[0] & 0xe0) != 0x20 || net_isatap(sa)))
    {
        return false;
    }

    for (i = 0; i < sizeof(net_special) / sizeof(net_special[0]); i++) {
        if (net_read(&net, net_special[i]) == -1 || net_has(&net, sa)) {
            return false;
        }
    }

    return true;
}
