
/*
 * Part of retort-fetch, in the child of one request: a call of an endpoint
 * that the operator named.  Neither its URL nor its key come from the front.
 */

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "fetch.h"
#include "log.h"


/* these lines are ours, or the operator's */

static const char *const  call_ours[] = {
    "authorization", "connection", "content-encoding", "content-length",
    "cookie", "expect", "host", "keep-alive", "proxy-authorization",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    "x-api-key", "api-key"
};


static bool
call_header_ok(const fetch_endpoint_t *e, const char *line)
{
    size_t  i, n;

    n = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
               "0123456789-");

    if (n == 0 || line[n] != ':'
        || (e->key_header != NULL && strlen(e->key_header) == n
            && strncasecmp(e->key_header, line, n) == 0))
    {
        return false;
    }

    for (i = 0; i < sizeof(call_ours) / sizeof(call_ours[0]); i++) {
        if (strlen(call_ours[i]) == n
            && strncasecmp(call_ours[i], line, n) == 0)
        {
            return false;
        }
    }

    for (i = n; line[i] != '\0'; i++) {
        if (!isprint((unsigned char) line[i])) {
            return false;
        }
    }

    return true;
}


/* the front's lines, each ended by "\n", then ours; NULL if one is foul */

static struct curl_slist *
call_headers(const fetch_endpoint_t *e, char *lines)
{
    char               *line, *next;
    struct curl_slist  *list, *longer;

    list = curl_slist_append(NULL, "Expect:");

    for (line = lines; *line != '\0' && list != NULL; line = next) {
        next = strchr(line, '\n');

        if (next == NULL) {
            return NULL;
        }

        *next++ = '\0';

        if (!call_header_ok(e, line)) {
            return NULL;
        }

        longer = curl_slist_append(list, line);
        list = longer;
    }

    if (list != NULL && e->auth != NULL) {
        list = curl_slist_append(list, e->auth);
    }

    return list != NULL ? curl_slist_append(list, "Content-Type: "
                                            "application/json") : NULL;
}


static void
call_done(CURLM *multi, fetch_one_t *one, CURLcode rc)
{
    long          status;
    const char    *why;
    fetch_code_t  code;

    if (rc != CURLE_OK) {
        why = transfer_why(one, rc, &code);
        rlog(RLOG_WARN, "endpoint %s: %s (%s)", one->url.host, why,
             curl_easy_strerror(rc));
        talk_end(one->conv, 0, code, why);
        return;
    }

    if (!one->headed) {
        status = 0;
        (void) curl_easy_getinfo(one->easy, CURLINFO_RESPONSE_CODE, &status);
        talk_head(one, (uint32_t) status, NULL, 0);
    }

    talk_end(one->conv, 0, FETCH_OK, "");
}


static int
call_setup(fetch_one_t *one, const fetch_endpoint_t *e,
    const struct curl_slist *headers, const char *body, size_t len)
{
    return transfer_new(one, e->timeout) == -1
           || curl_easy_setopt(one->easy, CURLOPT_HTTPHEADER, headers)
              != CURLE_OK
           || curl_easy_setopt(one->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                               (curl_off_t) len) != CURLE_OK
           || curl_easy_setopt(one->easy, CURLOPT_POSTFIELDS, body) != CURLE_OK
           || (e->ca != NULL && curl_easy_setopt(one->easy, CURLOPT_CAINFO,
                                                 e->ca) != CURLE_OK) ? -1 : 0;
}


static fetch_endpoint_t *
call_find(fetch_conf_t *c, const char *name)
{
    size_t  i;

    for (i = 0; i < c->nendpoints; i++) {
        if (strcmp(c->endpoint[i].name, name) == 0) {
            return &c->endpoint[i];
        }
    }

    return NULL;
}


void
call_endpoint(fetch_conf_t *c, int conv, const fetch_req_t *req, char *body)
{
    char                lines[FETCH_HEADERS + 1];
    CURLM               *multi;
    uint64_t            left;
    fetch_one_t         one;
    fetch_endpoint_t    *e;
    struct curl_slist   *headers;

    e = call_find(c, req->name);
    conf_forget(c, e);

    if (e == NULL || req->op == FETCH_ABOUT) {
        talk_end(conv, 0, e == NULL ? FETCH_ENAME : FETCH_OK,
                 e == NULL ? "no such endpoint" : e->model);
        return;
    }

    memset(&one, 0, sizeof(one));
    memcpy(lines, body, req->head);
    lines[req->head] = '\0';
    (void) snprintf(one.url.host, sizeof(one.url.host), "%s", e->name);
    (void) snprintf(one.url.text, sizeof(one.url.text), "%s", e->url);
    left = req->limit != 0 && req->limit < e->size ? req->limit : e->size;
    one.conv = conv;
    one.conf = c;
    one.call = true;
    one.size = left;
    one.left = &left;
    headers = call_headers(e, lines);

    if (headers == NULL) {
        talk_end(conv, 0, FETCH_EREFUSED, "a header line that is not sent");
        return;
    }

    multi = curl_multi_init();

    if (multi == NULL
        || call_setup(&one, e, headers, body + req->head, req->len) == -1
        || curl_multi_add_handle(multi, one.easy) != CURLM_OK)
    {
        _exit(1);
    }

    transfer_all(multi, conv, call_done);
}
