
/*
 * In retort-front, as its own uid without any capability.  Files that an agent
 * hands over: URLs, or objects with a name and a content.  Whatever is wrong
 * with one is that file's own misfortune: the code runs all the same.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../bounds.h"
#include "../file_name.h"
#include "../flog.h"
#include "../json_in.h"
#include "../text.h"
#include "qwen.h"


typedef struct {
    char        *name;
    char        *data;
    size_t       len;
    char        *url;           /* to be fetched */
    const char  *why;           /* it was left out */
} qwen_file_t;


static void
qwen_content(qwen_file_t *f, const char *p, size_t n, int base64)
{
    f->data = strndup(p, n);

    if (f->data == NULL) {
        f->why = "out of memory";
        return;
    }

    f->len = strlen(f->data);

    if (base64
        && text_base64(f->data, f->len, (unsigned char *) f->data, &f->len)
           == -1)
    {
        f->why = "it is not base64";
    }
}


/* one ";parameter" of a data URL */

static void
qwen_parameter(qwen_file_t *f, const char *p, size_t n, int *base64)
{
    const char  *value;

    if (n == 6 && strncasecmp(p, "base64", 6) == 0) {
        *base64 = 1;
        return;
    }

    value = memchr(p, '=', n);

    if (value == NULL || f->name != NULL) {
        return;
    }

    if ((value - p == 4 && strncasecmp(p, "name", 4) == 0)
        || (value - p == 8 && strncasecmp(p, "filename", 8) == 0))
    {
        value++;
        f->name = file_name(value, n - (size_t) (value - p));
    }
}


static void
qwen_data_url(qwen_file_t *f, const char *url)
{
    int          base64;
    char        *copy;
    size_t       n;
    const char  *p, *comma;

    comma = strchr(url, ',');

    if (comma == NULL) {
        f->why = "it is no data URL";
        return;
    }

    base64 = 0;

    for (p = url + strlen("data:"); p < comma; p += n + (p[n] == ';')) {
        n = strcspn(p, ";,");
        qwen_parameter(f, p, n, &base64);
    }

    copy = strdup(comma + 1);

    if (copy == NULL) {
        f->why = "out of memory";
        return;
    }

    n = file_percent(copy, strlen(copy));

    if (base64) {
        qwen_content(f, copy, n, 1);
        free(copy);
        return;
    }

    f->data = copy;
    f->len = n;
}


static void
qwen_url(qwen_file_t *f, json_object *v)
{
    const char  *url;

    url = json_object_get_string(v);

    if (strncasecmp(url, "data:", 5) == 0) {
        qwen_data_url(f, url);
        return;
    }

    if (!file_name_is_web(url)) {
        f->why = "it is neither a data URL nor one of http or https";
        return;
    }

    f->url = strdup(url);
    f->name = f->name != NULL ? f->name : file_name_url(url);
}


static json_object *
qwen_member(json_object *v, const char *a, const char *b)
{
    json_object  *m;

    if (!json_object_object_get_ex(v, a, &m)
        && !json_object_object_get_ex(v, b, &m))
    {
        return NULL;
    }

    return json_object_is_type(m, json_type_string) ? m : NULL;
}


static void
qwen_object(qwen_file_t *f, json_object *v)
{
    size_t        len;
    err_t         e;
    json_object  *m;

    m = qwen_member(v, "name", "filename");

    if (m != NULL) {
        f->name = file_name(json_object_get_string(m),
                                 strlen(json_object_get_string(m)));
    }

    if ((m = qwen_member(v, "content_base64", "base64")) != NULL) {
        qwen_content(f, json_object_get_string(m),
                     (size_t) json_object_get_string_len(m), 1);

    } else if ((m = qwen_member(v, "text", "content")) != NULL) {
        f->data = json_in_copy(m, &len, &e);
        f->len = f->data != NULL ? len : 0;

    } else if ((m = qwen_member(v, "url", "file")) != NULL) {
        qwen_url(f, m);

    } else {
        f->why = "it has no content";
    }
}


static void
qwen_take(job_t *job, size_t number, json_object *v)
{
    job_file_t   *to;
    qwen_file_t   f;

    memset(&f, 0, sizeof(f));

    if (json_object_is_type(v, json_type_string)) {
        qwen_url(&f, v);

    } else if (json_object_is_type(v, json_type_object)) {
        qwen_object(&f, v);

    } else {
        f.why = "it is neither a URL nor an object";
    }

    if (f.why == NULL && f.data == NULL && f.url == NULL) {
        f.why = "out of memory";
    }

    if (f.why == NULL && f.name == NULL) {
        f.why = "it has no usable name";
    }

    if (f.why != NULL) {
        flog(RLOG_INFO, "qwen: file %zu was left out: %s", number, f.why);
        free(f.name);
        free(f.data);
        free(f.url);
        return;
    }

    to = &job->files[job->nfiles++];
    to->name = f.name;
    to->data = f.data;
    to->len = f.len;
    to->url = f.url;
}


int
qwen_files(json_object *files, job_t *job, err_t *e)
{
    size_t  i, n;

    n = json_object_array_length(files);

    if (n > BOUND_FILES) {
        flog(RLOG_INFO, "qwen: files beyond %d were left out", BOUND_FILES);
        n = BOUND_FILES;
    }

    job->files = calloc(n + 1, sizeof(job_file_t));

    if (job->files == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    for (i = 0; i < n; i++) {
        qwen_take(job, i + 1, json_object_array_get_idx(files, i));
    }

    return 0;
}
