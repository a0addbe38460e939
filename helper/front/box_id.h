
/*
 * Ids of sandboxes: sbx_<node>_<32 hex digits>, the last BOX_ID_MARK of which
 * only we can make, for one workspace.  So an id that we once gave is known
 * without a table of all that ever were, by every later front, too.
 */

#ifndef FRONT_BOX_ID_H
#define FRONT_BOX_ID_H

#include "job.h"
#include "request.h"


void box_id_init(const char *node);

/* a new one; 0 or -1 */

int box_id_make(char id[JOB_SANDBOX], const char *workspace);

/* the one that a workspace's own name for a session stands for; 0 or -1 */

int box_id_session(char id[JOB_SANDBOX], const char *workspace,
    const char *session);

/* the execution that a client's name for it in such a session stands for */

int box_id_run(char id[REQ_EXECUTION], const char *workspace,
    const char *session, const char *name);

/*
 * An environment: a name for a session that its client is given, and that
 * looks like a UUID; did we give it to this workspace?
 */

#define BOX_ID_ENVIRONMENT  37          /* final NUL */

int box_id_environment(char id[BOX_ID_ENVIRONMENT], const char *workspace);
int box_id_environment_ours(const char *id, const char *workspace);

/* did we give it to this workspace?  1 or 0 */

int box_id_ours(const char *id, const char *workspace);


#endif /* FRONT_BOX_ID_H */
