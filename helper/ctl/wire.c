
/*
 * Part of retortctl: a FastCGI client, as small as one request needs.  Lengths
 * that the front tells are bounded by their records; what is no record ends
 * the exchange.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ctl.h"


enum { WIRE_BEGIN = 1, WIRE_END = 3, WIRE_PARAMS = 4, WIRE_STDIN = 5,
       WIRE_STDOUT = 6 };

#define WIRE_HEADER  8
#define WIRE_CHUNK   32768
#define WIRE_RECORD  (WIRE_HEADER + 65535 + 255)
#define WIRE_PARAM   16384      /* of all of them */
#define WIRE_HEAD    16384      /* of an answer's lines */


typedef struct {
    int             fd;
    wire_answer_t  *a;
    unsigned char   in[WIRE_RECORD];
    size_t          len;
    char            head[WIRE_HEAD];
    size_t          nhead;
    int             in_body;
} wire_t;


static int
wire_connect(const char *path)
{
    int                 fd;
    struct sockaddr_un  sa;

    memset(&sa, 0, sizeof(sa));
    sa.sun_family = AF_UNIX;

    if (strlen(path) >= sizeof(sa.sun_path)) {
        ctl_error("%s: longer than a socket's name can be", path);
        return -1;
    }

    memcpy(sa.sun_path, path, strlen(path));
    fd = socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0);

    if (fd == -1 || connect(fd, (struct sockaddr *) &sa, sizeof(sa)) == -1) {
        ctl_error("%s: %s", path, strerror(errno));

        if (fd != -1) {
            (void) close(fd);
        }

        return -1;
    }

    return fd;
}


/* what it does not take is seen by what it answers */

static void
wire_send(int fd, const void *p, size_t n)
{
    ssize_t      done;
    const char  *at;

    for (at = p; n != 0; at += done, n -= (size_t) done) {
        done = send(fd, at, n, MSG_NOSIGNAL);

        if (done == -1 && errno == EINTR) {
            done = 0;

        } else if (done == -1) {
            return;
        }
    }
}


static void
wire_record(int fd, int type, const void *p, size_t n)
{
    unsigned char  h[WIRE_HEADER] = { 1, 0, 0, 1, 0, 0, 0, 0 };

    h[1] = (unsigned char) type;
    h[4] = (unsigned char) (n >> 8);
    h[5] = (unsigned char) n;
    wire_send(fd, h, sizeof(h));
    wire_send(fd, p, n);
}


static size_t
wire_length(unsigned char *to, size_t n)
{
    if (n < 128) {
        to[0] = (unsigned char) n;
        return 1;
    }

    to[0] = (unsigned char) (n >> 24 | 0x80);
    to[1] = (unsigned char) (n >> 16);
    to[2] = (unsigned char) (n >> 8);
    to[3] = (unsigned char) n;

    return 4;
}


static int
wire_params(int fd, const wire_param_t *p)
{
    size_t         at, name, value;
    unsigned char  all[WIRE_PARAM];

    for (at = 0; p->name != NULL; p++) {
        if (p->value == NULL) {
            continue;
        }

        name = strlen(p->name);
        value = strlen(p->value);

        if (name + value + 8 > sizeof(all) - at) {
            ctl_error("an argument is too long");
            return -1;
        }

        at += wire_length(all + at, name);
        at += wire_length(all + at, value);
        memcpy(all + at, p->name, name);
        memcpy(all + at + name, p->value, value);
        at += name + value;
    }

    wire_record(fd, WIRE_PARAMS, all, at);
    wire_record(fd, WIRE_PARAMS, NULL, 0);

    return 0;
}


