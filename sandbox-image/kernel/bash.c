
/*
 * A bash cell: one /bin/bash, in a session of its own, with the kernel's
 * working folder and environment.  Its output goes straight to the pipes.
 * Runs in the kernel process.
 *
 * The folder that it ends in becomes the kernel's: a trap that bash reads
 * from BASH_ENV writes it to a file of ours.  A cell that both sets an EXIT
 * trap of its own and calls exit keeps that to itself.
 */

#include "retort.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>


#define BASH_PROGRAM   "/bin/bash"
#define BASH_TRAP      KERN_LIBRARY "/bash_env"
#define BASH_FD_PWD    40               /* named in bash_env */
#define BASH_FD_CODE   41
#define BASH_FD_END    42
#define BASH_ARG_MAX   (120 * 1024)     /* the longest argument, and room */
#define BASH_CANNOT    126


extern char  **environ;


static volatile sig_atomic_t  bash_interrupted;
static volatile pid_t         bash_group;


static void
bash_on_interrupt(int sig, siginfo_t *info, void *context)
{
    int  saved;

    (void) context;
    saved = errno;

    if (interrupt_mine(info)) {
        bash_interrupted = 1;

        if (bash_group > 0) {
            (void) kill(-bash_group, sig);
        }
    }

    errno = saved;
}


/* above the numbers that they get in bash, so that none lands on another */

static int
bash_memfd(const char *name)
{
    int  fd, high;

    fd = memfd_create(name, MFD_CLOEXEC);

    if (fd == -1) {
        return -1;
    }

    high = fcntl(fd, F_DUPFD_CLOEXEC, BASH_FD_END);
    (void) close(fd);

    return high;
}


/* code that is too long for an argument is read from a descriptor */

static int
bash_code_file(const char *code, size_t len)
{
    int      fd;
    ssize_t  n;

    fd = bash_memfd("code");

    while (fd != -1 && len != 0) {
        n = write(fd, code, len);

        if (n > 0) {
            code += n;
            len -= (size_t) n;

        } else if (n == 0 || errno != EINTR) {
            (void) close(fd);
            fd = -1;
        }
    }

    if (fd != -1) {
        (void) lseek(fd, 0, SEEK_SET);
    }

    return fd;
}


static int
bash_attributes(posix_spawnattr_t *attr)
{
    sigset_t  set;

    sigfillset(&set);

    if (posix_spawnattr_init(attr) != 0) {
        return -1;
    }

    (void) posix_spawnattr_setsigdefault(attr, &set);
    sigemptyset(&set);
    (void) posix_spawnattr_setsigmask(attr, &set);

    return posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID
                                    |POSIX_SPAWN_SETSIGDEF
                                    |POSIX_SPAWN_SETSIGMASK);
}


static pid_t
bash_spawn(const char *code, int code_fd, int pwd_fd)
{
    int                         rc;
    char                        *argv[4], trap[] = "BASH_ENV=" BASH_TRAP;
    pid_t                       pid;
    posix_spawnattr_t           attr;
    posix_spawn_file_actions_t  acts;

    argv[0] = "bash";
    argv[1] = code_fd == -1 ? "-c" : "/dev/fd/41";
    argv[2] = code_fd == -1 ? (char *) code : NULL;
    argv[3] = NULL;

    if (bash_attributes(&attr) != 0
        || posix_spawn_file_actions_init(&acts) != 0)
    {
        return -1;
    }

    rc = posix_spawn_file_actions_adddup2(&acts, pwd_fd, BASH_FD_PWD);

    if (rc == 0 && code_fd != -1) {
        rc = posix_spawn_file_actions_adddup2(&acts, code_fd, BASH_FD_CODE);
    }

    if (rc == 0) {
        (void) putenv(trap);
        rc = posix_spawn(&pid, BASH_PROGRAM, &acts, &attr, argv, environ);
        (void) unsetenv("BASH_ENV");
    }

    (void) posix_spawn_file_actions_destroy(&acts);
    (void) posix_spawnattr_destroy(&attr);

    if (rc != 0) {
        dprintf(2, "bash: cannot be started: %s\n", strerror(rc));
        return -1;
    }

    return pid;
}


static int
bash_wait(pid_t pid)
{
    int    status;
    pid_t  rc;

    bash_group = pid;

    if (bash_interrupted) {
        (void) kill(-pid, SIGINT);
    }

    do {
        rc = waitpid(pid, &status, 0);
    } while (rc == -1 && errno == EINTR);

    bash_group = 0;

    if (rc == -1) {
        return BASH_CANNOT;
    }

    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}


/* signals are the cell's while it runs: SIGINT goes to it, SIGCHLD to us */

static int
bash_attend(uint32_t run, const char *code, int code_fd, int pwd_fd)
{
    int               rc;
    pid_t             pid;
    struct sigaction  act, old_int, old_chld;

    memset(&act, 0, sizeof(act));
    act.sa_handler = SIG_DFL;
    (void) sigaction(SIGCHLD, &act, &old_chld);
    act.sa_sigaction = bash_on_interrupt;
    act.sa_flags = SA_SIGINFO;
    bash_interrupted = 0;
    (void) sigaction(SIGINT, &act, &old_int);

    if (interrupt_begin(run)) {
        bash_interrupted = 1;
    }

    pid = bash_spawn(code, code_fd, pwd_fd);
    rc = pid == -1 ? BASH_CANNOT : bash_wait(pid);

    (void) sigaction(SIGCHLD, &old_chld, NULL);
    (void) sigaction(SIGINT, &old_int, NULL);

    return rc;
}


static void
bash_follow(int fd)
{
    char     path[PATH_MAX];
    ssize_t  n;

    n = pread(fd, path, sizeof(path) - 1, 0);

    if (n > 1 && path[n - 1] == '\n') {
        path[n - 1] = '\0';

        if (chdir(path) == -1) {
            dprintf(2, "bash: its last folder is gone: %s\n", path);
        }
    }
}


/* "text" is NULL if the code has to go through a file */

static int
bash_cell(const kern_run_t *run, const char *text)
{
    int  rc, code_fd, pwd_fd;

    rc = BASH_CANNOT;
    code_fd = -1;
    pwd_fd = bash_memfd("pwd");

    if (text == NULL) {
        code_fd = bash_code_file(run->code, run->head.part[0]);
    }

    if (pwd_fd == -1 || (text == NULL && code_fd == -1)) {
        dprintf(2, "bash: cannot be started: %s\n", strerror(errno));

    } else {
        rc = bash_attend(run->head.run, text, code_fd, pwd_fd);

        if ((run->want.flags & KRN_WANT_STAY) == 0) {
            bash_follow(pwd_fd);
        }
    }

    if (pwd_fd != -1) {
        (void) close(pwd_fd);
    }

    if (code_fd != -1) {
        (void) close(code_fd);
    }

    return rc;
}


int
bash_run(const kern_run_t *run)
{
    int     rc;
    char    *text;
    size_t  len;

    len = run->head.part[0];
    text = NULL;

    if (len <= BASH_ARG_MAX && memchr(run->code, '\0', len) == NULL) {
        text = strndup(run->code, len);
    }

    Py_BEGIN_ALLOW_THREADS
    rc = bash_cell(run, text);
    Py_END_ALLOW_THREADS

    free(text);

    return rc;
}
