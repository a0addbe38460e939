
/*
 * Walks /workspace.  Runs in the kernel process; the tenant's own programs may
 * change the tree meanwhile.  No link is followed, nothing but folders is
 * opened, and depth, path and number of what is looked at are bounded.
 *
 * A folder whose ctime is the same has the same names in it, and is not read
 * again.  The clock of file times ticks in steps of up to 10 ms: what was
 * changed just before a walk may have been changed just after it as well.
 */

#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>


#define TREE_TICK  20000000     /* nsec */


typedef struct {
    char    **name;
    size_t  n;
    size_t  size;
} tree_names_t;


static int64_t
tree_nsec(const struct timespec *ts)
{
    return (int64_t) ts->tv_sec * 1000000000 + ts->tv_nsec;
}


static void
tree_drop(tree_node_t *node)
{
    size_t  i;

    for (i = 0; i < node->nkids; i++) {
        tree_drop(&node->kids[i]);
    }

    free(node->kids);
    free(node->name);
    memset(node, 0, sizeof(tree_node_t));
}


void
tree_free(tree_t *t)
{
    tree_drop(&t->top);
    t->walked = 0;
}


static void
tree_tell(tree_t *t, tree_change_t what, int dir, tree_node_t *node)
{
    if (t->tell != NULL && t->tell(t->data, what, dir, t->path, node) != 0) {
        t->tell = NULL;
    }
}


/* the path with one component more; 0, or -1 if it is too long */

static int
tree_down(tree_t *t, const char *name)
{
    size_t  n;

    n = strlen(name);

    if (t->len + 1 + n > TREE_PATH) {
        return -1;
    }

    if (t->len != 0) {
        t->path[t->len++] = '/';
    }

    memcpy(t->path + t->len, name, n + 1);
    t->len += n;

    return 0;
}


static void
tree_up(tree_t *t, size_t len)
{
    t->len = len;
    t->path[len] = '\0';
}


static void tree_gone(tree_t *t, tree_node_t *node);


/* tells of a node that is gone, and of all below it; the path is its own */

static void
tree_lost(tree_t *t, tree_node_t *node)
{
    size_t  i;

    for (i = 0; i < node->nkids; i++) {
        tree_gone(t, &node->kids[i]);
    }

    free(node->kids);
    node->kids = NULL;
    node->nkids = 0;
    tree_tell(t, TREE_DELETED, -1, node);
    node->hashed = 0;
}


static void
tree_gone(tree_t *t, tree_node_t *node)
{
    size_t  len;

    len = t->len;

    if (node->mode != 0 && tree_down(t, node->name) == 0) {
        tree_lost(t, node);
        tree_up(t, len);
    }

    tree_drop(node);
}


static int
tree_order(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}


static int
tree_add(tree_names_t *names, const char *name)
{
    char    **more;
    size_t  size;

    if (names->n == names->size) {
        size = names->size != 0 ? names->size * 2 : 32;
        more = realloc(names->name, size * sizeof(char *));

        if (more == NULL) {
            return -1;
        }

        names->name = more;
        names->size = size;
    }

    names->name[names->n] = strdup(name);

    return names->name[names->n++] != NULL ? 0 : -1;
}


static void
tree_names_free(tree_names_t *names)
{
    while (names->n != 0) {
        free(names->name[--names->n]);
    }

    free(names->name);
}


static int
tree_names(tree_t *t, int fd, tree_names_t *names)
{
    int            copy;
    DIR            *dir;
    struct dirent  *e;

    memset(names, 0, sizeof(tree_names_t));
    copy = openat(fd, ".", O_RDONLY|O_DIRECTORY|O_CLOEXEC);
    dir = copy != -1 ? fdopendir(copy) : NULL;

    if (dir == NULL) {
        if (copy != -1) {
            (void) close(copy);
        }

        return errno;
    }

    for (e = readdir(dir); e != NULL; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
            continue;
        }

        if (t->entries + names->n >= TREE_ENTRIES) {
            t->partial = 1;
            break;
        }

        if (tree_add(names, e->d_name) == -1) {
            (void) closedir(dir);
            tree_names_free(names);
            return ENOMEM;
        }
    }

    (void) closedir(dir);

    if (names->n != 0) {
        qsort(names->name, names->n, sizeof(char *), tree_order);
    }

    return 0;
}


/* the names that were there keep their nodes; both lists are sorted */

