
/*
 * Descriptors 0 to 2 are open between cells, whatever a cell did to them: a
 * library that opens a file then would get such a number, and lose the file
 * to the next code that closes it (matplotlib's fonts do not survive that).
 * One that a cell turned elsewhere stays where it is.
 */

#include "retort.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>


typedef struct {
    int    fd;              /* a copy; -1: none */
    dev_t  dev;
    ino_t  ino;
} std_copy_t;


static std_copy_t  std_copies[2] = { { -1, 0, 0 }, { -1, 0, 0 } };


void
std_start(void)
{
    int          i;
    std_copy_t  *copy;
    struct stat  st;

    for (i = 0; i < 2; i++) {
        copy = &std_copies[i];

        if (fstat(i + 1, &st) == 0) {
            copy->fd = fcntl(i + 1, F_DUPFD_CLOEXEC, KRN_FD + 1);
            copy->dev = st.st_dev;
            copy->ino = st.st_ino;
        }
    }
}


/* the tenant may have closed a copy, too, and its number be another file's */

static int
std_source(int fd)
{
    struct stat  st;
    std_copy_t  *copy;

    if (fd == 0) {
        return -1;
    }

    copy = &std_copies[fd - 1];

    return copy->fd != -1 && fstat(copy->fd, &st) == 0
           && st.st_dev == copy->dev && st.st_ino == copy->ino
           ? copy->fd : -1;
}


void
std_mend(void)
{
    int  fd, from;

    for (fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) {
            continue;
        }

        from = std_source(fd);

        if (from != -1) {
            (void) dup2(from, fd);

        } else {
            /* the lowest free number is this one */
            (void) open("/dev/null", O_RDWR);
        }
    }
}
