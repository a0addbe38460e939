
/*
 * Linked into retort-docker and into the program inside of its containers.
 * What comes in is hostile.
 */

#include <string.h>

#include "carry.h"


#define CARRY_HEAD    sizeof(carry_head_t)
#define CARRY_ENOUGH  (CARRY_WINDOW / 4)        /* to tell of room again */


void
carry_init(carry_t *c)
{
    c->turn = 0;
    c->credit = CARRY_WINDOW;
    c->owed = 0;
    c->got = c->sent = c->out_len = 0;
    c->queue.from = c->queue.len = 0;
}


static int
carry_known(const carry_head_t *head)
{
    switch (head->type) {

    case CARRY_CHANNEL:
    case CARRY_OUT:
    case CARRY_ERR:
        return head->len <= CARRY_PACKET;

    case CARRY_INIT:
        return head->len == sizeof(init_msg_t);

    case CARRY_CREDIT:
        return head->len == sizeof(uint32_t);

    default:
        return 0;
    }
}


static void
carry_take(carry_t *c, size_t want, const char **bytes, size_t *len)
{
    size_t  n;

    n = want - c->got;
    n = n < *len ? n : *len;
    memcpy((char *) &c->in + c->got, *bytes, n);
    c->got += n;
    *bytes += n;
    *len -= n;
}


static int
carry_credit(carry_t *c)
{
    uint32_t  n;

    memcpy(&n, c->in.data, sizeof(n));

    if (n > CARRY_WINDOW - c->credit) {
        return -1;
    }

    c->credit += n;

    return 0;
}


int
carry_feed(carry_t *c, const char **bytes, size_t *len)
{
    size_t  whole;

    for ( ;; ) {
        carry_take(c, CARRY_HEAD > c->got ? CARRY_HEAD : c->got, bytes, len);

        if (c->got < CARRY_HEAD) {
            return 0;
        }

        if (!carry_known(&c->in.head)) {
            return -1;
        }

        whole = CARRY_HEAD + c->in.head.len;
        carry_take(c, whole, bytes, len);

        if (c->got < whole) {
            return 0;
        }

        c->got = 0;

        if (c->in.head.type != CARRY_CREDIT) {
            return 1;
        }

        if (carry_credit(c) == -1) {
            return -1;
        }
    }
}


int
carry_keep(carry_t *c)
{
    size_t         whole;
    carry_queue_t  *q;

    q = &c->queue;
    whole = CARRY_HEAD + c->in.head.len;

    /* what is owed is not told yet: nobody may use it */
    if (whole > CARRY_WINDOW - q->len - c->owed) {
        return -1;
    }

    if (c->in.head.turn != c->turn) {
        c->owed += (uint32_t) whole;
        return 0;
    }

    if (whole > CARRY_WINDOW - q->from - q->len) {
        memmove(q->data, q->data + q->from, q->len);
        q->from = 0;
    }

    memcpy(q->data + q->from + q->len, &c->in, whole);
    q->len += whole;

    return 0;
}


int
carry_first(const carry_t *c, carry_head_t *head, const char **data)
{
    if (c->queue.len == 0) {
        return 0;
    }

    memcpy(head, c->queue.data + c->queue.from, CARRY_HEAD);
    *data = c->queue.data + c->queue.from + CARRY_HEAD;

    return 1;
}


void
carry_next(carry_t *c)
{
    size_t        whole;
    carry_head_t  head;

    memcpy(&head, c->queue.data + c->queue.from, CARRY_HEAD);
    whole = CARRY_HEAD + head.len;
    c->queue.from += whole;
    c->queue.len -= whole;
    c->owed += (uint32_t) whole;

    if (c->queue.len == 0) {
        c->queue.from = 0;
    }
}


void
carry_turn(carry_t *c, uint8_t turn)
{
    c->turn = turn;
    c->owed += (uint32_t) c->queue.len;
    c->queue.from = c->queue.len = 0;
}


int
carry_may(const carry_t *c, size_t len)
{
    return c->credit >= CARRY_HEAD + len
           && CARRY_ROOM - c->out_len >= CARRY_SPARE + CARRY_HEAD + len;
}


static void
carry_append(carry_t *c, carry_type_t type, const void *data, size_t len)
{
    carry_head_t  head;

    head.len = (uint16_t) len;
    head.type = (uint8_t) type;
    head.turn = c->turn;
    memcpy(c->out + c->out_len, &head, CARRY_HEAD);

    if (len != 0) {
        memcpy(c->out + c->out_len + CARRY_HEAD, data, len);
    }

    c->out_len += CARRY_HEAD + len;
}


void
carry_put(carry_t *c, carry_type_t type, const void *data, size_t len)
{
    carry_append(c, type, data, len);
    c->credit -= (uint32_t) (CARRY_HEAD + len);
}


int
carry_may_urgent(const carry_t *c)
{
    return CARRY_ROOM - c->out_len >= CARRY_HEAD + sizeof(init_msg_t);
}


void
carry_urgent(carry_t *c, const init_msg_t *msg)
{
    carry_append(c, CARRY_INIT, msg, sizeof(*msg));
}


void
carry_settle(carry_t *c)
{
    if (c->owed >= CARRY_ENOUGH
        && CARRY_ROOM - c->out_len >= CARRY_HEAD + sizeof(c->owed))
    {
        carry_append(c, CARRY_CREDIT, &c->owed, sizeof(c->owed));
        c->owed = 0;
    }
}


size_t
carry_out(const carry_t *c, const char **bytes)
{
    *bytes = c->out + c->sent;

    return c->out_len - c->sent;
}


void
carry_gone(carry_t *c, size_t len)
{
    c->sent += len;

    if (c->sent == c->out_len) {
        c->sent = c->out_len = 0;
    }
}
