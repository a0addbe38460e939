
/*
 * Part of retortd (root): the descriptors that the service starts with.
 */

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"
#include "start.h"


#define FDS_HIGH     256        /* above everything that is placed */
#define FDS_MAX      64
#define FDS_BACKLOG  511
#define FDS_FIRST    3          /* a socket unit begins there as well */


/* they go up first, so that none is overwritten while it is still needed */

static int
fds_place(int program, const int *from, int n)
{
    int  i, high[FDS_MAX];

    for (i = 0; i <= n; i++) {
        high[i] = fcntl(i < n ? from[i] : program, F_DUPFD_CLOEXEC, FDS_HIGH);

        if (high[i] == -1) {
            return -1;
        }
    }

    for (i = 0; i < n; i++) {
        if (dup2(high[i], FDS_FIRST + i) == -1) {
            return -1;
        }
    }

    if (dup3(high[n], FDS_FIRST + n, O_CLOEXEC) == -1) {
        return -1;
    }

    return close_range((unsigned) (FDS_FIRST + n + 1), ~0U, 0);
}


void
fds_exec(int program, char **argv, const int *from, int n)
{
    char *const  env[] = { NULL };

    if (n < FDS_MAX && fds_place(program, from, n) == 0) {
        (void) fexecve(FDS_FIRST + n, argv, env);
    }

    rlog_errno(RLOG_ERROR, errno, "%s cannot be executed", argv[0]);
}


/* the supervisor's socket, if there is one; else our own */

static int
fds_inherited(void)
{
    int         listens;
    socklen_t   len;
    const char  *pid, *n;

    pid = getenv("LISTEN_PID");
    n = getenv("LISTEN_FDS");

    if (pid == NULL || n == NULL || strtol(pid, NULL, 10) != (long) getpid()) {
        return -1;
    }

    len = sizeof(listens);

    if (strcmp(n, "1") != 0
        || getsockopt(FDS_FIRST, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len)
           == -1
        || !listens)
    {
        rlog(RLOG_ERROR, "LISTEN_FDS is set, but 3 is not the one listening "
             "socket");
        return -2;
    }

    return fcntl(FDS_FIRST, F_DUPFD_CLOEXEC, FDS_FIRST + 1);
}


static int
fds_bind(const char *path, int rundir, uid_t uid, gid_t gid)
{
    int                 fd, rc;
    mode_t              mask;
    const char          *name;
    struct sockaddr_un  sa;

    memset(&sa, 0, sizeof(sa));
    sa.sun_family = AF_UNIX;

    if (strlen(path) >= sizeof(sa.sun_path)) {
        rlog(RLOG_ERROR, "%s: longer than a socket's name can be", path);
        return -1;
    }

    memcpy(sa.sun_path, path, strlen(path));
    name = strrchr(path, '/') + 1;
    fd = socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0);

    if (fd == -1 || (unlinkat(rundir, name, 0) == -1 && errno != ENOENT)) {
        rlog_errno(RLOG_ERROR, errno, "%s", path);
        return -1;
    }

    /* of the group from its first moment: somebody may try at once */
    mask = umask(0117);
    (void) setfsgid(gid);
    rc = bind(fd, (struct sockaddr *) &sa, sizeof(sa));
    (void) setfsgid(0);
    (void) umask(mask);

    if (rc == -1 || fchownat(rundir, name, uid, gid, AT_SYMLINK_NOFOLLOW) == -1
        || listen(fd, FDS_BACKLOG) == -1)
    {
        rlog_errno(RLOG_ERROR, errno, "%s", path);
        return -1;
    }

    return fd;
}


int
fds_listen(const start_t *s, int rundir, const char **name)
{
    int  fd;

    fd = fds_inherited();

    if (fd != -1) {
        *name = "";
        return fd >= 0 ? fd : -1;
    }

    return fds_bind(s->listen, rundir, s->front_uid, s->web_gid);
}


/* beside the other one; root's, so that the front cannot open it to others */

int
fds_control(const start_t *s, int rundir)
{
    char  path[4096];

    (void) snprintf(path, sizeof(path), "%.*s/" BOOT_CONTROL,
                    (int) (strrchr(s->listen, '/') - s->listen), s->listen);

    if (strcmp(path, s->listen) == 0) {
        rlog(RLOG_ERROR, "%s: retortctl's, not to be listened on", path);
        return -1;
    }

    return fds_bind(path, rundir, 0, s->control_gid);
}


int
fds_notify(void)
{
    int                 fd;
    size_t              n;
    const char          *path;
    struct sockaddr_un  sa;

    path = getenv("NOTIFY_SOCKET");

    if (path == NULL) {
        return open("/dev/null", O_WRONLY|O_CLOEXEC);
    }

    n = strlen(path);
    memset(&sa, 0, sizeof(sa));
    sa.sun_family = AF_UNIX;
    fd = socket(AF_UNIX, SOCK_DGRAM|SOCK_CLOEXEC, 0);

    if (fd == -1 || n >= sizeof(sa.sun_path)) {
        rlog(RLOG_ERROR, "NOTIFY_SOCKET cannot be used");
        return -1;
    }

    memcpy(sa.sun_path, path, n);

    if (path[0] == '@') {
        sa.sun_path[0] = '\0';
    }

    if (connect(fd, (struct sockaddr *) &sa,
                (socklen_t) (offsetof(struct sockaddr_un, sun_path) + n))
        == -1)
    {
        rlog_errno(RLOG_ERROR, errno, "NOTIFY_SOCKET %s", path);
        return -1;
    }

    return fd;
}


/* nobody, not even who gets it, can change it any more */

int
fds_settings(const start_t *s)
{
    int       fd;
    uint32_t  i;
    ssize_t   n;

    fd = memfd_create("retort-settings", MFD_CLOEXEC|MFD_ALLOW_SEALING);
    n = fd == -1 ? -1 : write(fd, &s->settings, sizeof(s->settings));

    for (i = 0; i < s->settings.nprofiles && n > 0; i++) {
        if (s->manifest[i] != NULL && s->manifest[i][0] != '\0') {
            n = write(fd, s->manifest[i], s->settings.profile[i].manifest);
        }
    }

    if (n <= 0
        || fcntl(fd, F_ADD_SEALS,
                 F_SEAL_SEAL|F_SEAL_SHRINK|F_SEAL_GROW|F_SEAL_WRITE)
           == -1)
    {
        rlog_errno(RLOG_ERROR, errno, "settings");
        return -1;
    }

    return fd;
}
