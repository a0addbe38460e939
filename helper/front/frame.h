
/*
 * A data frame's data (OUT_FRAME) as a table of Markdown.
 */

#ifndef FRONT_FRAME_H
#define FRONT_FRAME_H

#include "buf.h"


/*
 * Appends a table within FRAME_ROWS, FRAME_COLUMNS and FRAME_CELL, and a line
 * that says what is not in it.  0, or -1 and nothing if it is no such data.
 */

#define FRAME_ROWS     20
#define FRAME_COLUMNS  20
#define FRAME_CELL     80       /* characters */

int frame_table(buf_t *to, const buf_t *data);


#endif /* FRONT_FRAME_H */
