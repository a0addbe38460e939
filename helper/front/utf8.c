
/*
 * In retort-front, as its own uid without any capability.  The bytes come from
 * a sandbox or a client: any byte may be anything.
 */

#include <string.h>

#include "utf8.h"


#define UTF8_BLOCK  32


typedef struct {
    unsigned char  mask;
    unsigned char  lead;
    unsigned char  first_min;   /* of the second byte: no overlong form, */
    unsigned char  first_max;   /* no surrogate, nothing above U+10FFFF */
    size_t         len;
} utf8_form_t;


static const utf8_form_t  utf8_forms[] = {
    { 0x80, 0x00, 0x00, 0x00, 1 },
    { 0xff, 0xe0, 0xa0, 0xbf, 3 },
    { 0xff, 0xed, 0x80, 0x9f, 3 },
    { 0xff, 0xf0, 0x90, 0xbf, 4 },
    { 0xff, 0xf4, 0x80, 0x8f, 4 },
    { 0xf0, 0xe0, 0x80, 0xbf, 3 },
    { 0xfc, 0xf0, 0x80, 0xbf, 4 },
    { 0xe0, 0xc0, 0x80, 0xbf, 2 }
};


static const utf8_form_t *
utf8_form(unsigned char c)
{
    size_t  i;

    if (c == 0xc0 || c == 0xc1 || c > 0xf4) {
        return NULL;
    }

    for (i = 0; i < sizeof(utf8_forms) / sizeof(utf8_forms[0]); i++) {
        if ((c & utf8_forms[i].mask) == utf8_forms[i].lead) {
            return &utf8_forms[i];
        }
    }

    return NULL;
}


size_t
utf8_char(const char *p, size_t n)
{
    size_t                i;
    unsigned char         c;
    const utf8_form_t    *f;

    f = utf8_form((unsigned char) p[0]);

    if (f == NULL || f->len > n) {
        return 0;
    }

    for (i = 1; i < f->len; i++) {
        c = (unsigned char) p[i];

        if (c < 0x80 || c > 0xbf) {
            return 0;
        }

        if (i == 1 && (c < f->first_min || c > f->first_max)) {
            return 0;
        }
    }

    return f->len;
}


/* whole blocks of ASCII without NUL, many bytes in one step */

static size_t
utf8_ascii(const char *p, size_t n)
{
    size_t         at, i;
    unsigned char  odd;

    for (at = 0; n - at >= UTF8_BLOCK; at += UTF8_BLOCK) {
        odd = 0;

        for (i = 0; i < UTF8_BLOCK; i++) {
            odd |= (unsigned char) (p[at + i] - 1) >= 0x7f;
        }

        if (odd) {
            break;
        }
    }

    return at;
}


/* how many bytes are valid, at least those of a block; "nul" is, or is not */

static size_t
utf8_run(const char *p, size_t n, int nul)
{
    size_t  at, end, len;

    at = utf8_ascii(p, n);
    end = n - at < UTF8_BLOCK ? n : at + UTF8_BLOCK;

    for ( /* void */ ; at < end; at += len) {
        len = p[at] != '\0' || nul ? utf8_char(p + at, n - at) : 0;

        if (len == 0) {
            break;
        }
    }

    return at;
}


int
utf8_valid(const char *p, size_t n)
{
    size_t  at, len;

    for (at = 0; at < n; at += len) {
        len = utf8_run(p + at, n - at, 1);

        if (len == 0) {
            return 0;
        }
    }

    return 1;
}


size_t
utf8_cut(const char *p, size_t n, size_t max)
{
    size_t              back, at;
    const utf8_form_t  *f;

    if (n <= max) {
        return n;
    }

    for (back = 1; back <= 3 && back <= max; back++) {
        at = max - back;

        if (((unsigned char) p[at] & 0xc0) == 0x80) {
            continue;
        }

        f = utf8_form((unsigned char) p[at]);

        return (f != NULL && f->len > back) ? at : max;
    }

    return max;
}


void
utf8_clean(buf_t *out, const char *p, size_t n)
{
    size_t  len, run;

    run = 0;

    while (run < n) {
        len = utf8_run(p + run, n - run, 0);

        if (len != 0) {
            run += len;
            continue;
        }

        (void) buf_add(out, p, run);
        (void) buf_puts(out, "\xef\xbf\xbd");
        p += run + 1;
        n -= run + 1;
        run = 0;
    }

    (void) buf_add(out, p, run);
}
