
/*
 * A front that has been taken over: it speaks the broker's protocol wrongly in
 * every way.  broker.t puts it in the place of retort-front.
 *
 * Descriptors are those of a front.  The case to play is read from "case" in
 * the artifact directory (6), and what the broker did goes to "said", a line a
 * case: "NAME ended" if the broker ended this front, "NAME code N ..." else.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "broker.h"
#include "fdpass.h"


#define FOUL_SOCK  3
#define FOUL_DIR   6

#define FOUL_BOXES  16

static uint32_t  foul_seq;
static char      foul_case[64];
static int       foul_nboxes;           /* offered after hello */
static uint64_t  foul_boxes[FOUL_BOXES];


static void
foul_say(const char *text)
{
    int  fd;

    fd = openat(FOUL_DIR, "said", O_WRONLY|O_CREAT|O_APPEND|O_CLOEXEC, 0640);
    dprintf(fd, "%s %s\n", foul_case, text);
    (void) close(fd);
}


static brk_req_t
foul_req(uint16_t op)
{
    brk_req_t  req;

    memset(&req, 0, sizeof(req));
    req.op = op;
    req.version = BRK_VERSION;
    req.seq = ++foul_seq;

    return req;
}


/* the answer to the last request; does not return if there is none */

static brk_ans_t
foul_answer(void)
{
    int        nfd, fds[BRK_FDS];
    ssize_t    n;
    brk_ans_t  ans;

    for ( ;; ) {
        nfd = BRK_FDS;
        n = fd_recv(FOUL_SOCK, &ans, sizeof(ans), fds, &nfd, 0);

        if (n != (ssize_t) sizeof(ans)) {
            foul_say("ended");
            exit(0);
        }

        while (nfd-- > 0) {
            (void) close(fds[nfd]);
        }

        if (ans.seq == foul_seq && ans.op != BRK_HELLO) {
            return ans;
        }

        if (ans.op == BRK_EV_BOX && foul_nboxes < FOUL_BOXES) {
            foul_boxes[foul_nboxes++] = ans.id;

        } else if (ans.op == BRK_EV_BOXES_END) {
            return ans;
        }
    }
}


static brk_ans_t
foul_ask(const brk_req_t *req)
{
    (void) fd_send(FOUL_SOCK, req, sizeof(*req), NULL, 0);

    return foul_answer();
}


static uint64_t
foul_spawn(uint64_t memory, brk_ans_t *ans)
{
    brk_req_t        req;
    struct timespec  pause = { 0, 20000000 };

    do {
        (void) nanosleep(&pause, NULL);
        req = foul_req(BRK_SPAWN);
        strcpy(req.profile, "default");
        req.limits.memory = memory;
        *ans = foul_ask(&req);
    } while (ans->code == BRK_EWARM);

    return ans->id;
}


static void
foul_report(const brk_ans_t *ans)
{
    char  text[128];

    (void) snprintf(text, sizeof(text), "code %d memory %llu", ans->code,
                    (unsigned long long) ans->limits.memory);
    foul_say(text);
}


/* ---- messages that no correct front can send ---- */

static void
foul_messages(void)
{
    int        i, fds[FDPASS_MAX];
    brk_req_t  req;

    req = foul_req(BRK_RECORD);

    if (strcmp(foul_case, "short") == 0) {
        (void) fd_send(FOUL_SOCK, &req, sizeof(req) - 1, NULL, 0);

    } else if (strcmp(foul_case, "long") == 0) {
        char  big[sizeof(req) + 1];

        memset(big, 0, sizeof(big));
        memcpy(big, &req, sizeof(req));
        (void) fd_send(FOUL_SOCK, big, sizeof(big), NULL, 0);

    } else if (strcmp(foul_case, "version") == 0) {
        req.version = 99;
        (void) fd_send(FOUL_SOCK, &req, sizeof(req), NULL, 0);

    } else if (strcmp(foul_case, "seq") == 0) {
        req.seq = 0;
        (void) fd_send(FOUL_SOCK, &req, sizeof(req), NULL, 0);

    } else if (strcmp(foul_case, "unknown") == 0) {
        req.op = 9999;
        (void) fd_send(FOUL_SOCK, &req, sizeof(req), NULL, 0);

    } else if (strcmp(foul_case, "hello") == 0) {
        req.op = BRK_HELLO;
        (void) fd_send(FOUL_SOCK, &req, sizeof(req), NULL, 0);

    } else if (strcmp(foul_case, "descriptors") == 0) {
        for (i = 0; i < FDPASS_MAX; i++) {
            fds[i] = FOUL_DIR;
        }

        (void) fd_send(FOUL_SOCK, &req, sizeof(req), fds, FDPASS_MAX);
    }

    (void) foul_answer();
    foul_say("was answered");
}


/* ---- well-formed requests for what a front may not have ---- */

