
/*
 * data: URLs (RFC 2397).  A pure function.
 */

#ifndef FRONT_DATA_URL_H
#define FRONT_DATA_URL_H

#include <stddef.h>


#define DATA_URL_TYPE  64       /* of a MIME type, final NUL */


typedef struct {
    char    type[DATA_URL_TYPE];    /* without parameters; text/plain */
    size_t  len;
} data_url_t;


/*
 * Decodes strictly; the content takes the place of the URL, at its beginning.
 * 0, or -1 with the text in any state.
 */

int data_url(char *url, size_t len, data_url_t *u);


#endif /* FRONT_DATA_URL_H */
