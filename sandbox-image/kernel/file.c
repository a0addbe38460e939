
/*
 * KRN_FILE and KRN_PUT: files of the client's are written below /workspace,
 * by the sandbox's own uid and against its own limits.  Runs in the kernel
 * process.  Neither a name nor a symbolic link that the tenant made leads
 * elsewhere, and a file has its name only when it is whole.
 */

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>


typedef struct {
    int          fd;
    int          error;
    int          replaced;
    size_t       named;         /* bytes of the name that came */
    char         part[40];      /* what it is called until it is whole */
    file_name_t  name;
} file_t;


/*
 * Steps from "dir" into one component, making it if needed.  The result takes
 * the place of "dir"; on failure that stays the caller's.
 */

static int
file_step(int dir, const char *name, int make)
{
    int  fd;

    if (make && mkdirat(dir, name, 0755) == -1 && errno != EEXIST) {
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


int
file_parent(file_name_t *n, int make)
{
    int   next;
    char  *p, *slash;

    if (n->len == 0 || n->len >= sizeof(n->name)
        || memchr(n->name, '\0', n->len) != NULL)
    {
        return EINVAL;
    }

    n->name[n->len] = '\0';
    n->dir = open(KERN_WORKSPACE, O_PATH|O_DIRECTORY|O_CLOEXEC);

    if (n->dir == -1) {
        return errno;
    }

    for (p = n->name; ; p = slash + 1) {
        slash = strchr(p, '/');

        if (slash != NULL) {
            *slash = '\0';
        }

        if (!file_component(p)) {
            return EINVAL;
        }

        if (slash == NULL) {
            n->last = p;
            return 0;
        }

        next = file_step(n->dir, p, make);

        if (next == -1) {
            return errno;
        }

        n->dir = next;
    }
}


void
file_filed(int error, int more)
{
    /* an interrupt that came meanwhile is not the next run's */
    interrupt_end();
    wire_lock();
    wire_send(KRN_FILED, (uint32_t) error, (uint32_t) more, NULL, 0);
    wire_unlock();
}


/*
 * What has the name already is not touched: it is replaced at the end, so a
 * link, a pipe or a file that somebody has open is never written to.
 */

static int
file_open(file_t *file)
{
    int              dir, rc;
    struct stat      st;
    static unsigned  number;

    rc = file_parent(&file->name, 1);

    if (rc != 0) {
        return rc;
    }

    dir = file->name.dir;

    if (fstatat(dir, file->name.last, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(st.st_mode)) {
            return EISDIR;
        }

        file->replaced = 1;

    } else if (errno != ENOENT) {
        return errno;
    }

    (void) snprintf(file->part, sizeof(file->part), FILE_PART "%d-%u",
                    (int) getpid(), ++number);

    file->fd = openat(dir, file->part,
                      O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW|O_CLOEXEC, 0644);

    return file->fd == -1 ? errno : 0;
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


/* its name is given to it, or it is removed; closes everything */

static void
file_close(file_t *file)
{
    int  dir;

    dir = file->name.dir;

    if (file->fd != -1) {
        if (close(file->fd) == -1 && file->error == 0) {
            file->error = errno;
        }

        if (file->error == 0
            && renameat(dir, file->part, dir, file->name.last) == -1)
        {
            file->error = errno;
        }

        if (file->error != 0) {
            (void) unlinkat(dir, file->part, 0);
        }
    }

    if (dir != -1) {
        (void) close(dir);
    }
}


static void
file_init(file_t *file, size_t name_len)
{
    memset(file, 0, offsetof(file_t, name));
    file->fd = -1;
    file->name.dir = -1;
    file->name.len = name_len;
}


static size_t
file_named(file_t *file, const char *bytes, size_t len)
{
    size_t  n;

    n = file->name.len - file->named;
    n = n < len ? n : len;

    if (file->named + n < sizeof(file->name.name)) {
        memcpy(file->name.name + file->named, bytes, n);
    }

    file->named += n;

    return n;
}


static void
file_piece(void *data, const char *bytes, size_t len)
{
    size_t  n;
    file_t  *file;

    file = data;
    n = file_named(file, bytes, len);

    if (file->named < file->name.len) {
        return;
    }

    if (file->fd == -1 && file->error == 0) {
        file->error = file_open(file);
    }

    file_write(file, bytes + n, len - n);
}


static int
file_take(wire_packet_t *packet)
{
    int       rc;
    file_t    file;

    if (packet->head.part[2] != 0 || packet->head.part[3] != 0) {
        _exit(KERN_EXIT_WIRE);
    }

    file_init(&file, packet->head.part[0]);
    rc = wire_body(packet, file_piece, &file);

    if (rc == -1) {
        file.error = ECANCELED;
    }

    file_close(&file);

    if (rc == 0) {
        file_filed(file.error, file.replaced);
    }

    return rc;
}


static void
file_name_piece(void *data, const char *bytes, size_t len)
{
    (void) file_named(data, bytes, len);
}


int
file_take_name(wire_packet_t *packet, file_name_t *n)
{
    int     rc;
    file_t  file;

    if (packet->head.part[1] != 0 || packet->head.part[2] != 0
        || packet->head.part[3] != 0)
    {
        _exit(KERN_EXIT_WIRE);
    }

    file_init(&file, packet->head.part[0]);
    rc = wire_body(packet, file_name_piece, &file);
    *n = file.name;

    return rc;
}


/*
 * An error is told at once, so that the client need not send the rest in vain;
 * what is under way already is passed over until the front knows.
 */

static int
file_put(wire_packet_t *packet)
{
    int       told;
    file_t    file;
    uint32_t  run;

    run = packet->head.run;
    file_init(&file, 0);

    if (file_take_name(packet, &file.name) == -1) {
        return -1;
    }

    file.error = file_open(&file);
    told = 0;

    do {
        if (file.error != 0 && !told) {
            told = 1;
            file_filed(file.error, 0);
        }

        wire_receive(packet);

        if (packet->head.type == KRN_RESET) {
            file.error = ECANCELED;
            file_close(&file);
            return -1;
        }

        if (packet->head.type != KRN_DATA || packet->head.run != run) {
            _exit(KERN_EXIT_WIRE);
        }

        file_write(&file, packet->payload, packet->head.len);
    } while (packet->head.a == KRN_SOME);

    if (packet->head.a == KRN_ABORT && file.error == 0) {
        file.error = ECANCELED;
    }

    file_close(&file);

    if (!told) {
        file_filed(file.error, file.replaced);
    }

    return 0;
}


int
file_serve(wire_packet_t *packet)
{
    wire_as(packet->head.run);

    if (packet->head.type != KRN_GET && packet->head.type != KRN_LIST) {
        changes_forget();
    }

    switch (packet->head.type) {

    case KRN_FILE:
        return file_take(packet);

    case KRN_PUT:
        return file_put(packet);

    case KRN_GET:
        return file_get(packet);

    case KRN_LIST:
        return file_list(packet);

    default:
        return file_delete(packet);
    }
}
