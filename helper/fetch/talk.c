
/*
 * Part of retort-fetch: packets from and to the front.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fdpass.h"
#include "fetch.h"


typedef struct {
    fetch_ans_t  head;
    char         data[FETCH_PAYLOAD];
} talk_packet_t;


static void
talk_send(int conv, const void *packet, size_t len)
{
    if (fd_send(conv, packet, len, NULL, 0) == -1) {
        _exit(0);
    }
}


/* a type without its parameters, and nothing that is none */

static void
talk_type(char *to, const char *type)
{
    size_t  n;

    n = strspn(type, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
               "0123456789!#$&^_.+-/");

    if (n < FETCH_TYPE) {
        memcpy(to, type, n);
        to[n] = '\0';
    }
}


void
talk_head(fetch_one_t *one, uint32_t status, const char *type, uint32_t keep)
{
    fetch_ans_t  a;

    memset(&a, 0, sizeof(a));
    a.op = FETCH_HEAD;
    a.index = one->index;
    a.status = status;
    a.keep = keep;
    talk_type(a.type, type != NULL ? type : "");
    talk_send(one->conv, &a, sizeof(a));
    one->headed = true;
}


void
talk_data(const fetch_one_t *one, const char *p, size_t n)
{
    size_t         len;
    talk_packet_t  packet;

    memset(&packet.head, 0, sizeof(packet.head));
    packet.head.op = FETCH_DATA;
    packet.head.index = one->index;

    for ( ; n != 0; n -= len, p += len) {
        len = n < FETCH_PAYLOAD ? n : FETCH_PAYLOAD;
        packet.head.len = (uint32_t) len;
        memcpy(packet.data, p, len);
        talk_send(one->conv, &packet, sizeof(packet.head) + len);
    }
}


void
talk_end(int conv, uint32_t index, fetch_code_t code, const char *text)
{
    size_t       n;
    fetch_ans_t  a;

    memset(&a, 0, sizeof(a));
    a.op = FETCH_END;
    a.index = index;
    a.code = (uint16_t) code;
    n = strlen(text);
    memcpy(a.text, text, n < FETCH_TEXT ? n : FETCH_TEXT - 1);
    talk_send(conv, &a, sizeof(a));
}


static int
talk_body(int conv, char *p, size_t len)
{
    ssize_t  n;

    while (len != 0) {
        n = fd_recv(conv, p, len < FETCH_PAYLOAD ? len : FETCH_PAYLOAD, NULL,
                    NULL, 0);
        if (n <= 0) {
            return -1;
        }

        p += n;
        len -= (size_t) n;
    }

    return 0;
}


char *
talk_request(int conv, fetch_req_t *req)
{
    char    *body;
    size_t  len;

    if (fd_recv(conv, req, sizeof(*req), NULL, NULL, 0)
        != (ssize_t) sizeof(*req)
        || req->count > FETCH_URLS || req->head > FETCH_HEADERS
        || req->len > FETCH_BODY || req->name[FETCH_NAME - 1] != '\0')
    {
        return NULL;
    }

    len = (size_t) req->head + req->len;
    body = calloc(1, len + 1);

    if (body != NULL && talk_body(conv, body, len) == -1) {
        free(body);
        return NULL;
    }

    return body;
}
