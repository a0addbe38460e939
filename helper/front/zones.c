
/*
 * In retort-front, as its own uid without any capability.  The params come
 * from a web server that was let in by its uid; they are checked all the same.
 */

#include <stdio.h>
#include <string.h>

#include "request.h"
#include "text.h"
#include "zones.h"


#define ZONES_NUMBER  24


/* the next word, and where it ends; NULL if it is empty or too long */

static const char *
zones_word(const char *s, char *word, size_t size)
{
    size_t  n;

    n = strcspn(s, " ");

    if (n == 0 || n >= size) {
        return NULL;
    }

    memcpy(word, s, n);
    word[n] = '\0';

    return s + n;
}


static int
zones_one(const char *s, zone_t *z)
{
    int   i;
    char  word[ZONES_NUMBER];

    s = zones_word(s, z->name, sizeof(z->name));

    for (i = 0; i < ZONE_NUMBERS; i++) {
        s = s != NULL && *s == ' ' ? zones_word(s + 1, word, sizeof(word))
                                   : NULL;

        if (s == NULL || text_number(word, &z->number[i]) == -1) {
            return -1;
        }
    }

    return s != NULL && *s == '\0' ? 0 : -1;
}


size_t
zones_parse(char **params, zone_t zones[ZONES_MAX])
{
    int          i;
    char         name[32];
    size_t       n;
    const char  *value;

    n = 0;

    for (i = 0; i < ZONES_MAX; i++) {
        (void) snprintf(name, sizeof(name), "RETORT_ZONE_%d", i);
        value = request_param(params, name);

        if (value != NULL && zones_one(value, &zones[n]) == 0) {
            n++;
        }
    }

    return n;
}
