
/*
 * Sealing inside of a container.  Runs as pid 1, as the container's user: the
 * engine has made the namespaces and the mounts, taken the capabilities and
 * loaded a filter.  What it must have done is looked at, what it cannot do is
 * done here.
 */

#include <errno.h>
#include <ftw.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../init/seal.h"
#include "carrier.h"


#define CARRIER_DEPTH  8        /* descriptors of a walk */


static int
carrier_unlink(const char *path, const struct stat *st, int type,
    struct FTW *at)
{
    return at->level == 0 ? 0 : remove(path);
}


/*
 * What libraries wrote while they were loaded is nobody's, what a session left
 * is not the next one's.  What a tenant made so that it resists (too deep, a
 * folder that cannot be read) is the end of the container.
 */

int
carrier_empty(void)
{
    size_t  i;
    static const struct {
        const char  *path;
        mode_t       mode;
    } own[] = {
        { "/workspace", 0700 }, { "/tmp", 01777 }, { "/dev/shm", 01777 }
    };

    for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (chmod(own[i].path, own[i].mode) == -1
            || nftw(own[i].path, carrier_unlink, CARRIER_DEPTH,
                    FTW_DEPTH|FTW_PHYS) != 0)
        {
            return -1;
        }
    }

    return 0;
}


/* pid 1, nobody's root; from here on nobody looks into this process */

static int
carrier_ids(void)
{
    (void) umask(022);

    if (getpid() != 1 || getuid() == 0 || geteuid() == 0 || getgid() == 0
        || getegid() == 0 || getgroups(0, NULL) > 1)
    {
        errno = EPERM;
        return -1;
    }

    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}


static int
carrier_caps(void)
{
    int                              cap;
    struct __user_cap_header_struct  head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct    data[2];

    for (cap = 0; cap <= CAP_LAST_CAP; cap++) {
        if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1) {
            errno = EPERM;
            return -1;
        }
    }

    if (syscall(SYS_capget, &head, data) == -1) {
        return -1;
    }

    errno = EPERM;

    return (data[0].permitted | data[1].permitted | data[0].inheritable
            | data[1].inheritable) != 0 ? -1 : 0;
}


void
carrier_seal(const tpl_req_t *req)
{
    static const seal_step_t  steps[] = {
        { STEP_WORKSPACE, carrier_empty },
        { STEP_CGROUPNS, seal_oom },
        { STEP_IDS, carrier_ids },
        { STEP_RLIMITS, seal_rlimits },
        { STEP_CAPS, carrier_caps },
        { STEP_NNP, seal_nnp },
        { STEP_LANDLOCK, landlock_seal },
        { STEP_FDS, seal_fds },
        { STEP_SECCOMP, seal_seccomp }
    };

    seal_run(req, steps, sizeof(steps) / sizeof(steps[0]));
}
