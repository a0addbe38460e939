
/*
 * retortctl's own types.  Everything here says on standard error what is
 * wrong and returns an exit code, or -1 where that is said.
 */

#ifndef RETORT_CTL_H
#define RETORT_CTL_H

#include <stddef.h>
#include <stdio.h>

#include <json-c/json.h>


typedef enum {
    CTL_OK = 0,
    CTL_NO = 1,                 /* refused, not found, not good */
    CTL_USAGE = 2,
    CTL_AWAY = 3,               /* no front could be asked */
    CTL_TIMEOUT = 4,            /* how a run ended, if not as ok or error */
    CTL_OOM = 5,
    CTL_KILLED = 6,
    CTL_CANCELLED = 7,
    CTL_LOST = 8
} ctl_exit_t;


/* what the command line said */

typedef struct {
    const char  *socket;
    const char  *conf;
    const char  *keys;
    const char  *pid_file;
    const char  *workspace;     /* NULL: not said, as below */
    const char  *profile;
    const char  *scope;
    const char  *language;
    const char  *timeout;
    const char  *id;
    const char  *parameters;
    const char  *head;
    int          json;
    int          all;
    int          off;
    int          kick;
    int          reload;
    int          save;
    char       **args;          /* behind the command's words */
    int          nargs;
} ctl_t;


/* "retortctl: ..." on standard error */

void ctl_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));


/* wire.c */

typedef struct {
    const char  *name;
    const char  *value;         /* NULL: left out */
} wire_param_t;

typedef struct {
    int     status;             /* HTTP */
    char    type[64];           /* of the body, without parameters */

    /* gets the body as it comes, once status and type are known */
    void  (*body)(void *data, const char *p, size_t n);
    void   *data;

    /* called every "tick" msec while nothing comes; 0: never */
    void  (*wait)(void *data);
    int     tick;
} wire_answer_t;

/*
 * One request on the control socket; "params" ends with a NULL name.  CTL_OK
 * and an answer, CTL_AWAY if nobody was reached, CTL_LOST if the answer broke
 * off.
 */

int wire_ask(const char *path, const wire_param_t *params, const char *body,
    size_t len, wire_answer_t *a);


/*
 * ask.c: a request of the control API.  CTL_OK and the answer, which the
 * caller puts; a refusal is told and is CTL_NO.
 */

int ask(const ctl_t *ctl, const char *method, const char *path,
    json_object **answer);

/* the same for a body that was already collected */

int ask_json(const wire_answer_t *a, const char *body, json_object **answer);

/* prints it as one line */

void ask_print(json_object *o);

/* strings and numbers of an answer; "-" and 0 if they are not there */

const char *ask_text(json_object *o, const char *key);
long long ask_number(json_object *o, const char *key);


/* term.c: control characters made visible if "f" is a terminal */

void term_write(FILE *f, const char *p, size_t n);


/* events.c: how the native API answers, whole or line by line */

typedef struct events_s  events_t;

/* NULL: no memory */

events_t *events_new(const ctl_t *ctl);
void events_feed(events_t *e, const wire_answer_t *a, const char *p, size_t n);

/* nothing came for a while: a line of progress on the terminal */

void events_wait(events_t *e);

/* prints what is left, and frees it; how the run ended */

int events_end(events_t *e, const wire_answer_t *a);
void events_free(events_t *e);


/* keyfile.c */

typedef struct {
    char    *workspace;
    char     hash[65];
    char    *profiles;          /* "": every one */
    char    *scopes;            /* "": execute and files */
    char    *line;              /* as it stands, what is no key too */
} keyfile_line_t;

typedef struct {
    char            *path;      /* of the file itself, no symbolic link */
    int              dir;       /* its directory, locked */
    int              fd;        /* the file, -1 if there is none */
    keyfile_line_t  *lines;
    size_t           n;
} keyfile_t;

/* reads the whole file; "change": and keeps others from changing it; 0 or -1 */

int keyfile_open(keyfile_t *k, const char *path, int change);
void keyfile_close(keyfile_t *k);

/* a new line at the end; the texts are copied; 0 or -1 */

int keyfile_add(keyfile_t *k, const char *workspace, const char *hash,
    const char *profiles, const char *scopes);

/* the whole file anew, its owner and mode as they were; 0 or -1 */

int keyfile_write(keyfile_t *k);

/* a workspace's key itself, beside the file, for root alone; 0 or -1 */

int keyfile_save(keyfile_t *k, const char *workspace, const char *key);
int keyfile_saved(keyfile_t *k, const char *workspace, char *key, size_t size);
void keyfile_unsave(keyfile_t *k, const char *workspace);


/* the commands */

int show_ps(const ctl_t *ctl);
int show_one(const ctl_t *ctl);
int show_kill(const ctl_t *ctl);
int show_drain(const ctl_t *ctl);
int show_pool(const ctl_t *ctl);
int run_file(const ctl_t *ctl);
int key_add(const ctl_t *ctl);
int key_list(const ctl_t *ctl);
int key_revoke(const ctl_t *ctl);
int key_rotate(const ctl_t *ctl);
int key_fetch(const ctl_t *ctl);
int check_profile(const ctl_t *ctl);
int pool_profile(const ctl_t *ctl);
int audit_verify(const ctl_t *ctl);


#endif /* RETORT_CTL_H */
