
/*
 * In retort-front, as its own uid without any capability.  Ubik: what a client
 * answers when an execution waits for it.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../multipart.h"
#include "../shelf.h"
#include "../utf8.h"
#include "native.h"
#include "ubik.h"


#define UBIK_INPUT  65536       /* bytes of an answer */


typedef enum { UBIK_PART_NONE, UBIK_PART_TEXT, UBIK_PART_FILE } ubik_part_t;

typedef struct {
    buf_t        text;
    buf_t        file;          /* no larger than a body */
    char        *name;          /* of the file, below /workspace */
    int          texts;
    int          files;
    ubik_part_t  part;          /* that is read */
} ubik_form_t;


static int
ubik_form_file(ubik_form_t *f, const multipart_part_t *part, err_t *e)
{
    int   n;
    char  name[sizeof(UBIK_FILES) + BOUND_FILE_NAME + 1];

    if (f->files++) {
        return ubik_fault(e, ".file", "It is there twice");
    }

    n = snprintf(name, sizeof(name), UBIK_FILES "/%s", part->file);

    if (n < 0 || (size_t) n >= sizeof(name) || !shelf_is_name(part->file)
        || !job_file_name(name, (size_t) n))
    {
        return ubik_fault(e, ".file", "Its name is none for a file");
    }

    f->name = strdup(name);

    return f->name != NULL ? 0 : err_set(e, 500, "no_memory",
                                         "out of memory");
}


static int
ubik_form_begin(void *data, const multipart_part_t *part, err_t *e)
{
    ubik_form_t  *f;

    f = data;
    f->part = UBIK_PART_NONE;

    if (strcmp(part->name, "file") == 0) {
        f->part = UBIK_PART_FILE;
        return ubik_form_file(f, part, e);
    }

    if (part->is_file) {
        return ubik_fault(e, ".file", "A file comes as the part of this name");
    }

    if (strcmp(part->name, "input_data_json") == 0) {
        f->part = UBIK_PART_TEXT;
        return f->texts++ ? ubik_fault(e, ".input_data_json",
                                       "It is there twice") : 0;
    }

    return 0;
}


static int
ubik_form_piece(void *data, const char *p, size_t n, err_t *e)
{
    ubik_form_t  *f;

    f = data;

    if (f->part == UBIK_PART_FILE) {
        return buf_add(&f->file, p, n) == 0
               ? 0 : err_set(e, 500, "no_memory", "out of memory");
    }

    if (f->part != UBIK_PART_TEXT) {
        return 0;
    }

    return f->text.len + n <= UBIK_INPUT && buf_add(&f->text, p, n) == 0
           ? 0 : ubik_fault(e, ".input_data_json", "String is too long");
}


static int
ubik_form_end(void *data, err_t *e)
{
    (void) data;
    (void) e;

    return 0;
}


static int
ubik_form_read(ubik_form_t *f, call_t *c, err_t *e)
{
    multipart_t  m;

    memset(&m, 0, sizeof(m));
    m.begin = ubik_form_begin;
    m.piece = ubik_form_piece;
    m.end = ubik_form_end;
    m.data = f;

    if (multipart_init(&m, c->req->type, e) == -1
        || multipart_feed(&m, c->body, c->len, e) == -1
        || multipart_done(&m, e) == -1)
    {
        return -1;
    }

    if (!f->texts && !f->files) {
        return ubik_fault(e, ".input_data_json", "Field required");
    }

    return utf8_valid(f->text.data != NULL ? f->text.data : "", f->text.len)
           && (f->text.len == 0
               || memchr(f->text.data, '\0', f->text.len) == NULL)
           ? 0 : ubik_fault(e, ".input_data_json", "Input should be a valid "
                            "string");
}


/* the caller's to free; NULL and "e" */

static exec_input_t *
ubik_form_input(call_t *c, err_t *e)
{
    ubik_form_t    f;
    exec_input_t  *input;

    memset(&f, 0, sizeof(f));
    input = NULL;

    if (ubik_form_read(&f, c, e) == 0) {
        input = calloc(1, sizeof(exec_input_t));
    }

    if (input != NULL) {
        input->text = strndup(f.text.data != NULL ? f.text.data : "",
                              f.text.len);
        input->file.name = f.name;
        input->file.data = f.file.data;
        input->file.len = f.file.len;
        f.name = NULL;
        memset(&f.file, 0, sizeof(f.file));
    }

    if (input != NULL && input->text == NULL) {
        exec_input_free(input);
        input = NULL;
    }

    if (input == NULL && e->status == 0) {
        (void) err_set(e, 500, "no_memory", "out of memory");
    }

    free(f.name);
    buf_free(&f.text);
    buf_free(&f.file);

    return input;
}


static void
ubik_input_told(call_t *c, const exec_t *x)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "execution_id", native_string(x->id));
    native_add(o, "status", native_string("running"));
    native_write(o, c->a);
    c->a->status = 202;
}


static int
ubik_input_give(call_t *c, exec_t *x, err_t *e)
{
    int            asks;
    exec_input_t  *input;

    (void) pthread_mutex_lock(&x->lock);
    asks = ubik_owns(c->req, x) ? x->asks : -1;
    (void) pthread_mutex_unlock(&x->lock);

    if (asks == -1) {
        return err_set(e, 404, "not_found", "Execution not found");
    }

    input = asks ? ubik_form_input(c, e) : NULL;

    if (asks && input == NULL) {
        return -1;
    }

    if (!asks || exec_answer(x, input) == -1) {
        exec_input_free(input);
        return err_set(e, 409, "conflict", "The execution does not wait for "
                       "input");
    }

    ubik_input_told(c, x);

    return 0;
}


int
ubik_input(call_t *c, err_t *e)
{
    int          rc;
    char         id[REQ_EXECUTION];
    size_t       n;
    exec_t      *x;
    const char  *p;

    p = c->req->path + sizeof("/tool-executions/") - 1;
    n = strcspn(p, "/");
    id[0] = '\0';

    if (n < sizeof(id)) {
        memcpy(id, p, n);
        id[n] = '\0';
    }

    x = exec_find(id, c->req->workspace, e);

    if (x == NULL) {
        return -1;
    }

    rc = ubik_input_give(c, x, e);
    exec_release(x);

    return rc;
}
