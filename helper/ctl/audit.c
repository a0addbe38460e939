
/*
 * Part of retortctl: is the log of runs as the front wrote it?  The files may
 * have been changed by anybody: each line is checked before it is believed.
 * How they are made is said in front/chain.h.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "start/start.h"


#define AUDIT_FILES  "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]."            \
                     "[0-9][0-9][0-9][0-9].jsonl"
#define AUDIT_HASH   ",\"hash\":\""
#define AUDIT_HEX    64
#define AUDIT_TAIL   (sizeof(AUDIT_HASH) - 1 + AUDIT_HEX + 2)


typedef struct {
    int            json;
    const char    *file;
    long long      line;        /* in it */
    long long      lines;
    long long      files;
    long long      runs;
    long long      lost;
    long long      died;        /* fronts that did not say that they stop */
    json_object   *open;        /* runs that began, by their ids */
    json_object   *problems;

    long long      n;           /* of the last good line */
    char           head[AUDIT_HEX + 1];
    char           first[32];   /* times */
    char           last[32];

    EVP_MD_CTX    *sum;         /* of bytes that are no line */
    long long      torn;
    long long      torn_at;

    long long      want_n;      /* --head, 0: none */
    const char    *want;
    int            seen;
} audit_t;


static void audit_bad(audit_t *a, long long line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));


static void
audit_bad(audit_t *a, long long line, const char *fmt, ...)
{
    char          text[200];
    va_list       args;
    json_object  *o;

    va_start(args, fmt);
    (void) vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    o = json_object_new_object();
    (void) json_object_object_add(o, "file", json_object_new_string(a->file));
    (void) json_object_object_add(o, "line", json_object_new_int64(line));
    (void) json_object_object_add(o, "what", json_object_new_string(text));
    (void) json_object_array_add(a->problems, o);

    if (!a->json) {
        (void) printf("%s:%lld: %s\n", a->file, line, text);
    }
}


static void
audit_hex(const unsigned char *md, char *hex)
{
    unsigned  i;

    for (i = 0; i < AUDIT_HEX / 2; i++) {
        (void) snprintf(hex + 2 * i, 3, "%02x", md[i]);
    }
}


/* a line without its newline: does it have the hash that it says? */

static int
audit_good(const char *p, size_t len, char hash[AUDIT_HEX + 1])
{
    size_t         n;
    unsigned char  md[EVP_MAX_MD_SIZE];

    if (len <= AUDIT_TAIL) {
        return 0;
    }

    n = len - AUDIT_TAIL;

    if (EVP_Digest(p, n, md, NULL, EVP_sha256(), NULL) != 1) {
        return 0;
    }

    audit_hex(md, hash);
    p += n;

    return memcmp(p, AUDIT_HASH, sizeof(AUDIT_HASH) - 1) == 0
           && memcmp(p + sizeof(AUDIT_HASH) - 1, hash, AUDIT_HEX) == 0
           && memcmp(p + AUDIT_TAIL - 2, "\"}", 2) == 0;
}


static void
audit_torn(audit_t *a, const char *p, size_t len)
{
    if (a->torn == 0) {
        a->torn_at = a->line;
        (void) EVP_DigestInit_ex(a->sum, EVP_sha256(), NULL);
    }

    a->torn += (long long) len;
    (void) EVP_DigestUpdate(a->sum, p, len);
}


/* bytes that are no line are good if the line behind them tells of them */

static void
audit_untorn(audit_t *a, json_object *o)
{
    int            told;
    char           hex[AUDIT_HEX + 1];
    long long      torn;
    unsigned char  md[EVP_MAX_MD_SIZE];

    torn = strcmp(ask_text(o, "event"), "gap") == 0 ? ask_number(o, "torn") : 0;

    if (a->torn == 0) {
        if (torn != 0) {
            audit_bad(a, a->line, "%lld bytes before it are missing", torn);
        }

        return;
    }

    hex[0] = '\0';

    if (EVP_DigestFinal_ex(a->sum, md, NULL) == 1) {
        audit_hex(md, hex);
    }

    told = torn == a->torn && strcmp(ask_text(o, "torn_sha256"), hex) == 0;
    a->torn = 0;

    if (!told) {
        audit_bad(a, a->torn_at, "no line of the log, or changed");
    }
}


