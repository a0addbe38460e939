
/*
 * Part of retort-fetch, in the child of one request: libcurl, which reads what
 * servers write.  Each address is looked at when its socket is made, so what
 * was checked is what is connected, whatever a name resolves to next time.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fetch.h"
#include "log.h"


#define TRANSFER_AGENT    "Mozilla/5.0 (compatible; retort-fetch)"
#define TRANSFER_CONNECT  10000L        /* msec */
#define TRANSFER_STALL    15L           /* seconds without a byte */
#define TRANSFER_TURN     1000          /* msec */


static curl_socket_t
transfer_socket(void *own, curlsocktype purpose, struct curl_sockaddr *a)
{
    fetch_one_t  *one;

    one = own;

    if (purpose != CURLSOCKTYPE_IPCXN || a->socktype != SOCK_STREAM
        || (a->family != AF_INET && a->family != AF_INET6)
        || a->addr.sa_family != a->family
        || (!one->call && !url_address(one->conf, &one->url, &a->addr)))
    {
        one->code = FETCH_EREFUSED;
        one->why = "its address is not on the public internet, or its port "
                   "not allowed";
        return CURL_SOCKET_BAD;
    }

    return socket(a->family, a->socktype|SOCK_CLOEXEC, a->protocol);
}


/* how long an answer may be used again, by the same workspace */

static uint32_t
transfer_keep(CURL *easy)
{
    long                n;
    const char          *age;
    struct curl_header  *h;

    if (curl_easy_header(easy, "Cache-Control", 0, CURLH_HEADER, -1, &h)
        != CURLHE_OK)
    {
        return FETCH_KEEP;
    }

    if (strstr(h->value, "no-store") != NULL
        || strstr(h->value, "no-cache") != NULL)
    {
        return 0;
    }

    age = strstr(h->value, "max-age=");
    n = age != NULL ? strtol(age + strlen("max-age="), NULL, 10) : FETCH_KEEP;

    return n < 0 ? 0 : n < FETCH_KEEP ? (uint32_t) n : FETCH_KEEP;
}


/* what is neither asked for nor an endpoint's answer is counted, not kept */

static size_t
transfer_write(char *p, size_t size, size_t n, void *own)
{
    long         status;
    const char   *type;
    fetch_one_t  *one;

    one = own;
    n *= size;
    one->got += n;

    if (one->got > one->size || n > *one->left) {
        one->code = FETCH_ESIZE;
        one->why = "it is longer than is allowed";
        return CURL_WRITEFUNC_ERROR;
    }

    *one->left -= n;
    status = 0;
    (void) curl_easy_getinfo(one->easy, CURLINFO_RESPONSE_CODE, &status);

    if (!one->call && status != 200) {
        return n;
    }

    if (!one->headed) {
        type = NULL;
        (void) curl_easy_getinfo(one->easy, CURLINFO_CONTENT_TYPE, &type);
        talk_head(one, (uint32_t) status, type, transfer_keep(one->easy));
    }

    talk_data(one, p, n);

    return n;
}


static int
transfer_limits(fetch_one_t *one, uint64_t msec)
{
    CURL  *e;

    e = one->easy;

    return curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long) msec) != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, TRANSFER_CONNECT)
              != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_MAXFILESIZE_LARGE,
                               (curl_off_t) one->size) != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_HTTP_VERSION,
                               (long) CURL_HTTP_VERSION_1_1) != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L) != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L) != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https")
              != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_PROXY, "") != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_NETRC, (long) CURL_NETRC_IGNORED)
              != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L) != CURLE_OK ? -1 : 0;
}


/* a model may think for long before its first byte, a file's server not */

static int
transfer_speed(fetch_one_t *one)
{
    return !one->call
           && (curl_easy_setopt(one->easy, CURLOPT_LOW_SPEED_LIMIT, 1L)
               != CURLE_OK
               || curl_easy_setopt(one->easy, CURLOPT_LOW_SPEED_TIME,
                                   TRANSFER_STALL) != CURLE_OK) ? -1 : 0;
}


int
transfer_new(fetch_one_t *one, uint64_t msec)
{
    CURL  *e;

    e = one->easy = curl_easy_init();

    if (e == NULL) {
        return -1;
    }

    return curl_easy_setopt(e, CURLOPT_PRIVATE, one) != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, one) != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, transfer_socket)
              != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_WRITEDATA, one) != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, transfer_write)
              != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_USERAGENT, TRANSFER_AGENT)
              != CURLE_OK
           || curl_easy_setopt(e, CURLOPT_URL, one->url.text) != CURLE_OK
           || transfer_speed(one) == -1
           || transfer_limits(one, msec) == -1 ? -1 : 0;
}


const char *
transfer_why(const fetch_one_t *one, CURLcode rc, fetch_code_t *code)
{
    *code = one->why != NULL ? one->code
            : rc == CURLE_OPERATION_TIMEDOUT ? FETCH_ETIME
            : rc == CURLE_FILESIZE_EXCEEDED ? FETCH_ESIZE : FETCH_EFAILED;

    if (one->why != NULL) {
        return one->why;
    }

    switch (rc) {

    case CURLE_COULDNT_RESOLVE_HOST:
        return "its host is not known";

    case CURLE_COULDNT_CONNECT:
        return "its server cannot be reached";

    case CURLE_OPERATION_TIMEDOUT:
        return "its server took too long";

    case CURLE_FILESIZE_EXCEEDED:
        return "it is longer than is allowed";

    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
        return "the connection ended before it was there";

    case CURLE_PEER_FAILED_VERIFICATION:
        return "the certificate of its server is not valid";

    case CURLE_SSL_CONNECT_ERROR:
        return "its server does not speak TLS";

    default:
        return "the answer of its server is not understood";
    }
}


/* adds what "done" adds again, until there is nothing left */

void
transfer_all(CURLM *multi, int conv, void (*done)(CURLM *multi,
    fetch_one_t *one, CURLcode rc))
{
    int                 running, n;
    char                *own;
    CURLMsg             *msg;
    CURLcode            rc;
    struct curl_waitfd  front;

    memset(&front, 0, sizeof(front));
    front.fd = conv;
    front.events = CURL_WAIT_POLLIN;

    for ( ;; ) {
        if (curl_multi_perform(multi, &running) != CURLM_OK) {
            _exit(1);
        }

        msg = curl_multi_info_read(multi, &n);

        if (msg != NULL) {
            rc = msg->data.result;
            own = NULL;
            (void) curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &own);
            (void) curl_multi_remove_handle(multi, msg->easy_handle);
            done(multi, (fetch_one_t *) (void *) own, rc);
            continue;
        }

        if (running == 0) {
            return;
        }

        (void) curl_multi_poll(multi, &front, 1, TRANSFER_TURN, &n);

        /* it has nothing to say: it is gone */

        if (front.revents != 0) {
            _exit(0);
        }
    }
}
