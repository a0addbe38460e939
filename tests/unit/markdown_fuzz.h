
/*
 * Random outputs, out of what breaks renderers.
 */

#ifndef UNIT_MARKDOWN_FUZZ_H
#define UNIT_MARKDOWN_FUZZ_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "front/markdown.h"
#include "front/plain.h"


#define FUZZ_URL     "https://h/s/"
#define FUZZ_USER    "\xce\xa8"     /* stands in every word of the sandbox's */


static const char *const  fuzz_pieces[] = {
    "\n", "\n\n", "\n```\n", "```", "````", "\n~~~\n", "`", "``", "\t", "    ",
    "\n- ", "\n1. ", "\n> ", "\n# ", "\n===\n", "\n---\n", "\n***\n", "* ",
    "<b>", "</b>", "<script>", "\n<!-- ", " -->\n", "<![CDATA[", "&lt;",
    "&#96;", "[" FUZZ_USER "](http://evil)", "![" FUZZ_USER "](http://evil)",
    "\n[" FUZZ_USER "]: http://evil\n", "[", "](", ")", "!", "\\", "|",
    "\n|-|\n", "http://" FUZZ_USER ".com", "<http://" FUZZ_USER ".com>", "**",
    "_", "~~", "\r", "\r\n", "\b", "\b\b\b", "\x1b", "\x1b[", "\x1b[31m", "1m",
    "\x1b[2K", "\x1b[K", "\x1b]0;", "\x1b]8;;http://evil\x1b\\", "\a",
    "\x1b\\", "\xc2\x9b", "\xc2", "\xe2\x80", "\xff", "\xc0\x80",
    "\xed\xa0\x80", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\x8f", "\xd8\x9c",
    "\xe2\x80\xa8", "\xc2\x85", "\v", "\f", "\x01", "\x7f", FUZZ_USER,
    FUZZ_USER, FUZZ_USER, " ", "a", "$$"
};

#define FUZZ_PIECES  (sizeof(fuzz_pieces) / sizeof(fuzz_pieces[0]))


static uint32_t  fuzz_seed;
static unsigned  fuzz_links;        /* that we made ourselves */
static unsigned  fuzz_tables;


static unsigned
fuzz_random(unsigned n)
{
    fuzz_seed = fuzz_seed * 1664525 + 1013904223;

    return (fuzz_seed >> 8) % n;
}


static void
fuzz_text(buf_t *b)
{
    unsigned  n;

    for (n = fuzz_random(24); n != 0; n--) {
        if (fuzz_random(40) == 0) {
            (void) buf_add(b, "", 1);
        }

        (void) buf_puts(b, fuzz_pieces[fuzz_random(FUZZ_PIECES)]);
    }
}


/* a name or a cell: as JSON if "json" */

static void
fuzz_cell(buf_t *b)
{
    size_t         i;
    buf_t          text;
    unsigned char  c;

    memset(&text, 0, sizeof(text));
    fuzz_text(&text);
    (void) buf_puts(b, "\"");

    for (i = 0; i < text.len; i++) {
        c = (unsigned char) text.data[i];
        (void) buf_printf(b, "\\u%04x", c < 0x80 ? c : 0x2000U + c);
    }

    (void) buf_puts(b, "\"");
    buf_free(&text);
}


static void
fuzz_frame(out_item_t *item)
{
    unsigned   row, col;
    buf_t     *b;

    b = &item->data[OUT_FRAME];
    (void) buf_puts(b, "{\"columns\":[");
    fuzz_cell(b);
    (void) buf_puts(b, ",");
    fuzz_cell(b);
    (void) buf_puts(b, "],\"index\":[1,[\"x|\"],null],\"shape\":[900,2],"
                       "\"rows\":[");

    for (row = 0; row < 3; row++) {
        for (col = 0; col < 2; col++) {
            (void) buf_puts(b, col != 0 ? "," : row != 0 ? ",[" : "[");
            fuzz_cell(b);
        }

        (void) buf_puts(b, "]");
    }

    (void) buf_puts(b, "]}");
    fuzz_tables++;
}


static void
fuzz_artifact(out_item_t *item, const char *mime)
{
    buf_t            name;
    out_artifact_t  *a;

    item->artifacts = calloc(1, sizeof(out_artifact_t));
    item->nartifacts = 1;
    a = item->artifacts;
    memset(&name, 0, sizeof(name));
    fuzz_text(&name);
    (void) buf_add(&name, "x", 2);
    (void) snprintf(a->name, sizeof(a->name), "%s", name.data);
    (void) snprintf(a->mime, sizeof(a->mime), "%s", mime);
    buf_free(&name);

    if (fuzz_random(4) == 0) {
        (void) snprintf(a->why, sizeof(a->why), "no room");
        return;
    }

    (void) snprintf(a->file, sizeof(a->file), "file");
    fuzz_links++;
}


static void
fuzz_item(outputs_t *o)
{
    buf_t        text;
    unsigned     kind;
    out_item_t  *item;

    kind = fuzz_random(8);
    memset(&text, 0, sizeof(text));
    fuzz_text(&text);
    (void) buf_puts(&text, FUZZ_USER);

    if (kind < 4) {
        outputs_stream(o, kind % 2 == 0 ? OUT_STDOUT : OUT_STDERR, text.data,
                       text.len, text.len, o->nitems * 1000000);
        buf_free(&text);
        return;
    }

    item = outputs_add(o, kind == 4 ? OUT_ERROR : kind == 5 ? OUT_SAVED
                          : kind == 6 ? OUT_RESULT : OUT_IMAGE);
    outputs_text(o, &item->text, text.data, text.len, text.len);
    buf_free(&text);

    if (kind == 5 || kind == 7) {
        fuzz_artifact(item, "image/png");

    } else if (kind == 6) {
        fuzz_frame(item);
    }
}

#endif /* UNIT_MARKDOWN_FUZZ_H */