static void
audit_follows(audit_t *a, json_object *o)
{
    long long    n;
    const char  *prev;

    n = ask_number(o, "n");
    prev = ask_text(o, "prev");

    if (a->lines == 0) {
        /* whole files may have been removed because of their age */

        if (strcmp(ask_text(o, "event"), "open") != 0
            && strcmp(ask_text(o, "event"), "gap") != 0)
        {
            audit_bad(a, a->line, "the lines before it are missing");
        }

        return;
    }

    if (n != a->n + 1) {
        audit_bad(a, a->line, n > a->n ? "%lld lines before it are missing"
                                       : "numbers go back by %lld",
                  n > a->n ? n - a->n - 1 : a->n - n);

    } else if (strcmp(prev, a->head) != 0) {
        audit_bad(a, a->line, "it does not follow the line before it");
    }
}


static void
audit_event(audit_t *a, json_object *o)
{
    json_object  *clean;
    const char   *event, *id;

    event = ask_text(o, "event");
    id = ask_text(o, "execution");

    if (strcmp(event, "begin") == 0) {
        (void) json_object_object_add(a->open, id, NULL);

    } else if (strcmp(event, "run") == 0 || strcmp(event, "none") == 0) {
        a->runs += event[0] == 'r';
        json_object_object_del(a->open, id);

    } else if (strcmp(event, "gap") == 0) {
        a->lost += ask_number(o, "lost");

    } else if (strcmp(event, "start") == 0
               && json_object_object_get_ex(o, "clean", &clean))
    {
        a->died += !json_object_get_boolean(clean);
    }
}


static void
audit_head(audit_t *a, const char *hash)
{
    if (a->want_n == 0 || a->want_n != a->n) {
        return;
    }

    a->seen = 1;

    if (strcmp(a->want, hash) != 0) {
        audit_bad(a, a->line, "line %lld is another than it was", a->n);
    }
}


static void
audit_line(audit_t *a, const char *p, size_t len)
{
    char          hash[AUDIT_HEX + 1];
    json_object  *o;

    a->line++;
    o = p[len - 1] == '\n' && audit_good(p, len - 1, hash)
        ? json_tokener_parse(p) : NULL;

    if (o == NULL) {
        audit_torn(a, p, len);
        return;
    }

    audit_untorn(a, o);
    audit_follows(a, o);
    audit_event(a, o);

    a->n = ask_number(o, "n");
    memcpy(a->head, hash, sizeof(hash));
    (void) snprintf(a->last, sizeof(a->last), "%s", ask_text(o, "time"));

    if (a->lines++ == 0) {
        memcpy(a->first, a->last, sizeof(a->first));
    }

    audit_head(a, hash);
    (void) json_object_put(o);
}


static int
audit_file(audit_t *a, int dir, const char *name)
{
    int       fd;
    FILE     *f;
    char     *line;
    size_t    size;
    ssize_t   n;

    a->file = name;
    a->line = 0;
    a->files++;
    line = NULL;
    size = 0;
    fd = openat(dir, name, O_RDONLY|O_NOFOLLOW|O_NONBLOCK|O_CLOEXEC);
    f = fd != -1 ? fdopen(fd, "r") : NULL;

    if (f == NULL) {
        ctl_error("%s: %s", name, strerror(errno));
        return -1;
    }

    while ((n = getline(&line, &size, f)) > 0) {
        audit_line(a, line, (size_t) n);
    }

    free(line);
    (void) fclose(f);

    if (a->torn != 0) {
        audit_bad(a, a->torn_at, "%lld bytes at its end are no line of the "
                  "log", a->torn);
        a->torn = 0;
    }

    return 0;
}


static int
audit_is_file(const struct dirent *e)
{
    return fnmatch(AUDIT_FILES, e->d_name, 0) == 0;
}


