
/*
 * Part of retort-docker: the engine's HTTP API over its socket.  The engine is
 * root and believed; what it says is bounded all the same.
 */

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "docker.h"
#include "log.h"


#define ENGINE_ANSWER  (16 << 20)
#define ENGINE_HEAD    4096
#define ENGINE_ERROR   300      /* bytes of its words in our log */


/* of one call at a time: this has one thread, and so have its children */

static char    engine_text[ENGINE_ANSWER + 1];
static size_t  engine_len;


static size_t
engine_take(char *data, size_t size, size_t n, void *unused)
{
    (void) unused;
    n *= size;

    if (n > ENGINE_ANSWER - engine_len) {
        return 0;
    }

    memcpy(engine_text + engine_len, data, n);
    engine_len += n;

    return n;
}


static int
engine_errno(CURLcode rc)
{
    switch (rc) {

    case CURLE_OPERATION_TIMEDOUT:
        return ETIMEDOUT;

    case CURLE_COULDNT_CONNECT:
        return ECONNREFUSED;

    case CURLE_OUT_OF_MEMORY:
        return ENOMEM;

    default:
        return EIO;
    }
}


static CURL *
engine_handle(const docker_t *d, const char *path, long msec)
{
    char  url[1024];
    CURL  *curl;

    (void) snprintf(url, sizeof(url), "http://engine%s", path);
    curl = curl_easy_init();

    if (curl == NULL
        || curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, d->socket)
           != CURLE_OK
        || curl_easy_setopt(curl, CURLOPT_URL, url) != CURLE_OK
        || curl_easy_setopt(curl, CURLOPT_PROXY, "") != CURLE_OK
        || curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http") != CURLE_OK
        || curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) != CURLE_OK
        || curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, msec) != CURLE_OK
        || curl_easy_setopt(curl, CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, msec)
           != CURLE_OK
        || curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, engine_take)
           != CURLE_OK)
    {
        curl_easy_cleanup(curl);
        return NULL;
    }

    return curl;
}


/* as curl_easy_perform(), which looks once more each second */

static CURLcode
engine_perform(CURL *curl, long msec)
{
    int       left;
    CURLM     *multi;
    CURLMsg   *done;
    CURLcode  rc;

    multi = curl_multi_init();

    if (curl_multi_add_handle(multi, curl) != CURLM_OK) {
        (void) curl_multi_cleanup(multi);
        return CURLE_OUT_OF_MEMORY;
    }

    while (curl_multi_perform(multi, &left) == CURLM_OK && left != 0
           && curl_multi_poll(multi, NULL, 0, (int) msec, NULL) == CURLM_OK)
    {
        /* what ends it, be it the time, is an event of the handle's own */
    }

    done = curl_multi_info_read(multi, &left);
    rc = (done != NULL) ? done->data.result : CURLE_OUT_OF_MEMORY;
    (void) curl_multi_remove_handle(multi, curl);
    (void) curl_multi_cleanup(multi);

    return rc;
}


int
engine_call(const docker_t *d, const char *method, const char *path,
    const char *body, long msec, json_object **answer)
{
    long               status;
    CURL               *curl;
    CURLcode           rc;
    struct curl_slist  *type;

    engine_len = 0;
    curl = engine_handle(d, path, msec);
    type = curl_slist_append(NULL, "Content-Type: application/json");

    if (curl == NULL || type == NULL) {
        rc = CURLE_OUT_OF_MEMORY;

    } else {
        (void) curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
        (void) curl_easy_setopt(curl, CURLOPT_HTTPHEADER, type);

        if (body != NULL) {
            (void) curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
        }

        rc = engine_perform(curl, msec);
        (void) curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    }

    engine_text[engine_len] = '\0';
    curl_slist_free_all(type);
    curl_easy_cleanup(curl);

    if (rc == CURLE_OK && status >= 400 && status != 404) {
        rlog(RLOG_WARN, "engine: %s %s: %ld %.*s", method, path, status,
             ENGINE_ERROR, engine_text);
    }

    if (answer != NULL) {
        *answer = rc == CURLE_OK ? json_tokener_parse(engine_text) : NULL;
    }

    errno = engine_errno(rc);

    return rc == CURLE_OK ? (int) status : -1;
}


static int
engine_connect(const docker_t *d, long msec)
{
    int                 fd;
    struct timeval      tv;
    struct sockaddr_un  sa;

    memset(&sa, 0, sizeof(sa));
    sa.sun_family = AF_UNIX;

    if (strlen(d->socket) >= sizeof(sa.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }

    memcpy(sa.sun_path, d->socket, strlen(d->socket));
    tv.tv_sec = msec / 1000;
    tv.tv_usec = 1000;
    fd = socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0);

    if (fd == -1) {
        return -1;
    }

    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) == -1
        || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) == -1
        || connect(fd, (struct sockaddr *) &sa, sizeof(sa)) == -1)
    {
        (void) close(fd);
        return -1;
    }

    return fd;
}


/* what follows the head is the stream's: it is read byte by byte */

static int
engine_upgraded(int fd)
{
    char    head[ENGINE_HEAD];
    size_t  n;

    for (n = 0; n < sizeof(head) - 1; n++) {
        if (read(fd, head + n, 1) != 1) {
            break;
        }

        head[n + 1] = '\0';

        if (n >= 3 && memcmp(head + n - 3, "\r\n\r\n", 4) == 0) {
            return strncmp(head, "HTTP/1.1 101", 12) == 0
                   || strncmp(head, "HTTP/1.1 200", 12) == 0 ? 0 : -1;
        }
    }

    return -1;
}


int
engine_attach(const docker_t *d, const char *name, long msec)
{
    int   fd, n;
    char  head[512];

    n = snprintf(head, sizeof(head),
                 "POST /containers/%s/attach?stream=1&stdin=1&stdout=1"
                 "&stderr=1 HTTP/1.1\r\nHost: engine\r\nConnection: Upgrade"
                 "\r\nUpgrade: tcp\r\nContent-Length: 0\r\n\r\n", name);
    fd = engine_connect(d, msec);

    if (fd == -1) {
        return -1;
    }

    if (send(fd, head, (size_t) n, MSG_NOSIGNAL) != n
        || engine_upgraded(fd) == -1)
    {
        (void) close(fd);
        errno = EIO;
        return -1;
    }

    return fd;
}
