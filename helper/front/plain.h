
/*
 * What a terminal would show of a text, for those who are no terminal: people
 * and models that read an answer.  Pure functions.
 */

#ifndef FRONT_PLAIN_H
#define FRONT_PLAIN_H

#include <stddef.h>

#include "buf.h"


/*
 * Appends valid UTF-8 whose only control characters are tab and line feed:
 *
 *   - a carriage return and a backspace overwrite, as on a terminal; the codes
 *     that erase (CSI K) do so; all other escape sequences are gone;
 *   - other controls become pictures (U+2400...), what is no UTF-8 U+FFFD;
 *   - what turns or hides text (marks of direction, tags, separators of lines,
 *     C1) is written out: <U+202E>.
 *
 * If "more" follows, a sequence or a character that is cut at the end is left
 * to it: the result is how many bytes were used.
 */

size_t plain(buf_t *to, const char *p, size_t n, int more);

/* the same on one line, at most "max" characters, Markdown's signs escaped */

void plain_words(buf_t *to, const char *p, size_t n, size_t max);


#endif /* FRONT_PLAIN_H */
