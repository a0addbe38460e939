
/*
 * Part of retortd (root): the cgroup subtree that the broker may work in.
 *
 * v1: <hierarchy>/<own group>/retort-NAME in each of four hierarchies.
 * v2: <own group>/retort-NAME, with the service itself in its leaf "service",
 *     because a group with processes cannot give controllers to its children.
 *
 * The directories are given to H, the files that limit the whole are not.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "start.h"


#define TREE_PATH   1024
#define TREE_TRIES  500         /* 10 msec each, until leftovers are gone */


static const char *const  tree_controllers[CG_DIRS] = {
    "memory", "pids", "cpu", "cpuacct"
};


/* is "word" in a list divided by commas? */

static bool
tree_has(const char *list, const char *word)
{
    size_t      n;
    const char  *p;

    n = strlen(word);

    for (p = list; (p = strstr(p, word)) != NULL; p += n) {
        if ((p == list || p[-1] == ',' || p[-1] == ' ')
            && strchr(", \n", p[n]) != NULL)
        {
            return true;
        }
    }

    return false;
}


/* where a hierarchy is mounted; "controller" is NULL for v2 */

static int
tree_mount(const char *controller, char *path)
{
    int   found;
    char  line[4096], point[TREE_PATH], type[64], options[1024];
    FILE  *f;

    f = fopen("/proc/self/mounts", "re");
    found = -1;

    while (f != NULL && found == -1 && fgets(line, sizeof(line), f) != NULL) {
        if (sscanf(line, "%*s %1023s %63s %1023s", point, type, options) != 3) {
            continue;
        }

        if (controller == NULL ? strcmp(type, "cgroup2") == 0
            : strcmp(type, "cgroup") == 0 && tree_has(options, controller))
        {
            (void) snprintf(path, TREE_PATH, "%s", point);
            found = 0;
        }
    }

    if (f != NULL) {
        (void) fclose(f);
    }

    return found;
}


/* the group that this process is in, in one hierarchy */

