
/*
 * KRN_GET, KRN_LIST and KRN_DELETE: what a client sees of /workspace.  Runs in
 * the kernel process.  Only regular files are read; they are opened without
 * waiting and looked at before a byte is read.
 */

#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"


#define FILE_GET_IRREGULAR  EOPNOTSUPP


typedef struct {
    uint32_t  left;             /* entries that may be told */
    int       more;             /* there was one too many */
} file_list_t;


static void
file_entry(const char *name, size_t len, const krn_entry_t *entry)
{
    wire_part_t  part[2];

    part[0].data = name;
    part[0].len = len;
    part[1].data = entry;
    part[1].len = sizeof(krn_entry_t);

    wire_lock();
    wire_send(KRN_ENTRY, 0, 0, part, 2);
    wire_unlock();
}


static int64_t
file_ctime(const struct stat *st)
{
    return (int64_t) st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;
}


/* an errno, or 0 with a regular file open in "*fd" */

static int
file_get_open(file_name_t *n, int *fd, struct stat *st)
{
    int  rc;

    *fd = -1;
    rc = file_parent(n, 0);

    if (rc != 0) {
        return rc;
    }

    /* so that a pipe or a device is not even opened */

    if (fstatat(n->dir, n->last, st, AT_SYMLINK_NOFOLLOW) == -1) {
        return errno;
    }

    if (S_ISDIR(st->st_mode)) {
        return EISDIR;
    }

    if (!S_ISREG(st->st_mode)) {
        return FILE_GET_IRREGULAR;
    }

    *fd = openat(n->dir, n->last, O_RDONLY|O_NOFOLLOW|O_NONBLOCK|O_CLOEXEC);

    if (*fd == -1) {
        return errno == ELOOP ? FILE_GET_IRREGULAR : errno;
    }

    if (fstat(*fd, st) == -1) {
        return errno;
    }

    return S_ISREG(st->st_mode) ? 0 : FILE_GET_IRREGULAR;
}


/* a whole piece, or an errno */

static int
file_get_read(int fd, char *p, size_t len)
{
    ssize_t  n;

    while (len != 0) {
        n = read(fd, p, len);

        if (n == 0) {
            return ESTALE;
        }

        if (n == -1 && errno != EINTR) {
            return errno;
        }

        if (n > 0) {
            p += n;
            len -= (size_t) n;
        }
    }

    return 0;
}


/* what the front says in between; 0, ECANCELED, or -1 if it is a reset */

static int
file_get_hear(wire_packet_t *packet)
{
    if (!wire_waiting(0)) {
        return 0;
    }

    wire_receive(packet);

    if (packet->head.type == KRN_RESET) {
        return -1;
    }

    if (packet->head.type != KRN_DATA || packet->head.a != KRN_ABORT) {
        _exit(KERN_EXIT_WIRE);
    }

    return ECANCELED;
}


/* as much as it was when it was opened; the last piece only if it still is */

static int
file_get_bytes(wire_packet_t *packet, int fd, const struct stat *st)
{
    int          rc;
    size_t       n;
    uint64_t     left;
    struct stat  now;
    wire_part_t  part;
    static char  bytes[KRN_PAYLOAD];

    for (left = (uint64_t) st->st_size; left != 0; left -= n) {
        n = left < sizeof(bytes) ? (size_t) left : sizeof(bytes);
        rc = file_get_read(fd, bytes, n);

        if (rc != 0) {
            return rc;
        }

        if (n == left
            && (fstat(fd, &now) == -1 || now.st_size != st->st_size
                || file_ctime(&now) != file_ctime(st)))
        {
            return ESTALE;
        }

        part.data = bytes;
        part.len = n;

        wire_lock();
        wire_send(KRN_BYTES, 0, 0, &part, 1);
        wire_unlock();

        rc = file_get_hear(packet);

        if (rc != 0) {
            return rc;
        }
    }

    return 0;
}


int
file_get(wire_packet_t *packet)
{
    int          rc, fd, look;
    file_name_t  n;
    krn_entry_t  entry;
    struct stat  st;

    look = (packet->head.a == 1);

    if (file_take_name(packet, &n) == -1) {
        return -1;
    }

    rc = file_get_open(&n, &fd, &st);

    if (rc == 0 || (rc == EISDIR && look)) {
        memset(&entry, 0, sizeof(entry));
        entry.size = rc == 0 ? (uint64_t) st.st_size : 0;
        entry.modified = (uint64_t) st.st_mtim.tv_sec * 1000
                         + (uint64_t) st.st_mtim.tv_nsec / 1000000;
        entry.is = rc == 0 ? KRN_IS_FILE : KRN_IS_FOLDER;
        file_entry("", 0, &entry);
        rc = 0;
    }

    if (rc == 0 && !look) {
        rc = file_get_bytes(packet, fd, &st);
    }

    if (fd != -1) {
        (void) close(fd);
    }

    if (n.dir != -1) {
        (void) close(n.dir);
    }

    if (rc == -1) {
        return -1;
    }

    file_filed(rc, 0);

    return 0;
}


