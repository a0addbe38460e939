
/*
 * In retort-front, as its own uid without any capability.  The other side of
 * the channel runs tenant code: each packet may be forged.  Nothing in a
 * packet is believed but lengths that add up, and they only bound copies.
 */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kernel_io.h"


#define KRN_DRY  65536


void
krn_out(krn_out_t *m, krn_type_t type, uint32_t run, uint32_t a)
{
    memset(m, 0, sizeof(krn_out_t));
    m->head.version = KRN_VERSION;
    m->head.type = (uint8_t) type;
    m->head.run = run;
    m->head.a = a;
    m->busy = 1;
}


int
krn_out_part(krn_out_t *m, int i, const void *p, size_t len)
{
    if (len > UINT32_MAX) {
        return -1;
    }

    m->part[i] = p;
    m->head.part[i] = (uint32_t) len;
    m->total += len;

    return 0;
}


/* the next bytes of the body, at most a packet's, as a list */

static size_t
krn_out_slice(const krn_out_t *m, struct iovec *iov, int *n)
{
    int       i;
    size_t    take, left;
    uint64_t  from;

    from = m->sent;
    left = KRN_PAYLOAD;

    for (i = 0; i < KRN_PARTS && left != 0; i++) {
        if (from >= m->head.part[i]) {
            from -= m->head.part[i];
            continue;
        }

        take = m->head.part[i] - (size_t) from;
        take = take < left ? take : left;

        iov[*n].iov_base = (char *) m->part[i] + from;
        iov[*n].iov_len = take;
        (*n)++;

        left -= take;
        from = 0;
    }

    return KRN_PAYLOAD - left;
}


int
krn_out_push(krn_out_t *m, int fd)
{
    int            n;
    size_t         len;
    ssize_t        sent;
    krn_head_t     head;
    struct iovec   iov[KRN_PARTS + 1];
    struct msghdr  mh;

    while (m->busy) {
        head = m->head;

        if (m->begun) {
            memset(head.part, 0, sizeof(head.part));
            head.type = KRN_MORE;
        }

        n = 1;
        len = krn_out_slice(m, iov, &n);
        head.len = (uint16_t) len;
        iov[0].iov_base = &head;
        iov[0].iov_len = sizeof(head);

        memset(&mh, 0, sizeof(mh));
        mh.msg_iov = iov;
        mh.msg_iovlen = (size_t) n;

        sent = sendmsg(fd, &mh, MSG_DONTWAIT|MSG_NOSIGNAL);

        if (sent == -1) {
            if (errno == EINTR) {
                continue;
            }

            return (errno == EAGAIN || errno == ENOBUFS) ? 0 : -1;
        }

        m->begun = 1;
        m->sent += len;
        m->busy = (m->sent < m->total);
    }

    return 1;
}


static uint64_t
krn_in_keep(uint8_t type, const krn_keep_t *keep)
{
    switch (type) {

    case KRN_OUT:
        return keep->stream;

    case KRN_MIME:
        return keep->form;

    case KRN_ERROR:
        return keep->error;

    case KRN_ENTRY:
    case KRN_BYTES:
    case KRN_CHANGE:
        return keep->file;

    case KRN_DONE:
        return sizeof(uint64_t);

    default:
        return 0;
    }
}


static int
krn_in_known(uint8_t type)
{
    return type == KRN_RESET || (type >= KRN_READY && type <= KRN_CHANGE
                                 && type % 2 == 1);
}


static krn_feed_t
krn_in_body(krn_in_t *in, const char *p, size_t len)
{
    size_t    take;
    uint64_t  room;

    if (len > in->total - in->got) {
        return KRN_BAD;
    }

    room = in->keep - in->body.len;
    take = len < room ? len : (size_t) room;
    (void) buf_add(&in->body, p, take);

    in->got += len;
    in->open = (in->got < in->total);

    return in->open ? KRN_MORE_TO_COME : KRN_WHOLE;
}


krn_feed_t
krn_in_feed(krn_in_t *in, const void *packet, size_t len,
    const krn_keep_t *keep)
{
    int          i;
    krn_head_t   head;
    const char  *body;

    if (len < sizeof(head)) {
        return KRN_BAD;
    }

    memcpy(&head, packet, sizeof(head));
    body = (const char *) packet + sizeof(head);

    if (head.version != KRN_VERSION || head.len != len - sizeof(head)
        || head.len > KRN_PAYLOAD)
    {
        return KRN_BAD;
    }

    if (head.type == KRN_MORE) {
        if (!in->open || head.len == 0) {
            return KRN_BAD;
        }

        return krn_in_body(in, body, head.len);
    }

    if (in->open || !krn_in_known(head.type)) {
        return KRN_BAD;
    }

    in->head = head;
    in->got = 0;
    in->total = 0;
    in->body.len = 0;
    in->keep = krn_in_keep(head.type, keep);

    for (i = 0; i < KRN_PARTS; i++) {
        in->total += head.part[i];
    }

    return krn_in_body(in, body, head.len);
}


krn_feed_t
krn_in_resume(krn_in_t *in, const void *packet, size_t len)
{
    krn_feed_t               fed;
    static const krn_keep_t  nothing;

    fed = krn_in_feed(in, packet, len, &nothing);

    if (fed == KRN_BAD && in->open) {
        in->open = 0;
        fed = krn_in_feed(in, packet, len, &nothing);
    }

    return fed;
}


void
krn_dry(int fd)
{
    int      turn;
    char     bytes[KRN_DRY];
    ssize_t  n;

    for (turn = 0; turn < 16; turn++) {
        n = read(fd, bytes, sizeof(bytes));

        if (n <= 0) {
            return;
        }
    }
}


const char *
krn_in_part(const krn_in_t *in, int i, size_t *len, uint64_t *size)
{
    int       j;
    uint64_t  from, have;

    from = 0;

    for (j = 0; j < i; j++) {
        from += in->head.part[j];
    }

    *size = in->head.part[i];

    if (from >= in->body.len) {
        *len = 0;
        return "";
    }

    have = in->body.len - from;
    *len = (size_t) (have < *size ? have : *size);

    return in->body.data + from;
}
