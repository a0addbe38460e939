
/*
 * In retort-front, as its own uid without any capability.  Any byte may come
 * from a sandbox, and what it takes to read one does not depend on the others:
 * a line of overwritten text costs what it has bytes.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plain.h"
#include "utf8.h"


#define PLAIN_STRING  4096      /* bytes of a sequence that is a text */
#define PLAIN_CODES   64        /* of any other */
#define PLAIN_BAD     0xfffd
#define PLAIN_ESC     0x1b


/* the line that is being written, and where */

typedef struct {
    uint32_t  *cell;
    size_t     len;
    size_t     size;
    size_t     at;
    int        failed;
} plain_line_t;


typedef struct {
    uint32_t  first;
    uint32_t  last;
} plain_range_t;


/* invisible, or not where they stand; also the marks that end a line */

static const plain_range_t  plain_odd[] = {
    { 0x80, 0x9f }, { 0x61c, 0x61c }, { 0x200e, 0x200f }, { 0x2028, 0x202e },
    { 0x2066, 0x2069 }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f }
};


static int
plain_is_odd(uint32_t c)
{
    size_t  i;

    for (i = 0; i < sizeof(plain_odd) / sizeof(plain_odd[0]); i++) {
        if (c >= plain_odd[i].first && c <= plain_odd[i].last) {
            return 1;
        }
    }

    return 0;
}


/* the character at "p" and its length, which is not 0 */

static size_t
plain_char(const char *p, size_t n, uint32_t *c)
{
    size_t         i, len;
    unsigned char  u;

    len = utf8_char(p, n);
    u = (unsigned char) p[0];

    if (len <= 1) {
        *c = len == 1 ? u : PLAIN_BAD;
        return 1;
    }

    *c = u & (0xffU >> (len + 1));

    for (i = 1; i < len; i++) {
        *c = *c << 6 | ((unsigned char) p[i] & 0x3f);
    }

    return len;
}


static void
plain_utf8(buf_t *to, uint32_t c)
{
    char    s[4];
    size_t  n;

    n = 0;

    if (c < 0x80) {
        s[n++] = (char) c;

    } else if (c < 0x800) {
        s[n++] = (char) (0xc0 | c >> 6);

    } else if (c < 0x10000) {
        s[n++] = (char) (0xe0 | c >> 12);
        s[n++] = (char) (0x80 | (c >> 6 & 0x3f));

    } else {
        s[n++] = (char) (0xf0 | c >> 18);
        s[n++] = (char) (0x80 | (c >> 12 & 0x3f));
        s[n++] = (char) (0x80 | (c >> 6 & 0x3f));
    }

    if (c >= 0x80) {
        s[n++] = (char) (0x80 | (c & 0x3f));
    }

    (void) buf_add(to, s, n);
}


static void
plain_put(plain_line_t *l, uint32_t c)
{
    size_t    size;
    uint32_t  *cell;

    if (l->at == l->size) {
        size = l->size != 0 ? 2 * l->size : 256;
        cell = realloc(l->cell, size * sizeof(uint32_t));

        if (cell == NULL) {
            l->failed = 1;
            return;
        }

        l->cell = cell;
        l->size = size;
    }

    l->cell[l->at++] = c;
    l->len = l->at > l->len ? l->at : l->len;
}


static void
plain_flush(buf_t *to, plain_line_t *l)
{
    size_t    i;
    uint32_t  c;

    for (i = 0; i < l->len; i++) {
        c = l->cell[i];

        if (c == 0x7f) {
            plain_utf8(to, 0x2421);

        } else if (c < 0x20 && c != '\t') {
            plain_utf8(to, 0x2400 + c);

        } else if (plain_is_odd(c)) {
            (void) buf_printf(to, "<U+%04X>", (unsigned) c);

        } else {
            plain_utf8(to, c);
        }
    }

    l->len = 0;
    l->at = 0;
}


static int
plain_begins(const char *p, size_t n)
{
    return p[0] == PLAIN_ESC
           || (n > 1 && p[0] == '\xc2' && (p[1] & 0xe0) == 0x80);
}


/*
 * A text inside of a sequence, up to BEL or ST: its bytes, 0 if it is none.
 * It hides no line, no other sequence, and no more than a title or a link has.
 */

static size_t
plain_string(const char *p, size_t n, int *cut)
{
    size_t  i;

    for (i = 0; i < n && i < PLAIN_STRING && p[i] != '\n'; i++) {
        if (p[i] == '\a') {
            return i + 1;
        }

        if (plain_begins(p + i, n - i)) {
            *cut = i + 1 == n;

            return i + 1 < n && p[i + 1] == (p[i] == PLAIN_ESC ? '\\' : '\x9c')
                   ? i + 2 : 0;
        }
    }

    *cut = i == n;

    return 0;
}


