
/*
 * Front and retort-fetch: fixed-size structs over SOCK_SEQPACKET sockets, both
 * ends built together.
 *
 * The front has one end of the channel, from retortd.  For each request it
 * makes a pair of sockets and sends one of them over the channel, with a
 * fetch_open_t.  On its own one it then says a fetch_req_t, and in packets of
 * at most FETCH_PAYLOAD bytes the request's body.  It is answered by packets
 * that begin with a fetch_ans_t.  Who closes its end gives up the request.
 *
 * The answers pass through a process that reads what hostile servers write:
 * the front bounds and checks every field.
 */

#ifndef RETORT_FETCH_H
#define RETORT_FETCH_H

#include <assert.h>
#include <stdint.h>


#define FETCH_VERSION   1
#define FETCH_PAYLOAD   32768   /* bytes behind a head, at most */
#define FETCH_NAME      32      /* of an endpoint, with the final NUL */
#define FETCH_TYPE      64      /* of a MIME type, with the final NUL */
#define FETCH_TEXT      160     /* with the final NUL */
#define FETCH_URL       4096    /* bytes of a URL, with the final NUL */
#define FETCH_URLS      64      /* in one request */
#define FETCH_HEADERS   8192    /* bytes of header lines of a call */
#define FETCH_BODY      33554432        /* bytes of a call's body */


/* even numbers ask, odd ones tell */

typedef enum {
    FETCH_GET = 2,              /* URLs of a client, each ended by NUL */
    FETCH_CALL = 4,             /* POST to an endpoint of the operator: header
                                   lines "Name: value\n", then the body */
    FETCH_ABOUT = 6,            /* of an endpoint: its model */

    FETCH_HEAD = 101,           /* a server answered: status and type */
    FETCH_DATA = 103,           /* "len" bytes of its answer are behind this */
    FETCH_END = 105             /* no more of "index"; once for each, always */
} fetch_op_t;


/* how something ended */

typedef enum {
    FETCH_OK = 0,
    FETCH_EREFUSED,             /* such a URL is not fetched */
    FETCH_EFAILED,              /* the server, or the way to it */
    FETCH_ESIZE,                /* more than is allowed */
    FETCH_ETIME,
    FETCH_EBUSY,                /* too many at once */
    FETCH_ENAME                 /* no such endpoint */
} fetch_code_t;


typedef struct {
    uint16_t  version;          /* FETCH_VERSION */
    uint16_t  reserved[3];
} fetch_open_t;

typedef struct {
    uint16_t  op;
    uint16_t  reserved;
    uint32_t  count;            /* GET: URLs */
    uint32_t  head;             /* CALL: bytes of header lines */
    uint32_t  len;              /* bytes of URLs, or behind the header lines */
    uint64_t  limit;            /* bytes of all answers; 0: the operator's */
    char      name[FETCH_NAME]; /* CALL, ABOUT */
} fetch_req_t;

typedef struct {
    uint16_t  op;
    uint16_t  code;             /* END: fetch_code_t */
    uint32_t  index;            /* GET: which URL */
    uint32_t  status;           /* HEAD: HTTP's */
    uint32_t  len;              /* DATA */
    uint32_t  keep;             /* HEAD: seconds that it may be used again */
    uint32_t  reserved;
    char      type[FETCH_TYPE];     /* HEAD: "" if it is not told */
    char      text[FETCH_TEXT];     /* END: why; ABOUT: the model */
} fetch_ans_t;


static_assert(sizeof(fetch_open_t) == 8, "no padding");
static_assert(sizeof(fetch_req_t) == 56, "no padding");
static_assert(sizeof(fetch_ans_t) == 24 + 64 + 160, "no padding");


#endif /* RETORT_FETCH_H */
