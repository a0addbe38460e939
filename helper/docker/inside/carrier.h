
/*
 * What makes a container a sandbox: pid 1 of helper/init, with a thread that
 * carries its descriptors over the container's standard input and output.
 */

#ifndef RETORT_CARRIER_H
#define RETORT_CARRIER_H

#include "../../init/init.h"
#include "../../protocol/init.h"


/* the stream out of the container; 0 is the one into it */

#define CARRIER_OUT  3


/*
 * At the start of the program, before anything is loaded: the stream goes to
 * CARRIER_OUT, and what a library prints to the container's log.  Nothing is
 * written into the workspace while they are loaded.
 */

int carrier_open(void);

/*
 * With everything loaded: waits for the relay's word, seals and becomes pid 1.
 * The caller has one thread and no descriptor above CARRIER_OUT.  The result
 * is an exit code.
 */

int carrier_run(const init_hooks_t *hooks);


/* seal.c: what the engine does not do; ends like seal() */

void carrier_seal(const tpl_req_t *req);

/* nothing is left in the three folders that can be written to: 0 or -1 */

int carrier_empty(void);


#endif /* RETORT_CARRIER_H */
