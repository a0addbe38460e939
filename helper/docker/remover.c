
/*
 * Part of retort-docker: sees to it that no container outlives its relay.  A
 * process of its own, so that it does so however the others end.  A container
 * ends by itself when its stream is closed; this is for what does not, or was
 * never started.
 */

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "docker.h"
#include "fdpass.h"
#include "log.h"


#define REMOVER_MAX    4096     /* of slots */
#define REMOVER_AGAIN  500      /* msec between two tries */
#define REMOVER_LATE   10000    /* that the engine may still be making one */
#define REMOVER_CALL   10000


typedef struct {
    uint64_t  box;
    int       fd;               /* -1: its relay has ended */
    char      said;             /* of REMOVER_MADE, REMOVER_NONE; 0: neither */
    int64_t   again;
    int64_t   until;
} remover_box_t;


static remover_box_t  remover_boxes[REMOVER_MAX];
static struct pollfd  remover_pfd[REMOVER_MAX + 1];
static size_t         remover_n;
static int64_t        remover_away;     /* until then the engine is not asked */


static int64_t
remover_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_MONOTONIC, &ts);

    return (int64_t) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}


static int
remover_remove(const docker_t *d, const char *name)
{
    char  path[256];

    (void) snprintf(path, sizeof(path), "/containers/%s?force=1&v=1", name);

    return engine_call(d, "DELETE", path, NULL, REMOVER_CALL, NULL);
}


/* it is over when the engine says that it is gone, and cannot come any more */

static int
remover_try(const docker_t *d, remover_box_t *box, int ending)
{
    int   status;
    char  name[DOCKER_NAME];

    docker_name(d, box->box, name);
    status = remover_now() < remover_away ? -1 : remover_remove(d, name);

    if (status == 204 || (status == 404 && box->said == *REMOVER_MADE)) {
        return 1;
    }

    box->again = remover_now() + REMOVER_AGAIN;

    /* one that does not answer is not waited for by each of the boxes */
    if (status == -1 && remover_away < remover_now()) {
        remover_away = box->again;
    }

    if (box->again < box->until || (status != 404 && !ending)) {
        return 0;
    }

    if (status != 404) {
        rlog(RLOG_ERROR, "container \"%s\" is left: the engine does not remove "
             "it; the next start will", name);
    }

    return 1;
}


static int
remover_add(int sock)
{
    int            fd, nfd;
    uint64_t       id;
    ssize_t        n;
    remover_box_t  *box;

    nfd = 1;
    n = fd_recv(sock, &id, sizeof(id), &fd, &nfd, 0);

    if (n != (ssize_t) sizeof(id) || nfd != 1) {
        return -1;
    }

    if (remover_n == REMOVER_MAX) {
        rlog(RLOG_ERROR, "too many containers wait to be removed");
        (void) close(fd);
        return 0;
    }

    box = &remover_boxes[remover_n++];
    memset(box, 0, sizeof(*box));
    box->box = id;
    box->fd = fd;

    return 0;
}


static void
remover_hear(remover_box_t *box)
{
    char     bytes[8];
    ssize_t  n;

    n = read(box->fd, bytes, sizeof(bytes));

    if (n > 0) {
        /* the first one: it is written before there is a tenant */
        box->said = box->said != 0 ? box->said : bytes[0];

    } else if (n == 0 || errno != EINTR) {
        (void) close(box->fd);
        box->fd = -1;
        box->again = remover_now();
        box->until = box->again + REMOVER_LATE;
    }
}


/* msec until something is due, or -1 */

static int
remover_wait(int sock)
{
    size_t   i;
    int64_t  now, due;

    due = INT64_MAX;
    now = remover_now();
    remover_pfd[0].fd = sock;
    remover_pfd[0].events = POLLIN;

    for (i = 0; i < remover_n; i++) {
        remover_pfd[i + 1].fd = remover_boxes[i].fd;
        remover_pfd[i + 1].events = POLLIN;

        if (remover_boxes[i].fd == -1 && remover_boxes[i].again < due) {
            due = remover_boxes[i].again;
        }
    }

    return due == INT64_MAX ? -1 : due > now ? (int) (due - now) : 0;
}


static void
remover_boxes_turn(const docker_t *d, int ending)
{
    size_t         i, n;
    remover_box_t  *box;

    n = remover_n;
    remover_n = 0;

    for (i = 0; i < n; i++) {
        box = &remover_boxes[i];

        if (box->fd != -1 && remover_pfd[i + 1].revents != 0) {
            remover_hear(box);
        }

        if (box->fd == -1 && box->again <= remover_now()
            && (box->said == *REMOVER_NONE || remover_try(d, box, ending)))
        {
            continue;
        }

        remover_boxes[remover_n++] = *box;
    }
}


void
remover_run(const docker_t *d, int sock)
{
    int  timeout;

    while (sock != -1 || remover_n != 0) {
        timeout = remover_wait(sock);

        if (poll(remover_pfd, remover_n + 1, timeout) == -1 && errno != EINTR)
        {
            _exit(1);
        }

        remover_boxes_turn(d, sock == -1);

        if (sock != -1 && remover_pfd[0].revents != 0
            && remover_add(sock) == -1)
        {
            sock = -1;
        }
    }

    _exit(0);
}


static void
remover_old(const docker_t *d, json_object *c)
{
    json_object  *id, *labels, *life;

    if (json_object_object_get_ex(c, "Id", &id)
        && json_object_object_get_ex(c, "Labels", &labels)
        && (!json_object_object_get_ex(labels, "retort.life", &life)
            || strcmp(json_object_get_string(life), d->boot) != 0)
        && strspn(json_object_get_string(id), "0123456789abcdef") == 64)
    {
        rlog(RLOG_INFO, "removing a container of an earlier life");
        (void) remover_remove(d, json_object_get_string(id));
    }
}


int
remover_sweep(const docker_t *d)
{
    int          status;
    char         path[1024], filter[512], *escaped;
    size_t       i;
    json_object  *list;

    (void) snprintf(filter, sizeof(filter),
                    "{\"label\":[\"retort.service=%s\"]}", d->service);
    escaped = curl_easy_escape(NULL, filter, 0);

    if (escaped == NULL) {
        return -1;
    }

    (void) snprintf(path, sizeof(path), "/containers/json?all=1&filters=%s",
                    escaped);
    curl_free(escaped);
    status = engine_call(d, "GET", path, NULL, REMOVER_CALL, &list);

    if (status == 200 && json_object_is_type(list, json_type_array)) {
        for (i = 0; i < json_object_array_length(list); i++) {
            remover_old(d, json_object_array_get_idx(list, i));
        }
    }

    json_object_put(list);

    return status == 200 ? 0 : -1;
}
