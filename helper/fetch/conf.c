
/*
 * Part of retort-fetch: what the operator allows, as retortd's file says it.
 * Words of root: believed, but checked, because a wrong one would open a wrong
 * door.
 */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fetch.h"
#include "log.h"


#define CONF_K     1024ULL
#define CONF_M     (CONF_K * 1024)
#define CONF_G     (CONF_M * 1024)
#define CONF_HOUR  3600000ULL


typedef enum { CONF_BYTES, CONF_TIME, CONF_NUMBER, CONF_PATH, CONF_TEXT,
               CONF_OFF } conf_type_t;

typedef struct {
    const char          *name;          /* "KEY", as in KEY=VALUE */
    conf_type_t          type;
    size_t               offset;
    unsigned long long   min;
    unsigned long long   max;
} conf_key_t;


#define OF(type, field)  offsetof(type, field)

static const conf_key_t  conf_fetch[] = {
    { "off", CONF_OFF, OF(fetch_conf_t, off), 0, 0 },
    { "size", CONF_BYTES, OF(fetch_conf_t, size), 1, CONF_G },
    { "total", CONF_BYTES, OF(fetch_conf_t, total), 1, CONF_G },
    { "count", CONF_NUMBER, OF(fetch_conf_t, count), 1, FETCH_URLS },
    { "time", CONF_TIME, OF(fetch_conf_t, time), 100, CONF_HOUR },
    { "redirects", CONF_NUMBER, OF(fetch_conf_t, redirects), 0, 20 },
    { "ca", CONF_PATH, OF(fetch_conf_t, ca), 0, 0 },
    { NULL, CONF_OFF, 0, 0, 0 }
};

static const conf_key_t  conf_endpoint[] = {
    { "key_file", CONF_PATH, OF(fetch_endpoint_t, auth), 0, 0 },
    { "key_header", CONF_TEXT, OF(fetch_endpoint_t, key_header), 0, 0 },
    { "model", CONF_TEXT, OF(fetch_endpoint_t, model), 0, 0 },
    { "ca", CONF_PATH, OF(fetch_endpoint_t, ca), 0, 0 },
    { "timeout", CONF_TIME, OF(fetch_endpoint_t, timeout), 100, CONF_HOUR },
    { "size", CONF_BYTES, OF(fetch_endpoint_t, size), 1, CONF_G },
    { NULL, CONF_OFF, 0, 0, 0 }
};


static int
conf_error(const char *what, const char *word)
{
    rlog(RLOG_ERROR, "%s \"%s\"", what, word);

    return -1;
}


static int
conf_number(const conf_key_t *k, const char *word, uint64_t *value)
{
    size_t              i;
    char                *end;
    unsigned long long  n;
    static const struct {
        conf_type_t         type;
        const char          *unit;
        unsigned long long  factor;
    } units[] = {
        { CONF_BYTES, "", 1 }, { CONF_BYTES, "k", CONF_K },
        { CONF_BYTES, "m", CONF_M }, { CONF_BYTES, "g", CONF_G },
        { CONF_NUMBER, "", 1 }, { CONF_TIME, "ms", 1 },
        { CONF_TIME, "s", 1000 }, { CONF_TIME, "m", 60000 }
    };

    errno = 0;
    n = strtoull(word, &end, 10);

    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (units[i].type == k->type && strcmp(units[i].unit, end) == 0
            && isdigit((unsigned char) word[0]) && errno == 0
            && n <= CONF_G && n * units[i].factor >= k->min
            && n * units[i].factor <= k->max)
        {
            *value = n * units[i].factor;
            return 0;
        }
    }

    rlog(RLOG_ERROR, "\"%s\" of \"%s\" is no value from %llu to %llu", word,
         k->name, k->min, k->max);

    return -1;
}


static int
conf_value(const conf_key_t *k, char *target, const char *value)
{
    uint64_t  n;

    if (k->type == CONF_OFF) {
        *(bool *) (void *) (target + k->offset) = true;
        return 0;
    }

    if (k->type == CONF_PATH && value[0] != '/') {
        return conf_error("not an absolute path:", value);
    }

    if (k->type == CONF_PATH || k->type == CONF_TEXT) {
        memcpy(target + k->offset, &value, sizeof(value));
        return 0;
    }

    if (conf_number(k, value, &n) == -1) {
        return -1;
    }

    memcpy(target + k->offset, &n, sizeof(n));

    return 0;
}


