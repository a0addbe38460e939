
/*
 * A form: its type is the first line.  However it is cut into pieces, the
 * same comes out.
 *
 * links: helper/front/multipart.c helper/front/file_type.c
 * links: helper/front/err.c helper/front/buf.c
 */

#include <stdlib.h>
#include <string.h>

#include "front/buf.h"
#include "front/multipart.h"
#include "fuzz.h"


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;

    return 0;
}


static int
begin(void *data, const multipart_part_t *part, err_t *e)
{
    (void) e;
    FUZZ_CHECK(strchr(part->file, '/') == NULL);

    return buf_printf(data, "<%s|%s|%s|%d>", part->name, part->file,
                      part->type, part->is_file);
}


static int
piece(void *data, const char *p, size_t n, err_t *e)
{
    (void) e;

    return buf_add(data, p, n);
}


static int
end(void *data, err_t *e)
{
    (void) e;

    return buf_puts(data, "</>");
}


/* 0, or -1 if it is refused */

static int
form(const char *type, const uint8_t *p, size_t n, size_t step, buf_t *to)
{
    int           rc;
    err_t         e;
    char         *copy;
    size_t        some;
    multipart_t   m;

    memset(&e, 0, sizeof(e));
    memset(&m, 0, sizeof(m));
    m.begin = begin;
    m.piece = piece;
    m.end = end;
    m.data = to;
    rc = multipart_init(&m, type, &e);

    for ( /* void */ ; rc == 0 && n != 0; n -= some, p += some) {
        some = n < step ? n : step;
        copy = fuzz_copy(p, some);
        rc = multipart_feed(&m, copy, some, &e);
        free(copy);
    }

    rc = rc == 0 ? multipart_done(&m, &e) : rc;
    FUZZ_CHECK(rc == 0 || (rc == -1 && e.status >= 400));

    return rc;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int             whole, cut;
    char            type[300];
    buf_t           a, b;
    size_t          n;
    const uint8_t  *body;

    body = memchr(data, '\n', size < 299 ? size : 299);

    if (body == NULL) {
        return 0;
    }

    n = (size_t) (body - data);
    memcpy(type, data, n);
    type[n] = '\0';
    body++;
    n = size - n - 1;

    memset(&a, 0, sizeof(a));
    memset(&b, 0, sizeof(b));
    whole = form(type, body, n, n, &a);
    cut = form(type, body, n, n % 7 + 1, &b);
    FUZZ_CHECK(whole == cut);
    FUZZ_CHECK(whole == -1
               || (a.len == b.len
                   && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0)));
    buf_free(&a);
    buf_free(&b);

    return 0;
}
