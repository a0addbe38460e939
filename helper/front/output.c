
/*
 * In retort-front, as its own uid without any capability.  Everything in here
 * came from a sandbox: amounts are bounded, contents are not looked at.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "output.h"
#include "tail.h"
#include "utf8.h"


void
outputs_init(outputs_t *o, uint64_t max)
{
    memset(o, 0, sizeof(outputs_t));
    o->stream_max = max;
    o->text_max = max;
}


void
outputs_free(outputs_t *o)
{
    size_t       i;
    out_item_t  *item, *next;

    for (item = o->first; item != NULL; item = next) {
        next = item->next;

        for (i = 0; i < OUT_DATA; i++) {
            buf_free(&item->data[i]);
        }

        buf_free(&item->text);
        buf_free(&item->name);
        buf_free(&item->message);
        buf_free(&item->traceback);
        free(item->artifacts);
        free(item);
    }

    for (i = 0; i < o->nchanges; i++) {
        free(o->changes[i].name);
    }

    free(o->changes);
    tail_free(o);
    memset(o, 0, sizeof(outputs_t));
}


out_item_t *
outputs_add(outputs_t *o, out_type_t type)
{
    out_item_t  *item;

    if (o->nitems >= BOUND_ITEMS) {
        o->nlost++;
        return NULL;
    }

    item = calloc(1, sizeof(out_item_t));
    if (item == NULL) {
        o->nlost++;
        return NULL;
    }

    item->type = type;
    item->pos = o->pos;

    if (type != OUT_STDOUT && type != OUT_STDERR) {
        item->span = 1;
        o->pos++;
    }

    if (o->last != NULL) {
        o->last->next = item;

    } else {
        o->first = item;
    }

    o->last = item;
    o->nitems++;

    return item;
}


static out_item_t *
outputs_block(outputs_t *o, out_type_t type, uint64_t now)
{
    out_item_t  *item;

    item = o->last;

    if (item != NULL && item->type == type
        && now - item->at <= (uint64_t) BOUND_MERGE * 1000)
    {
        return item;
    }

    return outputs_add(o, type);
}


out_change_t *
outputs_change(outputs_t *o, const char *name, size_t len)
{
    out_change_t  *c;

    c = NULL;

    if (o->nchanges < BOUND_CHANGES) {
        c = realloc(o->changes, (o->nchanges + 1) * sizeof(out_change_t));
    }

    if (c != NULL) {
        o->changes = c;
        c += o->nchanges;
        memset(c, 0, sizeof(out_change_t));
        c->name = strndup(name, len);
    }

    if (c == NULL || c->name == NULL) {
        o->more_changes = 1;
        return NULL;
    }

    o->nchanges++;

    return c;
}


/* does what comes begin a line? */

static int
outputs_at_line(const outputs_t *o)
{
    const buf_t  *text;

    text = o->last != NULL ? &o->last->text : NULL;

    return text == NULL || text->len == 0
           || text->data[text->len - 1] == '\n';
}


/* how much of it the head takes: all, or up to the end of a line */

static size_t
outputs_head(const outputs_t *o, const char *p, size_t n)
{
    size_t       room;
    const char  *end;

    room = (size_t) (o->stream_max - o->stream_kept);

    if (n <= room) {
        return n;
    }

    end = memrchr(p, '\n', room);

    if (end == NULL && room < o->stream_max / 8 && outputs_at_line(o)) {
        return 0;
    }

    return end != NULL ? (size_t) (end + 1 - p) : utf8_cut(p, n, room);
}


/* the head as it comes, the rest is held */

static void
outputs_split(outputs_t *o, out_type_t type, const char *p, size_t n,
    uint64_t now)
{
    size_t       keep;
    out_item_t  *item;

    keep = o->headless ? 0 : outputs_head(o, p, n);
    item = keep != 0 && o->nitems < BOUND_ITEMS ? outputs_block(o, type, now)
                                                : NULL;

    if (item == NULL) {
        keep = 0;

    } else {
        o->hole |= buf_add(&item->text, p, keep) == -1;
        o->stream_kept += keep;
        item->at = now;
        item->span = item->text.len;
        o->pos = item->pos + item->span;
    }

    o->headless |= keep < n;
    tail_stream(o, type, p + keep, n - keep, now);
}


void
outputs_stream(outputs_t *o, out_type_t type, const char *p, size_t n,
    uint64_t size, uint64_t now)
{
    size_t       keep, whole;
    uint64_t     room;
    out_item_t  *item;

    if (size == 0) {
        return;
    }

    o->stream_size += size;

    if (o->cut != NULL) {
        return;
    }

    if (o->tail_max != 0) {
        o->hole |= n < size;
        o->dropped += size - n;
        outputs_split(o, type, p, n, now);
        return;
    }

    item = outputs_block(o, type, now);

    if (item == NULL) {
        return;
    }

    room = o->stream_max - o->stream_kept;
    keep = n < room ? n : (size_t) room;

    (void) buf_add(&item->text, p, keep);
    o->stream_kept += keep;
    item->at = now;

    if (keep < size) {
        o->cut = item;
        whole = utf8_cut(item->text.data, item->text.len + 1, item->text.len);
        o->stream_kept -= item->text.len - whole;
        item->text.len = whole;
    }

    item->span = item->text.len;
    o->pos = item->pos + item->span;
}