static int
tree_merge(tree_t *t, tree_node_t *dir, tree_names_t *names)
{
    int          rc;
    size_t       i, j;
    tree_node_t  *kids;

    kids = calloc(names->n + 1, sizeof(tree_node_t));

    if (kids == NULL) {
        return ENOMEM;
    }

    for (i = 0, j = 0; i < names->n; i++) {
        rc = -1;

        while (j < dir->nkids) {
            rc = strcmp(dir->kids[j].name, names->name[i]);

            if (rc >= 0) {
                break;
            }

            tree_gone(t, &dir->kids[j++]);
        }

        if (rc == 0) {
            kids[i] = dir->kids[j++];

        } else {
            kids[i].name = names->name[i];
            names->name[i] = NULL;
        }
    }

    while (j < dir->nkids) {
        tree_gone(t, &dir->kids[j++]);
    }

    free(dir->kids);
    dir->kids = kids;
    dir->nkids = names->n;

    return 0;
}


static void
tree_take(tree_node_t *node, const struct stat *st)
{
    node->mode = st->st_mode;
    node->ino = st->st_ino;
    node->size = S_ISREG(st->st_mode) ? (uint64_t) st->st_size : 0;
    node->changed = tree_nsec(&st->st_ctim);
    node->modified = tree_nsec(&st->st_mtim);
}


static int
tree_same(const tree_node_t *node, const struct stat *st)
{
    return node->mode == st->st_mode && node->ino == st->st_ino
           && node->changed == tree_nsec(&st->st_ctim)
           && (!S_ISREG(st->st_mode)
               || node->size == (uint64_t) st->st_size);
}


/* could it have changed within the tick in which it was looked at? */

static int
tree_recent(const tree_t *t, const tree_node_t *node)
{
    return node->changed >= t->walked - TREE_TICK;
}


static int tree_folder(tree_t *t, tree_node_t *dir, int fd, int read,
    int depth);


static void
tree_enter(tree_t *t, tree_node_t *node, int dir, int read, int depth)
{
    int  fd;

    if (t->flat) {
        return;
    }

    if (depth == TREE_DEPTH) {
        t->partial = 1;
        return;
    }

    fd = openat(dir, node->name,
                O_RDONLY|O_DIRECTORY|O_NOFOLLOW|O_NONBLOCK|O_CLOEXEC);

    if (fd == -1 || tree_folder(t, node, fd, read, depth) != 0) {
        t->partial = 1;
    }

    if (fd != -1) {
        (void) close(fd);
    }
}


static void
tree_look(tree_t *t, tree_node_t *node, int dir, int depth)
{
    int          same, fresh, recent;
    struct stat  st;

    if (fstatat(dir, node->name, &st, AT_SYMLINK_NOFOLLOW) == -1) {
        /* gone since its name was read: the next walk tells of it */
        return;
    }

    fresh = (node->mode == 0);

    if (!fresh && (node->mode & S_IFMT) != (st.st_mode & S_IFMT)) {
        tree_lost(t, node);
        fresh = 1;
    }

    same = !fresh && tree_same(node, &st);
    recent = !fresh && tree_recent(t, node);
    tree_take(node, &st);

    if (fresh) {
        tree_tell(t, TREE_CREATED, dir, node);

    } else if (!S_ISDIR(st.st_mode) && (!same || (recent && node->hashed))) {
        tree_tell(t, TREE_CHANGED, dir, node);
    }

    if (S_ISDIR(st.st_mode)) {
        tree_enter(t, node, dir, !same || recent, depth);
    }
}


/* "read": the names in it may be others than last time */

static int
tree_folder(tree_t *t, tree_node_t *dir, int fd, int read, int depth)
{
    int           rc;
    size_t        i, len;
    tree_names_t  names;

    rc = 0;

    if (read) {
        rc = tree_names(t, fd, &names);

        if (rc != 0) {
            return rc;
        }

        rc = tree_merge(t, dir, &names);
        tree_names_free(&names);
    }

    len = t->len;

    for (i = 0; rc == 0 && i < dir->nkids; i++) {
        t->entries++;

        if (tree_down(t, dir->kids[i].name) == -1) {
            t->partial = 1;
            continue;
        }

        tree_look(t, &dir->kids[i], fd, depth + 1);
        tree_up(t, len);
    }

    return rc;
}


int
tree_idle(const tree_t *t, const struct stat *st)
{
    return t->walked != 0 && !t->partial && t->top.nkids == 0
           && tree_same(&t->top, st) && !tree_recent(t, &t->top);
}


int
tree_walk(tree_t *t, int fd)
{
    int              rc, read;
    struct stat      st;
    struct timespec  now;

    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) == -1
        || fstat(fd, &st) == -1)
    {
        return errno;
    }

    t->entries = 0;
    t->partial = 0;
    tree_up(t, 0);

    read = t->walked == 0 || !tree_same(&t->top, &st)
           || tree_recent(t, &t->top);
    tree_take(&t->top, &st);
    rc = tree_folder(t, &t->top, fd, read, 0);
    t->walked = tree_nsec(&now);

    return rc;
}
