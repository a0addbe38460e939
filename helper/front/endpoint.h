
/*
 * Calls of the endpoints that the operator named in retortd's file:
 *
 *   endpoint NAME URL [key_file=PATH] [key_header=NAME] [model=NAME] ...
 *
 * retort-fetch makes them.  The front knows a name; it never sees the URL nor
 * the key.
 */

#ifndef FRONT_ENDPOINT_H
#define FRONT_ENDPOINT_H

#include <stddef.h>

#include "err.h"
#include "protocol/fetch.h"


/*
 * Who takes the answer, as it comes.  "head" once, before any data: HTTP's
 * status, whatever it is, and the type without parameters ("" if it is not
 * told).  Each returns 0, or -1: enough.
 */

typedef struct {
    int   (*head)(void *own, int status, const char *type);
    int   (*data)(void *own, const char *p, size_t n);
    void   *own;
} endpoint_sink_t;


/*
 * POSTs "len" bytes of JSON to the endpoint, and gives the answer to the sink.
 * "headers" are lines "Name: value\n" besides, or NULL; none that is about the
 * connection, the key or the body.  "client" is watched, -1: nobody waits.
 *
 * 0 if the whole answer was there; -1 and "e" otherwise:
 *
 *   503 endpoint_unknown   the operator named none of this name
 *   502 endpoint_failed    it cannot be reached, its answer is cut or too long
 *   504 endpoint_timeout   its timeout is over
 *   502 endpoint_enough    the sink wanted no more
 *   503 fetch_away, 503 fetch_busy, 502 fetch_lost    retort-fetch
 *   0   cancelled          the client is gone, or the service stops
 *
 * If "head" was called before, a part of the answer may be with the sink.
 */

int call_endpoint(const char *name, const char *headers, const char *body,
    size_t len, int client, const endpoint_sink_t *sink, err_t *e);

/*
 * Its model, as the operator wrote it ("" if he did not): 0, or -1 and "e" as
 * above.  This is also how to ask whether there is such an endpoint.
 */

int endpoint_model(const char *name, char model[FETCH_TEXT], err_t *e);


#endif /* FRONT_ENDPOINT_H */
