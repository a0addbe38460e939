
/*
 * Part of retortctl: what goes to a terminal.  Output of a run is a stranger's,
 * and a terminal obeys: it could be renamed, recoloured, or made to answer as
 * if somebody had typed.  Into a file or a pipe every byte goes as it is.
 */

#include <string.h>
#include <unistd.h>

#include "ctl.h"


/* C0, DEL, and C1 in UTF-8 (0xc2 0x80 to 0xc2 0x9f) or by itself */

static void
term_char(FILE *f, unsigned char c, unsigned char before)
{
    if (c == '\n' || c == '\t') {
        (void) fputc(c, f);

    } else if (c < 0x20 || c == 0x7f) {
        (void) fprintf(f, "^%c", c ^ 0x40);

    } else if (c >= 0x80 && c < 0xa0 && before < 0x80) {
        (void) fprintf(f, "\\x%02x", c);

    } else {
        (void) fputc(c, f);
    }
}


void
term_write(FILE *f, const char *p, size_t n)
{
    size_t         i;
    unsigned char  c, before;

    if (!isatty(fileno(f))) {
        (void) fwrite(p, 1, n, f);
        (void) fflush(f);
        return;
    }

    before = 0;

    for (i = 0; i < n; i++) {
        c = (unsigned char) p[i];

        /* what would be a control character is shown as two bytes */

        if (c == 0xc2 && i + 1 < n && (unsigned char) p[i + 1] < 0xa0) {
            before = 0;
            continue;
        }

        term_char(f, c, before);
        before = c;
    }

    (void) fflush(f);
}
