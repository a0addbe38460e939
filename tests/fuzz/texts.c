
/*
 * Small parsers of what a client writes in one line; the first byte says
 * which: data URLs, names, queries, types, Accept, a FastCGI head, a record.
 *
 * links: front helper/lib/log.c helper/lib/fdpass.c
 */

#include <stdlib.h>
#include <string.h>

#include "front/accept.h"
#include "front/artifact.h"
#include "front/data_url.h"
#include "front/file_type.h"
#include "front/head.h"
#include "front/job.h"
#include "front/record.h"
#include "front/text.h"
#include "fuzz.h"


#define TEXTS  1024


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;

    return 0;
}


static void
texts_data_url(const uint8_t *p, size_t n)
{
    char        *text;
    data_url_t   u;

    text = fuzz_copy(p, n);
    memset(&u, 0, sizeof(u));
    FUZZ_CHECK(data_url(text, n, &u) == -1
               || (u.len <= n && memchr(u.type, '\0', sizeof(u.type)) != NULL));
    free(text);
}


static void
texts_name(const char *s, size_t n)
{
    buf_t        b;
    char         value[64];
    const char  *p;

    if (job_file_name(s, n)) {
        FUZZ_CHECK(strstr(s, "..") != s || s[2] != '/');
        FUZZ_CHECK(s[0] != '/' && strpbrk(s, "\r\n") == NULL);
    }

    memset(&b, 0, sizeof(b));
    file_disposition(&b, s);
    FUZZ_CHECK(b.len >= 2 && memchr(b.data, '\n', b.len - 1) == NULL);
    FUZZ_CHECK(memchr(b.data, '\r', b.len - 2) == NULL);
    b.len = 0;
    file_url(&b, s);
    (void) buf_add(&b, "", 1);

    for (p = b.data; *p != '\0'; p++) {
        FUZZ_CHECK(*p > ' ' && *p < 0x7f && strchr("<>\"?#\\", *p) == NULL);
    }

    buf_free(&b);
    (void) file_type(s);
    (void) file_extension(s);
    (void) file_base(s);
    (void) artifact_mime(s);
    (void) artifact_kind(s);
    (void) file_query(s, "path", value, sizeof(value));
    (void) file_decode(s, n, '+', value, sizeof(value));
}


static void
texts_line(const char *s)
{
    uint64_t  n;

    static const char *const  types[] = {
        "application/json", "text/markdown", "text/event-stream"
    };

    FUZZ_CHECK(accept_choose(s, types, 3) < 3);
    (void) accept_is_any(s);
    (void) accept_is(s, "application/json");
    (void) text_number(s, &n);
}


static void
texts_record(const uint8_t *p, size_t n)
{
    uint8_t   bytes[BRK_RECORD_SIZE], again[BRK_RECORD_SIZE];
    record_t  r;

    memset(bytes, 0, sizeof(bytes));
    memcpy(bytes, p, n < sizeof(bytes) ? n : sizeof(bytes));

    if (record_read(&r, bytes) == 0) {
        FUZZ_CHECK(memchr(r.sandbox, '\0', sizeof(r.sandbox)) != NULL);
        FUZZ_CHECK(memchr(r.workspace, '\0', sizeof(r.workspace)) != NULL);
        record_write(&r, again);
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char     *s;
    uint8_t   which;

    which = fuzz_byte(&data, &size);
    size = which == 'h' || size < TEXTS ? size : TEXTS;
    s = strndup((const char *) data, size);

    if (s == NULL) {
        return 0;
    }

    switch (which) {
    case 'd': texts_data_url(data, size); break;
    case 'n': texts_name(s, strlen(s)); break;
    case 'h': (void) head_check(data, size); break;
    case 'r': texts_record(data, size); break;
    default: texts_line(s);
    }

    free(s);

    return 0;
}