static int
file_list_tell(void *data, tree_change_t what, int dir, const char *path,
    tree_node_t *node)
{
    krn_entry_t  entry;
    file_list_t  *l;

    (void) what;
    (void) dir;
    l = data;

    if (l->left == 0) {
        l->more = 1;
        return -1;
    }

    l->left--;
    memset(&entry, 0, sizeof(entry));
    entry.size = node->size;
    entry.modified = node->modified > 0 ? (uint64_t) node->modified / 1000000
                                        : 0;
    entry.is = S_ISREG(node->mode) ? KRN_IS_FILE
               : S_ISDIR(node->mode) ? KRN_IS_FOLDER : KRN_IS_OTHER;
    file_entry(path, strlen(path), &entry);

    return 0;
}


/* an errno, or 0 with the folder open in "*fd" */

static int
file_list_open(file_name_t *n, int *fd)
{
    int  rc;

    *fd = -1;
    n->dir = -1;

    if (n->len == 0) {
        *fd = open(KERN_WORKSPACE, O_RDONLY|O_DIRECTORY|O_CLOEXEC);
        return *fd == -1 ? errno : 0;
    }

    rc = file_parent(n, 0);

    if (rc != 0) {
        return rc;
    }

    *fd = openat(n->dir, n->last, O_RDONLY|O_DIRECTORY|O_NOFOLLOW|O_NONBLOCK
                 |O_CLOEXEC);

    return *fd == -1 ? errno : 0;
}


int
file_list(wire_packet_t *packet)
{
    int          rc, fd;
    tree_t       *t;
    file_list_t  l;
    file_name_t  n;

    memset(&l, 0, sizeof(l));
    l.left = packet->head.a;
    t = calloc(1, sizeof(tree_t));

    if (t == NULL) {
        _exit(KERN_EXIT_FATAL);
    }

    t->flat = (packet->head.b == 0);
    t->tell = file_list_tell;
    t->data = &l;

    if (file_take_name(packet, &n) == -1) {
        free(t);
        return -1;
    }

    rc = file_list_open(&n, &fd);

    if (rc == 0) {
        rc = tree_walk(t, fd);
    }

    file_filed(rc, l.more || t->partial);

    if (fd != -1) {
        (void) close(fd);
    }

    if (n.dir != -1) {
        (void) close(n.dir);
    }

    tree_free(t);
    free(t);

    return 0;
}


int
file_empty(int fd, int depth)
{
    int            rc, sub;
    DIR            *dir;
    struct dirent  *e;

    dir = depth != 0 ? fdopendir(fd) : NULL;

    if (dir == NULL) {
        rc = depth != 0 ? errno : ELOOP;
        (void) close(fd);
        return rc;
    }

    rc = 0;

    for (e = readdir(dir); e != NULL && rc == 0; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0
            || unlinkat(dirfd(dir), e->d_name, 0) == 0)
        {
            continue;
        }

        if (errno != EISDIR && errno != EPERM) {
            rc = errno;
            break;
        }

        sub = openat(dirfd(dir), e->d_name,
                     O_RDONLY|O_DIRECTORY|O_NOFOLLOW|O_CLOEXEC);
        rc = sub == -1 ? errno : file_empty(sub, depth - 1);

        if (rc == 0 && unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR) == -1) {
            rc = errno;
        }
    }

    (void) closedir(dir);

    return rc;
}


static int
file_delete_name(file_name_t *n, int recursive)
{
    int  rc, fd;

    rc = file_parent(n, 0);

    if (rc != 0) {
        return rc;
    }

    if (unlinkat(n->dir, n->last, 0) == 0) {
        return 0;
    }

    if (errno != EISDIR && errno != EPERM) {
        return errno;
    }

    if (recursive) {
        fd = openat(n->dir, n->last,
                    O_RDONLY|O_DIRECTORY|O_NOFOLLOW|O_CLOEXEC);
        rc = fd == -1 ? errno : file_empty(fd, FILE_DEPTH);

        if (rc != 0) {
            return rc;
        }
    }

    return unlinkat(n->dir, n->last, AT_REMOVEDIR) == -1 ? errno : 0;
}


int
file_delete(wire_packet_t *packet)
{
    int          rc, recursive;
    file_name_t  n;

    recursive = (packet->head.b == 1);

    if (file_take_name(packet, &n) == -1) {
        return -1;
    }

    rc = file_delete_name(&n, recursive);

    if (n.dir != -1) {
        (void) close(n.dir);
    }

    file_filed(rc, 0);

    return 0;
}
