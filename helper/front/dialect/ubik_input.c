
/*
 * In retort-front, as its own uid without any capability.  Ubik: what a client
 * answers when an execution waits for it.
 */

#include <stdlib.h>
#include <string.h>

#include "../multipart.h"
#include "../utf8.h"
#include "native.h"
#include "ubik.h"


#define UBIK_INPUT  65536       /* bytes of an answer */


typedef struct {
    buf_t  text;
    int    there;
    int    mine;                /* the part that is read has it */
} ubik_form_t;


static int
ubik_form_begin(void *data, const multipart_part_t *part, err_t *e)
{
    ubik_form_t  *f;

    f = data;
    f->mine = (strcmp(part->name, "input_data_json") == 0);

    if (part->is_file) {
        return ubik_fault(e, ".file", "No file was asked for");
    }

    if (f->mine && f->there++) {
        return ubik_fault(e, ".input_data_json", "It is there twice");
    }

    return 0;
}


static int
ubik_form_piece(void *data, const char *p, size_t n, err_t *e)
{
    ubik_form_t  *f;

    f = data;

    if (!f->mine) {
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

    if (!f->there) {
        return ubik_fault(e, ".input_data_json", "Field required");
    }

    return utf8_valid(f->text.data != NULL ? f->text.data : "", f->text.len)
           && (f->text.len == 0
               || memchr(f->text.data, '\0', f->text.len) == NULL)
           ? 0 : ubik_fault(e, ".input_data_json", "Input should be a valid "
                            "string");
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
    int           asks;
    char         *text;
    ubik_form_t   f;

    (void) pthread_mutex_lock(&x->lock);
    asks = ubik_owns(c->req, x) ? x->asks : -1;
    (void) pthread_mutex_unlock(&x->lock);

    if (asks == -1) {
        return err_set(e, 404, "not_found", "Execution not found");
    }

    memset(&f, 0, sizeof(f));
    text = NULL;

    if (asks && ubik_form_read(&f, c, e) == 0) {
        text = strndup(f.text.data != NULL ? f.text.data : "", f.text.len);
    }

    buf_free(&f.text);

    if (asks && text == NULL) {
        return e->status != 0 ? -1 : err_set(e, 500, "no_memory",
                                             "out of memory");
    }

    if (!asks || exec_answer(x, text) == -1) {
        free(text);
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
