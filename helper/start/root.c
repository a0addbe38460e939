
/*
 * Part of retortd (root, in a child): the mount namespace in which a template
 * lives and from which every sandbox of its profile inherits.
 *
 *   /          overlay of our layer over the image, read-only
 *   /.image    the image alone, /.layer our layer alone: each sandbox makes
 *              its own overlay of them
 *   /dev       five nodes, no more
 *   /proc      whole and unmasked: only then may a sandbox mount its own
 *   /tmp       for what libraries want to write while they are imported
 *
 * Everything is made before anything hostile exists; sandboxes cannot undo
 * it, because mounts that a user namespace inherits are locked.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log.h"
#include "start.h"


#define ROOT_PATH  4096


static int
root_fail(const char *what)
{
    rlog_errno(RLOG_ERROR, errno, "template root: %s", what);

    return -1;
}


/* a bind becomes read-only in a second step */

static int
root_bind(int fd, const char *to)
{
    char  from[64];

    (void) snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);

    if (mount(from, to, NULL, MS_BIND, NULL) == -1) {
        return -1;
    }

    return mount(NULL, to, NULL,
                 MS_REMOUNT|MS_BIND|MS_RDONLY|MS_NOSUID|MS_NODEV, NULL);
}


/*
 * The nodes are the host's own: read-only, so that nobody sets their times for
 * others to see.  They can be written to all the same.
 */

static int
root_node(const char *name)
{
    char  from[64], to[64];

    (void) snprintf(from, sizeof(from), "/dev/%s", name);
    (void) snprintf(to, sizeof(to), "dev/%s", name);

    if (mknod(to, S_IFREG|0444, 0) == -1
        || mount(from, to, NULL, MS_BIND, NULL) == -1)
    {
        return -1;
    }

    return mount(NULL, to, NULL,
                 MS_REMOUNT|MS_BIND|MS_RDONLY|MS_NOSUID|MS_NOEXEC, NULL);
}


static int
root_dev(void)
{
    size_t             i;
    static const char  *nodes[] = {
        "null", "zero", "full", "random", "urandom"
    };
    static const char  *links[][2] = {
        { "/proc/self/fd", "dev/fd" }, { "/proc/self/fd/0", "dev/stdin" },
        { "/proc/self/fd/1", "dev/stdout" }, { "/proc/self/fd/2", "dev/stderr" }
    };

    if (mount("tmpfs", "dev", "tmpfs", MS_NOSUID|MS_NOEXEC,
              "size=64k,nr_inodes=32,mode=0755")
        == -1
        || mkdir("dev/shm", 0755) == -1)
    {
        return -1;
    }

    for (i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        if (root_node(nodes[i]) == -1) {
            return -1;
        }
    }

    for (i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        if (symlink(links[i][0], links[i][1]) == -1) {
            return -1;
        }
    }

    return mount(NULL, "dev", NULL,
                 MS_REMOUNT|MS_BIND|MS_RDONLY|MS_NOSUID|MS_NOEXEC, NULL);
}


/*
 * The overlay is mounted over the image's own directory, in this namespace
 * alone, so that no other place on the host is needed.
 */

static int
root_overlay(const start_t *s, const char *path, int *image, int *layer)
{
    int   n;
    char  options[ROOT_PATH];

    *image = open(path, O_PATH|O_DIRECTORY|O_CLOEXEC);
    *layer = open(s->layer, O_PATH|O_DIRECTORY|O_CLOEXEC);

    if (*image == -1 || *layer == -1) {
        return root_fail("image or layer is missing");
    }

    n = snprintf(options, sizeof(options), "lowerdir=%s:%s", s->layer,
                 path);

    if (n < 0 || (size_t) n >= sizeof(options)) {
        errno = ENAMETOOLONG;
        return root_fail("overlay");
    }

    if (mount("overlay", path, "overlay", MS_RDONLY|MS_NOSUID|MS_NODEV,
              options)
        == -1
        || chdir(path) == -1)
    {
        return root_fail("overlay");
    }

    return 0;
}


int
root_make(const start_t *s, const char *path)
{
    int  image, layer;

    if (unshare(CLONE_NEWNS|CLONE_NEWNET|CLONE_NEWIPC|CLONE_NEWUTS) == -1
        || mount(NULL, "/", NULL, MS_REC|MS_PRIVATE, NULL) == -1)
    {
        return root_fail("namespaces");
    }

    if (root_overlay(s, path, &image, &layer) == -1) {
        return -1;
    }

    if (root_bind(image, ".image") == -1 || root_bind(layer, ".layer") == -1
        || root_dev() == -1)
    {
        return root_fail("binding image, layer and devices");
    }

    if (mount("proc", "proc", "proc", MS_NOSUID|MS_NODEV|MS_NOEXEC, NULL) != 0
        || mount("tmpfs", "tmp", "tmpfs", MS_NOSUID|MS_NODEV,
                 "size=64m,mode=1777") != 0)
    {
        return root_fail("/proc and /tmp");
    }

    (void) close(image);
    (void) close(layer);

    if (syscall(SYS_pivot_root, ".", ".") == -1
        || umount2(".", MNT_DETACH) == -1
        || chdir("/") == -1)
    {
        return root_fail("pivot");
    }

    return 0;
}
