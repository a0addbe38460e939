
/*
 * For tests of the artifact store: one in a temporary directory.
 */

#ifndef UNIT_STORE_BED_H
#define UNIT_STORE_BED_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "front/artifact.h"
#include "front/store.h"
#include "front/usage.h"


#define KEEP   100              /* seconds */
#define QUOTA  (64 * 4096)


static int             dir;
static char            path[] = "/tmp/artifacts-XXXXXX";
static out_artifact_t  a;       /* the last that was put */


static inline int
put_as(out_artifact_t *at, const char *workspace, const char *data,
    uint64_t life)
{
    request_t  req;

    memset(&req, 0, sizeof(req));
    memset(at, 0, sizeof(*at));
    (void) snprintf(req.workspace, sizeof(req.workspace), "%s", workspace);
    req.link.life = life;
    strcpy(at->mime, "text/html");

    return artifact_store(at, &req, data, strlen(data), 1);
}


static inline int
put(const char *workspace, const char *data, uint64_t life)
{
    return put_as(&a, workspace, data, life);
}


static inline uint64_t
used(void)
{
    char  hex[STORE_OWNER + 1];

    memcpy(hex, a.file, STORE_OWNER);
    hex[STORE_OWNER] = '\0';

    return usage_get(strtoull(hex, NULL, 16));
}


static inline int
there(const char *file)
{
    return faccessat(dir, file, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}


/* as if it had been issued so long ago, for "life" */

static inline void
age(const char *file, time_t ago, long life)
{
    struct timespec  ts[2];

    ts[0].tv_sec = 0;
    ts[0].tv_nsec = UTIME_OMIT;
    ts[1].tv_sec = time(NULL) - ago;
    ts[1].tv_nsec = life;
    (void) utimensat(dir, file, ts, 0);
}


static inline int
begin(void **state)
{
    static retort_settings_t  s;

    (void) state;
    strcpy(s.node, "n1");
    s.artifacts_keep = KEEP * 1000;
    s.artifacts_quota = QUOTA;
    dir = mkdtemp(path) != NULL ? open(path, O_RDONLY|O_DIRECTORY) : -1;

    return dir != -1 ? artifact_init(dir, &s) : -1;
}


static inline int
end(void **state)
{
    DIR            *d;
    struct dirent  *e;

    (void) state;
    d = opendir(path);

    for (e = readdir(d); e != NULL; e = readdir(d)) {
        (void) unlinkat(dir, e->d_name, 0);
    }

    (void) closedir(d);

    return rmdir(path);
}

#endif /* UNIT_STORE_BED_H */
