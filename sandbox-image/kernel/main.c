
/*
 * retort-kernel: CPython with IPython's shell in it, and the loop that serves
 * the front.
 *
 *   retort-kernel --template [OPTION]...    forks sandboxes on demand
 *   retort-kernel --bare     [OPTION]...    is itself the kernel
 *   retort-kernel --carried  [OPTION]...    is pid 1 of a container
 *
 *   --import MODULE    is loaded once, for all sandboxes
 *   --allow PACKAGE    the tenant may import it; other packages then not
 *   --renew NUMBER     after so many forks, and so many minutes, there is
 *                      another template, which comes up within so many
 *                      seconds: twice, or three times
 *   --after ""         this is the other one
 *
 * As a template it runs as the helper's uid without a capability, in a
 * prepared mount namespace, talks to the broker on descriptor 3 and never
 * sees a tenant's byte.  As a kernel it runs inside a sandbox and descriptor
 * 3 is the channel to the front.
 */

#include "retort.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../helper/docker/inside/carrier.h"


#define MAIN_SOCK  3


static void
main_usage(void)
{
    dprintf(2, "usage: retort-kernel --template|--bare|--carried "
               "[--import MODULE | --allow PACKAGE | --renew NUMBER]...\n");
    _exit(KERN_EXIT_FATAL);
}


static int
main_count(const char *path)
{
    int            n;
    DIR            *dir;
    struct dirent  *entry;

    dir = opendir(path);

    if (dir == NULL) {
        dprintf(2, "retort-kernel: %s cannot be read\n", path);
        _exit(KERN_EXIT_FATAL);
    }

    for (n = 0; (entry = readdir(dir)) != NULL; ) {
        n += entry->d_name[0] != '.';
    }

    (void) closedir(dir);

    return n;
}


/*
 * A fork of a process with threads has locks that nobody will release, and a
 * descriptor that a library keeps would be closed under it in the sandbox.
 */

static void
main_check(int end)
{
    int  threads, fds;

    threads = main_count("/proc/self/task");

    /* one of them is the folder's own */
    fds = main_count("/proc/self/fd") - 1;

    if (threads != 1 || fds != end) {
        dprintf(2, "retort-kernel: %d threads and %d descriptors after the "
                   "imports; a template has to have 1 and %d\n", threads,
                fds, end);
        _exit(KERN_EXIT_FATAL);
    }
}


void
kern_policy(int policy)
{
    struct sched_param  param;

    memset(&param, 0, sizeof(param));
    (void) sched_setscheduler(0, policy, &param);
}


static void
main_kernel(int forked)
{
    interp_after_fork(forked);
    snapshot_start();
    wire_start();
    std_start();
    interrupt_start();
    kern_loop();
}


static void
main_forked(void)
{
    hot_copy(HOT_CELL);
    main_kernel(1);
}


static void
main_rehearse(void)
{
    interp_after_fork(1);
    interp_rehearse("rehearse_cell");
}


static void
main_rehearse_plot(void)
{
    interp_after_fork(1);
    interp_rehearse("rehearse_plot");
}


/* whoever started the service may have had some ignored; code expects none */

static void
main_signals(void)
{
    int  sig;

    for (sig = 1; sig < NSIG; sig++) {
        (void) signal(sig, SIG_DFL);
    }
}


static void
main_forked_template(void)
{
    PyOS_AfterFork_Parent();
    renew_forked();
}


static int
main_template(int end, int carried)
{
    init_hooks_t  hooks;

    hooks.before_fork = PyOS_BeforeFork;
    hooks.after_fork_parent = main_forked_template;
    hooks.before_wait = renew_wait;
    hooks.kernel = main_forked;
    hooks.empty = carried ? carrier_empty : NULL;

    interp_warm();
    names_settle();
    main_check(end);
    memory_settle();
    hot_learn(HOT_CELL, main_rehearse);
    hot_learn(HOT_PLOT, main_rehearse_plot);
    kern_policy(SCHED_BATCH);

    if (end == RENEW_END) {
        renew_take_over();
    }

    return carried ? carrier_run(&hooks) : template_serve(MAIN_SOCK, &hooks);
}


int
main(int argc, char **argv)
{
    int   i, n, nallow, bare, carried, end;
    char  **imports, **allow;

    if (argc < 2 || argc % 2 != 0) {
        main_usage();
    }

    bare = strcmp(argv[1], "--bare") == 0;

    carried = strcmp(argv[1], "--carried") == 0;

    if (!bare && !carried && strcmp(argv[1], "--template") != 0) {
        main_usage();
    }

    if (carried && carrier_open() == -1) {
        return KERN_EXIT_FATAL;
    }

    main_signals();

    imports = calloc((size_t) argc, sizeof(char *));
    allow = calloc((size_t) argc, sizeof(char *));

    if (imports == NULL || allow == NULL) {
        return KERN_EXIT_FATAL;
    }

    end = MAIN_SOCK + 1;

    for (n = nallow = 0, i = 2; i < argc; i += 2) {
        if (strcmp(argv[i], "--import") == 0) {
            imports[n++] = argv[i + 1];

        } else if (strcmp(argv[i], "--allow") == 0) {
            allow[nallow++] = argv[i + 1];

        } else if (strcmp(argv[i], "--after") == 0) {
            end = RENEW_END;

        } else if (strcmp(argv[i], "--renew") != 0
                   || renew_set(argv[i + 1]) == -1)
        {
            main_usage();
        }
    }

    if (close_range((unsigned) end, ~0U, 0) == -1) {
        return KERN_EXIT_FATAL;
    }

    renew_start(argv);

    snapshot_init();
    interp_start(imports, n);
    interp_allow(allow, nallow);
    free(imports);
    free(allow);

    if (!bare) {
        return main_template(end, carried);
    }

    main_kernel(0);
}