/* KEY=VALUE, or KEY alone for a switch */

static int
conf_pair(const conf_key_t *keys, char *target, const char *word)
{
    size_t            n;
    const conf_key_t  *k;

    n = strcspn(word, "=");

    for (k = keys; k->name != NULL; k++) {
        if (strlen(k->name) == n && strncmp(k->name, word, n) == 0
            && (word[n] == '=' ? word[n + 1] != '\0' : k->type == CONF_OFF)
            && (word[n] == '=') == (k->type != CONF_OFF))
        {
            return conf_value(k, target, word + n + (word[n] == '='));
        }
    }

    return conf_error("not a setting:", word);
}


static int
conf_port(const char *word, uint16_t *port)
{
    uint64_t                 n;
    static const conf_key_t  key = { "port", CONF_NUMBER, 0, 1, UINT16_MAX };

    if (conf_number(&key, word, &n) == -1) {
        return -1;
    }

    *port = (uint16_t) n;

    return 0;
}


static bool
conf_is_host(const char *name)
{
    size_t  n;

    if (name[0] == '*' && name[1] == '.') {
        name += 2;
    }

    n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
               "0123456789.-_");

    return n != 0 && n < FETCH_HOST && name[n] == '\0';
}


/* "[IPV6]/BITS:PORT" and "NAME:PORT": what is in front of the port */

static char *
conf_split(char *word, char **port)
{
    char  *end;

    *port = NULL;

    if (word[0] != '[') {
        end = strchr(word, ':');
        *port = end != NULL && end == strrchr(word, ':') ? end + 1 : NULL;

        if (*port != NULL) {
            *end = '\0';
        }

        return word;
    }

    end = strchr(word, ']');

    if (end == NULL) {
        return word;
    }

    *port = strchr(end, ':');

    if (*port != NULL) {
        *(*port)++ = '\0';
    }

    memmove(end, end + 1, strlen(end + 1) + 1);

    return word + 1;
}


static int
conf_allow(fetch_conf_t *c, char *word)
{
    char           *port;
    fetch_allow_t  *a;

    if (c->nallows == FETCH_ALLOWS) {
        return conf_error("too many are allowed:", word);
    }

    a = &c->allow[c->nallows++];
    word = conf_split(word, &port);

    if (port != NULL && conf_port(port, &a->port) == -1) {
        return -1;
    }

    if (net_read(&a->net, word) == 0) {
        return 0;
    }

    a->host = word;

    return conf_is_host(word) ? 0 : conf_error("neither name nor address:",
                                               word);
}


static int
conf_list(fetch_conf_t *c, const char *name, char *word)
{
    if (strcmp(name, "fetch_allow") == 0) {
        return conf_allow(c, word);
    }

    if (strcmp(name, "fetch_ports") == 0) {
        if (c->nports == FETCH_PORTS) {
            return conf_error("too many ports:", word);
        }

        return conf_port(word, &c->port[c->nports++]);
    }

    if (c->nhosts == FETCH_HOSTS || !conf_is_host(word)) {
        return conf_error("too many hosts, or no name:", word);
    }

    c->host[c->nhosts++] = word;

    return 0;
}


/* the key becomes a header line; nobody but root and this uid may read it */

static int
conf_key(fetch_endpoint_t *e)
{
    int          fd;
    char         *line, key[FETCH_KEY + 1];
    size_t       i, size;
    ssize_t      n;
    const char   *path;
    struct stat  st;

    path = e->auth;
    e->auth = NULL;
    fd = open(path, O_RDONLY|O_CLOEXEC|O_NOCTTY);

    if (fd == -1 || fstat(fd, &st) == -1) {
        rlog_errno(RLOG_ERROR, errno, "%s", path);
        return -1;
    }

    if (!S_ISREG(st.st_mode) || (st.st_mode & S_IRWXO) != 0) {
        return conf_error("a key's file is for root and the group of "
                          "retort-fetch alone (chmod 640):", path);
    }

    n = read(fd, key, sizeof(key));
    (void) close(fd);

    while (n > 0 && isspace((unsigned char) key[n - 1])) {
        n--;
    }

    for (i = 0; n > 0 && i < (size_t) n && isgraph((unsigned char) key[i]);
         i++)
    {
        /* void */
    }

    if (n <= 0 || n == (ssize_t) sizeof(key) || i != (size_t) n) {
        return conf_error("not one line with a key:", path);
    }

    size = (size_t) n + 32 + (e->key_header ? strlen(e->key_header) : 0);
    line = malloc(size);

    if (line == NULL) {
        return -1;
    }

    (void) snprintf(line, size, "%s: %s%.*s",
                    e->key_header != NULL ? e->key_header : "Authorization",
                    e->key_header != NULL ? "" : "Bearer ", (int) n, key);
    explicit_bzero(key, sizeof(key));
    e->auth = line;

    return 0;
}


