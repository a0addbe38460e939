
/*
 * The kernel's own parts, among themselves.  Everything here runs inside the
 * sandbox, beside a tenant's code and with no more rights than that has.
 *
 * "Needs the GIL" means: called with it held, may let go of it while it
 * waits, holds it again on return.
 */

#ifndef RETORT_KERNEL_PARTS_H
#define RETORT_KERNEL_PARTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel.h"


#define KERN_WORKSPACE  "/workspace"
#define KERN_LIBRARY    "/usr/lib/retort"
#define KERN_OUTPUTS    "/tmp/outputs"          /* OUTPUT_DIR */
#define KERN_RUN_MAX    (256 * 1024 * 1024)     /* code, env and stdin */
#define KERN_CODE_MAX   (32 * 1024 * 1024)
#define KERN_ENV_MAX    (1024 * 1024)
#define KERN_FORMS_MAX  32                      /* forms of one display */
#define KERN_TEXT_MAX   (256 * 1024)            /* of KRN_ERROR's first */


/* exit codes of a kernel that cannot go on */

typedef enum {
    KERN_EXIT_GONE = 0,         /* the other end was closed */
    KERN_EXIT_FATAL = 1,        /* said on stderr */
    KERN_EXIT_WIRE = 2          /* a packet that breaks the protocol */
} kern_exit_t;


typedef struct {
    const void  *data;
    size_t       len;
} wire_part_t;


/* a whole KRN_RUN; "body" is malloc'd and belongs to whoever holds this */

typedef struct {
    krn_head_t   head;
    char        *body;
    const char  *code;          /* head.part[0] bytes */
    const char  *env;           /* head.part[1] bytes */
    const char  *input;         /* head.part[2] bytes */
    krn_want_t  want;           /* zeros if nothing was said */
} kern_run_t;


/* one packet as it came; "len" bytes of payload */

typedef struct {
    krn_head_t  head;
    char        payload[KRN_PAYLOAD];
} wire_packet_t;


/* wire.c */

/*
 * Takes the channel into use in this process; children that are forked from
 * here on lose it.  Once, when the kernel starts.
 */

void wire_start(void);

/* 1 in a process that tenant code forked: it has no channel */

int wire_forked(void);

/* between 1 and 0, a fork keeps the channel */

void wire_keep(int on);

/* in a copy of the kernel that becomes it: nothing is under way */

void wire_renew(void);

/*
 * One lock keeps messages whole when several threads write.  Needs the GIL;
 * no Python code may run between the two.
 */

void wire_lock(void);
void wire_unlock(void);

/*
 * Sends a message of up to KRN_PARTS parts.  Needs the GIL and the lock.
 * Says nothing while a reset waits.  If the channel is gone the process ends.
 */

void wire_send(uint8_t type, uint32_t a, uint32_t b, const wire_part_t *parts,
    int nparts);

/* if a pipe holds bytes: lets the front read them first; as wire_send() */

void wire_sync(void);

/*
 * 1 if a packet is there; waits for one up to "timeout" msec, -1 for ever.  0
 * also if a signal came instead.
 */

int wire_waiting(int timeout);

/* 1 if a packet is there; for a signal handler */

int wire_asked(void);

/* waits for a packet and checks it, with the GIL released; or ends */

void wire_receive(wire_packet_t *packet);

/*
 * The body of a message whose first packet is given: calls "take" for each
 * piece.  0, or -1 if a KRN_RESET came in between (packet holds it).
 */

typedef void (*wire_take_pt)(void *data, const char *bytes, size_t len);

int wire_body(wire_packet_t *packet, wire_take_pt take, void *data);

/* the run that messages belong to, and whether there is one */

void wire_begin(uint32_t run);
void wire_end(void);
int wire_running(void);

/* messages belong to this run, though none is under way */

void wire_as(uint32_t run);

/*
 * Answers a reset, at once or at the end of the run; needs the GIL.  With it
 * goes how many runs are undone, until a front that heard that had its next
 * run: one that died may have told nobody.
 */

void wire_undo(uint32_t runs);
void wire_reset(uint32_t run);


/* out.c: sys.stdout and sys.stderr */

/* makes the type; NULL with an exception */

PyObject *out_type(void);

/* writes bytes as if the tenant had; which = 1 or 2; needs the GIL */

void out_write(int which, const char *data, size_t len);

/* sends what is held back; needs the GIL and the lock */

void out_flush_locked(void);

/* the same without the lock */

void out_flush(void);

/* writes it to descriptors 1 and 2: there is no channel yet */

void out_dump(void);

/* forgets what is held back: another process will send it, or nobody */

void out_forget(void);


/* api.c: the module _retort, what Python code of the kernel may ask for */

PyObject *api_init(void);


/* interp.c */

/* environment, interpreter, shell; ends the process with a message if not */

void interp_start(char *const *imports, int n);

/* what the tenant's own code may import; n = 0: everything */

void interp_allow(char *const *names, int n);

/* everything once, so that it is paid for in the template */

