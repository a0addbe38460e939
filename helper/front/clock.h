
/*
 * Times: "mono" never goes back and is for limits, "wall" is for people.
 */

#ifndef FRONT_CLOCK_H
#define FRONT_CLOCK_H

#include <stddef.h>
#include <stdint.h>


#define CLOCK_TEXT  32


uint64_t clock_mono_us(void);
uint64_t clock_wall_ms(void);

/* "2026-01-31T12:00:00.250Z" */

void clock_text(uint64_t wall_ms, char text[CLOCK_TEXT]);


#endif /* FRONT_CLOCK_H */
