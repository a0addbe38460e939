
/*
 * The template's serving loop, and what a fork of it does to seal itself.
 *
 * Linked into retort-kernel.  Runs first as the helper's own uid without any
 * capability (template), then as pid 1 of a sandbox, then as the sandbox's
 * kernel process.
 */

#ifndef RETORT_INIT_LIB_H
#define RETORT_INIT_LIB_H


typedef struct {
    /* around the clone in the template: PyOS_BeforeFork and its pair */
    void  (*before_fork)(void);
    void  (*after_fork_parent)(void);

    /*
     * Runs in the kernel process of a sealed sandbox.  Descriptors: 0 is
     * /dev/null, 1 and 2 are the pipes, KRN_FD is the channel, nothing else is
     * open.  The first thing that it does is PyOS_AfterFork_Child().  It must
     * not return.
     */
    void  (*kernel)(void);
} init_hooks_t;


/*
 * Tells the broker on "sock" that the template is warm, then makes a sandbox
 * for each message until the broker is gone.  The result is an exit code.
 * The caller has one thread and no descriptor but 0, 1, 2 and "sock".
 */

int template_serve(int sock, const init_hooks_t *hooks);


#endif /* RETORT_INIT_LIB_H */
