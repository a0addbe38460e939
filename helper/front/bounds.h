
/*
 * What the front allows itself and its peers, where no profile says it.
 * Times are milliseconds.
 */

#ifndef FRONT_BOUNDS_H
#define FRONT_BOUNDS_H


/* the web server */

#define BOUND_HEAD          65536       /* bytes of BEGIN and all params */
#define BOUND_CONNS         1024        /* connections, busy or idle */
#define BOUND_HEAD_TIME     10000       /* from a first byte to whole params */
#define BOUND_BODY_TIME     60000       /* a whole body */
#define BOUND_BODY_STALL    10000       /* between two reads of it */
#define BOUND_SEND_TIME     60000       /* a whole answer */
#define BOUND_SEND_STALL    10000       /* for one write of it */

/* a request */

#define BOUND_JSON_DEPTH    32
#define BOUND_FILES         64          /* input files */
#define BOUND_FILE_NAME     1024        /* bytes of a path */
#define BOUND_FILE_DEPTH    16          /* components of a path */
#define BOUND_ENV_COUNT     256
#define BOUND_ENV_BYTES     65536
#define BOUND_WAITERS       16          /* requests that wait for one box */
#define BOUND_NOTE          32768       /* bytes of a dialect beside a box */

/* sessions that clients open */

#define BOUND_SESSIONS      4096
#define BOUND_SESSIONS_OWN  512         /* of one workspace */
#define BOUND_LASTING       32          /* runs that need no client */
#define BOUND_TALK          30000       /* for a client to say something */
#define BOUND_PICTURES      4194304     /* bytes of them inside of one answer */

/* files of a session */

#define BOUND_FILE_TIME     600000      /* one transfer */
#define BOUND_FILE_STALL    10000       /* a kernel that says nothing in it */
#define BOUND_FILE_LIST     1000        /* entries of a list */
#define BOUND_FILE_HEAD     4096        /* bytes of a part's header lines */
#define BOUND_CHANGES       256         /* told of one run */
#define BOUND_BOUNDARY      70          /* bytes, as RFC 2046 has it */

/* a run */

#define BOUND_GRACE         500         /* from SIGINT to SIGKILL */
#define BOUND_KILL_TIME     10000       /* from SIGKILL to the end of the box */
#define BOUND_REST_TIME     10000       /* to empty a container */
#define BOUND_REUSE         3600000     /* age at which one is used again */
#define BOUND_RESTORE_TIME  10000       /* for a snapshot to take over */
#define BOUND_ITEMS         1000        /* outputs of one run */
#define BOUND_TAIL_ITEMS    256         /* pieces of the end of its streams */
#define BOUND_DATA          262144      /* bytes of a chart or a table */
#define BOUND_DATA_RUN      1048576     /* of all in one run */
#define BOUND_ERROR         1048576     /* an exception without traceback */
#define BOUND_ERROR_TEXT    2048        /* of each of its texts always fits */
#define BOUND_MERGE         200         /* output this close is one block */
#define BOUND_DETACHED      32          /* runs whose answer is out already */
#define BOUND_DETACHED_OWN  16          /* of one workspace */
#define BOUND_TURN          256         /* packets read before the rest again */

/* turns: runs one after the other that one request asks for */

#define BOUND_STEPS         32          /* runs of one turn */
#define BOUND_TURNS         32          /* that go on at once */
#define BOUND_TURNS_OWN     16          /* of one workspace */
#define BOUND_TURNS_KEPT    64          /* that are over and may be asked for */
#define BOUND_ROUNDS        32          /* calls of a model in one request */
#define BOUND_MESSAGE       33554432    /* bytes of an answer of a model */
#define BOUND_TURN_TIME     240000      /* until a turn is answered as paused */

/* what remains of it */

#define BOUND_EXEC_KEEP     600000      /* a result, after the run is over */
#define BOUND_EXEC_BYTES    67108864    /* of all results that are kept */
#define BOUND_EXECS         8192        /* results that are kept */
#define BOUND_BEAT          10000       /* silence in a stream */
#define BOUND_PIECE         32768       /* bytes of text in one event */

/* the broker */

#define BOUND_BROKER_TIME   30000       /* an answer */
#define BOUND_EXIT_TIME     2000        /* the end of a box that was killed */
#define BOUND_WARM_TIME     10000       /* for a template to become warm */

/* retort-fetch */

#define BOUND_OUTSIDE_TIME  3660000     /* one request: its own are shorter */
#define BOUND_CACHE_FILES   128         /* fetched, and kept for a moment */
#define BOUND_CACHE_BYTES   33554432    /* of all of them */
#define BOUND_CACHE_FILE    4194304     /* of one of them */
#define BOUND_CACHE_TIME    60          /* seconds */

/* the front itself */

#define BOUND_DRAIN_TIME    5000        /* running requests at the end */
#define BOUND_CANCEL_TIME   3000        /* cancelled ones after that */

/* files that clients name by an id */

#define BOUND_SHELF_FILE    524288000   /* bytes of one */
#define BOUND_SHELF         10000       /* of one workspace */
#define BOUND_SHELF_MADE    2592000     /* seconds that one of a run lives */
#define BOUND_SHELF_PAST    2592000     /* seconds that a past one is told of */

/* the log of runs */

#define BOUND_AUDIT_CODE    131072      /* bytes of code in a line */
#define BOUND_AUDIT_LIST    64          /* files, artifacts in a line */
#define BOUND_AUDIT_TELL    600000      /* between two heads in our own log */

/* the artifact store; these two are seconds */

#define BOUND_LINK_LIFE     31622400    /* for which a link may be good */
#define BOUND_SWEEP_TIME    600         /* a file may stay longer for */


#endif /* FRONT_BOUNDS_H */