static bool
conf_is_name(const char *name, size_t max)
{
    size_t  n;

    n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_");

    return n != 0 && n < max && name[n] == '\0';
}


static int
conf_new_endpoint(fetch_conf_t *c, char **words, int n)
{
    int               i;
    fetch_endpoint_t  *e, *other;

    if (n < 2 || c->nendpoints == FETCH_ENDPOINTS
        || !conf_is_name(words[0], FETCH_NAME))
    {
        return conf_error("endpoint NAME URL [KEY=VALUE...], a name of a-z, "
                          "0-9, \"-\", \"_\"; or there are too many:",
                          n > 0 ? words[0] : "");
    }

    e = &c->endpoint[c->nendpoints++];

    for (other = c->endpoint; other < e; other++) {
        if (strcmp(other->name, words[0]) == 0) {
            return conf_error("there are two endpoints", words[0]);
        }
    }

    e->name = words[0];
    e->url = words[1];
    e->model = "";
    e->size = 16 * CONF_M;
    e->timeout = 120000;

    if (strncmp(e->url, "http://", 7) != 0
        && strncmp(e->url, "https://", 8) != 0)
    {
        return conf_error("neither http:// nor https://:", e->url);
    }

    for (i = 2; i < n; i++) {
        if (conf_pair(conf_endpoint, (char *) e, words[i]) == -1) {
            return -1;
        }
    }

    if (strlen(e->model) >= FETCH_TEXT
        || (e->key_header != NULL && !conf_is_host(e->key_header)))
    {
        return conf_error("a model's or a header's name:", e->name);
    }

    return e->auth == NULL ? 0 : conf_key(e);
}


static int
conf_line(fetch_conf_t *c, char **words, int n)
{
    int  i;

    if (strcmp(words[0], "endpoint") == 0) {
        return conf_new_endpoint(c, words + 1, n - 1);
    }

    for (i = 1; i < n; i++) {
        if ((strcmp(words[0], "fetch") == 0
             ? conf_pair(conf_fetch, (char *) c, words[i])
             : conf_list(c, words[0], words[i])) == -1)
        {
            return -1;
        }
    }

    return 0;
}


int
conf_args(fetch_conf_t *c, int argc, char **argv)
{
    int  i, from;

    memset(c, 0, sizeof(*c));
    c->size = 64 * CONF_M;
    c->total = 128 * CONF_M;
    c->count = 16;
    c->time = 30000;
    c->redirects = 5;

    if (argc < 2) {
        return conf_error("the front's uid is missing:", "");
    }

    c->front = (uid_t) strtoul(argv[1], NULL, 10);

    for (from = 2, i = 2; i < argc; i++) {
        if (argv[i][0] == '\0') {
            if (i == from || conf_line(c, argv + from, i - from) == -1) {
                return -1;
            }

            from = i + 1;
        }
    }

    if (c->nports == 0) {
        c->port[c->nports++] = 80;
        c->port[c->nports++] = 443;
    }

    return from == argc ? 0 : conf_error("a line does not end:", argv[from]);
}


void
conf_forget(fetch_conf_t *c, const fetch_endpoint_t *keep)
{
    size_t  i;

    for (i = 0; i < c->nendpoints; i++) {
        if (&c->endpoint[i] != keep && c->endpoint[i].auth != NULL) {
            explicit_bzero(c->endpoint[i].auth, strlen(c->endpoint[i].auth));
        }
    }
}
