
/*
 * Part of retort-docker: where the engine put a container's processes, so that
 * the broker can read their counters.  What is read here is the kernel's.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "docker.h"


#define USAGE_ROOT  "/sys/fs/cgroup"
#define USAGE_PATH  4096


/* in the order of CG_DIRS */

static const char *const  usage_controllers[CG_DIRS] = {
    "memory", "pids", "cpu", "cpuacct"
};


/* one line: number, controllers, path; none is v2, where they are all one */

static void
usage_line(char *line, int v2, int *dir)
{
    int   i;
    char  path[USAGE_PATH], *list, *own, *word;

    line[strcspn(line, "\n")] = '\0';
    list = strchr(line, ':');
    own = (list != NULL) ? strchr(list + 1, ':') : NULL;

    if (own == NULL || strstr(own, "/../") != NULL) {
        return;
    }

    *list++ = '\0';
    *own++ = '\0';

    while ((word = strsep(&list, ",")) != NULL) {
        for (i = 0; i < CG_DIRS; i++) {
            if (dir[i] != -1
                || strcmp(word, v2 ? "" : usage_controllers[i]) != 0)
            {
                continue;
            }

            (void) snprintf(path, sizeof(path), USAGE_ROOT "/%s%s", word, own);
            dir[i] = open(path, O_RDONLY|O_DIRECTORY|O_CLOEXEC);
        }
    }
}


int
usage_open(long pid, int *dir)
{
    int   i, v2;
    char  path[64], line[USAGE_PATH];
    FILE  *f;

    for (i = 0; i < CG_DIRS; i++) {
        dir[i] = -1;
    }

    v2 = access(USAGE_ROOT "/cgroup.controllers", F_OK) == 0;
    (void) snprintf(path, sizeof(path), "/proc/%ld/cgroup", pid);
    f = fopen(path, "re");

    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        usage_line(line, v2, dir);
    }

    if (f != NULL) {
        (void) fclose(f);
    }

    for (i = 0; i < CG_DIRS; i++) {
        if (dir[i] == -1) {
            errno = ENOENT;
            return -1;
        }
    }

    return 0;
}
