
/*
 * In retort-front, as its own uid without any capability.  Uploads: a client's
 * bytes go to the session's kernel as they come, and are counted and digested
 * here, so that what is answered is what was sent.
 */

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "clock.h"
#include "file_op.h"
#include "file_type.h"
#include "files.h"
#include "job.h"
#include "multipart.h"
#include "routes.h"


typedef struct {
    file_op_t      op;
    EVP_MD_CTX    *sha;
    const char    *name;
    uint64_t       size;
    uint64_t       until;
    size_t         held;
    char           piece[KRN_PAYLOAD];
} files_in_t;


typedef struct {
    files_in_t     in;
    file_infos_t  *list;
    int            file;        /* the part is one, else it is a path */

    /* how the dialect calls it, or NULL */
    int          (*named)(const request_t *req, const char *file, char *name,
                          size_t size, err_t *e);
    const request_t  *req;
    int            path_set;
    size_t         path_len;
    char           folder[BOUND_FILE_NAME + 2];
    char           path[BOUND_FILE_NAME + 1];
    char           name[2 * BOUND_FILE_NAME + 3];
} files_form_t;


static int
files_in_begin(files_in_t *in, const files_ask_t *ask, err_t *e)
{
    in->sha = EVP_MD_CTX_new();

    if (in->sha == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    /* the client's bytes are awaited, so they say nothing about its end */

    if (file_op_begin(&in->op, ask->req, ask->sandbox, ask->session, -1, e)
        == -1)
    {
        EVP_MD_CTX_free(in->sha);
        return -1;
    }

    in->until = clock_mono_us() + (uint64_t) BOUND_FILE_TIME * 1000;

    return 0;
}


static void
files_in_end(files_in_t *in)
{
    file_op_end(&in->op);
    EVP_MD_CTX_free(in->sha);
}


static int
files_in_large(const files_in_t *in, err_t *e)
{
    return err_set(e, 413, "too_large", "\"%.100s\": a file has at most %llu "
                   "bytes", in->name,
                   (unsigned long long) in->op.box->limits.fsize);
}


static int
files_in_open(files_in_t *in, const char *name, err_t *e)
{
    in->name = name;
    in->size = 0;
    in->held = 0;

    if (EVP_DigestInit_ex(in->sha, EVP_sha256(), NULL) != 1) {
        return err_set(e, 500, "file_failed", "no SHA-256");
    }

    return file_op_ask(&in->op, KRN_PUT, 0, 0, name, e);
}


static int
files_in_flush(files_in_t *in, krn_data_t how, err_t *e)
{
    if (file_op_data(&in->op, in->piece, in->held, how, e) == -1) {
        return -1;
    }

    in->held = 0;

    /* a refusal comes before the end */

    return how == KRN_SOME && in->op.filed
           ? file_op_filed(&in->op, in->name, e) : 0;
}


static int
files_in_add(files_in_t *in, const char *p, size_t n, err_t *e)
{
    size_t  take;

    if (n > in->op.box->limits.fsize - in->size) {
        return files_in_large(in, e);
    }

    if (clock_mono_us() > in->until) {
        return err_set(e, 0, "cancelled", "the body took too long");
    }

    in->size += n;

    if (EVP_DigestUpdate(in->sha, p, n) != 1) {
        return err_set(e, 500, "file_failed", "no SHA-256");
    }

    while (n != 0) {
        take = sizeof(in->piece) - in->held;
        take = take < n ? take : n;
        memcpy(in->piece + in->held, p, take);
        in->held += take;
        p += take;
        n -= take;

        if (in->held == sizeof(in->piece)
            && files_in_flush(in, KRN_SOME, e) == -1)
        {
            return -1;
        }
    }

    return 0;
}


static int
files_in_close(files_in_t *in, file_info_t *file, err_t *e)
{
    unsigned       i, n;
    unsigned char  sha[EVP_MAX_MD_SIZE];

    if (files_in_flush(in, KRN_LAST, e) == -1
        || file_op_filed(&in->op, in->name, e) == -1)
    {
        return -1;
    }

    if (EVP_DigestFinal_ex(in->sha, sha, &n) != 1 || n != 32) {
        return err_set(e, 500, "file_failed", "no SHA-256");
    }

    for (i = 0; i < n; i++) {
        (void) snprintf(file->sha256 + 2 * i, 3, "%02x", sha[i]);
    }

    file->size = in->size;
    file->replaced = (in->op.more != 0);

    return 0;
}


/* a piece of the body; its bytes, 0 at the end, -1 and "e" */

static int
files_in_some(routes_body_t *body, char *p, size_t size, err_t *e)
{
    int  n;

    n = body->some(body, p, size);

    return n == -1 ? err_set(e, 0, "cancelled", "the body did not come") : n;
}


static int
files_put_body(files_in_t *in, const files_ask_t *ask, file_info_t *file,
    err_t *e)
{
    int             n;
    char            part[8176];
    routes_body_t  *body;

    body = ask->body;

    if (body->length > in->op.box->limits.fsize) {
        return files_in_large(in, e);
    }

    if (files_in_open(in, in->name, e) == -1) {
        return -1;
    }

    for (n = files_in_some(body, part, sizeof(part), e); n > 0;
         n = files_in_some(body, part, sizeof(part), e))
    {
        if (files_in_add(in, part, (size_t) n, e) == -1) {
            return -1;
        }
    }

    if (n == -1) {
        return -1;
    }

    if (body->length != 0 && body->length != in->size) {
        return err_set(e, 400, "bad_length",
                       "the body is not as long as CONTENT_LENGTH says");
    }

    return files_in_close(in, file, e);
}


int
files_put(const files_ask_t *ask, file_info_t *file, err_t *e)
{
    int          rc;
    files_in_t  *in;

    memset(file, 0, sizeof(file_info_t));
    in = calloc(1, sizeof(files_in_t));

    if (in == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    in->name = files_name(ask, e);
    rc = in->name != NULL ? files_in_begin(in, ask, e) : -1;

    if (rc == 0) {
        rc = files_put_body(in, ask, file, e);
        files_in_end(in);
    }

    if (rc == 0) {
        file->name = strdup(in->name);

        if (file->name == NULL) {
            rc = err_set(e, 500, "no_memory", "out of memory");
        }
    }

    free(in);

    return rc;
}


/* the name of the file that comes: its path, or where all of them go */

static int
files_form_name(files_form_t *form, const multipart_part_t *part, err_t *e)
{
    const char  *folder;

    if (form->named != NULL) {
        return form->named(form->req, part->path, form->name,
                           sizeof(form->name), e);
    }

    folder = form->path_set ? "" : form->folder;
    (void) snprintf(form->name, sizeof(form->name), "%s%s%s", folder,
                    *folder != '\0' ? "/" : "",
                    form->path_set ? form->path : part->file);
    form->path_set = 0;

    if (!job_file_name(form->name, strlen(form->name))) {
        return err_set(e, 400, "bad_name", "a file's name is a relative path "
                       "without \".\" and \"..\"");
    }

    return 0;
}


static int
files_form_begin(void *data, const multipart_part_t *part, err_t *e)
{
    files_form_t  *form;

    form = data;
    form->file = (strcmp(part->name, "file") == 0);

    if (form->file) {
        if (form->list->n == BOUND_FILES) {
            return err_set(e, 400, "bad_value", "more than %d files",
                           BOUND_FILES);
        }

        return files_form_name(form, part, e) == -1
               ? -1 : files_in_open(&form->in, form->name, e);
    }

    if (strcmp(part->name, "path") != 0) {
        return err_set(e, 400, "unknown_key", "the parts are \"file\" and, "
                       "before it, \"path\"");
    }

    form->path_len = 0;

    return 0;
}


static int
files_form_piece(void *data, const char *p, size_t n, err_t *e)
{
    files_form_t  *form;

    form = data;

    if (form->file) {
        return files_in_add(&form->in, p, n, e);
    }

    if (n > BOUND_FILE_NAME - form->path_len || memchr(p, '\0', n) != NULL) {
        return err_set(e, 400, "bad_name", "\"path\" is no name for a file");
    }

    memcpy(form->path + form->path_len, p, n);
    form->path_len += n;

    return 0;
}


static int
files_form_end(void *data, err_t *e)
{
    file_info_t   *file;
    files_form_t  *form;

    form = data;

    if (!form->file) {
        form->path[form->path_len] = '\0';
        form->path_set = 1;
        return 0;
    }

    file = files_add(form->list, form->name, e);

    return file != NULL ? files_in_close(&form->in, file, e) : -1;
}


static int
files_post_body(files_form_t *form, multipart_t *m, routes_body_t *body,
    err_t *e)
{
    int   n;
    char  part[8176];

    for (n = files_in_some(body, part, sizeof(part), e); n > 0;
         n = files_in_some(body, part, sizeof(part), e))
    {
        if (multipart_feed(m, part, (size_t) n, e) == -1) {
            return -1;
        }
    }

    if (n == -1 || multipart_done(m, e) == -1) {
        return -1;
    }

    return form->list->n != 0
           ? 0 : err_set(e, 400, "bad_value", "there is no part \"file\"");
}


int
files_post(const files_ask_t *ask, file_infos_t *list, err_t *e)
{
    int            rc;
    multipart_t   *m;
    files_form_t  *form;

    m = calloc(1, sizeof(multipart_t));
    form = calloc(1, sizeof(files_form_t));

    if (m == NULL || form == NULL) {
        free(m);
        free(form);
        return err_set(e, 500, "no_memory", "out of memory");
    }

    m->begin = files_form_begin;
    m->piece = files_form_piece;
    m->end = files_form_end;
    m->data = form;
    form->list = list;
    form->named = ask->named;
    form->req = ask->req;

    rc = multipart_init(m, ask->req->type, e);

    if (rc == 0) {
        rc = files_folder(ask, form->folder, sizeof(form->folder), e);
    }

    if (rc == 0) {
        rc = files_in_begin(&form->in, ask, e);

        if (rc == 0) {
            rc = files_post_body(form, m, ask->body, e);
            files_in_end(&form->in);
        }
    }

    free(m);
    free(form);

    return rc;
}


static int
files_fill_one(file_op_t *op, const job_file_t *f, err_t *e)
{
    int     rc;
    size_t  at, n;

    rc = file_op_ask(op, KRN_PUT, 0, 0, f->name, e);
    at = 0;

    do {
        n = f->len - at < KRN_PAYLOAD ? f->len - at : KRN_PAYLOAD;

        if (rc == 0) {
            rc = file_op_data(op, f->data + at, n,
                              at + n == f->len ? KRN_LAST : KRN_SOME, e);
        }

        at += n;
    } while (rc == 0 && !op->filed && at < f->len);

    return rc == 0 ? file_op_filed(op, f->name, e) : -1;
}


int
files_fill(box_t *box, const job_file_t *files, size_t n, int client, err_t *e)
{
    int         rc;
    size_t      i;
    file_op_t   op;

    rc = 0;
    file_op_own(&op, box, client);

    for (i = 0; i < n && rc == 0; i++) {
        rc = files_fill_one(&op, &files[i], e);
    }

    file_op_leave(&op);

    return rc;
}
