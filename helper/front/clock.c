
/*
 * In retort-front, as its own uid without any capability.
 */

#include <string.h>
#include <time.h>

#include "clock.h"


uint64_t
clock_mono_us(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (uint64_t) ts.tv_sec * 1000000 + (uint64_t) ts.tv_nsec / 1000;
}


uint64_t
clock_wall_ms(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_REALTIME, &ts);

    return (uint64_t) ts.tv_sec * 1000 + (uint64_t) ts.tv_nsec / 1000000;
}


/* strftime() asks for the locale and the zone, and takes ten times as long */

static char *
clock_digits(char *p, unsigned value, unsigned n)
{
    unsigned  i;

    for (i = n; i > 0; i--) {
        p[i - 1] = (char) ('0' + value % 10);
        value /= 10;
    }

    return p + n;
}


void
clock_text(uint64_t wall_ms, char text[CLOCK_TEXT])
{
    char       *p;
    size_t      i;
    time_t      sec;
    unsigned    part[5];
    struct tm   tm;

    sec = (time_t) (wall_ms / 1000);

    if (gmtime_r(&sec, &tm) == NULL || tm.tm_year < 0
        || tm.tm_year > 9999 - 1900)
    {
        memset(&tm, 0, sizeof(tm));
        tm.tm_year = 70;
        tm.tm_mday = 1;
    }

    part[0] = (unsigned) tm.tm_mon + 1;
    part[1] = (unsigned) tm.tm_mday;
    part[2] = (unsigned) tm.tm_hour;
    part[3] = (unsigned) tm.tm_min;
    part[4] = (unsigned) tm.tm_sec;

    p = clock_digits(text, (unsigned) tm.tm_year + 1900, 4);

    for (i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
        *p++ = "--T::"[i];
        p = clock_digits(p, part[i], 2);
    }

    *p++ = '.';
    p = clock_digits(p, (unsigned) (wall_ms % 1000), 3);
    *p++ = 'Z';
    *p = '\0';
}
