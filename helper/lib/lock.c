
/*
 * Linked into the broker and the map writer, and runs as they do.
 */

#include <errno.h>
#include <seccomp.h>
#include <sys/prctl.h>

#include "lock.h"


int
lock_calls(const int *calls, size_t n)
{
    int              rc;
    size_t           i;
    scmp_filter_ctx  ctx;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1) {
        return -1;
    }

    ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
    rc = (ctx == NULL) ? -ENOMEM : 0;

    for (i = 0; i < n && rc == 0; i++) {
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, calls[i], 0);
    }

    if (rc == 0) {
        rc = seccomp_load(ctx);
    }

    seccomp_release(ctx);
    errno = -rc;

    return rc == 0 ? 0 : -1;
}
