
/*
 * retortd: starts the service as root and becomes the broker.
 *
 *   retortd --conf FILE [--listen PATH] [--without-cgroup]
 *   retortd --conf FILE --check      reads the configuration, does nothing
 *   retortd --conf FILE --sweep      removes what an earlier life left
 *
 * It stays in the foreground and logs to standard error.  Its children are
 * the broker's: the map writer, retort-fetch, one launcher for the front and
 * one for each profile's template.  Each is a program of its own, so that none
 * shares an address-space layout or a secret with another.
 */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log.h"
#include "start.h"


#define MAIN_ARGS    (START_ARGS + START_UIDS * 2 + 16)
#define MAIN_KERNEL  "/usr/lib/retort/retort-kernel"


/* what the front starts with */

typedef struct {
    int         listen;
    int         settings;
    int         artifacts;
    int         control;
    int         audit;
    int         fetch;          /* its end of the channel to retort-fetch */
    const char  *socket;        /* its name in the run directory */
} main_fds_t;

/* becomes a child that has our end of its socket; "profile" is a template's */

typedef void (*main_role_t)(const start_t *s, int sock, const main_fds_t *fds,
    uint32_t profile);


static int
main_program(const start_t *s, const char *name)
{
    int   fd;
    char  path[4096];

    (void) snprintf(path, sizeof(path), "%s/%s", s->programs, name);
    fd = open(path, O_RDONLY|O_CLOEXEC);

    if (fd == -1) {
        rlog_errno(RLOG_ERROR, errno, "%s", path);
    }

    return fd;
}


/* ---- ids and directories ---- */

static int
main_user(const char *name, uid_t *uid, gid_t *gid)
{
    struct passwd  *pw;

    pw = getpwnam(name);

    if (pw == NULL || pw->pw_uid == 0) {
        rlog(RLOG_ERROR, "user \"%s\" is missing, or is root: useradd "
             "--system --user-group --no-create-home --shell "
             "/usr/sbin/nologin %s", name, name);
        return -1;
    }

    *uid = pw->pw_uid;
    *gid = pw->pw_gid;

    return 0;
}


static int
main_ids(start_t *s)
{
    int            i;
    char           *end;
    gid_t          gid;
    struct group   *gr;
    unsigned long  n;

    if (main_user(s->user, &s->uid, &s->gid) == -1
        || main_user(s->front_user, &s->front_uid, &s->front_gid) == -1
        || main_user(s->fetch_user, &s->fetch_uid, &s->fetch_gid) == -1)
    {
        return -1;
    }

    gr = getgrnam(s->control_group);
    s->control_gid = gr != NULL ? gr->gr_gid : (gid_t) -1;
    gr = getgrnam(s->group);

    if (gr == NULL || s->control_gid == (gid_t) -1 || s->uid == s->front_uid
        || s->fetch_uid == s->uid || s->fetch_uid == s->front_uid)
    {
        rlog(RLOG_ERROR, "group \"%s\" or \"%s\" is missing, or two of user, "
             "front_user, fetch_user are the same", s->group,
             s->control_group);
        return -1;
    }

    s->web_gid = gr->gr_gid;

    for (i = 0; i < START_UIDS && s->allow[i] != NULL; i++) {
        n = strtoul(s->allow[i], &end, 10);
        s->allow_uid[i] = (uid_t) n;

        if (*end != '\0' && main_user(s->allow[i], &s->allow_uid[i], &gid)
            == -1)
        {
            return -1;
        }

        s->nallow++;
    }

    return 0;
}


static int
main_dir(const char *path, mode_t mode, uid_t uid, gid_t gid)
{
    int  fd;

    fd = -1;

    if (mkdir(path, mode & 0700) == 0 || errno == EEXIST) {
        fd = open(path, O_RDONLY|O_DIRECTORY|O_NOFOLLOW|O_CLOEXEC);
    }

    if (fd == -1 || fchown(fd, uid, gid) == -1 || fchmod(fd, mode) == -1) {
        rlog_errno(RLOG_ERROR, errno, "%s", path);
        return -1;
    }

    return fd;
}