static int
tree_own(const char *controller, char *path)
{
    int   found;
    char  line[4096], *list, *own;
    FILE  *f;

    f = fopen("/proc/self/cgroup", "re");
    found = -1;

    while (f != NULL && found == -1 && fgets(line, sizeof(line), f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        list = strchr(line, ':');
        own = (list != NULL) ? strchr(list + 1, ':') : NULL;

        if (own == NULL) {
            continue;
        }

        *own++ = '\0';
        list++;

        if (controller == NULL ? *list == '\0' : tree_has(list, controller)) {
            (void) snprintf(path, TREE_PATH, "%s",
                            strcmp(own, "/") == 0 ? "" : own);
            found = 0;
        }
    }

    if (f != NULL) {
        (void) fclose(f);
    }

    return found;
}


static int
tree_put(const char *dir, const char *file, const char *text)
{
    int      fd;
    char     path[TREE_PATH * 2];
    ssize_t  n;

    (void) snprintf(path, sizeof(path), "%s/%s", dir, file);
    fd = open(path, O_WRONLY|O_CLOEXEC);

    if (fd == -1) {
        return -1;
    }

    n = write(fd, text, strlen(text));
    (void) close(fd);

    return n == -1 ? -1 : 0;
}


/* v2 can be used if memory, pids and cpu are there to be given on */

static bool
tree_is_v2(char *path)
{
    char  mount[TREE_PATH], own[TREE_PATH], file[TREE_PATH * 3], list[256];
    bool  ok;
    FILE  *f;

    if (tree_mount(NULL, mount) == -1 || tree_own(NULL, own) == -1) {
        return false;
    }

    (void) snprintf(file, sizeof(file), "%s%s/cgroup.controllers", mount, own);
    f = fopen(file, "re");
    ok = (f != NULL && fgets(list, sizeof(list), f) != NULL
          && tree_has(list, "memory") && tree_has(list, "pids")
          && tree_has(list, "cpu"));

    if (f != NULL) {
        (void) fclose(f);
    }

    if (ok && snprintf(path, TREE_PATH, "%s%s", mount, own) >= TREE_PATH) {
        return false;
    }

    return ok;
}


/* the directory above ours in hierarchy "i": 1 or 2, or 0 if there is none */

static uint32_t
tree_version(int i, char *path)
{
    char  mount[TREE_PATH], own[TREE_PATH];

    if (tree_is_v2(path)) {
        return 2;
    }

    if (tree_mount(tree_controllers[i], mount) == -1
        || tree_own(tree_controllers[i], own) == -1
        || snprintf(path, TREE_PATH, "%s%s", mount, own) >= TREE_PATH)
    {
        return 0;
    }

    return 1;
}


static void
tree_kill(const char *group)
{
    char  path[TREE_PATH * 2];
    long  pid;
    FILE  *f;

    (void) tree_put(group, "cgroup.kill", "1");
    (void) snprintf(path, sizeof(path), "%s/cgroup.procs", group);
    f = fopen(path, "re");

    while (f != NULL && fscanf(f, "%ld", &pid) == 1) {
        if (pid > 1 && pid != getpid()) {
            (void) kill((pid_t) pid, SIGKILL);
        }
    }

    if (f != NULL) {
        (void) fclose(f);
    }
}


/* one group of an earlier life: its processes end, then it goes */

static int
tree_remove(const char *group)
{
    int              i;
    struct timespec  pause = { 0, 10000000 };

    for (i = 0; i < TREE_TRIES; i++) {
        if (rmdir(group) == 0 || errno == ENOENT) {
            return 0;
        }

        tree_kill(group);
        (void) nanosleep(&pause, NULL);
    }

    rlog(RLOG_ERROR, "%s: its processes do not end", group);

    return -1;
}


static int
tree_clean(const char *top)
{
    int            rc, n;
    DIR            *dir;
    char           path[TREE_PATH * 2];
    struct dirent  *e;

    dir = opendir(top);

    if (dir == NULL) {
        return errno == ENOENT ? 0 : -1;
    }

    rc = 0;

    while (rc == 0 && (e = readdir(dir)) != NULL) {
        if (e->d_type == DT_DIR && e->d_name[0] != '.') {
            n = snprintf(path, sizeof(path), "%s/%s", top, e->d_name);
            rc = (n > 0 && (size_t) n < sizeof(path)) ? tree_remove(path) : -1;
        }
    }

    (void) closedir(dir);

    return rc;
}


static int
tree_top(const start_t *s, int i, char *top, uint32_t *version)
{
    int   n;
    char  parent[TREE_PATH];

    *version = tree_version(i, parent);

    if (*version == 0) {
        return -1;
    }

    n = snprintf(top, TREE_PATH, "%s/retort-%s", parent, s->name);

    return n < TREE_PATH ? 0 : -1;
}


/* the lock lasts as long as the broker has the directory open */

static int
tree_lock(const start_t *s, const char *top)
{
    int  fd;

    fd = open(top, O_RDONLY|O_DIRECTORY|O_CLOEXEC);

    if (fd != -1 && flock(fd, LOCK_EX|LOCK_NB) == -1) {
        rlog_errno(RLOG_ERROR, errno, "a service named \"%s\" runs already",
                   s->name);
        (void) close(fd);
        return -1;
    }

    return fd;
}


int
tree_sweep(start_t *s)
{
    int       i, fd;
    char      top[TREE_PATH];
    uint32_t  version;

    for (i = 0; i < CG_DIRS; i++) {
        if (tree_top(s, i, top, &version) == -1) {
            continue;
        }

        fd = tree_lock(s, top);

        if (fd == -1) {
            if (errno == ENOENT) {
                continue;
            }

            return -1;
        }

        (void) close(fd);

        if (tree_clean(top) == -1 || tree_remove(top) == -1) {
            return -1;
        }
    }

    return 0;
}


/* "+memory +pids +cpu" for the children of "dir" */

static int
tree_enable(const char *dir)
{
    if (tree_put(dir, "cgroup.subtree_control", "+memory +pids +cpu") == 0) {
        return 0;
    }

    rlog_errno(RLOG_ERROR, errno, "%s: controllers cannot be given on; start "
               "retortd in a group of its own (systemd: Delegate=yes)", dir);

    return -1;
}


static int
tree_give(const start_t *s, const char *top, const char *file)
{
    char  path[TREE_PATH * 2];

    (void) snprintf(path, sizeof(path), "%s/%s", top, file);

    return chown(path, s->uid, s->gid);
}


static int
tree_v2(const start_t *s, const char *top)
{
    char  path[TREE_PATH * 2], parent[TREE_PATH], *slash;

    (void) snprintf(parent, sizeof(parent), "%s", top);
    slash = strrchr(parent, '/');
    *slash = '\0';
    (void) snprintf(path, sizeof(path), "%s/service", top);

    if (mkdir(path, 0755) == -1 || tree_put(path, "cgroup.procs", "0") == -1) {
        rlog_errno(RLOG_ERROR, errno, "%s", path);
        return -1;
    }

    if (tree_enable(parent) == -1 || tree_enable(top) == -1) {
        return -1;
    }

    return tree_give(s, top, "cgroup.procs");
}


static int
tree_one(start_t *s, int i, uint32_t *version, const int *dir)
{
    int          fd;
    char         top[TREE_PATH];
    static char  last[TREE_PATH];

    if (tree_top(s, i, top, version) == -1) {
        rlog(RLOG_ERROR, "no cgroup with the controller \"%s\" can be had: "
             "sandboxes would have no limit on their sum; --without-cgroup "
             "runs without it", tree_controllers[i]);
        return -1;
    }

    /* v1 may have several controllers in one hierarchy: "cpu,cpuacct" */
    if (strcmp(top, last) == 0) {
        return fcntl(dir[i - 1], F_DUPFD_CLOEXEC, 0);
    }

    memcpy(last, top, sizeof(last));

    if (mkdir(top, 0755) == -1 && errno != EEXIST) {
        rlog_errno(RLOG_ERROR, errno, "%s", top);
        return -1;
    }

    fd = tree_lock(s, top);

    if (fd == -1 || tree_clean(top) == -1) {
        return -1;
    }

    if (chown(top, s->uid, s->gid) == -1
        || (*version == 2 && tree_v2(s, top) == -1))
    {
        rlog_errno(RLOG_ERROR, errno, "%s", top);
        return -1;
    }

    return fd;
}


int
tree_make(start_t *s, int *dir)
{
    int  i;

    if (s->without_cgroup) {
        rlog(RLOG_WARN, "without cgroups: memory, processes and cpu of a "
             "sandbox have no common limit");

        for (i = 0; i < CG_DIRS; i++) {
            dir[i] = open("/dev/null", O_RDONLY|O_CLOEXEC);
        }

        return 0;
    }

    for (i = 0; i < CG_DIRS; i++) {
        if (i != 0 && s->settings.cgroup == 2) {
            dir[i] = fcntl(dir[0], F_DUPFD_CLOEXEC, 0);

        } else {
            dir[i] = tree_one(s, i, &s->settings.cgroup, dir);
        }

        if (dir[i] == -1) {
            return -1;
        }
    }

    return 0;
}
