
/*
 * Part of retortctl: the file of retort_auth_key_file.  It is read whole and
 * written whole: a new file beside it gets its owner and mode, and then its
 * name.  Lines that are no key stay as they are.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"


#define KEYFILE_MAX   (4 * 1024 * 1024)
#define KEYFILE_HASH  64
#define KEYFILE_NAME  ".retortctl-keys"


static int
keyfile_error(const keyfile_t *k)
{
    ctl_error("%s: %s", k->path, strerror(errno));

    return -1;
}


/* workspace:hash[:profiles[:scopes]]; no key leaves "l" without a workspace */

static void
keyfile_parse(keyfile_line_t *l)
{
    char    *hash, *end;
    size_t   i, n;

    hash = strchr(l->line, ':');

    if (l->line[0] == '#' || hash == NULL
        || strspn(hash + 1, "0123456789abcdefABCDEF") != KEYFILE_HASH)
    {
        return;
    }

    end = hash + 1 + KEYFILE_HASH;

    if (*end != '\0' && *end != ':') {
        return;
    }

    for (i = 0; i < KEYFILE_HASH; i++) {
        l->hash[i] = hash[1 + i] >= 'A' && hash[1 + i] <= 'F'
                     ? (char) (hash[1 + i] | 0x20) : hash[1 + i];
    }

    l->workspace = strndup(l->line, (size_t) (hash - l->line));
    end += *end == ':';
    n = strcspn(end, ":");
    l->profiles = strndup(end, n);
    l->scopes = strdup(end[n] == ':' ? end + n + 1 : "");
}


/* "text" becomes the file's */

static int
keyfile_line(keyfile_t *k, char *text)
{
    keyfile_line_t  *lines;

    lines = text != NULL ? realloc(k->lines, (k->n + 1) * sizeof(*lines))
                         : NULL;

    if (lines == NULL) {
        free(text);
        ctl_error("out of memory");
        return -1;
    }

    k->lines = lines;
    memset(&lines[k->n], 0, sizeof(*lines));
    lines[k->n].line = text;
    keyfile_parse(&lines[k->n]);
    k->n++;

    return 0;
}


static int
keyfile_lines(keyfile_t *k, char *text)
{
    char  *line, *next;

    for (line = text; *line != '\0'; line = next) {
        next = strchr(line, '\n');
        next = next != NULL ? next : line + strlen(line);

        if (keyfile_line(k, strndup(line, (size_t) (next - line))) == -1) {
            return -1;
        }

        next += *next == '\n';
    }

    return 0;
}


static int
keyfile_read(keyfile_t *k)
{
    int          rc;
    char        *text;
    size_t       len;
    ssize_t      n;
    struct stat  st;

    if (fstat(k->fd, &st) == -1 || !S_ISREG(st.st_mode)
        || st.st_size > KEYFILE_MAX)
    {
        ctl_error("%s: no file of keys", k->path);
        return -1;
    }

    text = calloc(1, (size_t) st.st_size + 1);

    if (text == NULL) {
        return keyfile_error(k);
    }

    for (len = 0; len < (size_t) st.st_size; len += (size_t) n) {
        n = read(k->fd, text + len, (size_t) st.st_size - len);

        if (n <= 0) {
            break;
        }
    }

    rc = keyfile_lines(k, text);
    explicit_bzero(text, len);
    free(text);

    return rc;
}


/* its directory, behind symbolic links: what is replaced is the file itself */

static int
keyfile_dir(keyfile_t *k, const char *path)
{
    char  *slash;

    k->path = realpath(path, NULL);

    if (k->path == NULL && errno == ENOENT && path[0] == '/') {
        k->path = strdup(path);
    }

    if (k->path == NULL) {
        ctl_error("%s: %s", path, strerror(errno));
        return -1;
    }

    slash = strrchr(k->path, '/');
    *slash = '\0';
    k->dir = open(slash == k->path ? "/" : k->path,
                  O_RDONLY|O_DIRECTORY|O_CLOEXEC);
    *slash = '/';

    return k->dir == -1 ? keyfile_error(k) : 0;
}


int
keyfile_open(keyfile_t *k, const char *path, int change)
{
    memset(k, 0, sizeof(keyfile_t));
    k->dir = -1;
    k->fd = -1;

    if (keyfile_dir(k, path) == -1) {
        return -1;
    }

    if (change && flock(k->dir, LOCK_EX) == -1) {
        return keyfile_error(k);
    }

    k->fd = openat(k->dir, strrchr(k->path, '/') + 1, O_RDONLY|O_CLOEXEC);

    if (k->fd == -1) {
        return errno == ENOENT && change ? 0 : keyfile_error(k);
    }

    return keyfile_read(k);
}