static void
foul_requests(void)
{
    uint64_t   id;
    brk_ans_t  ans;
    brk_req_t  req;

    memset(&ans, 0, sizeof(ans));

    if (strcmp(foul_case, "profile") == 0) {
        req = foul_req(BRK_SPAWN);
        memset(req.profile, 'x', sizeof(req.profile));
        ans = foul_ask(&req);

    } else if (strcmp(foul_case, "above") == 0) {
        (void) foul_spawn(UINT64_MAX, &ans);

    } else if (strcmp(foul_case, "signal") == 0) {
        id = foul_spawn(0, &ans);
        req = foul_req(BRK_SIGNAL);
        req.id = id;
        req.signal = SIGSTOP;
        ans = foul_ask(&req);

    } else if (strcmp(foul_case, "dead") == 0) {
        id = foul_spawn(0, &ans);
        req = foul_req(BRK_KILL);
        req.id = id;
        (void) foul_ask(&req);
        id = foul_spawn(0, &ans);

        do {
            req.seq = ++foul_seq;
            ans = foul_ask(&req);
        } while (ans.code == BRK_OK);

    } else if (strcmp(foul_case, "full") == 0) {
        do {
            (void) foul_spawn(0, &ans);
        } while (ans.code == BRK_OK);

    } else if (strcmp(foul_case, "drop") == 0) {
        while (foul_nboxes > 0) {
            req = foul_req(BRK_KILL);
            req.id = foul_boxes[--foul_nboxes];
            ans = foul_ask(&req);
        }

        ans.limits.memory = 0;

    } else if (strcmp(foul_case, "deaf") == 0) {
        req = foul_req(BRK_RECORD);

        while (fd_send(FOUL_SOCK, &req, sizeof(req), NULL, 0) == 0) {
            req.seq = ++foul_seq;
        }

        foul_say("ended");
        return;
    }

    foul_report(&ans);
}


/* ---- well-formed requests about boxes that are others', or not there ---- */

#define FOUL_OPS  4

static const uint16_t  foul_ops[FOUL_OPS] = {
    BRK_KILL, BRK_SIGNAL, BRK_RECORD, BRK_RESTART
};


/* every operation on ids that are like a living one; 0 if all are refused */

static int
foul_forge(uint64_t id)
{
    int                    bad;
    size_t                 i, j;
    brk_ans_t              ans;
    brk_req_t              req;
    static const uint64_t  mask[] = {
        1ULL << 32, 1ULL << 63, 1, 1ULL << 16, 1ULL << 31, UINT64_MAX
    };

    bad = 0;

    for (i = 0; i < FOUL_OPS; i++) {
        for (j = 0; j < sizeof(mask) / sizeof(mask[0]); j++) {
            req = foul_req(foul_ops[i]);
            req.id = id ^ mask[j];
            req.signal = SIGKILL;
            ans = foul_ask(&req);
            bad += (ans.code != BRK_EBOX);
        }
    }

    return bad;
}


/* a restart and, right behind it, another operation: what that is answered */

static int
foul_behind(uint64_t id, brk_op_t op)
{
    int        code;
    brk_ans_t  ans;
    brk_req_t  req;

    req = foul_req(BRK_RESTART);
    req.id = id;
    (void) fd_send(FOUL_SOCK, &req, sizeof(req), NULL, 0);
    req = foul_req(op);
    req.id = id;
    req.signal = SIGKILL;
    code = (int) foul_ask(&req).code;

    do {
        req = foul_req(BRK_SIGNAL);
        req.id = id;
        req.signal = SIGINT;
        ans = foul_ask(&req);
    } while (ans.code == BRK_ESTATE);

    return code;
}


/*
 * Operations on a box whose new kernel is not there yet; 0 if refused.  The
 * second one may come too late on a busy machine, but not every time.
 */

static int
foul_hurry(uint64_t id)
{
    int     bad, code, turn;
    size_t  i;

    bad = 0;

    for (i = 0; i < FOUL_OPS; i++) {
        if (foul_ops[i] != BRK_SIGNAL && foul_ops[i] != BRK_RESTART) {
            continue;
        }

        for (turn = 0, code = BRK_OK; turn < 50 && code != BRK_ESTATE; turn++) {
            code = foul_behind(id, foul_ops[i]);
        }

        bad += (code != BRK_ESTATE);
    }

    return bad;
}


/* names that are no profile's; 0 if all are refused */

static int
foul_names(void)
{
    int                       bad;
    size_t                    i;
    brk_ans_t                 ans;
    brk_req_t                 req;
    static const char *const  names[] = {
        "", "../default", "default/", "/default", "Default", "default ",
        "defaul", "default.conf", "%s%s%n", "\n"
    };

    bad = 0;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        req = foul_req(BRK_SPAWN);
        strcpy(req.profile, names[i]);
        ans = foul_ask(&req);
        bad += (ans.code != BRK_EPROFILE);
    }

    return bad;
}


