
/*
 * Who asks, signed by somebody whom we share a secret with, for web servers
 * that have no module of ours.  The rule is that of ngx_module/README.md,
 * "Signed identity, byte by byte".
 */

#ifndef FRONT_IDENTITY_H
#define FRONT_IDENTITY_H

#include "request.h"


/*
 * Before the process is locked: reads ".identity" of the store's directory, if
 * it is there.  0, or -1 (logged).
 */

int identity_init(int dir);

/* must every request be signed? */

int identity_required(void);

/*
 * "value" says for the request's method and this "uri" who it is: r->workspace
 * gets the name.  0, or -1 and "e": 401, and 403 without the scope that the
 * request needs.
 */

int identity_check(request_t *r, const char *value, const char *uri, err_t *e);


#endif /* FRONT_IDENTITY_H */
