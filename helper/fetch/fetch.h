
/*
 * retort-fetch: the only process of the service that has the network.  Its
 * own uid, no capability, a short list of system calls.  Its first process
 * reads nothing of anybody; for each request of the front it forks a child,
 * which reads what servers write and is gone with its answer.
 */

#ifndef FETCH_H
#define FETCH_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "../protocol/fetch.h"


#define FETCH_CHANNEL    3      /* descriptor at start */
#define FETCH_CHILDREN   64     /* requests at once */
#define FETCH_ALLOWS     64
#define FETCH_HOSTS      64
#define FETCH_PORTS      16
#define FETCH_ENDPOINTS  16
#define FETCH_HOST       256    /* bytes of a name, with the final NUL */
#define FETCH_KEY        4096   /* bytes of a key */
#define FETCH_KEEP       60     /* seconds that an answer is good at most */


typedef struct {
    int            family;
    unsigned char  bytes[16];
    unsigned       bits;
} fetch_net_t;

/* what is fetched though it is not public, or by another port */

typedef struct {
    const char   *host;         /* NULL: by address */
    fetch_net_t   net;
    uint16_t      port;         /* 0: any of the usual ones */
} fetch_allow_t;

typedef struct {
    const char  *name;
    const char  *url;
    const char  *model;         /* "": none */
    const char  *ca;            /* NULL: the system's */
    const char  *key_header;    /* NULL: Authorization: Bearer */
    char        *auth;          /* a header line, or NULL */
    uint64_t     size;          /* bytes of an answer */
    uint64_t     timeout;       /* msec */
} fetch_endpoint_t;

typedef struct {
    uid_t              front;
    bool               off;             /* no URL of a client */
    uint64_t           size;            /* bytes of one file */
    uint64_t           total;           /* of all files of one request */
    uint64_t           count;
    uint64_t           time;            /* msec, of one request */
    uint64_t           redirects;
    const char        *ca;
    uint16_t           port[FETCH_PORTS];
    size_t             nports;
    const char        *host[FETCH_HOSTS];       /* none: any */
    size_t             nhosts;
    fetch_allow_t      allow[FETCH_ALLOWS];
    size_t             nallows;
    fetch_endpoint_t   endpoint[FETCH_ENDPOINTS];
    size_t             nendpoints;
} fetch_conf_t;


/* a URL that may be asked for; its address is still to be looked at */

typedef struct {
    char      host[FETCH_HOST];         /* IPv6 in brackets */
    uint16_t  port;
    char      text[FETCH_URL * 3];      /* as it is sent */
} fetch_url_t;


/* one transfer of a request */

typedef struct {
    int                   conv;
    const fetch_conf_t   *conf;
    uint32_t              index;
    bool                  call;         /* an endpoint: it may be private */
    uint64_t              size;         /* bytes of this answer, at most */
    uint64_t             *left;         /* of all answers together */
    uint64_t              until;        /* msec, of all its redirects */
    uint64_t              got;
    unsigned              hops;
    bool                  headed;       /* the front has its head */
    fetch_code_t          code;         /* what ended it, if we did */
    const char           *why;
    fetch_url_t           url;
    CURL                 *easy;
} fetch_one_t;


/*
 * conf.c: the words of retortd's lines "fetch", "fetch_...", "endpoint", each
 * line behind its name and ended by "".  Reads the keys.  0, or -1 (logged).
 */

int conf_args(fetch_conf_t *c, int argc, char **argv);

/* overwrites all keys but that of "keep", which may be NULL */

void conf_forget(fetch_conf_t *c, const fetch_endpoint_t *keep);


/* net.c: pure.  "10.0.0.0/8", "::1"; 0 or -1 */

int net_read(fetch_net_t *net, const char *text);
bool net_has(const fetch_net_t *net, const struct sockaddr *sa);

/* on the public internet, as far as the address tells */

bool net_public(const struct sockaddr *sa);


/*
 * url.c: pure.  Reads a client's URL, or a server's: 0, or -1 and "*why".  It
 * may be refused still, when its address is known: url_address().
 */

int url_read(const fetch_conf_t *c, const char *text, fetch_url_t *url,
    const char **why);
bool url_address(const fetch_conf_t *c, const fetch_url_t *url,
    const struct sockaddr *sa);


/* talk.c: packets to the front; who has closed its end ends this process */

void talk_head(fetch_one_t *one, uint32_t status, const char *type,
    uint32_t keep);
void talk_data(const fetch_one_t *one, const char *p, size_t n);
void talk_end(int conv, uint32_t index, fetch_code_t code, const char *text);

/* the request, and what is behind it, ended by NUL; NULL if it is foul */

char *talk_request(int conv, fetch_req_t *req);


/* get.c, call.c: answer the whole request */

void get_all(fetch_conf_t *c, int conv, const fetch_req_t *req, char *urls);
void call_endpoint(fetch_conf_t *c, int conv, const fetch_req_t *req,
    char *body);

/* transfer.c: one transfer of libcurl, and all of a request */

int transfer_new(fetch_one_t *one, uint64_t msec);
void transfer_all(CURLM *multi, int conv, void (*done)(CURLM *multi,
    fetch_one_t *one, CURLcode rc));
const char *transfer_why(const fetch_one_t *one, CURLcode rc,
    fetch_code_t *code);


/* seal.c: verifies what retortd has dropped, and drops the rest; 0 or -1 */

int seal_process(void);

/* in a child: nobody waits for longer than that */

int seal_child(uint64_t msec);


#endif /* FETCH_H */
