
/*
 * In retort-front, as its own uid without any capability.  Bytes are dropped
 * from the front of what is held, in steps of a whole tail, so that each costs
 * the same however many there are.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "tail.h"
#include "utf8.h"


#define TAIL_NUMBER  32


void
tail_init(outputs_t *o, void (*spill)(void *to, const char *p, size_t n),
    void *to)
{
    o->tail_max = o->stream_max / 4;
    o->stream_max -= o->tail_max;
    o->spill = spill;
    o->spill_to = to;
}


static int
tail_is_stream(const out_item_t *item)
{
    return item->type == OUT_STDOUT || item->type == OUT_STDERR;
}


static void
tail_free_item(out_item_t *item)
{
    buf_free(&item->text);
    free(item);
}


/* all that there was until now, in the order in which it came */

static void
tail_spill(outputs_t *o)
{
    const out_item_t  *item;

    o->spilled = 1;

    for (item = o->first; item != NULL; item = item->next) {
        if (tail_is_stream(item)) {
            o->spill(o->spill_to, item->text.data, item->text.len);
        }
    }

    for (item = o->held; item != NULL; item = item->next) {
        o->spill(o->spill_to, item->text.data, item->text.len);
    }
}


/* the first "n" bytes of the first item */

static void
tail_drop(outputs_t *o, size_t n)
{
    out_item_t  *item;

    if (!o->spilled && o->spill != NULL) {
        tail_spill(o);
    }

    item = o->held;
    o->held_bytes -= n;
    o->dropped += n;

    if (n == item->text.len) {
        o->held = item->next;
        o->nheld--;
        tail_free_item(item);
        return;
    }

    item->text.len -= n;
    memmove(item->text.data, item->text.data + n, item->text.len);
}


static void
tail_trim(outputs_t *o, uint64_t max)
{
    uint64_t  over;

    while (o->held != NULL
           && (o->held_bytes > max || o->nheld > BOUND_TAIL_ITEMS))
    {
        over = o->nheld > BOUND_TAIL_ITEMS ? UINT64_MAX : o->held_bytes - max;
        tail_drop(o, over < o->held->text.len ? (size_t) over
                                              : o->held->text.len);
    }
}


static out_item_t *
tail_block(outputs_t *o, out_type_t type, uint64_t now)
{
    out_item_t  *item;

    item = o->held != NULL ? o->held_last : NULL;

    if (item != NULL && item->type == type && item->behind == o->last
        && now - item->at <= (uint64_t) BOUND_MERGE * 1000)
    {
        return item;
    }

    item = calloc(1, sizeof(out_item_t));

    if (item == NULL) {
        return NULL;
    }

    item->type = type;
    item->behind = o->last;

    if (o->held != NULL) {
        o->held_last->next = item;

    } else {
        o->held = item;
    }

    o->held_last = item;
    o->nheld++;

    return item;
}


void
tail_stream(outputs_t *o, out_type_t type, const char *p, size_t n,
    uint64_t now)
{
    out_item_t  *item;

    if (n == 0) {
        return;
    }

    if (o->spilled) {
        o->spill(o->spill_to, p, n);
    }

    item = tail_block(o, type, now);

    if (item == NULL || buf_add(&item->text, p, n) == -1) {
        o->hole = 1;
        o->dropped += n;
        return;
    }

    item->at = now;
    o->held_bytes += n;

    if (o->held_bytes > 2 * o->tail_max || o->nheld > BOUND_TAIL_ITEMS) {
        tail_trim(o, o->tail_max);
    }
}


/* a tail begins with a line, or at least with a character */

static void
tail_align(outputs_t *o)
{
    size_t       n;
    const char  *end;
    const buf_t *text;

    text = &o->held->text;
    end = memchr(text->data, '\n', text->len);
    n = end != NULL ? (size_t) (end + 1 - text->data) : 0;

    if (n == 0 || n == o->held_bytes) {
        for (n = 0; n < text->len && n < 3
                    && ((unsigned char) text->data[n] & 0xc0) == 0x80; n++)
        {
            /* void */
        }
    }

    if (n != 0 && n < o->held_bytes) {
        tail_drop(o, n);
    }
}


static void
tail_number(char text[TAIL_NUMBER], uint64_t v)
{
    int     at;
    size_t  digits;

    at = TAIL_NUMBER - 1;
    text[at] = '\0';

    for (digits = 0; digits == 0 || v != 0; digits++, v /= 10) {
        if (digits != 0 && digits % 3 == 0) {
            text[--at] = ',';
        }

        text[--at] = (char) ('0' + v % 10);
    }

    memmove(text, text + at, (size_t) (TAIL_NUMBER - at));
}


void
tail_mark(buf_t *to, uint64_t cut, uint64_t all)
{
    char  n[TAIL_NUMBER], of[TAIL_NUMBER];

    tail_number(n, cut);
    tail_number(of, all);

    if (to->len != 0 && to->data[to->len - 1] != '\n') {
        (void) buf_puts(to, "\n");
    }

    (void) buf_printf(to, "[\xe2\x80\xa6 %s of %s bytes cut \xe2\x80\xa6]\n",
                      n, of);
}


/* at the beginning of the tail */

static void
tail_begin(outputs_t *o)
{
    buf_t              text;
    out_item_t        *item;
    const out_item_t  *head;

    item = o->held;
    head = outputs_last(o, item->type);
    memset(&text, 0, sizeof(text));

    if (head != NULL && head->text.len != 0
        && head->text.data[head->text.len - 1] != '\n')
    {
        (void) buf_puts(&text, "\n");
    }

    tail_mark(&text, o->dropped, o->stream_size);
    (void) buf_add(&text, item->text.data, item->text.len);
    buf_free(&item->text);
    item->text = text;
}


/* what was only held back, and nothing was said since, goes on where it was */

static int
tail_join(outputs_t *o, const out_item_t *item)
{
    out_item_t  *head;

    head = item->behind;

    if (o->dropped != 0 || head == NULL || head != o->last
        || head->type != item->type || head->pos + head->span != o->pos
        || buf_add(&head->text, item->text.data, item->text.len) == -1)
    {
        return -1;
    }

    head->span = head->text.len;
    o->pos = head->pos + head->span;

    return 0;
}


/*
 * Its place in the list is where it was said, its position is behind all that
 * readers may have seen.
 */

static void
tail_insert(outputs_t *o, out_item_t *item, out_item_t *behind)
{
    out_item_t  **link;

    link = behind != NULL ? &behind->next : &o->first;
    item->next = *link;
    *link = item;
    item->pos = o->pos;
    item->span = item->text.len;
    o->pos += item->span;
    o->nitems++;

    if (o->last == behind) {
        o->last = item;
    }
}


void
tail_finish(outputs_t *o)
{
    out_item_t  *item, *next, *said, *behind;

    tail_trim(o, o->tail_max);

    if (o->dropped != 0 && o->held != NULL) {
        tail_align(o);
    }

    if (o->dropped != 0 && o->held != NULL) {
        o->stream_kept += o->held_bytes;
        tail_begin(o);
    }

    said = NULL;
    behind = NULL;

    for (item = o->held; item != NULL; item = next) {
        next = item->next;

        if (tail_join(o, item) == 0) {
            tail_free_item(item);
            continue;
        }

        behind = said != NULL && said->behind == item->behind ? said
                                                              : item->behind;
        tail_insert(o, item, behind);
        said = item;
    }

    o->held = NULL;
}


void
tail_free(outputs_t *o)
{
    out_item_t  *item, *next;

    for (item = o->held; item != NULL; item = next) {
        next = item->next;
        tail_free_item(item);
    }
}