/* the beginning of a text, up to the end of a line if one is near */

static size_t
outputs_begin(const char *p, size_t n, size_t room)
{
    const char  *end;

    end = room != 0 ? memrchr(p, '\n', room) : NULL;

    if (end != NULL && (size_t) (end + 1 - p) > room / 2) {
        return (size_t) (end + 1 - p);
    }

    return room < n ? utf8_cut(p, n, room) : n;
}


/* the same of its end */

static size_t
outputs_end(const char *p, size_t n, size_t room)
{
    const char  *from, *line;

    from = p + n - room;

    while (room != 0 && ((unsigned char) *from & 0xc0) == 0x80) {
        from++;
        room--;
    }

    line = memchr(from, '\n', room);

    return line != NULL && (size_t) (line - from) < room / 2
           ? room - (size_t) (line + 1 - from) : room;
}


int
outputs_ends(outputs_t *o, buf_t *to, const out_text_t *text)
{
    size_t    head, tail;
    uint64_t  room;

    if (text->n == text->size && text->n <= text->room) {
        head = text->n;
        tail = 0;
        (void) buf_add(to, text->p, head);

    } else {
        room = text->room;
        tail = text->n == text->size
               ? outputs_end(text->p, text->n, (size_t) (room / 4)) : 0;
        room -= tail != 0 ? room / 4 : 0;
        head = outputs_begin(text->p, text->n,
                             text->n < room ? text->n : (size_t) room);
        (void) buf_add(to, text->p, head);
        tail_mark(to, text->size + text->gone - head - tail,
                  text->size + text->gone);
        (void) buf_add(to, text->p + text->n - tail, tail);
    }

    room = o->text_max - o->text_kept;
    o->text_kept += head + tail < room ? head + tail : room;

    return head + tail != text->size + text->gone;
}


int
outputs_text(outputs_t *o, buf_t *to, const char *p, size_t n, uint64_t size)
{
    out_text_t  text;

    text.p = p;
    text.n = n;
    text.size = size;
    text.gone = 0;
    text.room = o->text_max - o->text_kept;

    return outputs_ends(o, to, &text);
}


void
outputs_error(outputs_t *o, const char *name, const char *text)
{
    out_item_t  *item;

    item = outputs_add(o, OUT_ERROR);

    if (item == NULL) {
        return;
    }

    (void) buf_puts(&item->name, name);
    (void) buf_puts(&item->message, text);
    (void) buf_puts(&item->text, text);
}


void
outputs_error_line(buf_t *to, const out_item_t *item)
{
    int  ours;

    /* what we tell ourselves is a sentence as it is */
    ours = item->traceback.len == 0 && item->message.len == item->text.len;

    if (!ours) {
        (void) buf_add(to, item->name.data, item->name.len);
    }

    if (!ours && item->message.len != 0) {
        (void) buf_puts(to, ": ");
    }

    if (item->message.len != 0) {
        (void) buf_add(to, item->message.data, item->message.len);
    }
}


void
outputs_finish(outputs_t *o)
{
    buf_t  *text;

    if (o->tail_max != 0) {
        tail_finish(o);
    }

    if (o->cut != NULL) {
        text = &o->cut->text;

        if (text->len != 0 && text->data[text->len - 1] != '\n') {
            (void) buf_puts(text, "\n");
        }

        (void) buf_printf(text, "[output truncated: %" PRIu64 " of %" PRIu64
                          " bytes]\n", o->stream_kept, o->stream_size);
    }

    if (o->nlost != 0 && o->last != NULL) {
        (void) buf_printf(&o->last->text, "\n[%" PRIu64
                          " further outputs dropped]\n", o->nlost);
    }
}


int
outputs_cut(const outputs_t *o)
{
    return o->cut != NULL || o->dropped != 0;
}


size_t
outputs_size(const outputs_t *o)
{
    size_t             i, n;
    const out_item_t  *item;

    n = 0;

    for (item = o->first; item != NULL; item = item->next) {
        n += sizeof(out_item_t) + item->text.size + item->name.size
             + item->message.size + item->traceback.size
             + item->nartifacts * sizeof(out_artifact_t)
             + item->data[OUT_CHART].size + item->data[OUT_FRAME].size
             + item->data[OUT_VALUE].size;
    }

    for (i = 0; i < o->nchanges; i++) {
        n += sizeof(out_change_t) + strlen(o->changes[i].name);
    }

    return n;
}


const out_item_t *
outputs_at(const outputs_t *o, uint64_t pos)
{
    const out_item_t  *item;

    for (item = o->first; item != NULL; item = item->next) {
        if (pos >= item->pos && pos < item->pos + item->span) {
            return item;
        }
    }

    return NULL;
}


void
outputs_join(const outputs_t *o, out_type_t type, buf_t *to)
{
    const out_item_t  *item;

    for (item = o->first; item != NULL; item = item->next) {
        if (item->type == type) {
            (void) buf_add(to, item->text.data, item->text.len);
        }
    }
}


const out_item_t *
outputs_last(const outputs_t *o, out_type_t type)
{
    const out_item_t  *item, *last;

    last = NULL;

    for (item = o->first; item != NULL; item = item->next) {
        if (item->type == type) {
            last = item;
        }
    }

    return last;
}
