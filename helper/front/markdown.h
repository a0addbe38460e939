
/*
 * Outputs as one Markdown text, in the form of Qwen-Agent's interpreter.
 */

#ifndef FRONT_MARKDOWN_H
#define FRONT_MARKDOWN_H

#include "buf.h"
#include "link.h"
#include "output.h"


/*
 * Appends: one block per output, a link per picture, "Finished execution." if
 * there is nothing.  Nothing of what a sandbox wrote stands outside of a block,
 * but for names and cells of tables, in which it is escaped.
 */

void markdown(buf_t *to, const outputs_t *o, const link_t *link);

/* as many backticks as it takes to hold the text */

size_t markdown_fence(const char *p, size_t n);

void markdown_ticks(buf_t *to, size_t n);

/* appends the text without its terminal escape sequences */

void markdown_no_ansi(buf_t *to, const char *p, size_t n);


#endif /* FRONT_MARKDOWN_H */
