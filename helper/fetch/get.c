
/*
 * Part of retort-fetch, in the child of one request: the files that a client
 * named by URL, all at once.  A redirect is a new URL that is read like the
 * first one.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fetch.h"
#include "log.h"


#define GET_CONNECTIONS  16L


static void
get_refuse(const fetch_one_t *one, fetch_code_t code, const char *why)
{
    rlog(RLOG_INFO, "not fetched from \"%s\", port %u: %s",
         one->url.host[0] != '\0' ? one->url.host : "?", one->url.port, why);
    talk_end(one->conv, one->index, code, why);
}


static uint64_t
get_now(void)
{
    struct timespec  t;

    (void) clock_gettime(CLOCK_MONOTONIC, &t);

    return (uint64_t) t.tv_sec * 1000 + (uint64_t) t.tv_nsec / 1000000;
}


/* its redirects together have the time that it has */

static int
get_begin(CURLM *multi, fetch_one_t *one)
{
    long      msec;
    uint64_t  now;

    now = get_now();
    msec = now < one->until ? (long) (one->until - now) : 1;

    return curl_easy_setopt(one->easy, CURLOPT_TIMEOUT_MS, msec) == CURLE_OK
           && curl_easy_setopt(one->easy, CURLOPT_URL, one->url.text)
              == CURLE_OK
           && curl_multi_add_handle(multi, one->easy) == CURLM_OK ? 0 : -1;
}


static void
get_redirect(CURLM *multi, fetch_one_t *one, const char *to)
{
    char         text[FETCH_TEXT];
    const char   *why;
    fetch_url_t  url;

    if (one->hops++ == one->conf->redirects) {
        get_refuse(one, FETCH_EREFUSED, "it is redirected too often");
        return;
    }

    if (url_read(one->conf, to, &url, &why) == -1) {
        (void) snprintf(text, sizeof(text), "it is redirected to a place "
                        "that is not fetched: %s", why);
        get_refuse(one, FETCH_EREFUSED, text);
        return;
    }

    one->url = url;
    one->got = 0;
    one->why = NULL;

    if (get_begin(multi, one) == -1) {
        get_refuse(one, FETCH_EFAILED, "out of memory");
    }
}


static void
get_done(CURLM *multi, fetch_one_t *one, CURLcode rc)
{
    long          status;
    char          *to, text[FETCH_TEXT];
    const char    *why;
    fetch_code_t  code;

    if (rc != CURLE_OK) {
        why = transfer_why(one, rc, &code);
        get_refuse(one, code, why);
        return;
    }

    status = 0;
    to = NULL;
    (void) curl_easy_getinfo(one->easy, CURLINFO_RESPONSE_CODE, &status);
    (void) curl_easy_getinfo(one->easy, CURLINFO_REDIRECT_URL, &to);

    if (to != NULL) {
        get_redirect(multi, one, to);

    } else if (status != 200) {
        (void) snprintf(text, sizeof(text), "its server answered %ld", status);
        get_refuse(one, FETCH_EFAILED, text);

    } else {
        if (!one->headed) {
            talk_head(one, 200, NULL, 0);
        }

        talk_end(one->conv, one->index, FETCH_OK, "");
    }
}


static void
get_one(CURLM *multi, fetch_one_t *one, const char *text)
{
    const char          *why;
    const fetch_conf_t  *c;

    c = one->conf;

    if (c->off) {
        get_refuse(one, FETCH_EREFUSED, "nothing is fetched here");
        return;
    }

    if (one->index >= c->count) {
        get_refuse(one, FETCH_ESIZE, "more files are named by URL than are "
                   "allowed");
        return;
    }

    if (url_read(c, text, &one->url, &why) == -1) {
        get_refuse(one, FETCH_EREFUSED, why);
        return;
    }

    if (transfer_new(one, c->time) == -1
        || (c->ca != NULL && curl_easy_setopt(one->easy, CURLOPT_CAINFO, c->ca)
                             != CURLE_OK)
        || get_begin(multi, one) == -1)
    {
        get_refuse(one, FETCH_EFAILED, "out of memory");
    }
}


void
get_all(fetch_conf_t *c, int conv, const fetch_req_t *req, char *urls)
{
    char         *end;
    CURLM        *multi;
    uint32_t     i;
    uint64_t     left;
    fetch_one_t  *all;

    multi = curl_multi_init();
    all = calloc(req->count + 1, sizeof(fetch_one_t));
    left = req->limit != 0 && req->limit < c->total ? req->limit : c->total;

    if (multi == NULL || all == NULL
        || curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                             GET_CONNECTIONS) != CURLM_OK)
    {
        _exit(1);
    }

    end = urls + req->len;

    for (i = 0; i < req->count; i++) {
        all[i].conv = conv;
        all[i].conf = c;
        all[i].index = i;
        all[i].size = c->size < left ? c->size : left;
        all[i].left = &left;
        all[i].until = get_now() + c->time;
        get_one(multi, &all[i], urls);
        urls += urls < end ? strlen(urls) + 1 : 0;
    }

    transfer_all(multi, conv, get_done);
}
