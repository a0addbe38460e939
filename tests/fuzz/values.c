
/*
 * What comes out of a sandbox, each by itself: packets of its kernel, a value
 * as Python shows it, the data of a data frame, text as markdown has it; and
 * an identity that somebody has signed for the front.  The first byte says
 * which.
 *
 * links: front helper/lib/fdpass.c tests/fuzz/lib/quiet.c
 * without: helper/front/flog.c
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/artifact.h"
#include "front/frame.h"
#include "front/identity.h"
#include "front/kernel_io.h"
#include "front/literal.h"
#include "front/markdown.h"
#include "front/plain.h"
#include "front/request.h"
#include "front/utf8.h"
#include "fuzz.h"


#define VALUES_KEEP  300


static void
values_init(void)
{
    int         dir, fd;
    char        top[] = "/tmp/fuzz-values-XXXXXX";
    const char  secret[] = "0123456789abcdef0123456789abcdef\n";

    if (mkdtemp(top) == NULL) {
        abort();
    }

    dir = open(top, O_RDONLY|O_DIRECTORY|O_CLOEXEC);
    fd = openat(dir, ".identity", O_WRONLY|O_CREAT|O_CLOEXEC, 0600);

    if (fd == -1
        || write(fd, secret, sizeof(secret) - 1) != (ssize_t) sizeof(secret) - 1
        || identity_init(dir) == -1)
    {
        abort();
    }

    (void) close(fd);
    (void) unlinkat(dir, ".identity", 0);
    (void) close(dir);
    (void) rmdir(top);
}


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;
    values_init();

    return 0;
}


/* packets behind two bytes of length each; the same by both ways to read */

static void
values_packets(const uint8_t *p, size_t n)
{
    int            i;
    char          *copy;
    size_t         len, have;
    uint64_t       size;
    krn_in_t       in;
    krn_feed_t     rc;
    const char    *part;

    static const krn_keep_t  keep = {
        VALUES_KEEP, VALUES_KEEP / 2, VALUES_KEEP / 3, VALUES_KEEP / 4
    };

    memset(&in, 0, sizeof(in));

    for (rc = KRN_MORE_TO_COME; n >= 2 && rc != KRN_BAD; n -= len, p += len) {
        len = fuzz_byte(&p, &n);
        len |= (size_t) fuzz_byte(&p, &n) << 8;
        len = len < n ? len : n;
        copy = fuzz_copy(p, len);
        rc = krn_in_feed(&in, copy, len, &keep);
        free(copy);
        FUZZ_CHECK(in.body.len <= VALUES_KEEP || in.keep > VALUES_KEEP);

        for (i = 0; rc == KRN_WHOLE && i < KRN_PARTS; i++) {
            part = krn_in_part(&in, i, &have, &size);
            FUZZ_CHECK(have <= size);
            FUZZ_CHECK(have == 0 || (part >= in.body.data
                       && part + have <= in.body.data + in.body.len));
        }
    }

    buf_free(&in.body);
}


static void
values_literal(const uint8_t *p, size_t n)
{
    char         *copy;
    const char   *text;
    json_object  *o;

    copy = fuzz_copy(p, n);
    o = NULL;

    if (literal_json(copy, n, &o) == 0) {
        text = json_object_to_json_string(o);
        FUZZ_CHECK(strlen(text) <= 64 * n + 64);
    }

    json_object_put(o);
    free(copy);
}


static void
values_frame(const uint8_t *p, size_t n)
{
    buf_t  data, to;

    memset(&data, 0, sizeof(data));
    memset(&to, 0, sizeof(to));

    if (buf_add(&data, p, n) == 0 && frame_table(&to, &data) == 0) {
        FUZZ_CHECK(to.len <= (FRAME_ROWS + 4) * (FRAME_COLUMNS + 2)
                             * (8 * FRAME_CELL + 8));
        FUZZ_CHECK(memchr(to.data, '\r', to.len) == NULL);
        FUZZ_CHECK(memchr(to.data, '\x1b', to.len) == NULL);
    }

    buf_free(&data);
    buf_free(&to);
}


static void
values_plain(const char *p, size_t n)
{
    buf_t   to;
    size_t  i;

    memset(&to, 0, sizeof(to));
    FUZZ_CHECK(plain(&to, p, n, 0) == n);
    FUZZ_CHECK(to.len == 0 || utf8_valid(to.data, to.len));

    for (i = 0; i < to.len; i++) {
        FUZZ_CHECK((unsigned char) to.data[i] >= ' ' || to.data[i] == '\n'
                   || to.data[i] == '\t');
        FUZZ_CHECK(to.data[i] != 0x7f);
    }

    to.len = 0;
    plain_words(&to, p, n, 80);
    FUZZ_CHECK(to.len == 0 || memchr(to.data, '\n', to.len) == NULL);
    buf_free(&to);
}


/* the fence of a text is in no line of it; no terminal obeys it */

static void
values_text(const uint8_t *p, size_t n)
{
    char    *copy;
    buf_t    to, fence;
    size_t   len;

    copy = fuzz_copy(p, n);
    memset(&to, 0, sizeof(to));
    memset(&fence, 0, sizeof(fence));
    len = markdown_fence(copy, n);
    FUZZ_CHECK(len >= 3);
    markdown_ticks(&fence, len);
    FUZZ_CHECK(fence.len == len
               && memmem(copy, n, fence.data, fence.len) == NULL);
    markdown_no_ansi(&to, copy, n);
    FUZZ_CHECK(to.len <= n);
    values_plain(copy, n);
    buf_free(&to);
    buf_free(&fence);
    free(copy);
}


static void
values_identity(const uint8_t *p, size_t n)
{
    err_t       e;
    char       *text;
    request_t   r;

    text = strndup((const char *) p, n);
    memset(&e, 0, sizeof(e));
    memset(&r, 0, sizeof(r));
    r.method = "GET";
    r.path = "/files";
    FUZZ_CHECK(identity_check(&r, text, "/files", &e) == -1);
    FUZZ_CHECK(e.status == 401 || e.status == 403);
    free(text);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t  which;

    which = fuzz_byte(&data, &size);

    switch (which) {
    case 'k': values_packets(data, size); break;
    case 'f': values_frame(data, size); break;
    case 'm': values_text(data, size); break;
    case 'i': values_identity(data, size); break;
    default: values_literal(data, size);
    }

    return 0;
}
