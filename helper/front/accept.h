
/*
 * Content negotiation.  Pure functions.
 */

#ifndef FRONT_ACCEPT_H
#define FRONT_ACCEPT_H

#include <stddef.h>


/*
 * Which of the "n" types (in the server's own order of liking) an Accept header
 * asks for most; "" is as good as any.  -1 if none is wanted.
 */

int accept_choose(const char *header, const char *const *types, size_t n);

/* does it leave the choice to the server? */

int accept_is_any(const char *header);

/* does a Content-Type name this type, with whatever parameters? */

int accept_is(const char *content_type, const char *type);


#endif /* FRONT_ACCEPT_H */
