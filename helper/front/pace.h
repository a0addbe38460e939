
/*
 * What sandboxes cost that nobody runs anything in: they are made, and they
 * die.  A workspace that may have so many runs at once, and has had more
 * sandboxes than its part while others have some, gets its next one when
 * fewer than so many are made or die: else it has the other cores with that.
 */

#ifndef FRONT_PACE_H
#define FRONT_PACE_H


/* before threads; 0 or -1 */

int pace_init(void);

/* a sandbox begins to be made, or is told to die; it is made, or dead */

void pace_begin(void);
void pace_end(void);

/* waits until there are fewer than "n" such, or for a moment */

void pace_wait(unsigned n);


#endif /* FRONT_PACE_H */
