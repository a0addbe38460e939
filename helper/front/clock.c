
/*
 * In retort-front, as its own uid without any capability.
 */

#include <stdio.h>
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


void
clock_text(uint64_t wall_ms, char text[CLOCK_TEXT])
{
    char       day[24];
    time_t     sec;
    struct tm  tm;

    sec = (time_t) (wall_ms / 1000);

    if (gmtime_r(&sec, &tm) == NULL
        || strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
    {
        day[0] = '\0';
    }

    (void) snprintf(text, CLOCK_TEXT, "%s.%03uZ", day,
                    (unsigned) (wall_ms % 1000));
}
