
/*
 * Sessions that a client opened and names in each request, as MCP has them.
 * Nothing but their being there, and their version, is known of them; the
 * sandbox of one is found by its id.  They end with the front: clients open new
 * ones then.
 */

#ifndef FRONT_SESSION_H
#define FRONT_SESSION_H

#include <stdint.h>


#define SESSION_ID       40     /* "mcp_<32 hex>", final NUL */
#define SESSION_VERSION  16     /* of the protocol, as it was agreed on */


/* a new one, that lasts for "idle" msec without a request; 0 or -1 */

int session_open(const char *workspace, const char *version, uint64_t idle,
    char id[SESSION_ID]);

/* is it there, and this workspace's?  It lasts for longer then.  1 or 0 */

int session_live(const char *id, const char *workspace,
    char version[SESSION_VERSION]);

/* a call of it begins, and is over: in between it does not rest */

void session_enter(const char *id, const char *workspace);
void session_leave(const char *id, const char *workspace);

/* 0, or -1 if there is none */

int session_end(const char *id, const char *workspace);


#endif /* FRONT_SESSION_H */
