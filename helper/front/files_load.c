
/*
 * In retort-front, as its own uid without any capability.  Files that a
 * request names and does not bring along: artifacts of its own workspace, and
 * files on its shelf.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "artifact.h"
#include "files.h"
#include "shelf.h"


static int
files_load_read(int fd, char *p, size_t len)
{
    ssize_t  n;

    while (len != 0) {
        n = read(fd, p, len);

        if (n > 0) {
            p += n;
            len -= (size_t) n;

        } else if (n == 0 || errno != EINTR) {
            return -1;
        }
    }

    return 0;
}


/* a file without a name of its own gets the one that it has on the shelf */

static int
files_load_open(const request_t *req, job_file_t *f, uint64_t *size, err_t *e)
{
    int           fd;
    shelf_info_t  info;

    fd = f->name != NULL ? artifact_open(f->id, req->workspace, size) : -1;

    if (fd != -1) {
        return fd;
    }

    fd = shelf_open(f->id, req->workspace, &info, e);

    if (fd == -1) {
        return -1;
    }

    *size = info.size;

    if (f->name == NULL) {
        f->name = strdup(info.name);
    }

    if (f->name == NULL || !job_file_name(f->name, strlen(f->name))) {
        (void) close(fd);
        return err_set(e, 400, "bad_name", "File `%s` has a name that is too "
                       "long for a sandbox.", info.id);
    }

    return fd;
}


static int
files_load_one(const request_t *req, job_file_t *f, uint64_t *left, err_t *e)
{
    int        fd, rc;
    uint64_t   size;

    fd = files_load_open(req, f, &size, e);

    if (fd == -1) {
        return -1;
    }

    if (size > *left) {
        (void) close(fd);
        return err_set(e, 413, "too_large", "files by file_id have at most "
                       "%llu bytes together",
                       (unsigned long long) req->run.request);
    }

    *left -= size;
    f->data = malloc((size_t) size + 1);
    rc = f->data != NULL ? files_load_read(fd, f->data, (size_t) size) : -1;
    f->len = (size_t) size;
    (void) close(fd);

    return rc == 0 ? 0 : err_set(e, 500, "file_failed", "an artifact could "
                                 "not be read");
}


/* those that are not there are out of the list; they keep their order */

static size_t
files_load_there(job_file_t *files, size_t n)
{
    size_t      i, to;
    job_file_t  gone;

    for (i = 0, to = 0; i < n; i++) {
        if (files[i].url == NULL || files[i].data != NULL) {
            gone = files[to];
            files[to++] = files[i];
            files[i] = gone;
        }
    }

    for (i = to; i < n; i++) {
        job_file_clear(&files[i]);
    }

    return to;
}


int
files_load(const request_t *req, int client, job_file_t *files, size_t *n,
    int lenient, err_t *e)
{
    size_t     i;
    uint64_t   left;

    left = req->run.request;

    for (i = 0; i < *n; i++) {
        if (files[i].id != NULL
            && files_load_one(req, &files[i], &left, e) == -1)
        {
            return -1;
        }
    }

    if (files_fetch(req, client, files, *n, left, lenient, e) == 0) {
        return 0;
    }

    if (!lenient || e->status == 0) {
        return -1;
    }

    *n = files_load_there(files, *n);

    return 0;
}
