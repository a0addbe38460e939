
/*
 * In retort-front, as its own uid without any capability.  What a dialect has
 * to remember of a box for its clients, which nobody else reads, and what is
 * remembered of its turns.
 */

#include <string.h>

#include "bounds.h"
#include "box_table.h"


int
box_note_read(const char *sandbox, const char *workspace, buf_t *to,
    uint64_t *version, err_t *e)
{
    int     rc;
    box_t  *box;

    rc = -1;
    (void) pthread_mutex_lock(&box_mutex);

    box = box_by_name(sandbox, workspace, e);

    if (box != NULL) {
        *version = box->note_version;
        rc = buf_add(to, box->note.data != NULL ? box->note.data : "",
                     box->note.len);

        if (rc == -1) {
            (void) err_set(e, 500, "no_memory", "out of memory");
        }
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return rc;
}


/* the mutex is held */

static int
box_note_set(box_t *box, const buf_t *note, err_t *e)
{
    buf_t  copy = { 0 };

    if (buf_add(&copy, note->data, note->len) == -1) {
        buf_free(&copy);
        return err_set(e, 500, "no_memory", "out of memory");
    }

    buf_free(&box->note);
    box->note = copy;
    box->note_version++;

    return 0;
}


int
box_note_write(const char *sandbox, const char *workspace, const buf_t *note,
    uint64_t version, err_t *e)
{
    int     rc;
    box_t  *box;

    if (note->len > BOUND_NOTE) {
        return err_set(e, 400, "too_large", "more than %d bytes about one "
                       "sandbox", BOUND_NOTE);
    }

    (void) pthread_mutex_lock(&box_mutex);

    box = box_by_name(sandbox, workspace, e);
    rc = box == NULL ? -1 : box->note_version != version ? 1
         : box_note_set(box, note, e);

    (void) pthread_mutex_unlock(&box_mutex);

    return rc;
}


void
box_begins(box_t *box, uint32_t mark)
{
    (void) pthread_mutex_lock(&box_mutex);
    memmove(&box->marks[1], &box->marks[0],
            sizeof(box->marks) - sizeof(box->marks[0]));
    box->marks[0] = mark;
    (void) pthread_mutex_unlock(&box_mutex);
}


int
box_began(const char *sandbox, const char *workspace, uint32_t mark)
{
    int     i, began;
    err_t   e;
    box_t  *box;

    began = 0;
    (void) pthread_mutex_lock(&box_mutex);

    box = box_by_name(sandbox, workspace, &e);

    for (i = 0; box != NULL && i < JOB_MARKS; i++) {
        began |= box->past[i] == mark;
    }

    (void) pthread_mutex_unlock(&box_mutex);

    return began;
}
