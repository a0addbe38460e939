
/*
 * In retort-front, as its own uid without any capability.  The bytes come from
 * a process that was let in by its uid, and are checked all the same.
 */

#include <fastcgi.h>
#include <stdint.h>
#include <string.h>

#include "bounds.h"
#include "head.h"


/* walks over the names and values of a stream that is cut into records */

typedef struct {
    int       known;            /* digits of the length that is being read */
    int       digits;           /* of all: 1 or 4 */
    int       which;            /* 0 name, 1 value */
    uint32_t  length[2];
    uint64_t  skip;             /* bytes of name and value still to come */
} head_pairs_t;


static void
head_length(head_pairs_t *h, unsigned char c)
{
    if (h->known == 0) {
        h->digits = (c & 0x80) ? 4 : 1;
        h->length[h->which] = (c & 0x80) ? (uint32_t) (c & 0x7f) : c;

    } else {
        h->length[h->which] = h->length[h->which] << 8 | c;
    }

    if (++h->known < h->digits) {
        return;
    }

    h->known = 0;

    if (++h->which == 2) {
        h->which = 0;
        h->skip = (uint64_t) h->length[0] + h->length[1];
    }
}


static int
head_pairs(head_pairs_t *h, const unsigned char *p, size_t n)
{
    size_t  step;

    while (n != 0) {
        if (h->skip == 0) {
            head_length(h, *p++);
            n--;

            if (h->skip > BOUND_HEAD) {
                return -1;
            }

            continue;
        }

        step = h->skip < n ? (size_t) h->skip : n;
        h->skip -= step;
        p += step;
        n -= step;
    }

    return 0;
}


static int
head_number(unsigned char high, unsigned char low)
{
    return high << 8 | low;
}


/* what is there of the first record: -1, 0 if it is not whole, or its id */

static int
head_begin(const unsigned char *p, size_t n)
{
    int  id;

    if (n != 0 && p[0] != FCGI_VERSION_1) {
        return -1;
    }

    if (n < FCGI_HEADER_LEN) {
        return 0;
    }

    id = head_number(p[2], p[3]);

    if (p[1] != FCGI_BEGIN_REQUEST || id == 0
        || head_number(p[4], p[5]) != sizeof(FCGI_BeginRequestBody))
    {
        return -1;
    }

    if (n < FCGI_HEADER_LEN + sizeof(FCGI_BeginRequestBody)) {
        return 0;
    }

    return head_number(p[8], p[9]) == FCGI_RESPONDER ? id : -1;
}


head_t
head_check(const unsigned char *p, size_t n)
{
    int            id;
    size_t         len, all, given;
    head_pairs_t   h;

    id = head_begin(p, n);

    if (id <= 0) {
        return id == 0 ? HEAD_MORE : HEAD_BAD;
    }

    given = n;
    memset(&h, 0, sizeof(h));
    all = FCGI_HEADER_LEN + sizeof(FCGI_BeginRequestBody) + p[6];

    for ( ;; ) {
        if (n < all || n - all < FCGI_HEADER_LEN) {
            return given < BOUND_HEAD ? HEAD_MORE : HEAD_BAD;
        }

        p += all;
        n -= all;

        if (p[0] != FCGI_VERSION_1 || p[1] != FCGI_PARAMS
            || head_number(p[2], p[3]) != id)
        {
            return HEAD_BAD;
        }

        len = (size_t) head_number(p[4], p[5]);
        all = FCGI_HEADER_LEN + len + p[6];

        if (len == 0) {
            return h.skip == 0 && h.known == 0 && h.which == 0 ? HEAD_WHOLE
                                                               : HEAD_BAD;
        }

        len = len < n - FCGI_HEADER_LEN ? len : n - FCGI_HEADER_LEN;

        if (head_pairs(&h, p + FCGI_HEADER_LEN, len) == -1) {
            return HEAD_BAD;
        }
    }
}
