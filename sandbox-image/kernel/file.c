
/*
 * KRN_FILE: a file of the client's is written below /workspace, by the
 * sandbox's own uid and against its own limits.  Runs in the kernel process.
 * Neither a name nor a symbolic link that the tenant made leads elsewhere.
 */

#include "retort.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>


typedef struct {
    int       fd;
    int       dir;
    int       error;
    size_t    named;            /* bytes of the name that came */
    size_t    name_len;
    char      name[PATH_MAX];
    char      *last;            /* final component, in name */
} file_t;


/*
 * Steps from "dir" into one component, making it if needed.  The result takes
 * the place of "dir"; on failure that stays the caller's.
 */

static int
file_step(int dir, const char *name)
{
    int  fd;

    if (mkdirat(dir, name, 0755) == -1 && errno != EEXIST) {
        return -1;
    }

    fd = openat(dir, name, O_PATH|O_DIRECTORY|O_NOFOLLOW|O_CLOEXEC);

    if (fd != -1) {
        (void) close(dir);
    }

    return fd;
}


static int
file_component(const char *name)
{
    return *name != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}


/* opens the folder that the file will be in, and finds the last component */

static int
file_parent(file_t *file)
{
    int   next;
    char  *p, *slash;

    file->dir = open(KERN_WORKSPACE, O_PATH|O_DIRECTORY|O_CLOEXEC);

    if (file->dir == -1) {
        return errno;
    }

    for (p = file->name; ; p = slash + 1) {
        slash = strchr(p, '/');

        if (slash != NULL) {
            *slash = '\0';
        }

        if (!file_component(p)) {
            return EINVAL;
        }

        if (slash == NULL) {
            file->last = p;
            return 0;
        }

        next = file_step(file->dir, p);

        if (next == -1) {
            return errno;
        }

        file->dir = next;
    }
}


/*
 * What had the name before goes first: a link, a pipe or a file that somebody
 * has open is never written to.
 */

static void
file_open(file_t *file)
{
    if (file->name_len == 0 || file->name_len >= sizeof(file->name)
        || memchr(file->name, '\0', file->name_len) != NULL)
    {
        file->error = EINVAL;
        return;
    }

    file->name[file->name_len] = '\0';
    file->error = file_parent(file);

    if (file->error != 0) {
        return;
    }

    if (unlinkat(file->dir, file->last, 0) == -1 && errno != ENOENT) {
        file->error = errno;
        return;
    }

    file->fd = openat(file->dir, file->last,
                      O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW|O_CLOEXEC, 0644);

    if (file->fd == -1) {
        file->error = errno;
    }
}


static void
file_write(file_t *file, const char *bytes, size_t len)
{
    ssize_t  n;

    while (len != 0 && file->error == 0) {
        n = write(file->fd, bytes, len);

        if (n > 0) {
            bytes += n;
            len -= (size_t) n;

        } else if (n == 0 || errno != EINTR) {
            file->error = (n == 0) ? EIO : errno;
        }
    }
}


static void
file_piece(void *data, const char *bytes, size_t len)
{
    size_t  n;
    file_t  *file;

    file = data;

    if (file->named < file->name_len) {
        n = file->name_len - file->named;
        n = n < len ? n : len;

        if (file->named + n < sizeof(file->name)) {
            memcpy(file->name + file->named, bytes, n);
        }

        file->named += n;
        bytes += n;
        len -= n;

        if (file->named < file->name_len) {
            return;
        }
    }

    if (file->fd == -1 && file->error == 0) {
        file_open(file);
    }

    file_write(file, bytes, len);
}


int
file_take(wire_packet_t *packet)
{
    int       rc;
    file_t    file;
    uint32_t  run;

    if (packet->head.part[2] != 0 || packet->head.part[3] != 0) {
        _exit(KERN_EXIT_WIRE);
    }

    memset(&file, 0, offsetof(file_t, name));
    file.fd = file.dir = -1;
    file.last = file.name;
    file.name_len = packet->head.part[0];
    run = packet->head.run;
    rc = wire_body(packet, file_piece, &file);

    if (file.fd != -1) {
        if (close(file.fd) == -1 && file.error == 0) {
            file.error = errno;
        }

        if (rc == -1 || file.error != 0) {
            (void) unlinkat(file.dir, file.last, 0);
        }
    }

    if (file.dir != -1) {
        (void) close(file.dir);
    }

    if (rc == 0) {
        wire_begin(run);
        wire_lock();
        wire_send(KRN_FILED, (uint32_t) file.error, 0, NULL, 0);
        wire_unlock();
        wire_end();
    }

    return rc;
}
