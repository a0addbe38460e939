
/*
 * Why a request cannot be done, in the words that the client will read.
 */

#ifndef FRONT_ERR_H
#define FRONT_ERR_H


typedef struct {
    int   status;               /* HTTP */
    int   retry_after;          /* seconds; 0: no such line */
    char  code[32];
    char  text[200];
} err_t;


/*
 * Fills "e" and returns -1, so that a caller can return its result.  "text" is
 * cut if too long; bytes of a peer may go into it, they are made valid UTF-8
 * when the answer is written.
 */

int err_set(err_t *e, int status, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));


#endif /* FRONT_ERR_H */