static int
audit_dir(audit_t *a, const char *path)
{
    int              i, n, dir, rc;
    struct dirent  **names;

    rc = 0;
    names = NULL;
    dir = open(path, O_RDONLY|O_DIRECTORY|O_CLOEXEC);
    n = dir != -1 ? scandirat(dir, ".", &names, audit_is_file, alphasort) : -1;

    if (n <= 0) {
        ctl_error("%s: %s", path, n == 0 ? "no log of runs" : strerror(errno));
        rc = -1;
    }

    for (i = 0; i < n; i++) {
        rc = rc == 0 ? audit_file(a, dir, names[i]->d_name) : rc;
        a->file = path;
        free(names[i]);
    }

    free(names);

    if (dir != -1) {
        (void) close(dir);
    }

    return rc;
}


static void
audit_say(audit_t *a, int good)
{
    int           open;
    json_object  *o;

    open = json_object_object_length(a->open);

    if (!a->json) {
        (void) printf("%s: %lld lines in %lld files, %s to %s\n"
                      "%lld runs; %d began without an end, %lld lines could "
                      "not be written, %lld fronts died\nhead %lld:%s\n",
                      good ? "good" : "NOT GOOD", a->lines, a->files, a->first,
                      a->last, a->runs, open, a->lost, a->died, a->n, a->head);
        return;
    }

    o = json_object_new_object();
    (void) json_object_object_add(o, "good", json_object_new_boolean(good));
    (void) json_object_object_add(o, "lines", json_object_new_int64(a->lines));
    (void) json_object_object_add(o, "files", json_object_new_int64(a->files));
    (void) json_object_object_add(o, "first", json_object_new_string(a->first));
    (void) json_object_object_add(o, "last", json_object_new_string(a->last));
    (void) json_object_object_add(o, "runs", json_object_new_int64(a->runs));
    (void) json_object_object_add(o, "open", json_object_new_int(open));
    (void) json_object_object_add(o, "lost", json_object_new_int64(a->lost));
    (void) json_object_object_add(o, "died", json_object_new_int64(a->died));
    (void) json_object_object_add(o, "n", json_object_new_int64(a->n));
    (void) json_object_object_add(o, "hash", json_object_new_string(a->head));
    (void) json_object_object_add(o, "problems",
                                  json_object_get(a->problems));
    ask_print(o);
    (void) json_object_put(o);
}


/* "N:HASH", as the service's log has it */

static int
audit_want(audit_t *a, const char *head)
{
    char  *colon;

    if (head == NULL) {
        return 0;
    }

    a->want_n = strtoll(head, &colon, 10);
    a->want = colon + 1;

    if (a->want_n > 0 && *colon == ':' && strlen(a->want) == AUDIT_HEX) {
        return 0;
    }

    ctl_error("--head is the number of a line, a colon and its hash");

    return -1;
}


static const char *
audit_path(const ctl_t *ctl)
{
    static start_t  s;          /* large, and its texts stay with it */

    if (ctl->nargs == 1) {
        return ctl->args[0];
    }

    if (conf_read(&s, ctl->conf, NULL) == -1) {
        return NULL;
    }

    if (s.audit == NULL) {
        ctl_error("%s: there is no \"audit\" in it", ctl->conf);
    }

    return s.audit;
}


int
audit_verify(const ctl_t *ctl)
{
    int          rc;
    audit_t      a;
    const char  *path;

    memset(&a, 0, sizeof(a));
    a.json = ctl->json;
    path = audit_want(&a, ctl->head) == 0 ? audit_path(ctl) : NULL;

    if (path == NULL) {
        return CTL_NO;
    }

    a.open = json_object_new_object();
    a.problems = json_object_new_array();
    a.sum = EVP_MD_CTX_new();
    rc = a.sum != NULL ? audit_dir(&a, path) : -1;

    if (rc == 0 && a.want_n != 0 && !a.seen) {
        audit_bad(&a, a.n, "line %lld is missing: the log was cut", a.want_n);
    }

    if (rc == 0) {
        rc = json_object_array_length(a.problems) == 0 ? 0 : -1;
        audit_say(&a, rc == 0);
    }

    EVP_MD_CTX_free(a.sum);
    (void) json_object_put(a.open);
    (void) json_object_put(a.problems);

    return rc == 0 ? CTL_OK : CTL_NO;
}