/*
 * The sockets' directory belongs to H, who removes them at the end, and to one
 * service: the lock lasts as long as the broker has it open.  A control group
 * has to get through it; each socket's own mode says who may connect.
 */

static int
main_rundir(const start_t *s, const char **name)
{
    int   fd;
    char  path[4096], *slash;

    (void) snprintf(path, sizeof(path), "%s", s->listen);
    slash = strrchr(path, '/');
    *slash = '\0';
    *name = strrchr(s->listen, '/') + 1;

    fd = main_dir(path, s->control_gid != 0 ? 0711 : 0710, s->uid, s->web_gid);

    if (fd != -1 && flock(fd, LOCK_EX|LOCK_NB) == -1) {
        rlog_errno(RLOG_ERROR, errno, "%s: a service runs here already", path);
        return -1;
    }

    return fd;
}


/* takes away what a service that is gone left behind */

static int
main_sweep(start_t *s)
{
    int         rundir;
    const char  *socket;

    if (main_ids(s) == -1) {
        return 1;
    }

    rundir = main_rundir(s, &socket);

    if (rundir == -1 || tree_sweep(s) == -1) {
        return 1;
    }

    (void) unlinkat(rundir, socket, 0);
    (void) unlinkat(rundir, BOOT_CONTROL, 0);

    return 0;
}


/* ---- the children ---- */

static void
main_mapd(const start_t *s, int sock, const main_fds_t *fds, uint32_t profile)
{
    int   from[2];
    char  base[32], slots[32];
    char  *argv[] = { "retort-mapd", base, slots, NULL };

    (void) snprintf(base, sizeof(base), "%u", s->settings.uid_base);
    (void) snprintf(slots, sizeof(slots), "%u", s->settings.nslots);
    from[0] = sock;
    from[1] = open("/proc", O_PATH|O_DIRECTORY|O_CLOEXEC);

    if (from[1] == -1 || drop_to(s->uid, s->gid, true) == -1) {
        return;
    }

    fds_exec(s->program[PROGRAM_MAPD], argv, from, 2);
}


static void
main_fetch(const start_t *s, int sock, const main_fds_t *fds, uint32_t profile)
{
    char  uid[16], *argv[START_ARGS + 2] = { "retort-fetch", uid };

    (void) snprintf(uid, sizeof(uid), "%u", s->front_uid);
    memcpy(argv + 2, s->fetch, sizeof(s->fetch));

    if (drop_to(s->fetch_uid, s->fetch_gid, false) == 0) {
        fds_exec(s->program[PROGRAM_FETCH], argv, &sock, 1);
    }
}


static void
main_front(const start_t *s, int sock, const main_fds_t *fds, uint32_t profile)
{
    int   i, n;
    char  uid[START_UIDS][16], threads[16], gid[16];
    int   from[] = {
        sock, fds->listen, fds->settings, fds->artifacts, fds->control,
        fds->audit, fds->fetch, s->program[PROGRAM_FRONT]
    };
    char  *argv[MAIN_ARGS] = {
        "retort-launch", "10", "retort-front", "--control-gid", gid,
        "--fetch", "9", "--threads", threads
    };

    (void) snprintf(gid, sizeof(gid), "%u", s->control_gid);
    (void) snprintf(threads, sizeof(threads), "%llu", s->threads);

    for (n = 0; argv[n] != NULL; n++) { /* void */ }

    for (i = 0; i < s->nallow; i++) {
        (void) snprintf(uid[i], sizeof(uid[i]), "%u", s->allow_uid[i]);
        argv[n++] = "--allow-uid";
        argv[n++] = uid[i];
    }

    argv[n] = NULL;

    if (drop_to(s->front_uid, s->front_gid, false) == 0) {
        fds_exec(s->program[PROGRAM_LAUNCH], argv, from,
                 sizeof(from) / sizeof(from[0]));
    }
}


/* what makes the profile's sandboxes, as H and with the arguments so far */

