
/*
 * In retort-front, as its own uid without any capability.  Names come from a
 * client.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "job.h"
#include "text.h"
#include "utf8.h"


void
job_file_clear(job_file_t *file)
{
    free(file->name);
    free(file->data);
    free(file->id);
    free(file->url);
    memset(file, 0, sizeof(job_file_t));
}


void
job_files_free(job_file_t *files, size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        job_file_clear(&files[i]);
    }

    free(files);
}


void
job_free(job_t *job)
{
    job_files_free(job->files, job->nfiles);
    free(job->code);
    free(job->memo);
    free(job->env);
    free(job->stdin_text);
    memset(job, 0, sizeof(job_t));
}


static int
job_component(const char *name, size_t len)
{
    if (len == 0 || len > 255) {
        return 0;
    }

    if (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'))) {
        return 0;
    }

    return 1;
}


int
job_file_name(const char *name, size_t len)
{
    size_t  i, from, depth;

    if (len == 0 || len > BOUND_FILE_NAME || !utf8_valid(name, len)) {
        return 0;
    }

    from = 0;
    depth = 0;

    for (i = 0; i <= len; i++) {
        if (i < len && ((unsigned char) name[i] < 0x20 || name[i] == 0x7f)) {
            return 0;
        }

        if (i < len && name[i] != '/') {
            continue;
        }

        if (!job_component(name + from, i - from)
            || ++depth > BOUND_FILE_DEPTH)
        {
            return 0;
        }

        from = i + 1;
    }

    return 1;
}


int
job_is_session(const char *name)
{
    size_t  i;

    for (i = 0; name[i] != '\0'; i++) {
        if (i == JOB_SESSION - 1 || name[i] < ' ' || name[i] > '~') {
            return 0;
        }
    }

    return i != 0;
}


int
job_session(job_t *job, const char *key)
{
    if (!job_is_session(key)) {
        return -1;
    }

    job->sandbox[0] = '\0';
    job->session[0] = '\0';

    if (strlen(key) < sizeof(job->sandbox) && text_is_id(key, "sbx")) {
        (void) snprintf(job->sandbox, sizeof(job->sandbox), "%s", key);

    } else {
        (void) snprintf(job->session, sizeof(job->session), "%s", key);
    }

    return 0;
}
