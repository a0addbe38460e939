
/*
 * What a stream says, in no dialect's words.
 *
 * An event's id is a position: 1 after the beginning, and behind that one for
 * each byte of a stream and each other output.  So a reader that knows the
 * last id it saw can go on from there, however the text was cut into pieces.
 */

#ifndef FRONT_EVENT_H
#define FRONT_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "output.h"
#include "picture.h"
#include "result.h"


typedef enum {
    EVENT_BEGIN,                /* there is a sandbox */
    EVENT_TEXT,                 /* a piece of stdout or stderr */
    EVENT_ITEM,                 /* any other output, whole */
    EVENT_END,                  /* the verdict is known */
    EVENT_BEAT                  /* nothing happens; it has no id */
} event_type_t;


typedef struct {
    event_type_t       type;
    uint64_t           id;
    const char        *execution;
    const char        *sandbox;     /* "" if it is not kept */
    const out_item_t  *item;        /* TEXT, ITEM */
    const char        *text;        /* TEXT */
    size_t             len;
    const result_t    *res;         /* END */
    const char        *memo;        /* END: the execution's */
    uint32_t           count;       /* BEGIN: which run of its sandbox it is */

    /* ITEM, in dialects that ask for it: its forms, as far as they are here */
    const picture_t   *pics;
    size_t             npics;
} event_t;


#endif /* FRONT_EVENT_H */
