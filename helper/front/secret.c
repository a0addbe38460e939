
/*
 * In retort-front, as its own uid without any capability.  The web server can
 * read the store's directory, but neither this file's name is one that it
 * serves, nor the file itself its to read.
 */

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flog.h"
#include "secret.h"


#define SECRET_FILE  ".secret"
#define SECRET_PART  ".part-secret"
#define SECRET_SIZE  32
#define SECRET_TEXT  256


static unsigned char  secret[SECRET_SIZE];


static int
secret_write(int dir)
{
    int  fd, ok;

    (void) unlinkat(dir, SECRET_PART, 0);

    if (getrandom(secret, sizeof(secret), 0) != (ssize_t) sizeof(secret)) {
        return -1;
    }

    fd = openat(dir, SECRET_PART,
                O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW|O_CLOEXEC, 0600);

    if (fd == -1) {
        return -1;
    }

    ok = fchmod(fd, 0600) == 0
         && write(fd, secret, sizeof(secret)) == (ssize_t) sizeof(secret)
         && fsync(fd) == 0;

    ok &= (close(fd) == 0);

    return ok ? 0 : -1;
}


/* another front may be as far as we are: whoever links first has made it */

static int
secret_make(int dir)
{
    int  rc, err;

    rc = secret_write(dir);

    if (rc == 0
        && linkat(dir, SECRET_PART, dir, SECRET_FILE, 0) == -1
        && errno != EEXIST)
    {
        rc = -1;
    }

    err = errno;
    (void) unlinkat(dir, SECRET_PART, 0);
    errno = err;

    return rc;
}


static int
secret_read(int fd)
{
    struct stat  st;

    if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)
        || st.st_uid != geteuid() || (st.st_mode & 077) != 0
        || st.st_size != SECRET_SIZE
        || read(fd, secret, sizeof(secret)) != (ssize_t) sizeof(secret))
    {
        flog(RLOG_ERROR, "artifact store: " SECRET_FILE " is damaged, or not "
             "the front's alone: remove it, and the next start makes another");
        return -1;
    }

    return 0;
}


int
secret_init(int dir)
{
    int   fd, rc;
    char  hex[2];

    fd = openat(dir, SECRET_FILE, O_RDONLY|O_NOFOLLOW|O_NONBLOCK|O_CLOEXEC);

    if (fd == -1 && errno == ENOENT && secret_make(dir) == 0) {
        fd = openat(dir, SECRET_FILE,
                    O_RDONLY|O_NOFOLLOW|O_NONBLOCK|O_CLOEXEC);
    }

    if (fd == -1) {
        flog(RLOG_ERROR, "artifact store: " SECRET_FILE ": %s",
             strerror(errno));
        return -1;
    }

    rc = secret_read(fd);
    (void) close(fd);

    if (rc == 0 && secret_hex(hex, 1, "test") == -1) {
        flog(RLOG_ERROR, "artifact store: no HMAC-SHA256");
        return -1;
    }

    return rc;
}


int
secret_hex(char *hex, size_t digits, const char *fmt, ...)
{
    int                 n;
    char                text[SECRET_TEXT];
    size_t              i;
    va_list             ap;
    unsigned            len;
    unsigned char       mac[EVP_MAX_MD_SIZE];
    static const char   digit[] = "0123456789abcdef";

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);

    if (n < 0 || (size_t) n >= sizeof(text)
        || HMAC(EVP_sha256(), secret, sizeof(secret),
                (const unsigned char *) text, (size_t) n, mac, &len) == NULL
        || digits > 2 * len)
    {
        return -1;
    }

    for (i = 0; i < digits; i++) {
        hex[i] = digit[i % 2 == 0 ? mac[i / 2] >> 4 : mac[i / 2] & 0xf];
    }

    hex[digits] = '\0';

    return 0;
}
