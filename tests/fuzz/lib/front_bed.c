
/*
 * A front without its neighbours: the params and the body of one request come
 * from the input, and so does what the sandbox's kernel says.  The broker
 * gives a sandbox to whoever asks, and it has ended by the time it is heard.
 *
 *   NAME=VALUE              params; those of the web server are there already
 *   (an empty line)
 *   the body
 *   ==== and a newline
 *   packets of the kernel: two bytes of length, low one first, and the packet
 */

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "front/artifact.h"
#include "front/box_table.h"
#include "front/broker_client.h"
#include "front/exec.h"
#include "front/metrics.h"
#include "front/pace.h"
#include "front/pool.h"
#include "front/routes.h"
#include "front/run.h"
#include "front/settings.h"
#include "front/shelf.h"
#include "front/verdict.h"
#include "front/wake.h"
#include "fuzz.h"


#define BED_PARAMS   64
#define BED_PACKETS  200
#define BED_PEERS    16
#define BED_EVENTS   256


typedef struct {
    routes_body_t   all;
    const uint8_t  *p;
    size_t          n;
} bed_body_t;


static const retort_settings_t  *settings;

static uint64_t           boxes;        /* the last id that was given */
static uint64_t           dead[BED_EVENTS];     /* killed, not told yet */
static size_t             ndead;
static int                telling;
static pthread_mutex_t    mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t     cond = PTHREAD_COND_INITIALIZER;
static int                peers[BED_PEERS];
static size_t             npeers;
static const uint8_t     *packets;
static size_t             npackets;
static int                client[2];
static int                show;         /* RETORT_FUZZ_SHOW: answers, too */


/* ---- the broker ---- */

void
brk_request(brk_req_t *req, brk_op_t op, uint64_t id)
{
    memset(req, 0, sizeof(brk_req_t));
    req->op = (uint16_t) op;
    req->version = BRK_VERSION;
    req->id = id;
}


/* what the kernel will have said is in the socket before anybody reads it */

static void
bed_speak(int fd)
{
    int             i;
    size_t          n;
    const uint8_t  *p;

    p = packets;

    for (i = 0; i < BED_PACKETS && npackets >= 2; i++) {
        n = fuzz_byte(&p, &npackets);
        n |= (size_t) fuzz_byte(&p, &npackets) << 8;
        n = n < npackets ? n : npackets;
        n = n <= KRN_PACKET + 1 ? n : KRN_PACKET + 1;

        if (n != 0 && send(fd, p, n, MSG_DONTWAIT|MSG_NOSIGNAL) == -1) {
            break;
        }

        p += n;
        npackets -= n;
    }

    npackets = 0;
    (void) shutdown(fd, SHUT_WR);
}


static int
bed_spawn(int *fds)
{
    int  i, pair[2];

    for (i = BRK_BOX_FDS; i < BRK_FDS; i++) {
        fds[i] = open("/dev/null", O_RDONLY|O_CLOEXEC);
    }

    for (i = 0; i < BRK_BOX_FDS; i++) {
        if (npeers == BED_PEERS
            || socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, pair) == -1)
        {
            abort();
        }

        fds[i] = pair[0];
        peers[npeers++] = pair[1];

        if (i == BOX_CHANNEL) {
            bed_speak(pair[1]);
        }
    }

    return 0;
}


int
brk_call(const brk_req_t *req, brk_ans_t *ans, int *fds)
{
    memset(ans, 0, sizeof(brk_ans_t));
    ans->op = req->op;
    ans->id = req->id;

    if (req->op == BRK_SPAWN) {
        if (npeers + BRK_BOX_FDS > BED_PEERS) {
            ans->code = BRK_EFULL;
            return 0;
        }

        ans->id = ++boxes;
        ans->limits = req->limits.fsize != 0 ? req->limits
                                             : settings->profile[0].box;
        memcpy(ans->profile, req->profile, sizeof(ans->profile));
        return bed_spawn(fds);
    }

    ans->code = req->op == BRK_RESTART ? BRK_EBOX : BRK_OK;

    return 0;
}


