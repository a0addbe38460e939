
/*
 * A template is not for ever: its address-space layout and its hash seed are
 * those of every sandbox that is forked from it.  After so many forks, or so
 * many minutes, it forks itself once more: that copy goes on serving while
 * this process executes its own program again, with all the imports, in its
 * old place: the launcher knows it as before.  Once the new one is warm it
 * tells the copy to go, and serves from then on; what was asked in between
 * waits in the broker's socket.  If the new one does not come up the copy
 * stays what it is, and so it does if it takes too long: then it ends the new
 * one, which nobody else knows to be late.
 */

#include "retort.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>


#define RENEW_FORKS    10000    /* without a line in the profile */
#define RENEW_MINUTES  60
#define RENEW_SECONDS  300
#define RENEW_BOUNDS   3
#define RENEW_MAX      1000000000UL
#define RENEW_ARGS     1024


static unsigned long  renew_bound[RENEW_BOUNDS] = {
    RENEW_FORKS, RENEW_MINUTES, RENEW_SECONDS
};
static int            renew_given;
static unsigned long  renew_forks;
static time_t         renew_since;
static char           **renew_argv;
static int            renew_heir = -1;  /* copy: the new one's socket */
static int            renew_pidfd = -1; /* and itself */


static time_t
renew_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return ts.tv_sec;
}


static void
renew_begin(void)
{
    renew_forks = 0;
    renew_since = renew_now();
}


int
renew_set(const char *word)
{
    char           *end;
    unsigned long  n;

    errno = 0;
    n = strtoul(word, &end, 10);

    if (word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0
        || n > RENEW_MAX || renew_given == RENEW_BOUNDS)
    {
        return -1;
    }

    renew_bound[renew_given++] = n;

    return 0;
}


void
renew_start(char **argv)
{
    renew_argv = argv;
    renew_begin();
}


/* the copy's own beginning: it goes on where the original was */

static void
renew_copy(const int *pair, int heir)
{
    (void) close(pair[1]);
    renew_heir = pair[0];
    renew_pidfd = heir;
    renew_begin();
}


static void
renew_exec(int old, int pidfd)
{
    int          n;
    char         *argv[RENEW_ARGS];
    char *const  env[] = { NULL };

    for (n = 0; renew_argv[n] != NULL && n < RENEW_ARGS - 3
         && strcmp(renew_argv[n], "--after") != 0; n++)
    {
        argv[n] = renew_argv[n];
    }

    argv[n++] = "--after";
    argv[n++] = "";
    argv[n] = NULL;

    /* "old" and "pidfd" go up first, so that neither is in the other's way */

    old = fcntl(old, F_DUPFD_CLOEXEC, RENEW_END);
    pidfd = fcntl(pidfd, F_DUPFD_CLOEXEC, RENEW_END);

    if (dup2(old, RENEW_OLD) != -1 && dup2(pidfd, RENEW_PID) != -1
        && close_range(RENEW_END, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
    {
        (void) execve("/proc/self/exe", argv, env);
    }

    /* the copy serves, and learns from its socket that nobody comes */

    dprintf(2, "retort-kernel: the template cannot be renewed: %m\n");
    _exit(KERN_EXIT_FATAL);
}


/* in the template, after a fork of it */

void
renew_forked(void)
{
    int                pair[2], pidfd, self;
    long               pid;
    struct clone_args  args;

    renew_forks++;

    if (renew_heir != -1
        || ((renew_bound[0] == 0 || renew_forks < renew_bound[0])
            && (renew_bound[1] == 0 || renew_now() - renew_since
                                       < (time_t) renew_bound[1] * 60)))
    {
        return;
    }

    renew_begin();

    self = (int) syscall(SYS_pidfd_open, getpid(), 0);

    if (self == -1) {
        return;
    }

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, pair) == -1) {
        (void) close(self);
        return;
    }

    memset(&args, 0, sizeof(args));
    args.flags = CLONE_PARENT|CLONE_PIDFD;
    args.pidfd = (uintptr_t) &pidfd;
    pid = syscall(SYS_clone3, &args, sizeof(args));

    if (pid == 0) {
        renew_copy(pair, self);
        return;
    }

    (void) close(pair[0]);
    (void) close(self);

    if (pid == -1) {
        (void) close(pair[1]);
        return;
    }

    renew_exec(pair[1], pidfd);
}


/* msec that the new one still has to come up, or -1 */

static int
renew_left(void)
{
    time_t  left;

    if (renew_bound[2] == 0) {
        return -1;
    }

    left = renew_since + (time_t) renew_bound[2] - renew_now();

    return left <= 0 ? 0 : left < INT_MAX / 1000 ? (int) left * 1000 : INT_MAX;
}


/* the bounds of the one that did not come up are ours again */

static void
renew_stay(const char *what)
{
    dprintf(2, "retort-kernel: the new template %s, the old one stays\n",
            what);
    (void) close(renew_heir);
    (void) close(renew_pidfd);
    renew_heir = renew_pidfd = -1;
}


/* in the template, before it waits for the broker; a copy ends here */

void
renew_wait(int sock)
{
    char           c;
    struct pollfd  p[2];

    while (renew_heir != -1) {
        memset(p, 0, sizeof(p));
        p[0].fd = renew_heir;
        p[1].fd = sock;
        p[0].events = p[1].events = POLLIN;

        if (poll(p, 2, renew_left()) == -1) {
            continue;
        }

        if (p[0].revents != 0) {
            if (recv(renew_heir, &c, 1, 0) == 1) {
                _exit(0);
            }

            renew_stay("is gone");

        } else if (renew_left() == 0) {
            /* what it may say now is not heard any more */
            (void) syscall(SYS_pidfd_send_signal, renew_pidfd, SIGKILL, NULL,
                           0);
            renew_stay("takes too long");

        } else if (p[1].revents != 0) {
            return;
        }
    }
}


/* the new one is warm: the copy ends what it is at, and goes */

void
renew_take_over(void)
{
    struct pollfd  p;

    p.fd = RENEW_PID;
    p.events = POLLIN;

    if (send(RENEW_OLD, "", 1, MSG_NOSIGNAL) == 1) {
        while (poll(&p, 1, -1) == -1) {
            /* its end */
        }
    }

    (void) close(RENEW_OLD);
    (void) close(RENEW_PID);
}