void interp_warm(void);

/* first thing in a forked kernel process, and in a bare one */

void interp_after_fork(int forked);

/* OpenBLAS was loaded with one thread; this gives it more */

void interp_blas(int cpus);

/*
 * Runs a cell of ours and forgets it: the pages that every cell writes to are
 * then this process's own before the tenant waits for them.
 */

void interp_limber(void);

/* in a child of the template: runs a cell that is like most, or plots */

void interp_rehearse(const char *method);

/* calls a method of the shell; a new reference, or NULL with an exception */

PyObject *interp_shell(const char *method, const char *format, ...);

/* the dictionary that tenant code runs in; a new reference or NULL */

PyObject *interp_namespace(void);


/* memory.c: what makes a fork of this process cheap */

typedef struct {
    char    *start;
    size_t  len;
    int     prot;
} memory_region_t;

void memory_settle(void);

/* what was moved by it */

const memory_region_t *memory_moved(unsigned *n);


/* hot.c: the pages that every kernel writes to, or every first plot */

typedef enum { HOT_CELL, HOT_PLOT, HOT_SETS } hot_set_t;

/*
 * In the template: "rehearse" does in a child what a kernel does up to its
 * first cell, and with that.
 */

void hot_learn(hot_set_t set, void (*rehearse)(void));

/* in a kernel, before any of it happens */

void hot_copy(hot_set_t set);


/*
 * renew.c: another template in the place of this one, after so many forks or
 * minutes.  The new one finds two descriptors: a socket to the copy of the old
 * one that serves meanwhile, and its pidfd.
 */

#define RENEW_OLD  4
#define RENEW_PID  5
#define RENEW_END  6

/*
 * The forks, then the minutes, then the seconds that the new one has to come
 * up; 0: not because of them, or as long as it takes.  -1: no number
 */

int renew_set(const char *word);

/* at the start: what will be executed again */

void renew_start(char **argv);

void renew_take_over(void);
void renew_wait(int sock);
void renew_forked(void);


/* names.c: libraries are found in a sandbox by their paths as well */

void names_settle(void);


/* main.c */

/*
 * SCHED_BATCH for what nobody waits for: templates, sandboxes that are made
 * ready, snapshots and their end.  It never goes before somebody's cell.
 */

void kern_policy(int policy);


/* run.c */

/* serves the channel; never returns */

void kern_loop(void);

/* forgets an interrupt that came too late for its cell; needs the GIL */

void run_drop_signals(void);


/* interrupt.c: SIGINT, and whose it is */

void interrupt_start(void);

/* nothing is asked; a packet is about to be read: it may begin a run */

void interrupt_idle(void);
void interrupt_expect(void);

/* the first step of a cell is next; 1 if it was interrupted before */

int interrupt_begin(uint32_t run);

/* no cell or transfer goes on; what came for it is forgotten; needs the GIL */

void interrupt_end(void);

/* in a process that tenant code forked: it gets signals as they come */

void interrupt_forked(void);

/* a front has asked to be in step: what it sends later is not for what was */

void interrupt_reset(uint32_t front);

/* for another handler of SIGINT: 1 if the cell is meant */

int interrupt_mine(const siginfo_t *info);


/* snapshot.c: the copy that stands by; all need the GIL */

void snapshot_init(void);
void snapshot_start(void);

/* something of the tenant's ran, though no cell did */

void snapshot_touched(void);

/* a cell is over and will be told: it is not in the copy */

void snapshot_behind(void);

/*
 * Before a run, which wants to be protected or not, and after it.  1 in a copy
 * that has taken over: the run that it was made for is dead.
 */

int snapshot_before(int wanted);
int snapshot_after(void);


/* env.c: what a run brings along and loses again; needs the GIL */

void env_enter(const kern_run_t *run);
void env_leave(const kern_run_t *run);


/* std.c: descriptors 0 to 2 */

/* once, when the kernel starts: remembers what they are */

void std_start(void);

/* after a cell: those that are closed are opened again */

void std_mend(void);


/* usage.c: bytes that were written since the last call, by this process */

uint64_t usage_written(void);


/* bash.c: runs the code, returns the exit code; needs the GIL */

int bash_run(const kern_run_t *run);


/* file.c, file_get.c: what is asked about files, each from its first packet */

/*
 * Serves KRN_FILE, KRN_PUT, KRN_GET, KRN_LIST and KRN_DELETE; 0, or -1 if a
 * KRN_RESET came instead of the rest (packet holds it).
 */

int file_serve(wire_packet_t *packet);


/* changes.c: what a run did to /workspace, and what it left for its client */

/* once in the template, so that the digest is paid for there */

void changes_warm(void);

/* before the first run: the folder that OUTPUT_DIR names */

void changes_start(void);

/* what is there now was not made by a run */

void changes_forget(void);

/* around each run; the second with the lock held */

void changes_before(void);
void changes_after(const krn_want_t *want);


#endif /* RETORT_KERNEL_PARTS_H */
