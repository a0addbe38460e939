
/*
 * The stream between a container and its relay, both ends of it hostile: any
 * bytes, cut at any place, while this end sends, delivers and starts anew.
 *
 * links: helper/docker/carry.c
 */

#include <stdlib.h>
#include <string.h>

#include "docker/carry.h"
#include "fuzz.h"


#define CARRY_PIECE   255       /* bytes that come at once */
#define CARRY_REPEAT  64        /* times that they come again */


static carry_t  carry;
static char     mine[CARRY_PACKET];


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;

    return 0;
}


static void
holds(const carry_t *c)
{
    const char  *bytes;

    FUZZ_CHECK(c->queue.from + c->queue.len <= CARRY_WINDOW);
    FUZZ_CHECK(c->queue.len + c->owed <= CARRY_WINDOW);
    FUZZ_CHECK(c->credit <= CARRY_WINDOW);
    FUZZ_CHECK(c->sent <= c->out_len && c->out_len <= CARRY_ROOM);
    FUZZ_CHECK(c->got < sizeof(carry_head_t) + CARRY_PACKET);
    FUZZ_CHECK(carry_out(c, &bytes) <= CARRY_ROOM);
}


/* -1 once it was no frame, or too much: then a relay is over */

static int
arrive(const uint8_t *data, size_t size)
{
    int         rc;
    uint8_t     *copy;
    const char  *p;

    copy = fuzz_copy(data, size);
    p = (const char *) copy;

    while ((rc = carry_feed(&carry, &p, &size)) == 1) {
        FUZZ_CHECK(carry.in.head.type >= CARRY_CHANNEL
                   && carry.in.head.type <= CARRY_INIT
                   && carry.in.head.len <= CARRY_PACKET);

        if (carry_keep(&carry) == -1) {
            rc = -1;
            break;
        }
    }

    FUZZ_CHECK(rc == -1 || size == 0);
    free(copy);

    return rc;
}


/* what is first is whole, of this turn, and behind none of another */

static void
deliver(void)
{
    size_t        sum;
    const char    *data;
    carry_head_t  head;

    if (!carry_first(&carry, &head, &data)) {
        return;
    }

    FUZZ_CHECK(head.turn == carry.turn && head.type < CARRY_CREDIT);
    FUZZ_CHECK(sizeof(head) + head.len <= carry.queue.len);
    FUZZ_CHECK(data + head.len <= carry.queue.data + CARRY_WINDOW);

    /* each byte is read once, as send() would */
    for (sum = 0; head.len != 0; head.len--) {
        sum += (uint8_t) data[head.len - 1];
    }

    FUZZ_CHECK(sum <= 255UL * CARRY_PACKET);
    carry_next(&carry);
}


static void
put(size_t len)
{
    init_msg_t  msg;

    memset(&msg, 0, sizeof(msg));

    if (carry_may_urgent(&carry) && len == 0) {
        carry_urgent(&carry, &msg);

    } else if (carry_may(&carry, len)) {
        carry_put(&carry, CARRY_OUT, mine, len);
    }
}


static void
leave(size_t n)
{
    size_t      len;
    const char  *bytes;

    carry_settle(&carry);
    len = carry_out(&carry, &bytes);
    carry_gone(&carry, n < len ? n : len);
}


/* a piece, so often: what a window holds is much more than an input */

static int
pieces(const uint8_t **p, size_t *n)
{
    int     rc;
    size_t  len, times;

    times = 1 + fuzz_byte(p, n) % CARRY_REPEAT;
    len = fuzz_byte(p, n);
    len = len < *n ? len : *n;

    for (rc = 0; times != 0 && rc != -1; times--) {
        rc = arrive(*p, len);
        holds(&carry);
    }

    *p += len;
    *n -= len;

    return rc;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int  rc;

    carry_init(&carry);

    for (rc = 0; size != 0 && rc != -1; ) {
        switch (fuzz_byte(&data, &size) % 6) {

        case 0:
            deliver();
            break;

        case 1:
            put((size_t) fuzz_byte(&data, &size) * CARRY_PIECE
                % (CARRY_PACKET + 1));
            break;

        case 2:
            leave((size_t) fuzz_byte(&data, &size) * CARRY_PIECE);
            break;

        case 3:
            carry_turn(&carry, (uint8_t) (carry.turn + 1));
            break;

        default:
            rc = pieces(&data, &size);
        }

        holds(&carry);
    }

    return 0;
}
