
/*
 * Linked into a broker and a map writer of a test's own: that call fails which
 * the file FAULT_PLAN names, "PROGRAM NAME NUMBER", the first being 1, and 0
 * each.  Their filter would end them if strace made it fail.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>


int __real_openat(int dir, const char *path, int flags, ...);
int __real___openat_2(int dir, const char *path, int flags);
ssize_t __real_read(int fd, void *p, size_t n);
ssize_t __real_write(int fd, const void *p, size_t n);
int __real_mkdirat(int dir, const char *path, mode_t mode);
int __real_socketpair(int family, int type, int protocol, int *pair);
int __real_pipe2(int *pair, int flags);
int __real_fcntl(int fd, int command, ...);
int __real_epoll_ctl(int fd, int op, int other, struct epoll_event *ev);
ssize_t __real_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *m, int flags);
int __real_unlinkat(int dir, const char *path, int flags);
int __real_poll(struct pollfd *p, nfds_t n, int timeout);
pid_t __real_waitpid(pid_t pid, int *status, int options);
int __real_close(int fd);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
int __wrap_close(int fd);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);


/* counts from 1 on as soon as the plan is another one */

static int
fails(const char *name)
{
    int          fd, error;
    char         plan[64], who[32], call[16];
    ssize_t      n;
    unsigned     number;
    static char  last[64];
    static unsigned  count;

    fd = __real_openat(AT_FDCWD, FAULT_PLAN, O_RDONLY|O_CLOEXEC);
    n = fd == -1 ? 0 : __real_read(fd, plan, sizeof(plan) - 1);
    plan[n > 0 ? n : 0] = '\0';

    if (fd != -1) {
        (void) __real_close(fd);
    }

    if (strcmp(plan, last) != 0) {
        (void) strcpy(last, plan);
        count = 0;
    }

    error = EIO;

    if (sscanf(plan, "%31s %15s %u %d", who, call, &number, &error) < 3
        || strcmp(who, FAULT_WHO) != 0 || strcmp(call, name) != 0
        || (++count != number && number != 0))
    {
        return 0;
    }

    errno = error;

    return 1;
}


#define WRAP(result, name, call, params, args)                                \
    result __wrap_##name params;                                              \
    result __wrap_##name params                                               \
    {                                                                         \
        return fails(call) ? (result) -1 : __real_##name args;                \
    }

WRAP(int, __openat_2, "openat", (int d, const char *p, int f), (d, p, f))
WRAP(int, openat, "openat", (int d, const char *p, int f), (d, p, f))
WRAP(ssize_t, read, "read", (int f, void *p, size_t n), (f, p, n))
WRAP(ssize_t, write, "write", (int f, const void *p, size_t n), (f, p, n))
WRAP(int, mkdirat, "mkdirat", (int d, const char *p, mode_t m), (d, p, m))
WRAP(int, socketpair, "socketpair", (int f, int t, int p, int *s), (f, t, p, s))
WRAP(int, pipe2, "pipe2", (int *p, int f), (p, f))
WRAP(int, fcntl, "fcntl", (int f, int c, long a), (f, c, a))
WRAP(int, epoll_ctl, "epoll_ctl", (int f, int o, int n, struct epoll_event *e),
     (f, o, n, e))
WRAP(ssize_t, sendmsg, "sendmsg", (int f, const struct msghdr *m, int g),
     (f, m, g))
WRAP(ssize_t, recvmsg, "recvmsg", (int f, struct msghdr *m, int g), (f, m, g))
WRAP(int, unlinkat, "unlinkat", (int d, const char *p, int f), (d, p, f))
WRAP(int, poll, "poll", (struct pollfd *p, nfds_t n, int t), (p, n, t))


/* these two have done what they do, whatever they answer */

int
__wrap_close(int fd)
{
    int  rc;

    rc = __real_close(fd);

    return fails("close") ? -1 : rc;
}


pid_t
__wrap_waitpid(pid_t pid, int *status, int options)
{
    pid_t  ended;

    ended = __real_waitpid(pid, status, options);

    if (ended > 0 && fails("wait4")) {
        errno = ECHILD;
        return -1;
    }

    return ended;
}


/* the broker has one call that its libc has no name for */

long
__wrap_syscall(long number, ...)
{
    int      fd, sig;
    va_list  args;

    va_start(args, number);
    fd = va_arg(args, int);
    sig = va_arg(args, int);
    va_end(args);

    if (number != SYS_pidfd_send_signal) {
        errno = ENOSYS;
        return -1;
    }

    return fails("pidfd_send_signal") ? -1
           : __real_syscall(number, fd, sig, NULL, 0);
}
