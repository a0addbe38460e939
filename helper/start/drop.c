
/*
 * Part of retortd: giving root up, for good.  What could give it back is
 * locked before the ids change, because that takes a capability too.
 */

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "log.h"
#include "start.h"


/* the two that the kernel wants of who maps an id other than its own */

static int
drop_keep_map(void)
{
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SETUID, 0, 0) == -1
           || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SETGID, 0, 0)
              == -1 ? -1 : 0;
}


/*
 * The oom score's floor is what a sandbox may set its own to: it is put to
 * zero here, whatever the service itself runs with.
 */

static void
drop_oom(void)
{
    int  fd;

    fd = open("/proc/self/oom_score_adj", O_WRONLY|O_CLOEXEC);

    if (fd == -1 || write(fd, "0", 1) == -1) {
        rlog_errno(RLOG_WARN, errno, "oom_score_adj");
    }

    if (fd != -1) {
        (void) close(fd);
    }
}


int
drop_to(uid_t uid, gid_t gid, bool map)
{
    int  rc;

    drop_oom();

    if (prctl(PR_SET_SECUREBITS, SECBIT_NOROOT|SECBIT_NOROOT_LOCKED, 0, 0, 0)
        == -1)
    {
        rlog_errno(RLOG_ERROR, errno, "securebits");
        return -1;
    }

    capng_clear(CAPNG_SELECT_BOTH);
    rc = 0;

    if (map) {
        rc = capng_updatev(CAPNG_ADD, CAPNG_EFFECTIVE|CAPNG_PERMITTED
                           |CAPNG_INHERITABLE, CAP_SETUID, CAP_SETGID, -1);
    }

    if (rc == 0) {
        rc = capng_change_id((int) uid, (int) gid,
                             CAPNG_DROP_SUPP_GRP|CAPNG_CLEAR_BOUNDING);
    }

    if (rc != 0) {
        rlog(RLOG_ERROR, "capabilities cannot be dropped (libcap-ng: %d)", rc);
        return -1;
    }

    if (map && drop_keep_map() == -1) {
        rlog_errno(RLOG_ERROR, errno, "ambient capabilities");
        return -1;
    }

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1) {
        rlog_errno(RLOG_ERROR, errno, "no_new_privs");
        return -1;
    }

    return 0;
}
