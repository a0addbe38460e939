
/*
 * Part of retort-broker: the front and the templates, each behind a launcher
 * that starts it again.  The broker itself never executes anything.
 */

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker_main.h"
#include "fdpass.h"
#include "log.h"


#define SERVICE_PAUSE     25            /* msec, doubled by each failure */
#define SERVICE_PAUSE_MAX 5000


static int
service_tell(const service_t *s, uint32_t op, int fd)
{
    launch_req_t  req = { op, 0 };

    return fd_send(s->launcher, &req, sizeof(req), &fd, fd == -1 ? 0 : 1);
}


void
service_start(broker_t *b, service_t *s, uint32_t tag, uint32_t index)
{
    int  pair[2];

    s->again = 0;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, pair) == -1) {
        rlog_errno(RLOG_ERROR, errno, "nothing can be started now");
        s->again = broker_now() + SERVICE_PAUSE_MAX;
        return;
    }

    if (broker_watch(b, pair[0], tag, index) == -1
        || service_tell(s, LAUNCH_START, pair[1]) == -1)
    {
        rlog_errno(RLOG_ERROR, errno, "nothing can be started any more");
        _exit(1);
    }

    s->sock = pair[0];
    (void) close(pair[1]);
}


/*
 * What was ready is started again at once, so that a killed front costs
 * nothing; what does not come up is given more and more time.
 */

void
service_gone(service_t *s)
{
    int64_t  pause;


    (void) close(s->sock);
    s->sock = -1;
    s->fails = s->ready ? 0 : s->fails + 1;
    s->ready = false;
    pause = s->fails == 0 ? 0
            : (int64_t) SERVICE_PAUSE << (s->fails < 8 ? s->fails : 8);
    s->again = broker_now()
               + (pause < SERVICE_PAUSE_MAX ? pause : SERVICE_PAUSE_MAX);
}


void
service_kill(const service_t *s)
{
    (void) service_tell(s, LAUNCH_KILL, -1);
}
