
/*
 * In retort-front, as its own uid without any capability.  The filter knows
 * by which descriptor a file is opened or removed, but an absolute path goes
 * past a descriptor: this is what holds there.  The store is the front's; to
 * the log of runs it can only add files.
 */

#include <errno.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "flog.h"
#include "land.h"
#include "seal.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LAND_SANITIZER  1
#else
#define LAND_SANITIZER  0
#endif


/* what the headers of 2022 do not know: truncate, device ioctls */

#define LAND_ALL    0x1fffull           /* of the first kernels that had it */
#define LAND_REFER  0x3fffull
#define LAND_TRUNC  0x7fffull
#define LAND_IOCTL  0xffffull

#define LAND_LOG    (LANDLOCK_ACCESS_FS_MAKE_REG|LANDLOCK_ACCESS_FS_WRITE_FILE)
#define LAND_STORE  (LAND_LOG|LANDLOCK_ACCESS_FS_READ_FILE                    \
                     |LANDLOCK_ACCESS_FS_READ_DIR                             \
                     |LANDLOCK_ACCESS_FS_REMOVE_FILE)


/* the rights that a kernel knows, by its version of Landlock */

static uint64_t
land_rights(long abi)
{
    static const uint64_t  known[] = {
        0, LAND_ALL, LAND_REFER, LAND_TRUNC, LAND_TRUNC, LAND_IOCTL
    };

    return known[abi < 5 ? abi : 5];
}


static int
land_allow(int ruleset, int dir, uint64_t rights)
{
    struct stat                        st;
    struct landlock_path_beneath_attr  path;

    if (fstat(dir, &st) == -1 || !S_ISDIR(st.st_mode)) {
        return 0;
    }

    memset(&path, 0, sizeof(path));
    path.allowed_access = rights;
    path.parent_fd = dir;

    return (int) syscall(SYS_landlock_add_rule, ruleset,
                         LANDLOCK_RULE_PATH_BENEATH, &path, 0);
}


static int
land_restrict(long abi)
{
    int                           fd, rc;
    struct landlock_ruleset_attr  attr;

    memset(&attr, 0, sizeof(attr));
    attr.handled_access_fs = land_rights(abi);
    fd = (int) syscall(SYS_landlock_create_ruleset, &attr,
                       sizeof(attr.handled_access_fs), 0);

    if (fd == -1) {
        return -1;
    }

    rc = land_allow(fd, FRONT_FD_STORE, LAND_STORE);
    rc |= land_allow(fd, FRONT_FD_AUDIT, LAND_LOG);

    if (rc == 0) {
        rc = (int) syscall(SYS_landlock_restrict_self, fd, 0);
    }

    (void) close(fd);

    return rc;
}


int
land_lock(void)
{
    long  abi;

    if (LAND_SANITIZER) {
        return 0;
    }

    abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
                  LANDLOCK_CREATE_RULESET_VERSION);

    if (abi == -1 && (errno == ENOSYS || errno == EOPNOTSUPP)) {
        flog(RLOG_WARN, "seal: this kernel has no Landlock");
        return 0;
    }

    if (abi == -1 || land_restrict(abi) == -1) {
        flog(RLOG_ERROR, "seal: Landlock: %s", strerror(errno));
        return -1;
    }

    return 0;
}
