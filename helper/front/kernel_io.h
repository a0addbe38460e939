
/*
 * Packets of kernel.h: messages go out without blocking, what comes in is put
 * together within bounds.
 */

#ifndef FRONT_KERNEL_IO_H
#define FRONT_KERNEL_IO_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "protocol/kernel.h"


#define KRN_PACKET  (sizeof(krn_head_t) + KRN_PAYLOAD)


/* a message on its way to the kernel; the parts stay the caller's */

typedef struct {
    krn_head_t   head;
    const void  *part[KRN_PARTS];
    uint64_t     total;
    uint64_t     sent;
    int          begun;
    int          busy;          /* not sent completely */
} krn_out_t;

void krn_out(krn_out_t *m, krn_type_t type, uint32_t run, uint32_t a);

/* -1 if the part is longer than the wire can say */

int krn_out_part(krn_out_t *m, int i, const void *p, size_t len);

/* 1 all sent, 0 the socket is full, -1 with errno */

int krn_out_push(krn_out_t *m, int fd);


/* how much of a message is worth keeping */

typedef struct {
    uint64_t  stream;           /* KRN_OUT */
    uint64_t  form;             /* KRN_MIME */
    uint64_t  error;            /* KRN_ERROR */
    uint64_t  file;             /* KRN_ENTRY, KRN_BYTES, KRN_CHANGE */
} krn_keep_t;

/* a message that comes in */

typedef struct {
    krn_head_t  head;
    uint64_t    total;          /* bytes of the body, as the head says */
    uint64_t    got;
    uint64_t    keep;
    int         open;           /* waits for KRN_MORE */
    buf_t       body;           /* its first "keep" bytes */
} krn_in_t;

typedef enum {
    KRN_BAD = -1,               /* not a packet of kernel.h: drop the peer */
    KRN_MORE_TO_COME = 0,
    KRN_WHOLE = 1
} krn_feed_t;

/*
 * Takes one packet.  After KRN_WHOLE the head and the body are valid until the
 * next call.  Never stores more than "keep" says.
 */

krn_feed_t krn_in_feed(krn_in_t *in, const void *packet, size_t len,
    const krn_keep_t *keep);

/* the same if messages of a dead kernel's may be in the way, cut off */

krn_feed_t krn_in_resume(krn_in_t *in, const void *packet, size_t len);

/* empties a pipe: at most what one holds, so that nobody can keep us here */

void krn_dry(int fd);

/* what was kept of a part; "*size" is what there was */

const char *krn_in_part(const krn_in_t *in, int i, size_t *len,
    uint64_t *size);


#endif /* FRONT_KERNEL_IO_H */
