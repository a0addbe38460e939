
/*
 * In retort-front, as its own uid without any capability.
 */

#include "result.h"


#define VERDICT_TEXT(name, text)  text,

static const char *const  verdict_texts[] = { VERDICTS(VERDICT_TEXT) };

static const char *const  fate_texts[] = {
    "kept", "restored", "lost", "gone"
};


const char *
verdict_text(verdict_t v)
{
    return verdict_texts[v];
}


const char *
fate_text(box_fate_t f)
{
    return fate_texts[f];
}