void
brk_post(const brk_req_t *req)
{
    (void) pthread_mutex_lock(&mutex);

    if ((req->op == BRK_KILL
         || (req->op == BRK_SIGNAL && req->signal == SIGKILL))
        && ndead < BED_EVENTS)
    {
        dead[ndead++] = req->id;
        (void) pthread_cond_broadcast(&cond);
    }

    (void) pthread_mutex_unlock(&mutex);
}


void
brk_post_event(const brk_req_t *req)
{
    brk_post(req);
}


static void
bed_exit(uint64_t id)
{
    int        none[BRK_FDS];
    brk_ans_t  ans;

    memset(none, -1, sizeof(none));
    memset(&ans, 0, sizeof(ans));
    ans.op = BRK_EV_BOX_EXIT;
    ans.id = id;
    box_event(&ans, none, 0);
}


/* who is killed is gone soon, as the broker's thread tells */

static void *
bed_teller(void *unused)
{
    uint64_t  id;

    (void) unused;
    (void) pthread_mutex_lock(&mutex);

    for ( ;; ) {
        while (ndead == 0) {
            telling = 0;
            (void) pthread_cond_broadcast(&cond);
            (void) pthread_cond_wait(&cond, &mutex);
        }

        id = dead[--ndead];
        telling = 1;
        (void) pthread_mutex_unlock(&mutex);
        bed_exit(id);
        (void) pthread_mutex_lock(&mutex);
    }

    return NULL;
}


static void
bed_told(void)
{
    (void) pthread_mutex_lock(&mutex);

    while (ndead != 0 || telling) {
        (void) pthread_cond_wait(&cond, &mutex);
    }

    (void) pthread_mutex_unlock(&mutex);
}


void __real_run_cell(run_t *r);
void __wrap_run_cell(run_t *r);


void
__wrap_run_cell(run_t *r)
{
    box_own(r->box);
    bed_exit(r->box->id);
    __real_run_cell(r);
}


/* ---- the web server ---- */

static int
bed_some(routes_body_t *b, char *p, size_t size)
{
    size_t       n;
    bed_body_t  *body;

    body = (bed_body_t *) b;
    n = body->n < size ? body->n : size;
    n = n < 7 ? n : 7 + n % 100;
    n = n < body->n ? n : body->n;
    n = n < size ? n : size;
    memcpy(p, body->p, n);
    body->p += n;
    body->n -= n;

    return (int) n;
}


static int
bed_read(routes_body_t *b, uint64_t max, buf_t *to, err_t *e)
{
    bed_body_t  *body;

    body = (bed_body_t *) b;

    if (body->n > max) {
        return err_set(e, 413, "too_large", "too large");
    }

    return buf_add(to, body->p, body->n);
}


static int
bed_write(routes_body_t *b, const void *p, size_t n)
{
    (void) b;
    (void) p;
    (void) n;

    return 0;
}


/* cuts the lines; how many bytes they have */

static size_t
bed_params(char *text, size_t size, char **envp, size_t n)
{
    char  *line, *end;

    for (line = text; line < text + size && *line != '\n'; line = end + 1) {
        end = memchr(line, '\n', size - (size_t) (line - text));

        if (end == NULL) {
            end = text + size;
        }

        *end = '\0';

        if (n < BED_PARAMS && strchr(line, '=') != NULL) {
            envp[n++] = line;
            envp[n] = NULL;
        }
    }

    return line < text + size ? (size_t) (line - text) + 1 : size;
}


static void
bed_serve(char **envp, const uint8_t *body, size_t n)
{
    err_t             e;
    buf_t             out;
    answer_t          a;
    request_t         req;
    bed_body_t        b;
    routes_later_t    later;

    memset(&e, 0, sizeof(e));
    memset(&a, 0, sizeof(a));
    memset(&b, 0, sizeof(b));
    memset(&out, 0, sizeof(out));
    memset(&req, 0, sizeof(req));
    memset(&later, 0, sizeof(later));
    b.all.read = bed_read;
    b.all.some = bed_some;
    b.all.write = bed_write;
    b.all.client = client[0];
    b.all.id = 1;
    b.all.length = n;
    b.p = body;
    b.n = n;
    wake_begin();

    if (request_parse(&req, envp, settings, &e) == 0) {
        routes_serve(&req, &b.all, &a, &later);
        routes_later(&later);

    } else {
        routes_refuse(&e, &a);
    }

    (void) answer_write(&a, &out);

    if (show) {
        (void) printf("%d %.*s\n", a.status, (int) out.len, out.data);
    }

    FUZZ_CHECK(a.sent || a.cut || (a.status >= 100 && a.status < 600));
    buf_free(&out);
    answer_free(&a);
}


