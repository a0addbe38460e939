
/*
 * In retort-front, as its own uid without any capability.  The bytes come from
 * a sandbox: they are only counted and written.
 *
 * One lock is held where a name appears, is issued again or goes, and never
 * while bytes are written: those go into a file without a name of its own
 * first, for which the owner's quota is charged already.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bounds.h"
#include "clock.h"
#include "flog.h"
#include "store.h"
#include "text.h"
#include "usage.h"


#define STORE_PART   ".part-"
#define STORE_STEM   32
#define STORE_EXT    8
#define STORE_HEX    "0123456789abcdef"
#define STORE_CHARS  "0123456789abcdefghijklmnopqrstuvwxyz"


typedef enum { STORE_COUNT, STORE_SWEEP } store_scan_t;


static int              store_dir = -1;
static int              store_urgent;       /* somebody found no room */
static uint64_t         store_keep;         /* seconds */
static uint64_t         store_quota;
static pthread_cond_t   store_cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t  store_mutex = PTHREAD_MUTEX_INITIALIZER;


int
store_is_name(const char *file)
{
    size_t  n;

    if (strspn(file, STORE_HEX) != STORE_STEM || file[STORE_STEM] != '.') {
        return 0;
    }

    file += STORE_STEM + 1;
    n = strspn(file, STORE_CHARS);

    return n != 0 && n <= STORE_EXT && file[n] == '\0';
}


int
store_is_shelved(const char *file)
{
    return store_is_name(file) && strcmp(file + STORE_STEM, STORE_SHELF) == 0;
}


static uint64_t
store_owner(const char *file)
{
    char  hex[STORE_OWNER + 1];

    memcpy(hex, file, STORE_OWNER);
    hex[STORE_OWNER] = '\0';

    return strtoull(hex, NULL, 16);
}


static uint64_t
store_now(void)
{
    return clock_wall_ms() / 1000;
}


/* nobody was promised the file from then on (wall seconds) */

static uint64_t
store_end(const char *file, const struct stat *st)
{
    uint64_t  life;

    if (store_is_shelved(file)) {
        /* until the shelf lets it go */
        return UINT64_MAX;
    }

    life = (uint64_t) st->st_mtim.tv_nsec;

    if (life == 0 || life > BOUND_LINK_LIFE) {
        /* a file system that counts seconds, or an operator's touch */
        life = store_keep;
    }

    return (uint64_t) st->st_mtim.tv_sec + life;
}


/* the mutex is held; a regular file of ours */

static int
store_stat(const char *file, struct stat *st)
{
    if (fstatat(store_dir, file, st, AT_SYMLINK_NOFOLLOW) == -1) {
        return -1;
    }

    return S_ISREG(st->st_mode) ? 0 : -1;
}


/* the mutex is held */

static void
store_remove(const char *file, const struct stat *st)
{
    if (unlinkat(store_dir, file, 0) == 0) {
        usage_drop(store_owner(file), usage_of((uint64_t) st->st_size));
    }
}


static int
store_promise(const char *file, uint64_t now, uint64_t life)
{
    struct timespec  ts[2];

    memset(ts, 0, sizeof(ts));
    ts[0].tv_nsec = UTIME_OMIT;
    ts[1].tv_sec = (time_t) now;
    ts[1].tv_nsec = (long) life;

    return utimensat(store_dir, file, ts, AT_SYMLINK_NOFOLLOW);
}


/* the mutex is held; 1 if the file is there and is good for "life" now */

static int
store_again(const char *file, size_t len, uint64_t life, uint64_t *issued)
{
    uint64_t     end;
    struct stat  st;

    if (store_stat(file, &st) == -1) {
        return 0;
    }

    if ((uint64_t) st.st_size != len) {
        /* its disk lost the end of it */
        store_remove(file, &st);
        return 0;
    }

    *issued = store_now();
    end = store_end(file, &st);

    if (end > *issued && end - *issued > life
        && end - *issued <= BOUND_LINK_LIFE)
    {
        life = end - *issued;
    }

    return store_promise(file, *issued, life) == 0;
}


/* 1 if it is there already, 0 if it may be written, -1 if it may not */

static int
store_reserve(const char *file, size_t len, uint64_t life, uint64_t *issued,
    uint64_t *used)
{
    int  rc;

    (void) pthread_mutex_lock(&store_mutex);

    rc = store_again(file, len, life, issued);

    if (rc == 0) {
        rc = usage_add(store_owner(file), usage_of(len), store_quota);
        *used = usage_get(store_owner(file));
    }

    if (rc == -1) {
        store_urgent = 1;
        (void) pthread_cond_signal(&store_cond);
    }

    (void) pthread_mutex_unlock(&store_mutex);

    return rc;
}