static void
main_launch(const start_t *s, gid_t gid, uint32_t profile, char **argv,
    int sock, int program)
{
    int  n, from[] = { sock, program };

    /* 1: only its version; an engine's runtime is on the same kernel */
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) == -1) {
        rlog_errno(RLOG_WARN, errno, "sandboxes are without Landlock");
    }

    for (n = 0; argv[n] != NULL; n++) { /* void */ }

    memcpy(argv + n, s->args[profile], sizeof(s->args[profile]));

    if (drop_to(s->uid, gid, false) == 0) {
        fds_exec(s->program[PROGRAM_LAUNCH], argv, from, 2);
    }
}


static void
main_template(const start_t *s, int sock, const main_fds_t *fds,
    uint32_t profile)
{
    int   program;
    char  *argv[MAIN_ARGS] = { "retort-launch", "4", "retort-kernel",
                               "--template" };

    if (root_make(s, s->rootfs[profile]) == -1) {
        return;
    }

    program = open(MAIN_KERNEL, O_RDONLY|O_CLOEXEC);

    if (program == -1) {
        rlog_errno(RLOG_ERROR, errno, "the layer has no " MAIN_KERNEL);
        return;
    }

    main_launch(s, s->gid, profile, argv, sock, program);
}


/* what opens the engine's socket; root's would open more, H's let all in */

static void
main_docker(const start_t *s, int sock, const main_fds_t *fds,
    uint32_t profile)
{
    char          uid[16];
    char          *argv[MAIN_ARGS] = { "retort-launch", "4", "retort-docker",
                                       s->docker_socket, s->listen, uid };
    struct group  *gr;

    (void) snprintf(uid, sizeof(uid), "%u", s->settings.uid_base);
    gr = getgrnam(s->docker_group);

    if (gr == NULL || gr->gr_gid == 0 || gr->gr_gid == s->gid) {
        rlog(RLOG_ERROR, "group \"%s\" of the Docker socket is missing, or is "
             "root's, or the helper's own", s->docker_group);
        return;
    }

    main_launch(s, gr->gr_gid, profile, argv, sock,
                s->program[PROGRAM_DOCKER]);
}


/*
 * A supervisor may tell every process of the service to end: the broker alone
 * decides when, and the others go when their sockets close.
 */

static int
main_signals(void)
{
    sigset_t  set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGPIPE);     /* who read the log may be gone */

    return sigprocmask(SIG_BLOCK, &set, NULL);
}


/* one child; the result is our end of its socket */

static int
main_child(const start_t *s, main_role_t role, uint32_t profile,
    const main_fds_t *fds)
{
    int    pair[2];
    pid_t  pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, pair) == -1) {
        rlog_errno(RLOG_ERROR, errno, "socketpair");
        return -1;
    }

    pid = fork();

    if (pid == 0) {
        role(s, pair[1], fds, profile);
        _exit(1);
    }

    (void) close(pair[1]);

    if (pid == -1) {
        rlog_errno(RLOG_ERROR, errno, "fork");
        return -1;
    }

    return pair[0];
}


/* a line of its that retort-fetch does not like is an error of the file */

static int
main_fetches(const start_t *s, main_fds_t *fds)
{
    char  ready;

    fds->fetch = main_child(s, main_fetch, 0, fds);

    return fds->fetch != -1 && read(fds->fetch, &ready, 1) == 1 ? 0 : -1;
}


/* ---- the whole ---- */

static int
main_prepare(start_t *s, main_fds_t *fds, int *boot)
{
    int            i;
    struct rlimit  r;

    static const char  *programs[] = {
        "retort-broker", "retort-mapd", "retort-launch", "retort-front",
        "retort-fetch", "retort-docker"
    };

    /* as fs.nr_open is by itself: each session needs some twenty */
    r.rlim_cur = r.rlim_max = 1 << 20;

    if (setrlimit(RLIMIT_NOFILE, &r) == -1) {
        (void) getrlimit(RLIMIT_NOFILE, &r);
        r.rlim_cur = r.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &r);
    }

    for (i = 0; i < PROGRAMS; i++) {
        s->program[i] = main_program(s, programs[i]);

        if (s->program[i] == -1) {
            return -1;
        }
    }

    boot[BOOT_RUN - 3] = main_rundir(s, &fds->socket);

    if (boot[BOOT_RUN - 3] == -1) {
        return -1;
    }

    fds->artifacts = main_dir(s->artifacts, 02750, s->front_uid, s->web_gid);
    fds->audit = s->audit == NULL ? open("/dev/null", O_RDONLY|O_CLOEXEC)
                 : main_dir(s->audit, 0700, s->front_uid, s->front_gid);
    boot[BOOT_NOTIFY - 3] = fds_notify();

    if (fds->artifacts == -1 || fds->audit == -1 || boot[BOOT_NOTIFY - 3] == -1
        || tree_make(s, &boot[BOOT_CGROUP - 3]) == -1)
    {
        return -1;
    }

    fds->listen = fds_listen(s, boot[BOOT_RUN - 3], &fds->socket);
    fds->control = fds_control(s, boot[BOOT_RUN - 3]);
    fds->settings = boot[0] = fds_settings(s);

    return (fds->listen == -1 || fds->control == -1 || boot[0] == -1) ? -1 : 0;
}