static void
wire_lines(wire_t *w)
{
    char    *line, *next;
    size_t   n;

    w->head[w->nhead] = '\0';

    for (line = w->head; *line != '\0'; line = next) {
        n = strcspn(line, "\r\n");
        next = line + n + strspn(line + n, "\r\n");
        line[n] = '\0';

        if (strncmp(line, "Status: ", 8) == 0) {
            w->a->status = (int) strtol(line + 8, NULL, 10);

        } else if (strncmp(line, "Content-Type: ", 14) == 0) {
            (void) snprintf(w->a->type, sizeof(w->a->type), "%.*s",
                            (int) strcspn(line + 14, "; "), line + 14);
        }
    }
}


/* the head up to its empty line, then the body; 0 or -1 */

static int
wire_stdout(wire_t *w, const char *p, size_t n)
{
    size_t  i;

    for (i = 0; i < n && !w->in_body; i++) {
        if (w->nhead == sizeof(w->head) - 1) {
            return -1;
        }

        w->head[w->nhead++] = p[i];

        if (w->nhead >= 4
            && memcmp(w->head + w->nhead - 4, "\r\n\r\n", 4) == 0)
        {
            w->in_body = 1;
            wire_lines(w);
        }
    }

    if (i < n && w->a->body != NULL) {
        w->a->body(w->a->data, p + i, n - i);
    }

    return 0;
}


/* whole records; 1 after the last of the answer, -1 if it is none */

static int
wire_take(wire_t *w)
{
    int     type;
    size_t  content, all;

    while (w->len >= WIRE_HEADER) {
        type = w->in[1];
        content = (size_t) w->in[4] << 8 | w->in[5];
        all = WIRE_HEADER + content + w->in[6];

        if (w->in[0] != 1) {
            return -1;
        }

        if (w->len < all) {
            return 0;
        }

        if (type == WIRE_END) {
            return w->in_body ? 1 : -1;
        }

        if (type == WIRE_STDOUT
            && wire_stdout(w, (char *) w->in + WIRE_HEADER, content) == -1)
        {
            return -1;
        }

        w->len -= all;
        memmove(w->in, w->in + all, w->len);
    }

    return 0;
}


static int
wire_receive(wire_t *w)
{
    int            rc;
    ssize_t        n;
    struct pollfd  p;

    p.fd = w->fd;
    p.events = POLLIN;

    for (rc = 0; rc == 0; rc = wire_take(w)) {
        while (w->a->wait != NULL && poll(&p, 1, w->a->tick) == 0) {
            w->a->wait(w->a->data);
        }

        n = recv(w->fd, w->in + w->len, sizeof(w->in) - w->len, 0);

        if (n == 0 || (n == -1 && errno != EINTR)) {
            return -1;
        }

        w->len += n > 0 ? (size_t) n : 0;
    }

    return rc == 1 ? 0 : -1;
}


int
wire_ask(const char *path, const wire_param_t *params, const char *body,
    size_t len, wire_answer_t *a)
{
    int                         rc;
    size_t                      n;
    wire_t                     *w;
    static const unsigned char  begin[8] = { 0, 1 };

    w = calloc(1, sizeof(wire_t));

    if (w == NULL) {
        ctl_error("out of memory");
        return CTL_NO;
    }

    w->a = a;
    w->fd = wire_connect(path);

    if (w->fd == -1) {
        free(w);
        return CTL_AWAY;
    }

    wire_record(w->fd, WIRE_BEGIN, begin, sizeof(begin));
    rc = wire_params(w->fd, params);

    for (; rc == 0 && len != 0; body += n, len -= n) {
        n = len < WIRE_CHUNK ? len : WIRE_CHUNK;
        wire_record(w->fd, WIRE_STDIN, body, n);
    }

    if (rc == 0) {
        wire_record(w->fd, WIRE_STDIN, NULL, 0);
        rc = wire_receive(w) == 0 ? CTL_OK : w->in_body ? CTL_LOST : CTL_AWAY;

        if (rc != CTL_OK) {
            ctl_error("%s: the front went away, or does not let us in", path);
        }
    }

    (void) close(w->fd);
    free(w);

    return rc == -1 ? CTL_USAGE : rc;
}
