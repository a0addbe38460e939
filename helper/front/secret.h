
/*
 * The one secret of this store's fronts.  It makes names that only we can make
 * and that we know again, after a restart as well, without a table of them.
 */

#ifndef FRONT_SECRET_H
#define FRONT_SECRET_H

#include <stddef.h>


/*
 * Before the process is locked: reads the secret from the store's directory,
 * or makes it there.  0, or -1 (logged).
 */

int secret_init(int dir);

/*
 * "digits" (up to 64) lower hex digits of the HMAC-SHA256 of a text of less
 * than 256 bytes, and NUL; 0 or -1.  The text begins with what it is for.
 */

int secret_hex(char *hex, size_t digits, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));


#endif /* FRONT_SECRET_H */
