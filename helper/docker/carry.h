
/*
 * What retort-docker's relay and the carrier inside of a container say to each
 * other over the container's standard input and output: frames in one stream.
 *
 * Each end is as hostile to the other as a tenant: every length is checked,
 * and nobody is sent more than it said it has room for.  Nothing here does
 * I/O.
 *
 * A frame is a head and up to CARRY_PACKET bytes.  What goes out of the
 * container is delivered in the order in which it came, whatever it is for:
 * so what was printed before a packet is there before it.
 */

#ifndef RETORT_CARRY_H
#define RETORT_CARRY_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "../protocol/init.h"
#include "../protocol/kernel.h"


#define CARRY_PACKET  (sizeof(krn_head_t) + KRN_PAYLOAD)
#define CARRY_WINDOW  262144    /* bytes with heads that may be under way */
#define CARRY_SPARE   1024      /* of it, for what is urgent */
#define CARRY_ROOM    (2 * (sizeof(carry_head_t) + CARRY_PACKET) + CARRY_SPARE)


typedef enum {
    CARRY_CHANNEL = 1,          /* a packet; empty: that end was closed */
    CARRY_OUT,                  /* bytes; empty: nobody can write any more */
    CARRY_ERR,
    CARRY_INIT,                 /* init_msg_t */
    CARRY_CREDIT,               /* uint32_t: room for so many more bytes */
    CARRY_TYPES
} carry_type_t;


/* "turn" counts the kernels that were started: what an old one said is void */

typedef struct {
    uint16_t  len;
    uint8_t   type;
    uint8_t   turn;
} carry_head_t;

typedef struct {
    carry_head_t  head;
    char          data[CARRY_PACKET];
} carry_frame_t;

static_assert(sizeof(carry_head_t) == 4, "head: no padding");


/* the frames that wait to be delivered, first in, first out */

typedef struct {
    size_t  from;
    size_t  len;
    char    data[CARRY_WINDOW];
} carry_queue_t;


typedef struct {
    uint8_t        turn;
    uint32_t       credit;      /* bytes that the other end has room for */
    uint32_t       owed;        /* that it may be told to have again */
    size_t         got;         /* bytes of "in" that are there */
    size_t         sent;        /* bytes of "out" that are gone */
    size_t         out_len;
    carry_frame_t  in;
    carry_queue_t  queue;
    char           out[CARRY_ROOM];
} carry_t;


void carry_init(carry_t *c);


/*
 * Takes bytes from the stream until a frame is whole: 1, and it is in c->in
 * until the next call; 0 if it wants more, -1 if this is no frame.  "*bytes"
 * and "*len" move on.
 */

int carry_feed(carry_t *c, const char **bytes, size_t *len);


/*
 * c->in goes to the end of the queue.  -1 if the other end did not have the
 * room for it.  A frame of another turn is dropped: 0 as well.
 */

int carry_keep(carry_t *c);


/*
 * The first one in the queue, or none: its head and where its bytes are.
 * carry_next() is done with it.
 */

int carry_first(const carry_t *c, carry_head_t *head, const char **data);
void carry_next(carry_t *c);


/* drops what is in the queue; from now on this turn counts */

void carry_turn(carry_t *c, uint8_t turn);


/* may a frame of so many bytes be put now? */

int carry_may(const carry_t *c, size_t len);

/*
 * Puts a frame behind what is to be sent.  The caller has asked carry_may().
 * What is urgent needs no credit, and does not wait in the other end's queue:
 * the broker's words on their way in.
 */

void carry_put(carry_t *c, carry_type_t type, const void *data, size_t len);
int carry_may_urgent(const carry_t *c);
void carry_urgent(carry_t *c, const init_msg_t *msg);

/* tells the room that there is again, once it is worth it */

void carry_settle(carry_t *c);


/* what is to be sent, and that so much of it is gone */

size_t carry_out(const carry_t *c, const char **bytes);
void carry_gone(carry_t *c, size_t len);


#endif /* RETORT_CARRY_H */
