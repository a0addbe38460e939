
/*
 * In retort-front, as its own uid without any capability.  The data come from
 * a sandbox and may be forged: any value may be of any type.
 */

#include <inttypes.h>
#include <string.h>

#include "frame.h"
#include "json_in.h"
#include "plain.h"


typedef struct {
    json_object  *columns;
    json_object  *index;
    json_object  *rows;
    size_t        ncolumns;     /* that are shown */
    size_t        nrows;
} frame_t;


static json_object *
frame_list(json_object *o, const char *key)
{
    json_object  *v;

    v = json_object_object_get(o, key);

    return json_object_is_type(v, json_type_array) ? v : NULL;
}


/* names of more than one level, and whatever else there is, as JSON */

static void
frame_cell(buf_t *to, json_object *v)
{
    const char  *p;

    (void) buf_puts(to, " ");

    if (json_object_is_type(v, json_type_string)) {
        plain_words(to, json_object_get_string(v),
                    (size_t) json_object_get_string_len(v), FRAME_CELL);

    } else if (v != NULL) {
        p = json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN
                                           |JSON_C_TO_STRING_NOSLASHESCAPE);
        plain_words(to, p, strlen(p), FRAME_CELL);
    }

    (void) buf_puts(to, " |");
}


static void
frame_row(buf_t *to, json_object *first, json_object *cells, size_t n)
{
    size_t  i;

    (void) buf_puts(to, "|");
    frame_cell(to, first);

    for (i = 0; i < n; i++) {
        frame_cell(to, json_object_is_type(cells, json_type_array)
                       ? json_object_array_get_idx(cells, i) : cells);
    }

    (void) buf_puts(to, "\n");
}


static void
frame_rows(buf_t *to, const frame_t *f)
{
    size_t  i;

    frame_row(to, NULL, f->columns, f->ncolumns);
    (void) buf_puts(to, "|");

    for (i = 0; i <= f->ncolumns; i++) {
        (void) buf_puts(to, " --- |");
    }

    (void) buf_puts(to, "\n");

    for (i = 0; i < f->nrows; i++) {
        frame_row(to, f->index != NULL
                      ? json_object_array_get_idx(f->index, i) : NULL,
                  json_object_array_get_idx(f->rows, i), f->ncolumns);
    }

    /* the line that follows is its own */
    to->len -= to->len != 0;
}


/* how many there are in all, of which "have" are here and "shown" are seen */

static uint64_t
frame_more(json_object *o, size_t which, size_t have, size_t shown)
{
    int64_t       n;
    json_object  *shape;

    shape = frame_list(o, "shape");
    n = 0;

    if (shape != NULL && which < json_object_array_length(shape)) {
        n = json_object_get_int64(json_object_array_get_idx(shape, which));
    }

    n = n > (int64_t) have ? n : (int64_t) have;

    return (uint64_t) n - shown;
}


static void
frame_rest(buf_t *to, json_object *o, const frame_t *f)
{
    uint64_t  rows, columns;

    rows = frame_more(o, 0, json_object_array_length(f->rows), f->nrows);
    columns = frame_more(o, 1, json_object_array_length(f->columns),
                         f->ncolumns);

    if (rows != 0 || columns != 0) {
        (void) buf_printf(to, "\n\n%" PRIu64 " more rows, %" PRIu64 " more "
                          "columns.", rows, columns);
    }
}


int
frame_table(buf_t *to, const buf_t *data)
{
    int           rc;
    err_t         e;
    frame_t       f;
    json_object  *o;

    o = data->len != 0 ? json_in(data->data, data->len, &e) : NULL;

    if (o == NULL) {
        return -1;
    }

    rc = -1;
    f.columns = frame_list(o, "columns");
    f.index = frame_list(o, "index");
    f.rows = frame_list(o, "rows");

    if (f.columns != NULL && f.rows != NULL) {
        f.ncolumns = json_object_array_length(f.columns);
        f.nrows = json_object_array_length(f.rows);
        f.ncolumns = f.ncolumns < FRAME_COLUMNS ? f.ncolumns : FRAME_COLUMNS;
        f.nrows = f.nrows < FRAME_ROWS ? f.nrows : FRAME_ROWS;
        frame_rows(to, &f);
        frame_rest(to, o, &f);
        rc = 0;
    }

    json_object_put(o);

    return rc;
}