int
store_bytes(int fd, const char *p, size_t len)
{
    ssize_t  n;

    while (len != 0) {
        n = write(fd, p, len);

        if (n == -1 && errno == EINTR) {
            continue;
        }

        if (n <= 0) {
            return -1;
        }

        p += n;
        len -= (size_t) n;
    }

    return 0;
}


static int
store_open_part(const char *part)
{
    int  fd, err;

    fd = openat(store_dir, part, STORE_CREATE, 0640);

    if (fd != -1 && fchmod(fd, 0640) == -1) {
        err = errno;
        (void) close(fd);
        errno = err;
        return -1;
    }

    return fd;
}


/* 0 or -1; "part" is to be removed in both cases */

static int
store_write(const char *part, const void *data, size_t len)
{
    int  fd, err;

    fd = store_open_part(part);

    if (fd == -1) {
        return -1;
    }

    if (store_bytes(fd, data, len) == -1) {
        err = errno;
        (void) close(fd);
        errno = err;
        return -1;
    }

    return close(fd);
}


/* the name appears only when the whole file is there */

static int
store_publish(const char *part, const char *file, size_t len, uint64_t life,
    uint64_t *issued)
{
    int  rc;

    (void) pthread_mutex_lock(&store_mutex);

    *issued = store_now();

    if (store_again(file, len, life, issued)) {
        /* somebody stored the same at the same time, and was charged, too */
        usage_drop(store_owner(file), usage_of(len));
        (void) unlinkat(store_dir, part, 0);
        rc = 0;

    } else if (store_promise(part, *issued, life) == -1) {
        rc = -1;

    } else {
        rc = renameat(store_dir, part, store_dir, file);
    }

    (void) pthread_mutex_unlock(&store_mutex);

    return rc;
}


static store_put_t
store_failed(const char *part, const char *file, size_t len)
{
    int  err;

    err = errno;
    flog(RLOG_ERROR, "artifact store: %s", strerror(err));

    (void) pthread_mutex_lock(&store_mutex);

    (void) unlinkat(store_dir, part, 0);
    usage_drop(store_owner(file), usage_of(len));
    store_urgent = 1;
    (void) pthread_cond_signal(&store_cond);

    (void) pthread_mutex_unlock(&store_mutex);

    return err == ENOSPC || err == EDQUOT ? STORE_FULL : STORE_FAILED;
}


static void
store_part_name(char part[STORE_PART_NAME])
{
    char  hex[33];

    if (text_random(hex) == -1) {
        hex[0] = '\0';
    }

    (void) snprintf(part, STORE_PART_NAME, STORE_PART "%s", hex);
}


store_put_t
store_put(const char *file, const void *data, size_t len, uint64_t *life,
    uint64_t *issued, uint64_t *used)
{
    int   rc;
    char  part[STORE_PART_NAME];

    *life = *life > store_keep ? *life : store_keep;
    rc = store_reserve(file, len, *life, issued, used);

    if (rc != 0) {
        return rc == 1 ? STORE_OK : STORE_QUOTA;
    }

    store_part_name(part);

    if (store_write(part, data, len) == -1
        || store_publish(part, file, len, *life, issued) == -1)
    {
        return store_failed(part, file, len);
    }

    return STORE_OK;
}


int
store_part(char part[STORE_PART_NAME])
{
    int  fd;

    store_part_name(part);
    fd = store_open_part(part);

    if (fd == -1) {
        flog(RLOG_ERROR, "artifact store: %s", strerror(errno));
    }

    return fd;
}


int
store_charge(const char *owner, uint64_t bytes)
{
    int  rc;

    (void) pthread_mutex_lock(&store_mutex);

    rc = usage_add(store_owner(owner), bytes, store_quota);

    if (rc == -1) {
        store_urgent = 1;
        (void) pthread_cond_signal(&store_cond);
    }

    (void) pthread_mutex_unlock(&store_mutex);

    return rc;
}


store_put_t
store_part_keep(const char *part, const char *file, size_t len,
    uint64_t *life, uint64_t *issued)
{
    *life = *life > store_keep ? *life : store_keep;

    return store_publish(part, file, len, *life, issued) == 0
           ? STORE_OK : store_failed(part, file, len);
}


void
store_part_drop(const char *part, const char *owner, uint64_t charged)
{
    (void) pthread_mutex_lock(&store_mutex);

    (void) unlinkat(store_dir, part, 0);
    usage_drop(store_owner(owner), charged);

    (void) pthread_mutex_unlock(&store_mutex);
}


void
store_forget(const char *file)
{
    struct stat  st;

    (void) pthread_mutex_lock(&store_mutex);

    if (store_is_name(file) && store_stat(file, &st) == 0) {
        store_remove(file, &st);
    }

    (void) pthread_mutex_unlock(&store_mutex);
}


