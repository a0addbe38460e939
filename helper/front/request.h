
/*
 * What the web server says about a request (FastCGI params), checked.
 */

#ifndef FRONT_REQUEST_H
#define FRONT_REQUEST_H

#include <stdint.h>

#include "err.h"
#include "link.h"
#include "protocol/profile.h"


#define REQ_API        16
#define REQ_WORKSPACE  65
#define REQ_EXECUTION  56       /* exec_<node>_<32 hex>, final NUL */
#define REQ_IMPORTS    1001


typedef struct {
    const char              *method;    /* views into the params */
    const char              *script;
    const char              *path;      /* PATH_INFO, "" if absent */
    const char              *type;      /* CONTENT_TYPE, "" if absent */
    const char              *accept;    /* "" if absent */
    const char              *session;   /* X-Session-Id, "" if absent */
    const char              *query;     /* QUERY_STRING, "" if absent */
    const char              *last;      /* Last-Event-ID, "" if absent */
    uint64_t                 length;    /* CONTENT_LENGTH, 0 if absent */
    char                   **params;    /* all of them, for request_param() */
    int                      control;   /* it came by the control socket */

    char                     api[REQ_API];
    char                     workspace[REQ_WORKSPACE];
    char                     execution[REQ_EXECUTION];
    char                     imports[REQ_IMPORTS];  /* names; "": all */
    link_t                   link;      /* how those to artifacts are made */

    const retort_profile_t  *profile;

    /* the profile's, lowered by this location's ceilings */
    retort_box_limits_t      box;
    retort_box_limits_t      box_max;
    retort_run_limits_t      run;
    retort_run_limits_t      run_max;

    uint32_t                 running;   /* of the workspace at once; 0: any */
    uint64_t                 started;   /* clock_mono_us() */
} request_t;


/*
 * "envp" is "NAME=value" strings, NULL at the end, that live as long as the
 * request.  0, or -1 and "e".  A request whose api is "health", "metrics",
 * "status" or "control" needs nothing but a method and a path; its profile is
 * NULL.  "control", and nothing else but "native", goes by the control socket,
 * which the caller has told in r->control.
 */

int request_parse(request_t *r, char **envp, const retort_settings_t *s,
    err_t *e);

/* overwrites what is secret in the params */

void request_wipe(char **envp);

/* the value of a param, NULL if it is not there */

const char *request_param(char **params, const char *name);

/* makes it outlive its params: the views become "" */

void request_detach(request_t *r);


#endif /* FRONT_REQUEST_H */