void
fuzz_front(const uint8_t *data, size_t size)
{
    char            *text, id[80], drain[4096];
    char            *envp[BED_PARAMS + 1];
    size_t           head, body;
    static uint64_t  n;

    (void) snprintf(id, sizeof(id), "RETORT_EXECUTION=exec_n1_%032llx",
                    (unsigned long long) ++n);
    envp[0] = id;
    envp[1] = "RETORT_WORKSPACE=demo";
    envp[2] = "RETORT_STATIC_URL=http://h/static";
    envp[3] = NULL;

    text = malloc(size + 1);

    if (text == NULL) {
        abort();
    }

    memcpy(text, data, size);
    text[size] = '\0';
    head = bed_params(text, size, envp, 3);

    packets = memmem(data + head, size - head, "\n====\n", 6);
    body = packets != NULL ? (size_t) (packets - data) - head : size - head;
    packets = packets != NULL ? packets + 6 : data + size;
    npackets = (size_t) (data + size - packets);

    bed_serve(envp, data + head, body);
    free(text);

    bed_told();

    while (npeers != 0) {
        (void) close(peers[--npeers]);
    }

    while (recv(client[1], drain, sizeof(drain), MSG_DONTWAIT) > 0) {
        /* a stream */
    }
}


/* as the service's start gives them */

static const retort_settings_t *
bed_settings(void)
{
    int                  fd;
    retort_settings_t    s;
    retort_profile_t    *p;

    static const retort_box_limits_t  box = {
        1 << 28, 1 << 26, 10000, 1 << 24, 1 << 25, 64, 1000, 256, 0
    };
    static const retort_run_limits_t  run = {
        20000, 65536, 100000, 1000000, 10, 60000
    };

    memset(&s, 0, sizeof(s));
    s.magic = RETORT_SETTINGS_MAGIC;
    s.size = sizeof(s);
    (void) memcpy(s.node, "n1", 3);
    s.nprofiles = 1;
    s.nslots = 64;
    s.artifacts_keep = 3600000;
    s.artifacts_quota = 16 << 20;
    p = &s.profile[0];
    (void) memcpy(p->name, "default", 8);
    p->box = p->box_max = box;
    p->run = p->run_max = run;
    p->run_max.timeout *= 2;
    p->sessions = 64;
    p->manifest = 3;

    fd = memfd_create("settings", MFD_CLOEXEC|MFD_ALLOW_SEALING);

    if (fd == -1 || write(fd, &s, sizeof(s)) != (ssize_t) sizeof(s)
        || write(fd, "{}\n", 3) != 3
        || fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE|F_SEAL_SHRINK|F_SEAL_GROW) == -1)
    {
        abort();
    }

    return settings_load(fd);
}


static char  bed_dir[] = "/tmp/fuzz-front-XXXXXX";


static void
bed_end(void)
{
    char  command[64];

    (void) snprintf(command, sizeof(command), "rm -rf %s", bed_dir);

    if (system(command) != 0) {
        perror(command);
    }
}


void
fuzz_front_init(void)
{
    int        dir;
    pthread_t  id;

    settings = bed_settings();
    show = getenv("RETORT_FUZZ_SHOW") != NULL;

    if (settings == NULL || mkdtemp(bed_dir) == NULL || atexit(bed_end) != 0
        || socketpair(AF_UNIX, SOCK_STREAM|SOCK_NONBLOCK|SOCK_CLOEXEC, 0,
                      client) == -1)
    {
        abort();
    }

    dir = open(bed_dir, O_RDONLY|O_DIRECTORY|O_CLOEXEC);

    if (wake_init(8) == -1 || box_init(settings) == -1
        || pace_init() == -1 || pool_init(settings) == -1 || exec_init() == -1
        || metrics_init(settings, 8) == -1
        || artifact_init(dir, settings) == -1 || shelf_init(settings) == -1
        || pthread_create(&id, NULL, bed_teller, NULL) != 0)
    {
        abort();
    }
}
