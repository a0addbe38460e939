
/*
 * Runs that are under way, by the name that their client gave them.
 */

#ifndef FRONT_CALLS_H
#define FRONT_CALLS_H

#include "buf.h"
#include "exec.h"


typedef struct calls_one_s  calls_one_t;

struct calls_one_s {
    exec_t        *x;
    const char    *key;
    calls_one_t   *next;
};


/*
 * "one" is the caller's, with x and key set, and stays where it is until
 * calls_leave().  An empty key is a name that nobody can say.
 */

void calls_enter(calls_one_t *one);
void calls_leave(calls_one_t *one);

/*
 * A talk that waits for its client to say something, in another request.  It
 * is the caller's, with all but "text" set, and stays where it is in between;
 * "wake" is posted when there is a text.
 */

typedef struct calls_ear_s  calls_ear_t;

struct calls_ear_s {
    const char    *key;
    const char    *workspace;
    int            wake;
    buf_t          text;        /* ended by NUL, if there is one */
    calls_ear_t   *next;
};

void calls_listen(calls_ear_t *ear);
void calls_deaf(calls_ear_t *ear);

/* not 0 if it has heard something */

int calls_heard(calls_ear_t *ear);

/* to whom listens for it, once; others say it to nobody */

void calls_tell(const char *key, const char *workspace, const char *p,
    size_t n);

/* cancels those that this workspace calls so; how many */

unsigned calls_cancel(const char *key, const char *workspace);


#endif /* FRONT_CALLS_H */
