
/*
 * The template's serving loop, and what a fork of it does to seal itself.
 *
 * Linked into retort-kernel.  Runs first as the helper's own uid without any
 * capability (template), then as pid 1 of a sandbox, then as the sandbox's
 * kernel process.
 */

#ifndef RETORT_INIT_LIB_H
#define RETORT_INIT_LIB_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>


/*
 * What pid 1 shares with its kernel, and so with the code that runs there:
 * pid 1 believes nothing of it, and reads each value once.
 */

typedef struct {
    _Atomic int32_t   snapshot; /* pid of the kernel's frozen copy, or 0 */
    _Atomic uint32_t  behind;   /* runs that ended since it was made */
    _Atomic uint32_t  interrupt;        /* the run that pid 1's SIGINT is for,
                                         * or as KRN_OTHERS says */
} init_page_t;

/* NULL in a kernel that has no pid 1 of ours */

extern init_page_t  *init_page;

/*
 * Not 0 in a container: the kernel's pipes and its channel are carried, so a
 * pipe that is empty here need not be so at the front.
 */

extern int  init_carried;

/*
 * What pid 1 sends to a snapshot that becomes the kernel.  Its first act is to
 * end all others in the sandbox: its own kill(-1) spares it and pid 1 alone.
 */

#define INIT_TAKE_OVER    SIGUSR2

/* the kernel goes first when memory ends, pid 1 last */

#define INIT_OOM_KERNEL  "500"
#define INIT_OOM_PID1    "200"


typedef struct {
    /* around the clone in the template: PyOS_BeforeFork and its pair */
    void  (*before_fork)(void);
    void  (*after_fork_parent)(void);

    /* in the template, before it reads the next message; need not return */
    void  (*before_wait)(int sock);

    /*
     * Runs in the kernel process of a sealed sandbox.  Descriptors: 0 is
     * /dev/null, 1 and 2 are the pipes, KRN_FD is the channel, nothing else is
     * open.  The first thing that it does is PyOS_AfterFork_Child().  It must
     * not return.
     */
    void  (*kernel)(void);

    /*
     * In a child of pid 1, when all else has ended: no file of the tenant's is
     * left.  0 or -1.  NULL where there is one session to a sandbox.
     */
    int   (*empty)(void);
} init_hooks_t;


/*
 * Tells the broker on "sock" that the template is warm, then makes a sandbox
 * for each message until the broker is gone.  The result is an exit code.
 * The caller has one thread and no descriptor but 0, 1, 2 and "sock".
 */

int template_serve(int sock, const init_hooks_t *hooks);


#endif /* RETORT_INIT_LIB_H */
