
/*
 * The way to the internet: a client's URL, as it is checked and as libcurl will
 * read it; addresses; what a front says to retort-fetch, and what that says to
 * the front.  The first byte says which.
 *
 * links: helper/fetch/url.c helper/fetch/net.c helper/fetch/talk.c
 * links: helper/front/outside.c helper/front/wake.c helper/front/clock.c
 * links: helper/front/err.c helper/lib/fdpass.c tests/fuzz/lib/quiet.c
 * libs: -lcurl
 */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fdpass.h"
#include "fetch/fetch.h"
#include "front/clock.h"
#include "front/err.h"
#include "front/outside.h"
#include "front/wake.h"
#include "fuzz.h"


#define TALK_MESSAGES  8
#define TALK_BYTES     (FETCH_PAYLOAD + 1024)


static fetch_conf_t  strict;            /* as an operator has it who says no */
static fetch_conf_t  lax;               /* one private net, one name */


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;
    strict.port[0] = 80;
    strict.port[1] = 443;
    strict.nports = 2;
    lax = strict;
    lax.allow[0].host = "*.inside.example";
    lax.allow[1].port = 8080;
    lax.nallows = 2;

    if (net_read(&lax.allow[1].net, "10.1.0.0/16") == -1 || wake_init(1) == -1)
    {
        abort();
    }

    return 0;
}


/* what libcurl reads in the text that it will be given */

static void
url_again(const fetch_url_t *url)
{
    char       *host, *port;
    CURLU      *u;
    in_addr_t   a;

    host = port = NULL;
    u = curl_url();
    FUZZ_CHECK(curl_url_set(u, CURLUPART_URL, url->text, 0) == CURLUE_OK);
    FUZZ_CHECK(curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK);
    FUZZ_CHECK(curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT)
               == CURLUE_OK);
    FUZZ_CHECK(strcasecmp(host, url->host) == 0);
    FUZZ_CHECK(strtoul(port, NULL, 10) == url->port);
    FUZZ_CHECK(strpbrk(url->text, " \r\n\t") == NULL);

    /* what any notation of an IPv4 address means is public */

    a = inet_addr(host);

    if (a != INADDR_NONE) {
        struct sockaddr_in  in = { .sin_family = AF_INET };

        in.sin_addr.s_addr = a;
        FUZZ_CHECK(net_public((struct sockaddr *) &in));
    }

    curl_free(host);
    curl_free(port);
    curl_url_cleanup(u);
}


static void
fetch_url(const uint8_t *p, size_t n)
{
    char         *text;
    const char   *why;
    fetch_url_t   url;

    text = strndup((const char *) p, n);

    if (text == NULL) {
        return;
    }

    if (url_read(&strict, text, &url, &why) == 0) {
        FUZZ_CHECK(url.port == 80 || url.port == 443);
        FUZZ_CHECK(strncmp(url.text, "http", 4) == 0);
        FUZZ_CHECK(strpbrk(url.host, "@/?#\\ ") == NULL);
        url_again(&url);

    } else {
        FUZZ_CHECK(why != NULL);
    }

    (void) url_read(&lax, text, &url, &why);
    free(text);
}


/* private IPv4, however it is wrapped into IPv6, is not public */

static void
fetch_net(const uint8_t *p, size_t n)
{
    char                 *text;
    fetch_net_t           net;
    struct sockaddr_in    in;
    struct sockaddr_in6   in6;

    memset(&in, 0, sizeof(in));
    memset(&in6, 0, sizeof(in6));
    in.sin_family = AF_INET;
    in6.sin6_family = AF_INET6;
    memcpy(&in6.sin6_addr, p, n < 16 ? n : 16);
    memcpy(&in.sin_addr, p, n < 4 ? n : 4);
    (void) net_public((struct sockaddr *) &in);

    if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)
        || IN6_IS_ADDR_LINKLOCAL(&in6.sin6_addr)
        || IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr))
    {
        FUZZ_CHECK(!net_public((struct sockaddr *) &in6));
    }

    (void) net_public((struct sockaddr *) &in6);
    text = strndup((const char *) p, n);

    if (text != NULL && net_read(&net, text) == 0) {
        FUZZ_CHECK(net.bits <= (net.family == AF_INET6 ? 128 : 32));
        (void) net_has(&net, (struct sockaddr *) &in);
        (void) net_has(&net, (struct sockaddr *) &in6);
    }

    free(text);
}


/* messages, each behind two bytes of length */

static int
fetch_said(const uint8_t *p, size_t n)
{
    int     i, pair[2];
    size_t  len;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, pair) == -1) {
        abort();
    }

    for (i = 0; i < TALK_MESSAGES && n >= 2; i++) {
        len = (size_t) fuzz_byte(&p, &n);
        len |= (size_t) fuzz_byte(&p, &n) << 8;
        len = len < n ? len : n;
        len = len < TALK_BYTES ? len : TALK_BYTES;
        (void) send(pair[1], p, len, MSG_DONTWAIT|MSG_NOSIGNAL);
        p += len;
        n -= len;
    }

    (void) close(pair[1]);

    return pair[0];
}


static void
fetch_request(const uint8_t *p, size_t n)
{
    int           fd;
    char         *body;
    fetch_req_t   req;

    fd = fetch_said(p, n);
    body = talk_request(fd, &req);

    if (body != NULL) {
        FUZZ_CHECK(memchr(req.name, '\0', sizeof(req.name)) != NULL);
        FUZZ_CHECK(body[(size_t) req.head + req.len] == '\0');
        free(body);
    }

    (void) close(fd);
}


static void
fetch_answer(const uint8_t *p, size_t n)
{
    int                   i, client[2];
    err_t                 e;
    outside_t             o;
    static outside_msg_t  m;

    if (socketpair(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0, client) == -1) {
        abort();
    }

    memset(&e, 0, sizeof(e));
    memset(&o, 0, sizeof(o));
    wake_begin();
    o.fd = fetch_said(p, n);
    o.client = client[0];
    o.until = clock_mono_us() + 3600000000;     /* whoever shares the machine */

    for (i = 0; i < TALK_MESSAGES && outside_hear(&o, &m, &e) == 0; i++) {
        FUZZ_CHECK(m.head.len <= FETCH_PAYLOAD);
        FUZZ_CHECK(memchr(m.head.type, '\0', FETCH_TYPE) != NULL);
        FUZZ_CHECK(memchr(m.head.text, '\0', FETCH_TEXT) != NULL);
        FUZZ_CHECK(m.head.op == FETCH_DATA || m.head.len == 0);
    }

    FUZZ_CHECK(i == TALK_MESSAGES || e.status == 502);
    outside_end(&o);
    (void) close(client[0]);
    (void) close(client[1]);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t  which;

    which = fuzz_byte(&data, &size);

    switch (which) {
    case 'n': fetch_net(data, size); break;
    case 'q': fetch_request(data, size); break;
    case 'a': fetch_answer(data, size); break;
    default: fetch_url(data, size);
    }

    return 0;
}