/* all limits at once, as high as they can be written */

static void
foul_limits(void)
{
    char                  text[256];
    brk_ans_t             ans;
    brk_req_t             req;
    retort_box_limits_t  *l;

    (void) foul_spawn(0, &ans);
    req = foul_req(BRK_SPAWN);
    strcpy(req.profile, "default");
    memset(&req.limits, 0xff, sizeof(req.limits));
    ans = foul_ask(&req);
    l = &ans.limits;
    (void) snprintf(text, sizeof(text), "code %d %llu %llu %llu %llu %llu %u "
                    "%u %u", ans.code, (unsigned long long) l->memory,
                    (unsigned long long) l->disk,
                    (unsigned long long) l->inodes,
                    (unsigned long long) l->tmp, (unsigned long long) l->fsize,
                    l->processes, l->cpu, l->files);
    foul_say(text);
}


/* a packet of nothing; a packet with as many descriptors as the kernel takes */

static void
foul_packets(void)
{
    int             i, *fd;
    char            room[CMSG_SPACE(253 * sizeof(int))];
    brk_req_t       req;
    struct iovec    iov;
    struct msghdr   mh;
    struct cmsghdr  *cm;

    if (strcmp(foul_case, "empty") == 0) {
        (void) send(FOUL_SOCK, "", 0, 0);
        (void) foul_answer();
        return;
    }

    memset(&mh, 0, sizeof(mh));
    memset(room, 0, sizeof(room));
    req = foul_req(BRK_RECORD);
    iov.iov_base = &req;
    iov.iov_len = sizeof(req);
    mh.msg_iov = &iov;
    mh.msg_iovlen = 1;
    mh.msg_control = room;
    mh.msg_controllen = sizeof(room);
    cm = CMSG_FIRSTHDR(&mh);
    cm->cmsg_level = SOL_SOCKET;
    cm->cmsg_type = SCM_RIGHTS;
    cm->cmsg_len = CMSG_LEN(253 * sizeof(int));
    fd = (int *) CMSG_DATA(cm);

    for (i = 0; i < 253; i++) {
        fd[i] = FOUL_DIR;
    }

    (void) sendmsg(FOUL_SOCK, &mh, 0);
    (void) foul_answer();
    foul_say("was answered");
}


static void
foul_boxes_of_others(void)
{
    int        i, bad;
    char       text[64];
    uint64_t   id;
    brk_ans_t  ans;
    brk_req_t  req;

    bad = 0;
    id = foul_spawn(0, &ans);
    req = foul_req(BRK_RECORD);
    req.id = id;

    if (strcmp(foul_case, "forged") == 0) {
        bad = foul_forge(id);

    } else if (strcmp(foul_case, "hurry") == 0) {
        bad = foul_hurry(id);

    } else if (strcmp(foul_case, "names") == 0) {
        bad = foul_names();

    } else {
        for (i = 0; i < 20000; i++) {
            req.seq = ++foul_seq;
            bad += (foul_ask(&req).code != BRK_OK);
        }
    }

    req.seq = ++foul_seq;
    ans = foul_ask(&req);
    (void) snprintf(text, sizeof(text), "bad %d code %d", bad, ans.code);
    foul_say(text);
}


static int
foul_is(const char *const *names)
{
    while (*names != NULL && strcmp(foul_case, *names) != 0) {
        names++;
    }

    return *names != NULL;
}


int
main(void)
{
    int                       fd;
    ssize_t                   n;
    brk_req_t                 req;
    static const char *const  messages[] = {
        "short", "long", "version", "seq", "unknown", "hello", "descriptors",
        NULL
    };
    static const char *const  packets[] = { "empty", "rights", NULL };
    static const char *const  boxes[] = {
        "forged", "hurry", "names", "flood", NULL
    };

    fd = openat(FOUL_DIR, "case", O_RDONLY|O_CLOEXEC);
    n = (fd == -1) ? 0 : read(fd, foul_case, sizeof(foul_case) - 1);
    foul_case[strcspn(foul_case, "\n")] = '\0';
    (void) unlinkat(FOUL_DIR, "case", 0);

    req = foul_req(strcmp(foul_case, "early") == 0 ? BRK_SPAWN : BRK_HELLO);
    strcpy(req.profile, "default");
    (void) foul_ask(&req);

    if (n <= 0) {
        /* nothing to play yet */
        (void) pause();

    } else if (foul_is(messages)) {
        foul_messages();

    } else if (foul_is(packets)) {
        foul_packets();

    } else if (foul_is(boxes)) {
        foul_boxes_of_others();

    } else if (strcmp(foul_case, "limits") == 0) {
        foul_limits();

    } else {
        foul_requests();
    }

    return 0;
}
