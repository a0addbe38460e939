
/*
 * The mounts of one sandbox.  Runs as pid 1 with all capabilities over its own
 * new namespaces and none over the host; believes the broker's numbers.
 *
 * The template's mount namespace was built by root at service start
 * (helper/start/root.c): the image and our layer are there once more under
 * /.image and /.layer, without anything mounted below them.  What was
 * inherited is locked by the kernel; only what is the sandbox's own is made
 * here.
 */

#include <errno.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "seal.h"


#define BOX  "/.box"


static int
mounts_tmpfs(const char *path, uint64_t size, unsigned mode,
    unsigned long flags)
{
    int   n;
    char  options[128];

    n = snprintf(options, sizeof(options),
                 "size=%llu,nr_inodes=%llu,mode=%o,uid=%d,gid=%d",
                 (unsigned long long) size,
                 (unsigned long long) seal_req->limits.inodes, mode, SEAL_UID,
                 SEAL_GID);

    if (n < 0 || (size_t) n >= sizeof(options)) {
        errno = EOVERFLOW;
        return -1;
    }

    return mount("tmpfs", path, "tmpfs", MS_NOSUID|MS_NODEV|flags, options);
}


int
mounts_private(void)
{
    return mount(NULL, "/", NULL, MS_REC|MS_PRIVATE, NULL);
}


/*
 * An overlay of its own gives each sandbox its own inodes, so that locks on
 * files of the image are no channel between tenants.  On top is the template's
 * empty /dev/shm, a tmpfs: statfs() tells how full that is, and not how full
 * the host's disk is.
 */

int
mounts_root(void)
{
    return mount("overlay", BOX, "overlay", MS_RDONLY|MS_NOSUID|MS_NODEV,
                 "lowerdir=/dev/shm:/.layer:/.image");
}


int
mounts_proc(void)
{
    return mount("proc", BOX "/proc", "proc", MS_NOSUID|MS_NODEV|MS_NOEXEC,
                 "subset=pid,hidepid=invisible");
}


/* the five nodes and the links that root made in the template */

int
mounts_dev(void)
{
    return mount("/dev", BOX "/dev", NULL, MS_BIND|MS_REC, NULL);
}


int
mounts_workspace(void)
{
    return mounts_tmpfs(BOX "/workspace", seal_req->limits.disk, 0700, 0);
}


int
mounts_tmp(void)
{
    return mounts_tmpfs(BOX "/tmp", seal_req->limits.tmp, 01777, 0);
}


int
mounts_shm(void)
{
    return mounts_tmpfs(BOX "/dev/shm", seal_req->limits.tmp, 01777,
                        MS_NOEXEC);
}


/*
 * The new root is put on top of the old one, which is then let go.  Climbing
 * out must end at the same place.
 */

int
mounts_pivot(void)
{
    struct stat  root, up;

    if (chdir(BOX) == -1
        || syscall(SYS_pivot_root, ".", ".") == -1
        || umount2(".", MNT_DETACH) == -1
        || chdir("/") == -1
        || stat("/", &root) == -1
        || stat("..", &up) == -1)
    {
        return -1;
    }

    if (root.st_dev != up.st_dev || root.st_ino != up.st_ino) {
        errno = EXDEV;
        return -1;
    }

    return chdir("/workspace");
}
