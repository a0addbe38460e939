
/*
 * Part of retort-broker: the operations, one table.  Every byte here is the
 * front's, and the front is taken for hostile: a message that a correct front
 * cannot send ends that front, and another is started.
 */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "broker_main.h"
#include "fdpass.h"
#include "log.h"
#include "policy.h"


/* an operation's result: an answer's code, answered later, or foul play */

#define FRONT_LATER  -1
#define FRONT_FOUL   -2

/* what has to be so before an operation is looked at */

typedef enum { WHEN_HELLO, WHEN_READY, WHEN_BOX, WHEN_ALIVE } front_when_t;

typedef struct {
    uint16_t       op;
    front_when_t   when;
    int          (*run)(broker_t *b, box_t *box, const brk_req_t *req);
} front_op_t;


int
front_send(broker_t *b, const brk_ans_t *ans, const int *fds, int nfd)
{
    if (!b->front.ready) {
        return -1;
    }

    if (fd_send(b->front.sock, ans, sizeof(*ans), fds, nfd) == 0) {
        return 0;
    }

    /* EBADF: there was none to be had for one of "fds"; not its fault */
    if (errno != EBADF) {
        rlog_errno(RLOG_ERROR, errno, "front does not read");
        service_kill(&b->front);
        b->front.ready = false;
    }

    return -1;
}


/* what is about no box: an event, or the answer; "profile" may be NULL */

int
front_tell(broker_t *b, uint16_t op, uint32_t seq, const char *profile)
{
    brk_ans_t  ans = { .op = op, .seq = seq };

    if (profile != NULL) {
        memcpy(ans.profile, profile, RETORT_PROFILE_NAME);
    }

    return front_send(b, &ans, NULL, 0);
}


static int
front_hello(broker_t *b, box_t *box, const brk_req_t *req)
{
    uint32_t  i;

    b->front.ready = true;
    (void) front_tell(b, BRK_HELLO, req->seq, NULL);

    for (i = 0; i < b->settings->nslots && b->front.ready; i++) {
        if (b->box[i].state == BOX_ALIVE) {
            box_offer(b, &b->box[i], BRK_EV_BOX, 0);
        }
    }

    (void) front_tell(b, BRK_EV_BOXES_END, 0, NULL);

    for (i = 0; i < b->settings->nprofiles; i++) {
        if (b->template[i].ready) {
            (void) front_tell(b, BRK_EV_WARM, 0, b->settings->profile[i].name);
        }
    }

    return FRONT_LATER;
}


static int
front_spawn(broker_t *b, box_t *box, const brk_req_t *req)
{
    int  profile, code;

    profile = policy_profile(b->settings, req->profile);

    if (profile == -1) {
        return BRK_EPROFILE;
    }

    code = box_spawn(b, (uint32_t) profile, req);

    return code == BRK_OK ? FRONT_LATER : code;
}


static int
front_kill(broker_t *b, box_t *box, const brk_req_t *req)
{
    box_kill(b, box);

    return BRK_OK;
}


static int
front_signal(broker_t *b, box_t *box, const brk_req_t *req)
{
    init_msg_t  msg = {
        INIT_SIGNAL, (uint16_t) req->signal, (int32_t) req->detail
    };

    if (req->signal != SIGINT && req->signal != SIGKILL) {
        return FRONT_FOUL;
    }

    return fd_send(box->init, &msg, sizeof(msg), NULL, 0) == 0
           ? BRK_OK : BRK_ESTATE;
}


static int
front_record(broker_t *b, box_t *box, const brk_req_t *req)
{
    memcpy(box->record, req->record, sizeof(box->record));

    return BRK_OK;
}


static int
front_restart(broker_t *b, box_t *box, const brk_req_t *req)
{
    box_restart(b, box, req);

    return FRONT_LATER;
}


#define FRONT_ROW(name, number, when, run)  { BRK_##name, WHEN_##when, run },

static const front_op_t  front_ops[] = {
    BRK_OPS(FRONT_ROW)
};


static int
front_dispatch(broker_t *b, const brk_req_t *req)
{
    box_t             *box;
    const front_op_t  *op, *end;

    end = front_ops + sizeof(front_ops) / sizeof(front_ops[0]);

    for (op = front_ops; op < end && op->op != req->op; op++) { /* void */ }

    if (op == end || (op->when == WHEN_HELLO) == b->front.ready) {
        return FRONT_FOUL;
    }

    box = NULL;

    if (op->when >= WHEN_BOX) {
        box = box_find(b, req->id);

        if (box == NULL) {
            return BRK_EBOX;
        }
    }

    if (op->when == WHEN_ALIVE && box->state != BOX_ALIVE) {
        return BRK_ESTATE;
    }

    return op->run(b, box, req);
}


/* boxes that were asked for by a front that is gone have nobody */

static void
front_orphans(broker_t *b)
{
    uint32_t  i;

    for (i = 0; i < b->settings->nslots; i++) {
        b->box[i].seq = 0;
        b->box[i].shown = false;

        if (b->box[i].state >= BOX_CLONING && b->box[i].state <= BOX_SEALING) {
            box_kill(b, &b->box[i]);
        }
    }
}


void
front_read(broker_t *b)
{
    int        code;
    ssize_t    n;
    brk_ans_t  ans;
    brk_req_t  req;

    n = fd_recv(b->front.sock, &req, sizeof(req), NULL, NULL, MSG_DONTWAIT);

    if (b->front.sock == -1 || (n == -1 && errno == EAGAIN)) {
        return;
    }

    memset(&ans, 0, sizeof(ans));
    code = FRONT_FOUL;

    if (n == (ssize_t) sizeof(req) && req.version == BRK_VERSION
        && req.seq != 0)
    {
        code = front_dispatch(b, &req);
    }

    if (code >= 0) {
        ans.op = req.op;
        ans.code = (uint16_t) code;
        ans.seq = req.seq;
        ans.id = req.id;
        (void) front_send(b, &ans, NULL, 0);

    } else if (code == FRONT_FOUL) {
        if (n == 0 || (n == -1 && errno == ECONNRESET)) {
            rlog(RLOG_INFO, "front is gone");

        } else {
            rlog(RLOG_ERROR, "front broke the protocol: operation %d, %zd "
                 "bytes", n > 0 ? (int) req.op : 0, n);
        }

        service_kill(&b->front);
        service_gone(&b->front);
        front_orphans(b);
    }
}
