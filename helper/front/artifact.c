
/*
 * In retort-front, as its own uid without any capability.  The bytes come from
 * a sandbox: they are never decoded, only counted, digested and written.  The
 * public name is made here; nothing of the tenant is in it.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifact.h"
#include "flog.h"
#include "text.h"


#define ARTIFACT_PART  ".part-"
#define ARTIFACT_SHA   32


typedef struct {
    const char       *mime;
    const char       *ext;
    artifact_kind_t   kind;
    const char       *magic;    /* how such a file begins; NULL: any way */
} artifact_form_t;


/* in the order in which one form is preferred to another */

static const artifact_form_t  artifact_forms[] = {
    { "image/png", "png", ARTIFACT_PICTURE, "\x89PNG\r\n\x1a\n" },
    { "image/jpeg", "jpg", ARTIFACT_PICTURE, "\xff\xd8\xff" },
    { "image/gif", "gif", ARTIFACT_PICTURE, "GIF8" },
    { "image/webp", "webp", ARTIFACT_PICTURE, "RIFF" },
    { "image/svg+xml", "svg", ARTIFACT_DOCUMENT, NULL },
    { "application/pdf", "pdf", ARTIFACT_DOCUMENT, "%PDF-" },
    { "text/html", "html", ARTIFACT_DOCUMENT, NULL },
    { "text/markdown", "md", ARTIFACT_DOCUMENT, NULL },
    { "text/latex", "tex", ARTIFACT_DOCUMENT, NULL },
    { "application/json", "json", ARTIFACT_DOCUMENT, NULL }
};

#define ARTIFACT_FORMS  (sizeof(artifact_forms) / sizeof(artifact_forms[0]))


static int  artifact_dir = -1;


int
artifact_rank(const char *mime)
{
    size_t  i;

    for (i = 0; i < ARTIFACT_FORMS; i++) {
        if (strcmp(artifact_forms[i].mime, mime) == 0) {
            return (int) i;
        }
    }

    return -1;
}


artifact_kind_t
artifact_kind(const char *mime)
{
    int  i;

    i = artifact_rank(mime);

    return i == -1 ? ARTIFACT_NONE : artifact_forms[i].kind;
}


static int
artifact_digest(const void *data, size_t len, char hex[65])
{
    size_t         i;
    unsigned       n;
    unsigned char  sha[EVP_MAX_MD_SIZE];

    if (EVP_Digest(data, len, sha, &n, EVP_sha256(), NULL) != 1
        || n != ARTIFACT_SHA)
    {
        return -1;
    }

    for (i = 0; i < n; i++) {
        (void) snprintf(hex + 2 * i, 3, "%02x", sha[i]);
    }

    return 0;
}


/* a front that died may have left parts of files */

static int
artifact_sweep(void)
{
    int             fd;
    DIR            *dir;
    struct dirent  *e;

    fd = openat(artifact_dir, ".", O_RDONLY|O_DIRECTORY|O_CLOEXEC);

    if (fd == -1) {
        return -1;
    }

    dir = fdopendir(fd);

    if (dir == NULL) {
        (void) close(fd);
        return -1;
    }

    for (e = readdir(dir); e != NULL; e = readdir(dir)) {
        if (strncmp(e->d_name, ARTIFACT_PART, strlen(ARTIFACT_PART)) == 0) {
            (void) unlinkat(artifact_dir, e->d_name, 0);
        }
    }

    (void) closedir(dir);

    return 0;
}


int
artifact_init(int dir)
{
    char         hex[65];
    struct stat  st;

    if (fstat(dir, &st) == -1 || !S_ISDIR(st.st_mode)) {
        flog(RLOG_ERROR, "artifact store: descriptor %d is no directory", dir);
        return -1;
    }

    artifact_dir = dir;

    if (artifact_sweep() == -1) {
        flog(RLOG_ERROR, "artifact store: %s", strerror(errno));
        return -1;
    }

    if (artifact_digest("", 0, hex) == -1) {
        flog(RLOG_ERROR, "artifact store: no SHA-256");
        return -1;
    }

    return 0;
}


static int
artifact_fail(out_artifact_t *a, const char *why)
{
    a->file[0] = '\0';
    (void) snprintf(a->why, sizeof(a->why), "%s", why);

    return -1;
}


static int
artifact_write(int fd, const char *p, size_t len)
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


/* the name appears only when the whole file is there */

static int
artifact_publish(const char *file, const void *data, size_t len)
{
    int   fd, err;
    char  part[sizeof(ARTIFACT_PART) + OUT_FILE];

    (void) snprintf(part, sizeof(part), ARTIFACT_PART "%s", file);

    fd = openat(artifact_dir, part, O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW
                |O_CLOEXEC, 0640);

    if (fd == -1) {
        return -1;
    }

    if (fchmod(fd, 0640) == -1 || artifact_write(fd, data, len) == -1) {
        err = errno;
        (void) close(fd);
        goto failed;
    }

    if (close(fd) == -1
        || renameat(artifact_dir, part, artifact_dir, file) == -1)
    {
        err = errno;
        goto failed;
    }

    return 0;

failed:

    (void) unlinkat(artifact_dir, part, 0);
    errno = err;

    return -1;
}


void
artifact_name(out_artifact_t *a, unsigned number)
{
    const artifact_form_t  *f;

    f = &artifact_forms[artifact_rank(a->mime)];

    (void) snprintf(a->name, sizeof(a->name), "%s-%03u.%s",
                    f->kind == ARTIFACT_PICTURE ? "fig" : "display",
                    number, f->ext);
}


int
artifact_store(out_artifact_t *a, const void *data, size_t len,
    unsigned number)
{
    char                    hex[33];
    const artifact_form_t  *f;

    f = &artifact_forms[artifact_rank(a->mime)];
    artifact_name(a, number);
    a->size = len;

    if (f->magic != NULL
        && (len < strlen(f->magic)
            || memcmp(data, f->magic, strlen(f->magic)) != 0))
    {
        return artifact_fail(a, "it is not what its type says");
    }

    if (text_random(hex) == -1 || artifact_digest(data, len, a->sha256) == -1) {
        return artifact_fail(a, "it could not be named");
    }

    (void) snprintf(a->file, sizeof(a->file), "%s.%s", hex, f->ext);

    if (artifact_publish(a->file, data, len) == -1) {
        flog(RLOG_ERROR, "artifact store: %s", strerror(errno));

        return artifact_fail(a, errno == ENOSPC || errno == EDQUOT
                                ? "the artifact store is full"
                                : "the artifact store failed");
    }

    return 0;
}
