
/*
 * In retort-front, as its own uid without any capability.
 */

#include <stddef.h>

#include "line.h"


void
line_join(line_t *l, line_wait_t *w)
{
    line_wait_t  **link;

    for (link = &l->first; *link != NULL; link = &(*link)->next) {
        if ((*link)->leaves > w->leaves
            && (*link)->overtaken < (*link)->leaves)
        {
            break;
        }
    }

    w->overtaken = 0;
    w->next = *link;
    *link = w;
    l->n++;

    for (w = w->next; w != NULL; w = w->next) {
        w->overtaken++;
    }
}


uint32_t
line_before(const line_t *l, const line_wait_t *w)
{
    uint32_t            n;
    const line_wait_t  *p;

    /* those who went before it have had what it would leave them */
    n = w->leaves > w->overtaken ? w->leaves - w->overtaken : 0;

    for (p = l->first; p != w; p = p->next) {
        n++;
    }

    return n;
}


int
line_leave(line_t *l, const line_wait_t *w)
{
    line_wait_t  **link;

    for (link = &l->first; *link != w; link = &(*link)->next) {
        /* void */
    }

    *link = w->next;
    l->n--;

    return *link != NULL;
}
