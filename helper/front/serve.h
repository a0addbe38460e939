
/*
 * One FastCGI request after another, by libfcgi.
 */

#ifndef FRONT_SERVE_H
#define FRONT_SERVE_H

#include "protocol/profile.h"


/* before threads; 0 or -1 */

int serve_init(void);

/* a thread: takes requests from the gate until it is closed */

void *serve_thread(void *settings);

/* one request of the control socket, whose connection is closed after it */

void serve_control(int fd, const retort_settings_t *s);


#endif /* FRONT_SERVE_H */
