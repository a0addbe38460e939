
/*
 * Landlock over the mounts: a second wall for files, kept by another part of
 * the kernel.  Runs as pid 1 without capabilities, reads nothing.
 *
 * A kernel without Landlock has the mounts and the filter alone.  One that
 * has it and refuses a step ends the sandbox.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "seal.h"


/* what the headers of 2022 do not know */

#define LL_KNOWN      ((1ULL << 16) - 1)        /* up to device ioctls */
#define LL_IOCTL_DEV  (1ULL << 15)
#define LL_NET_TCP    3ULL                      /* bind, connect */
#define LL_SCOPED     3ULL                      /* abstract sockets, signals */

#define LL_LOOK       LANDLOCK_ACCESS_FS_READ_DIR
#define LL_READ       (LANDLOCK_ACCESS_FS_READ_FILE|LL_LOOK)
#define LL_RUN        (LL_READ|LANDLOCK_ACCESS_FS_EXECUTE)
#define LL_NODE       (LL_READ|LANDLOCK_ACCESS_FS_WRITE_FILE)
#define LL_OWN        (LL_KNOWN & ~(LL_IOCTL_DEV|LANDLOCK_ACCESS_FS_MAKE_CHAR \
                                    |LANDLOCK_ACCESS_FS_MAKE_BLOCK))


typedef struct {
    uint64_t  fs;
    uint64_t  net;
    uint64_t  scoped;
} ll_attr_t;


typedef struct {
    const char  *path;
    uint64_t    access;
} ll_rule_t;


/* by the kernel's ABI: the rights of files and the size of the struct */

static const struct {
    uint64_t  fs;
    size_t    size;
} ll_abi[] = {
    { 0, 0 }, { 0x1fff, 8 }, { 0x3fff, 8 }, { 0x7fff, 8 }, { 0x7fff, 16 },
    { LL_KNOWN, 16 }, { LL_KNOWN, sizeof(ll_attr_t) }
};

#define LL_ABI_END  ((long) (sizeof(ll_abi) / sizeof(ll_abi[0])))


/* rights add up along the path; /dev has five nodes and nothing can be added */

static const ll_rule_t  ll_rules[] = {
    { "/", LL_LOOK }, { "/usr", LL_RUN }, { "/etc", LL_READ },
    { "/var", LL_READ }, { "/proc", LL_READ }, { "/dev", LL_NODE },
    { "/dev/shm", LL_OWN }, { "/tmp", LL_OWN }, { "/workspace", LL_OWN }
};


static int
landlock_rule(int ruleset, const ll_rule_t *rule, uint64_t handled)
{
    long                               rc;
    struct landlock_path_beneath_attr  path;

    path.allowed_access = rule->access & handled;
    path.parent_fd = open(rule->path, O_PATH|O_CLOEXEC);

    if (path.parent_fd == -1) {
        return -1;
    }

    rc = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH,
                 &path, 0);
    (void) close(path.parent_fd);

    return rc == 0 ? 0 : -1;
}


int
landlock_seal(void)
{
    int        fd;
    long       abi;
    size_t     i;
    ll_attr_t  attr;

    abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
                  LANDLOCK_CREATE_RULESET_VERSION);

    if (abi == -1) {
        return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -1;
    }

    abi = abi < LL_ABI_END ? abi : LL_ABI_END - 1;
    attr.fs = ll_abi[abi].fs;
    attr.net = LL_NET_TCP;
    attr.scoped = LL_SCOPED;
    fd = (int) syscall(SYS_landlock_create_ruleset, &attr, ll_abi[abi].size, 0);

    if (fd == -1) {
        return -1;
    }

    for (i = 0; i < sizeof(ll_rules) / sizeof(ll_rules[0]); i++) {
        if (landlock_rule(fd, &ll_rules[i], attr.fs) == -1) {
            return -1;
        }
    }

    /* the descriptor goes with all others in the next step */
    return (int) syscall(SYS_landlock_restrict_self, fd, 0);
}
