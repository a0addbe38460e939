
/*
 * Part of retort-broker: the front and the templates, each behind a launcher
 * that starts it again.  The broker itself never executes anything.
 */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker_main.h"
#include "fdpass.h"
#include "log.h"


#define SERVICE_SETTLED   10000         /* msec: what lives longer has started */
#define SERVICE_PAUSE     100           /* msec: after the second quick death */
#define SERVICE_PAUSE_MAX 5000


void
service_start(broker_t *b, service_t *s, uint32_t tag, uint32_t index)
{
    int           pair[2];
    launch_req_t  req;

    memset(&req, 0, sizeof(req));
    req.op = LAUNCH_START;
    s->started = broker_now();
    s->again = 0;
    s->ready = false;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, pair) == -1) {
        rlog_errno(RLOG_ERROR, errno, "socketpair");
        service_gone(b, s);
        return;
    }

    s->sock = pair[0];

    if (broker_watch(b, s->sock, tag, index) == -1
        || fd_send(s->launcher, &req, sizeof(req), &pair[1], 1) == -1)
    {
        rlog_errno(RLOG_ERROR, errno, "a launcher is gone");
        _exit(1);
    }

    (void) close(pair[1]);
}


/*
 * The first time it is started again at once, so that a killed front costs
 * nothing; what dies quickly again and again is given time.
 */

void
service_gone(broker_t *b, service_t *s)
{
    int64_t   now, pause;
    uint32_t  i;

    (void) b;
    now = broker_now();

    if (s->sock != -1) {
        (void) close(s->sock);
        s->sock = -1;
    }

    s->ready = false;
    s->fails = (now - s->started < SERVICE_SETTLED) ? s->fails + 1 : 0;
    pause = s->fails > 1 ? SERVICE_PAUSE : 0;

    for (i = 2; i < s->fails && pause < SERVICE_PAUSE_MAX; i++) {
        pause *= 2;
    }

    s->again = now + (pause < SERVICE_PAUSE_MAX ? pause : SERVICE_PAUSE_MAX);
}


void
service_kill(const service_t *s)
{
    launch_req_t  req;

    memset(&req, 0, sizeof(req));
    req.op = LAUNCH_KILL;
    (void) fd_send(s->launcher, &req, sizeof(req), NULL, 0);
}
