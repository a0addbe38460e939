
/*
 * For tests of Markdown: outputs, and the text that they have to become.
 */

#ifndef UNIT_MARKDOWN_BED_H
#define UNIT_MARKDOWN_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "front/markdown.h"


#define URL  "http://h/s"


static void
md_is(outputs_t *o, const char *want)
{
    buf_t   md;
    link_t  link;

    memset(&md, 0, sizeof(md));
    memset(&link, 0, sizeof(link));
    strcpy(link.base, URL);
    markdown(&md, o, &link);
    (void) buf_add(&md, "", 1);
    assert_string_equal(md.data, want);
    buf_free(&md);
    outputs_free(o);
}

#endif /* UNIT_MARKDOWN_BED_H */
