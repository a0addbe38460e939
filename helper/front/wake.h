
/*
 * How one thread wakes another out of poll(): each thread that runs cells has
 * an eventfd for its whole life.
 */

#ifndef FRONT_WAKE_H
#define FRONT_WAKE_H


/* once, before threads start: room for "n" of them; 0 or -1 */

int wake_init(unsigned n);

/* this thread's; the first call takes one, -1 if there are too many */

int wake_fd(void);

/* any thread may post to any of them; clear() is for the owner */

void wake_post(int fd);
void wake_clear(int fd);

/*
 * What a thread does shall end: because somebody asked, until that thread
 * begins something new; or because the service stops and patience is over,
 * which wakes all and stays true.
 */

typedef enum { WAKE_GO_ON, WAKE_ASKED, WAKE_END } wake_why_t;

void wake_begin(void);
void wake_cancel(int fd);
void wake_cancel_all(void);
wake_why_t wake_cancelled(void);


/*
 * Not 0 if the web server gave up the request on this connection: it closed,
 * or sent something where nothing belongs (an abort).  Pipelining is none of
 * FastCGI's habits, so any byte counts.
 */

int client_gone(int fd);


#endif /* FRONT_WAKE_H */
