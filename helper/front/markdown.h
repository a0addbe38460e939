
/*
 * Outputs as one Markdown text, in the form of Qwen-Agent's interpreter.
 */

#ifndef FRONT_MARKDOWN_H
#define FRONT_MARKDOWN_H

#include "buf.h"
#include "link.h"
#include "output.h"


typedef enum {
    MARKDOWN_FENCE_THREE,       /* always three backticks */
    MARKDOWN_FENCE_LONGER       /* longer than any run inside the text */
} markdown_fence_t;


/*
 * Appends: one block per output, a link per picture, "Finished execution." if
 * there is nothing.  Valid UTF-8.
 */

void markdown(buf_t *to, const outputs_t *o, const link_t *link,
    markdown_fence_t fence);

/* appends the text without its terminal escape sequences */

void markdown_no_ansi(buf_t *to, const char *p, size_t n);


#endif /* FRONT_MARKDOWN_H */