void
keyfile_close(keyfile_t *k)
{
    size_t  i;

    for (i = 0; i < k->n; i++) {
        free(k->lines[i].workspace);
        free(k->lines[i].profiles);
        free(k->lines[i].scopes);
        free(k->lines[i].line);
    }

    free(k->lines);
    free(k->path);

    if (k->fd != -1) {
        (void) close(k->fd);
    }

    if (k->dir != -1) {
        (void) close(k->dir);
    }
}


int
keyfile_add(keyfile_t *k, const char *workspace, const char *hash,
    const char *profiles, const char *scopes)
{
    char  *text;

    if (asprintf(&text, "%s:%s%s%s%s%s", workspace, hash,
                 profiles[0] != '\0' || scopes[0] != '\0' ? ":" : "", profiles,
                 scopes[0] != '\0' ? ":" : "", scopes) == -1)
    {
        text = NULL;
    }

    return keyfile_line(k, text);
}


/* a line without text was removed */

static int
keyfile_put(const keyfile_t *k, int fd)
{
    int          rc;
    size_t       i;
    struct stat  st;

    if (k->fd != -1
        && (fstat(k->fd, &st) == -1
            || fchown(fd, st.st_uid, st.st_gid) == -1
            || fchmod(fd, st.st_mode & 07777) == -1))
    {
        return -1;
    }

    rc = 0;

    for (i = 0; rc >= 0 && i < k->n; i++) {
        if (k->lines[i].line != NULL) {
            rc = dprintf(fd, "%s\n", k->lines[i].line);
        }
    }

    return rc < 0 ? -1 : fsync(fd);
}


int
keyfile_write(keyfile_t *k)
{
    int  fd, rc;

    /* one that a killed retortctl left is nobody's: we hold the lock */
    (void) unlinkat(k->dir, KEYFILE_NAME, 0);
    fd = openat(k->dir, KEYFILE_NAME,
                O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW|O_CLOEXEC, 0600);

    if (fd == -1) {
        return keyfile_error(k);
    }

    rc = keyfile_put(k, fd);

    if (close(fd) == -1 || rc == -1
        || renameat(k->dir, KEYFILE_NAME, k->dir, strrchr(k->path, '/') + 1)
           == -1
        || fsync(k->dir) == -1)
    {
        (void) keyfile_error(k);
        (void) unlinkat(k->dir, KEYFILE_NAME, 0);
        return -1;
    }

    return 0;
}


/* where a workspace's key is kept; 0, or -1 if the name is none */

static int
keyfile_kept(const keyfile_t *k, const char *workspace, char *name,
    size_t size)
{
    int  n;

    n = snprintf(name, size, "%s.%s.key", strrchr(k->path, '/') + 1, workspace);

    return workspace[0] != '\0' && strchr(workspace, '/') == NULL && n > 0
           && (size_t) n < size ? 0 : -1;
}


int
keyfile_save(keyfile_t *k, const char *workspace, const char *key)
{
    int   fd, rc;
    char  name[NAME_MAX + 1];

    (void) unlinkat(k->dir, KEYFILE_NAME, 0);
    fd = openat(k->dir, KEYFILE_NAME,
                O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW|O_CLOEXEC, 0600);

    if (fd == -1) {
        return keyfile_error(k);
    }

    rc = dprintf(fd, "%s\n", key);

    if (close(fd) == -1 || rc < 0
        || keyfile_kept(k, workspace, name, sizeof(name)) == -1
        || renameat(k->dir, KEYFILE_NAME, k->dir, name) == -1)
    {
        (void) keyfile_error(k);
        (void) unlinkat(k->dir, KEYFILE_NAME, 0);
        return -1;
    }

    return 0;
}


int
keyfile_saved(keyfile_t *k, const char *workspace, char *key, size_t size)
{
    int      fd;
    char     name[NAME_MAX + 1];
    ssize_t  n;

    if (keyfile_kept(k, workspace, name, sizeof(name)) == -1) {
        return -1;
    }

    fd = openat(k->dir, name, O_RDONLY|O_NOFOLLOW|O_CLOEXEC);

    if (fd == -1) {
        return -1;
    }

    n = read(fd, key, size);
    (void) close(fd);

    /* its NUL takes the newline's place */

    if (n != (ssize_t) size || key[size - 1] != '\n') {
        return -1;
    }

    key[size - 1] = '\0';

    return 0;
}


void
keyfile_unsave(keyfile_t *k, const char *workspace)
{
    char  name[NAME_MAX + 1];

    if (keyfile_kept(k, workspace, name, sizeof(name)) == 0) {
        (void) unlinkat(k->dir, name, 0);
    }
}
