
/*
 * Names of files on their way to a client: types, header lines, links.  Pure
 * functions.
 */

#ifndef FRONT_FILE_TYPE_H
#define FRONT_FILE_TYPE_H

#include "buf.h"


/*
 * By the name's extension, from a fixed table of types that run nothing in a
 * browser; else application/octet-stream.
 */

const char *file_type(const char *name);

/* the other way, with its dot; NULL if the type is unknown */

const char *file_extension(const char *type);

/* the last component */

const char *file_base(const char *name);

/* "Content-Disposition: attachment; …", ended by CRLF */

void file_disposition(buf_t *to, const char *name);

/* percent-encoded, with its slashes */

void file_url(buf_t *to, const char *name);

/*
 * The value of a query's key, decoded; "" if there is none.  0, or -1 if it is
 * malformed or does not fit.
 */

int file_query(const char *query, const char *key, char *to, size_t size);

/* "%41" becomes "A", and "space" a blank ('%': nothing does); 0 or -1 */

int file_decode(const char *p, size_t n, char space, char *to, size_t size);


#endif /* FRONT_FILE_TYPE_H */