/* a CSI's parameters, or what stands behind an ESC otherwise: no parameters */

static size_t
plain_codes(const char *p, size_t n, int csi, int *cut)
{
    char    from;
    size_t  i;

    i = 0;
    from = csi ? '@' : '0';

    while (csi && i < n && i < PLAIN_CODES && p[i] >= '0' && p[i] <= '?') {
        i++;
    }

    while (i < n && i < PLAIN_CODES && p[i] >= ' ' && p[i] <= '/') {
        i++;
    }

    *cut = i == n;

    return i < n && p[i] >= from && p[i] <= '~' ? i + 1 : 0;
}


/* bytes of the sequence at "p", 0 if there is none; cut: it goes on later */

static size_t
plain_escape(const char *p, size_t n, char *kind, int *cut)
{
    size_t  len, head;

    *cut = 0;
    *kind = '\0';
    head = 2;

    if (p[0] == PLAIN_ESC) {
        *cut = n == 1;

        if (n == 1) {
            return 0;
        }

        *kind = p[1];

    } else if (plain_begins(p, n)) {
        *kind = (char) (p[1] - 0x40);

    } else {
        return 0;
    }

    if (*kind == '[') {
        len = plain_codes(p + head, n - head, 1, cut);

    } else if (memchr("]PX^_", *kind, 5) != NULL) {
        len = plain_string(p + head, n - head, cut);

    } else if (p[0] != PLAIN_ESC) {
        /* a C1 control that begins nothing */
        return 0;

    } else {
        head = 1;
        len = plain_codes(p + head, n - head, 0, cut);
    }

    return len != 0 ? head + len : 0;
}


/* what erases; at once the whole line and where it is, as all do who use it */

static void
plain_erase(plain_line_t *l, const char *p, size_t n)
{
    if (p[n - 1] != 'K') {
        return;
    }

    if (p[n - 2] == '2') {
        l->len = 0;
        l->at = 0;

    } else if (p[n - 2] != '1') {
        l->len = l->at;
    }
}


static void
plain_one(buf_t *to, plain_line_t *l, uint32_t c)
{
    switch (c) {

    case '\n':
        plain_flush(to, l);
        (void) buf_puts(to, "\n");
        break;

    case '\r':
        l->at = 0;
        break;

    case '\b':
        l->at -= l->at != 0;
        break;

    default:
        plain_put(l, c);
    }
}


size_t
plain(buf_t *to, const char *p, size_t n, int more)
{
    int           cut;
    char          kind;
    size_t        i, len;
    uint32_t      c;
    plain_line_t  l;

    memset(&l, 0, sizeof(l));
    n = more ? utf8_cut(p, n + 1, n) : n;

    for (i = 0; i < n; i += len) {
        len = plain_escape(p + i, n - i, &kind, &cut);

        if (len != 0) {
            if (kind == '[') {
                plain_erase(&l, p + i, len);
            }

            continue;
        }

        if (cut && more) {
            break;
        }

        len = plain_char(p + i, n - i, &c);
        plain_one(to, &l, c);
    }

    plain_flush(to, &l);
    to->failed |= l.failed;
    free(l.cell);

    return i;
}


/* letters and digits mean nothing to Markdown; an address may become a link */

static int
plain_is_sign(const char *p, size_t i, size_t n)
{
    if (p[i] == ':') {
        return i + 1 < n && p[i + 1] == '/';
    }

    if (p[i] == '.') {
        return i >= 3 && strncasecmp(p + i - 3, "www", 3) == 0;
    }

    return p[i] != '\0' && strchr("\\`*_[]<>&|~$@#!", p[i]) != NULL;
}


void
plain_words(buf_t *to, const char *p, size_t n, size_t max)
{
    buf_t   text;
    size_t  i, len;

    memset(&text, 0, sizeof(text));
    (void) plain(&text, p, n, 0);

    for (i = 0; i < text.len && max != 0; i += len, max--) {
        len = utf8_char(text.data + i, text.len - i);

        if (text.data[i] == '\n') {
            plain_utf8(to, 0x2424);
            continue;
        }

        if (text.data[i] == '\t') {
            (void) buf_puts(to, " ");
            continue;
        }

        if (plain_is_sign(text.data, i, text.len)) {
            (void) buf_puts(to, "\\");
        }

        (void) buf_add(to, text.data + i, len);
    }

    if (i < text.len) {
        (void) buf_puts(to, "\xe2\x80\xa6");
    }

    to->failed |= text.failed;
    buf_free(&text);
}