static int
main_start(start_t *s)
{
    int         boot[BOOT_TEMPLATE - 3 + RETORT_PROFILES_MAX];
    char        *argv[] = { "retort-broker", NULL, NULL };
    uint32_t    i;
    main_fds_t  fds;

    if (main_ids(s) == -1 || main_signals() == -1
        || main_prepare(s, &fds, boot) == -1 || main_fetches(s, &fds) == -1)
    {
        return 1;
    }

    boot[BOOT_MAPD - 3] = main_child(s, main_mapd, 0, &fds);
    boot[BOOT_FRONT - 3] = main_child(s, main_front, 0, &fds);

    if (boot[BOOT_MAPD - 3] == -1 || boot[BOOT_FRONT - 3] == -1) {
        return 1;
    }

    for (i = 0; i < s->settings.nprofiles; i++) {
        boot[BOOT_TEMPLATE - 3 + i] = main_child(
            s, s->settings.profile[i].backend == RETORT_BACKEND_DOCKER
            ? main_docker : main_template, i, &fds);

        if (boot[BOOT_TEMPLATE - 3 + i] == -1) {
            return 1;
        }
    }

    argv[1] = (char *) fds.socket;

    /* sockets that it makes for sandboxes have no names in the host's */
    if (unshare(CLONE_NEWNET) == 0 && drop_to(s->uid, s->gid, false) == 0) {
        fds_exec(s->program[PROGRAM_BROKER], argv, boot,
                 BOOT_TEMPLATE - 3 + (int) s->settings.nprofiles);
    }

    return 1;
}


static int
main_check(start_t *s)
{
    main_fds_t  fds;

    if (s->fetch[0] == NULL) {
        return 0;
    }

    s->program[PROGRAM_FETCH] = main_program(s, "retort-fetch");

    return s->program[PROGRAM_FETCH] == -1 || main_ids(s) == -1
           || main_fetches(s, &fds) == -1;
}


static int
main_usage(void)
{
    (void) fprintf(stderr, "usage: retortd --conf FILE [--listen PATH] "
                   "[--without-cgroup] [--check | --sweep]\n");

    return 2;
}


int
main(int argc, char **argv)
{
    int             i;
    bool            check, sweep;
    const char      *conf, *listen;
    static start_t  s;

    rlog_init("retortd");
    check = sweep = false;
    conf = listen = NULL;

    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--conf") == 0 && i + 1 < argc) {
            conf = argv[++i];

        } else if (strcmp(argv[i], "--listen") == 0 && i + 1 < argc) {
            listen = argv[++i];

        } else if (strcmp(argv[i], "--without-cgroup") == 0) {
            s.without_cgroup = true;

        } else if (strcmp(argv[i], "--check") == 0) {
            check = true;

        } else if (strcmp(argv[i], "--sweep") == 0) {
            sweep = true;

        } else {
            return main_usage();
        }
    }

    if (conf == NULL) {
        return main_usage();
    }

    if (geteuid() != 0) {
        rlog(RLOG_ERROR, "must be started by root; it keeps that for a "
             "second, and no process of it afterwards");
        return 1;
    }

    if (conf_read(&s, conf, listen) == -1) {
        return 1;
    }

    if (check) {
        return main_check(&s);
    }

    return sweep ? main_sweep(&s) : main_start(&s);
}
