
/*
 * What files are called that come by a path or a URL.  Pure functions.
 */

#ifndef FRONT_FILE_NAME_H
#define FRONT_FILE_NAME_H

#include <stddef.h>


/* %XX in place; the new length */

size_t file_percent(char *s, size_t n);

/* the last piece of a path, decoded and stripped; NULL if that is no name */

char *file_name(const char *p, size_t n);

/* the same of a URL: without its query, its host if there is no path */

char *file_name_url(const char *url);

/* http or https? */

int file_name_is_web(const char *url);


#endif /* FRONT_FILE_NAME_H */
