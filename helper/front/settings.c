
/*
 * In retort-front, as its own uid without any capability.  The memfd comes
 * from the service's start and is believed once it is sealed and well-formed.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flog.h"
#include "settings.h"


#define SETTINGS_SEALS  (F_SEAL_WRITE|F_SEAL_SHRINK|F_SEAL_GROW)
#define SETTINGS_TEXTS  (RETORT_PROFILES_MAX * 65536)


static retort_settings_t  settings;
static char              *settings_text;        /* the manifests */


static int
settings_name(const char *name, size_t size)
{
    size_t  i, n;

    n = strnlen(name, size);

    if (n == 0 || n == size) {
        return 0;
    }

    for (i = 0; i < n; i++) {
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                   "0123456789._-", name[i]) == NULL)
        {
            return 0;
        }
    }

    return 1;
}


static const char *
settings_check(const retort_settings_t *s)
{
    uint32_t                 i;
    const retort_profile_t  *p;

    if (s->magic != RETORT_SETTINGS_MAGIC || s->size != sizeof(*s)) {
        return "magic or size";
    }

    if (!settings_name(s->node, sizeof(s->node))) {
        return "node name";
    }

    if (s->nprofiles == 0 || s->nprofiles > RETORT_PROFILES_MAX
        || s->nslots == 0)
    {
        return "number of profiles or slots";
    }

    if (s->artifacts_keep == 0 || s->artifacts_quota == 0) {
        return "life of artifacts";
    }

    for (i = 0; i < s->nprofiles; i++) {
        p = &s->profile[i];

        if (!settings_name(p->name, sizeof(p->name))) {
            return "profile name";
        }

        if (p->run.timeout == 0 || p->run.request == 0 || p->run.ttl == 0
            || p->run.output == 0)
        {
            return "a limit of zero";
        }

        if (p->fence > RETORT_FENCE_LONGER) {
            return "qwen_fence";
        }

        if (memchr(p->m6_static_url, '\0', RETORT_PROFILE_LINK) == NULL
            || memchr(p->m6_work_dir, '\0', RETORT_PROFILE_LINK) == NULL)
        {
            return "beginning of links";
        }

        if (p->life == RETORT_LIFE_EXIT ? p->alive == 0
                                        : p->life != RETORT_LIFE_TIMED)
        {
            return "life";
        }
    }

    return NULL;
}


static const char *
settings_texts(int fd, size_t size)
{
    size_t    sum;
    uint32_t  i;

    for (sum = 0, i = 0; i < settings.nprofiles; i++) {
        sum += settings.profile[i].manifest;
    }

    settings_text = malloc(size + 1);

    if (sum != size || settings_text == NULL
        || pread(fd, settings_text, size, sizeof(settings)) != (ssize_t) size)
    {
        return "manifests";
    }

    return NULL;
}


const retort_settings_t *
settings_load(int fd)
{
    int          seals;
    ssize_t      n;
    const char  *what;
    struct stat  st;

    seals = fcntl(fd, F_GET_SEALS);

    if (seals == -1 || (seals & SETTINGS_SEALS) != SETTINGS_SEALS) {
        flog(RLOG_ERROR, "settings: not a sealed memfd");
        return NULL;
    }

    if (fstat(fd, &st) == -1 || st.st_size < (off_t) sizeof(settings)
        || st.st_size > (off_t) sizeof(settings) + SETTINGS_TEXTS)
    {
        flog(RLOG_ERROR, "settings: wrong size");
        return NULL;
    }

    n = pread(fd, &settings, sizeof(settings), 0);

    if (n != (ssize_t) sizeof(settings)) {
        flog(RLOG_ERROR, "settings: %s", strerror(errno));
        return NULL;
    }

    what = settings_check(&settings);

    if (what == NULL) {
        what = settings_texts(fd, (size_t) st.st_size - sizeof(settings));
    }

    if (what != NULL) {
        flog(RLOG_ERROR, "settings: bad %s", what);
        return NULL;
    }

    return &settings;
}


const retort_profile_t *
settings_profile(const retort_settings_t *s, const char *name)
{
    uint32_t  i;

    for (i = 0; i < s->nprofiles; i++) {
        if (strcmp(s->profile[i].name, name) == 0) {
            return &s->profile[i];
        }
    }

    return NULL;
}


const char *
settings_manifest(const retort_profile_t *p, size_t *len)
{
    char                    *text;
    const retort_profile_t  *q;

    text = settings_text;

    for (q = settings.profile; q < p; q++) {
        text += q->manifest;
    }

    *len = p->manifest;

    return text;
}