int
store_open(const char *file, uint64_t *size)
{
    int          fd;
    struct stat  st;

    if (!store_is_name(file)) {
        return -1;
    }

    fd = openat(store_dir, file, STORE_READ);

    if (fd == -1) {
        return -1;
    }

    if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)
        || store_end(file, &st) < store_now())
    {
        (void) close(fd);
        return -1;
    }

    *size = (uint64_t) st.st_size;

    return fd;
}


/* one file of a scan; when it may go, if it stays */

static uint64_t
store_look(const char *name, store_scan_t why, uint64_t now)
{
    uint64_t     end;
    struct stat  st;

    if (why == STORE_COUNT
        && strncmp(name, STORE_PART, strlen(STORE_PART)) == 0)
    {
        (void) unlinkat(store_dir, name, 0);
        return UINT64_MAX;
    }

    if (!store_is_name(name)) {
        return UINT64_MAX;
    }

    end = UINT64_MAX;

    (void) pthread_mutex_lock(&store_mutex);

    if (store_stat(name, &st) == 0) {
        end = store_end(name, &st);

        if (why == STORE_COUNT) {
            (void) usage_add(store_owner(name),
                             usage_of((uint64_t) st.st_size), UINT64_MAX);

        } else if (end < now) {
            store_remove(name, &st);
            end = UINT64_MAX;
        }
    }

    (void) pthread_mutex_unlock(&store_mutex);

    return end;
}


/* all that is in it; NULL and errno */

static DIR *
store_list(void)
{
    int   fd;
    DIR  *dir;

    fd = openat(store_dir, ".", STORE_LIST);
    dir = fd != -1 ? fdopendir(fd) : NULL;

    if (dir == NULL && fd != -1) {
        (void) close(fd);
    }

    return dir;
}


int
store_names(int (*tell)(const char *file))
{
    int             rc;
    DIR            *dir;
    struct dirent  *e;

    dir = store_list();

    if (dir == NULL) {
        return -1;
    }

    rc = 0;

    for (e = readdir(dir); e != NULL && rc == 0; e = readdir(dir)) {
        if (store_is_name(e->d_name)) {
            rc = tell(e->d_name);
        }
    }

    (void) closedir(dir);

    return rc;
}


/* 0 or -1; "next" gets the end of the file that may go first */

static int
store_scan(store_scan_t why, uint64_t *next)
{
    DIR            *dir;
    uint64_t        end, now;
    struct dirent  *e;

    *next = UINT64_MAX;
    now = store_now();
    dir = store_list();

    if (dir == NULL) {
        return -1;
    }

    for (e = readdir(dir); e != NULL; e = readdir(dir)) {
        end = store_look(e->d_name, why, now);
        *next = end < *next ? end : *next;
    }

    (void) closedir(dir);

    return 0;
}


int
store_sweep(uint64_t *next)
{
    return store_scan(STORE_SWEEP, next);
}


int
store_init(int dir, const retort_settings_t *s)
{
    uint64_t     next;
    struct stat  st;

    if (fstat(dir, &st) == -1 || !S_ISDIR(st.st_mode)) {
        flog(RLOG_ERROR, "artifact store: descriptor %d is no directory", dir);
        return -1;
    }

    store_dir = dir;
    store_keep = (s->artifacts_keep + 999) / 1000;
    store_quota = s->artifacts_quota;

    if (store_scan(STORE_COUNT, &next) == -1) {
        flog(RLOG_ERROR, "artifact store: %s", strerror(errno));
        return -1;
    }

    return 0;
}


/* seconds; "soon" counts as soon as somebody finds no room */

static void
store_sleep(uint64_t soon_sec, uint64_t late_sec)
{
    int              rc;
    struct timespec  late, soon;

    (void) clock_gettime(CLOCK_MONOTONIC, &late);
    soon = late;
    soon.tv_sec += (time_t) soon_sec;
    late.tv_sec += (time_t) late_sec;

    (void) pthread_mutex_lock(&store_mutex);

    do {
        rc = pthread_cond_clockwait(&store_cond, &store_mutex, CLOCK_MONOTONIC,
                                    store_urgent ? &soon : &late);
    } while (rc == 0);

    store_urgent = 0;

    (void) pthread_mutex_unlock(&store_mutex);
}


/*
 * What is stored after a scan is kept for store_keep at least: no file may go
 * before that or before the first end that the scan saw.  From then on there
 * is something to sweep, which waits until it is worth a scan, or needed.
 */

void *
store_sweeper(void *unused)
{
    uint64_t  now, next, end, least, left;

    (void) unused;

    least = store_keep / 32;
    least = least > BOUND_SWEEP_TIME ? BOUND_SWEEP_TIME : least;

    for ( ;; ) {
        now = store_now();
        end = now + store_keep;

        if (store_sweep(&next) == -1) {
            flog(RLOG_ERROR, "artifact store: sweep: %s", strerror(errno));

        } else if (next < end) {
            end = next;
        }

        left = (end > now ? end - now : 0) + 1;
        store_sleep(left, left > least ? left : least);
    }

    return NULL;
}
