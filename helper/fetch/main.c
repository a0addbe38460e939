
/*
 * retort-fetch: fetches what clients name by URL, and calls the endpoints that
 * the operator named.  Started by retortd as its own uid, with one end of the
 * channel to the front; it ends when nobody holds the other end any more.
 *
 *   retort-fetch UID-OF-FRONT [NAME WORD... ""]...
 *
 * Descriptor at start: 3, the channel.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fdpass.h"
#include "fetch.h"
#include "log.h"


static fetch_conf_t  main_conf;
static pid_t         main_pid;


static void
main_chld(int sig)
{
    (void) sig;
}


/* a child's end is heard in main_wait() and nowhere else */

static int
main_signals(sigset_t *old)
{
    sigset_t          chld;
    struct sigaction  sa;

    memset(&sa, 0, sizeof(sa));
    sa.sa_handler = main_chld;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);

    return sigaction(SIGCHLD, &sa, NULL) == -1
           || sigprocmask(SIG_BLOCK, &chld, old) == -1 ? -1 : 0;
}


/* until the front says something; the number of children that have ended */

static unsigned
main_wait(const sigset_t *mask)
{
    unsigned       ended;
    struct pollfd  p;

    ended = 0;
    p.fd = FETCH_CHANNEL;
    p.events = POLLIN;
    p.revents = 0;

    do {
        while (waitpid(-1, NULL, WNOHANG) > 0) {
            ended++;
        }
    } while (ppoll(&p, 1, NULL, mask) == -1 && errno == EINTR);

    return ended;
}


static uint64_t
main_time(const fetch_req_t *req)
{
    size_t    i;
    uint64_t  msec;

    msec = main_conf.time;

    for (i = 0; i < main_conf.nendpoints && req->op == FETCH_CALL; i++) {
        if (strcmp(main_conf.endpoint[i].name, req->name) == 0) {
            msec = main_conf.endpoint[i].timeout;
        }
    }

    return msec;
}


static void
main_child(int conv)
{
    char         *body;
    fetch_req_t  req;

    (void) close(FETCH_CHANNEL);

    if (seal_child(0) == -1 || getppid() != main_pid) {
        _exit(1);
    }

    body = talk_request(conv, &req);

    if (body == NULL || seal_child(main_time(&req)) == -1) {
        _exit(1);
    }

    if (req.op == FETCH_GET) {
        conf_forget(&main_conf, NULL);
        get_all(&main_conf, conv, &req, body);

    } else if (req.op == FETCH_CALL || req.op == FETCH_ABOUT) {
        call_endpoint(&main_conf, conv, &req, body);
    }

    _exit(0);
}


/* only the front has the channel; that it made the pair is known besides */

static bool
main_is_front(int conv)
{
    socklen_t     len;
    struct ucred  peer;

    len = sizeof(peer);

    if (getsockopt(conv, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0
        && peer.uid == main_conf.front)
    {
        return true;
    }

    rlog(RLOG_ERROR, "a request that is not the front's");

    return false;
}


static void
main_busy(int conv)
{
    fetch_ans_t  a;

    memset(&a, 0, sizeof(a));
    a.op = FETCH_END;
    a.code = FETCH_EBUSY;
    memcpy(a.text, "too much is fetched at once",
           sizeof("too much is fetched at once"));
    (void) send(conv, &a, sizeof(a), MSG_DONTWAIT|MSG_NOSIGNAL);
}


static void
main_loop(const sigset_t *mask)
{
    int           nfd, conv;
    pid_t         pid;
    unsigned      children;
    ssize_t       n;
    fetch_open_t  open;

    for (children = 0; ; ) {
        children -= main_wait(mask);
        nfd = 1;
        n = fd_recv(FETCH_CHANNEL, &open, sizeof(open), &conv, &nfd, 0);

        if (n == 0 || (n == -1 && errno != EMSGSIZE)) {
            return;
        }

        if (nfd != 1 || n == -1) {
            continue;
        }

        pid = -1;

        if (n == (ssize_t) sizeof(open) && open.version == FETCH_VERSION
            && main_is_front(conv))
        {
            pid = children < FETCH_CHILDREN ? fork() : -1;

            if (pid == 0) {
                main_child(conv);
            }

            if (pid == -1) {
                main_busy(conv);
            }
        }

        children += pid > 0;
        (void) close(conv);
    }
}


int
main(int argc, char **argv)
{
    sigset_t  mask;

    rlog_init("retort-fetch");
    main_pid = getpid();

    if (conf_args(&main_conf, argc, argv) == -1) {
        return 1;
    }

    if (main_signals(&mask) == -1
        || curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK
        || seal_process() == -1)
    {
        rlog(RLOG_ERROR, "start: only retortd starts this");
        return 1;
    }

    /* retortd waits for it */

    if (send(FETCH_CHANNEL, "", 1, MSG_NOSIGNAL) != 1) {
        return 1;
    }

    main_loop(&mask);

    return 0;
}
