
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


#define SERVICE_SETTLED   10000         /* msec: what lives longer is up */
#define SERVICE_PAUSE     25            /* msec, doubled by each quick death */
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

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, pair) == -1
        || broker_watch(b, pair[0], tag, index) == -1
        || fd_send(s->launcher, &req, sizeof(req), &pair[1], 1) == -1)
    {
        rlog_errno(RLOG_ERROR, errno, "nothing can be started any more");
        _exit(1);
    }

    s->sock = pair[0];
    (void) close(pair[1]);
}


/*
 * The first time it is started again at once, so that a killed front costs
 * nothing; what dies quickly again and again is given time.
 */

void
service_gone(service_t *s)
{
    int64_t  now, pause;

    now = broker_now();
    (void) close(s->sock);
    s->sock = -1;
    s->ready = false;
    s->fails = (now - s->started < SERVICE_SETTLED) ? s->fails + 1 : 0;
    pause = (int64_t) SERVICE_PAUSE << (s->fails < 8 ? s->fails : 8);

    if (s->fails < 2) {
        pause = 0;
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
