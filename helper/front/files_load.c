
/*
 * In retort-front, as its own uid without any capability.  Files that a
 * request names and does not bring along: artifacts of its own workspace.
 */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "artifact.h"
#include "files.h"


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


static int
files_load_one(const request_t *req, job_file_t *f, uint64_t *left, err_t *e)
{
    int        fd, rc;
    uint64_t   size;

    fd = artifact_open(f->id, req->workspace, &size);

    if (fd == -1) {
        return err_set(e, 404, "file_not_found", "no such file_id, or it has "
                       "expired");
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


int
files_load(const request_t *req, job_file_t *files, size_t n, err_t *e)
{
    size_t     i;
    uint64_t   left;

    left = req->run.request;

    for (i = 0; i < n; i++) {
        if (files[i].id != NULL
            && files_load_one(req, &files[i], &left, e) == -1)
        {
            return -1;
        }
    }

    return 0;
}
