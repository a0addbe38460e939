
/*
 * A retort-fetch for tests of what asks it: a thread that answers one request
 * as the test wants.
 */

#ifndef FETCH_BED_H
#define FETCH_BED_H

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fdpass.h"
#include "protocol/fetch.h"


typedef struct {
    const char   *script;       /* what it answers: h d e, see play() */
    int           channel;
    fetch_req_t   req;
    char          body[70000];
} fake_t;

static fake_t  fake;


static void
packet(int conv, uint16_t op, uint16_t code, const char *data, size_t len)
{
    struct {
        fetch_ans_t  head;
        char         data[FETCH_PAYLOAD];
    } p;

    memset(&p, 0, sizeof(p));
    p.head.op = op;
    p.head.code = code;
    p.head.status = 201;
    memcpy(p.head.type, "text/event-stream", sizeof("text/event-stream"));
    memcpy(p.head.text, "a reason", sizeof("a reason"));
    p.head.len = (uint32_t) len;
    memcpy(p.data, data, len);
    (void) fd_send(conv, &p, sizeof(p.head) + len, NULL, 0);
}


static void
play(int conv, const char *script)
{
    fetch_ans_t  a;

    for ( ; *script != '\0'; script++) {
        switch (*script) {

        case 'h':
            packet(conv, FETCH_HEAD, 0, "", 0);
            break;

        case 'd':
            packet(conv, FETCH_DATA, 0, "data ", 5);
            break;

        case 'e':
            packet(conv, FETCH_END, (uint16_t) (*++script - '0'), "", 0);
            break;

        case 'x':                       /* a head with bytes behind it */
            packet(conv, FETCH_HEAD, 0, "data ", 5);
            break;

        case 's':                       /* more told than sent */
            memset(&a, 0, sizeof(a));
            a.op = FETCH_DATA;
            a.len = 400;
            (void) fd_send(conv, &a, sizeof(a), NULL, 0);
            break;

        case 't':
            (void) fd_send(conv, "short", 5, NULL, 0);
            break;

        default:                        /* waits for the other's end */
            (void) fd_recv(conv, &a, sizeof(a), NULL, NULL, 0);
        }
    }
}


static void *
serve(void *arg)
{
    int           conv, nfd;
    size_t        at;
    ssize_t       n;
    fetch_open_t  open;

    nfd = 1;
    (void) arg;

    assert_int_equal(fd_recv(fake.channel, &open, sizeof(open), &conv, &nfd,
                             0), sizeof(open));
    assert_int_equal(fd_recv(conv, &fake.req, sizeof(fake.req), NULL, NULL, 0),
                     sizeof(fake.req));

    for (at = 0; at < fake.req.head + fake.req.len; at += (size_t) n) {
        n = fd_recv(conv, fake.body + at, sizeof(fake.body) - at, NULL, NULL,
                    0);
        assert_true(n > 0);
    }

    play(conv, fake.script);
    (void) close(conv);

    return NULL;
}

#endif /* FETCH_BED_H */
