
/*
 * In retort-front, as its own uid without any capability.  What is signed came
 * through a web server that others may speak to as well: it is bounded, and
 * compared in the same time whatever it is.
 */

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "flog.h"
#include "identity.h"
#include "text.h"


#define IDENTITY_FILE      ".identity"
#define IDENTITY_SECRETS   4
#define IDENTITY_MIN       32
#define IDENTITY_MAX       256
#define IDENTITY_TEXT      2048
#define IDENTITY_HASH      32
#define IDENTITY_DIGITS    12
#define IDENTITY_NAME      64
#define IDENTITY_WINDOW    60           /* seconds to both sides */

#define IDENTITY_EXECUTE   1
#define IDENTITY_FILES     2
#define IDENTITY_ADMIN     4


/* views into the param; none ends with a NUL */

typedef struct {
    size_t       said;          /* of the param, before the signature */
    const char  *name;
    size_t       name_len;
    const char  *scopes;
    size_t       scopes_len;
    const char  *sig;
} identity_t;


static char    identity_secrets[IDENTITY_SECRETS][IDENTITY_MAX + 1];
static size_t  identity_nsecrets;
static int     identity_only;


static int
identity_line(const char *line)
{
    size_t  i, n;

    n = strlen(line);

    if (n == 0 || line[0] == '#') {
        return 0;
    }

    if (strcmp(line, "required") == 0) {
        identity_only = 1;
        return 0;
    }

    for (i = 0; i < n && line[i] > ' ' && line[i] <= '~'; i++) {
        /* void */
    }

    if (i < n || n < IDENTITY_MIN || n > IDENTITY_MAX
        || identity_nsecrets == IDENTITY_SECRETS)
    {
        return -1;
    }

    memcpy(identity_secrets[identity_nsecrets++], line, n + 1);

    return 0;
}


static int
identity_read(int fd)
{
    int          rc;
    char         text[IDENTITY_TEXT + 1], *line, *rest;
    ssize_t      n;
    struct stat  st;

    if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)
        || st.st_uid != geteuid() || (st.st_mode & 077) != 0
        || st.st_size > IDENTITY_TEXT)
    {
        return -1;
    }

    n = read(fd, text, IDENTITY_TEXT);

    if (n == -1) {
        return -1;
    }

    text[n] = '\0';
    rest = text;

    for (rc = 0; rc == 0 && (line = strsep(&rest, "\n")) != NULL; /* void */) {
        rc = identity_line(line);
    }

    explicit_bzero(text, sizeof(text));

    return identity_nsecrets == 0 ? -1 : rc;
}


int
identity_init(int dir)
{
    int  fd, rc;

    fd = openat(dir, IDENTITY_FILE, O_RDONLY|O_NOFOLLOW|O_NONBLOCK|O_CLOEXEC);

    if (fd == -1 && errno == ENOENT) {
        return 0;
    }

    rc = fd == -1 ? -1 : identity_read(fd);

    if (fd != -1) {
        (void) close(fd);
    }

    if (rc == -1) {
        flog(RLOG_ERROR, "artifact store: " IDENTITY_FILE " must be the "
             "front's alone, with 1 to 4 secrets of 32 to 256 printable "
             "characters");
    }

    return rc;
}


int
identity_required(void)
{
    return identity_only;
}


static unsigned
identity_scope(const char *p, size_t n)
{
    size_t                i;
    static const struct {
        const char  *name;
        unsigned     scope;
    } scopes[] = {
        { "execute", IDENTITY_EXECUTE },
        { "files", IDENTITY_FILES },
        { "admin", IDENTITY_ADMIN }
    };

    for (i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
        if (strlen(scopes[i].name) == n
            && memcmp(scopes[i].name, p, n) == 0)
        {
            return scopes[i].scope;
        }
    }

    return 0;
}


/* 0: there is one that nobody knows */

static unsigned
identity_scopes(const char *p, size_t n)
{
    size_t    len;
    unsigned  one, all;

    if (n == 0) {
        return IDENTITY_EXECUTE|IDENTITY_FILES;
    }

    for (all = 0; /* void */; p += len + 1, n -= len + 1) {
        for (len = 0; len < n && p[len] != ','; len++) {
            /* void */
        }

        one = identity_scope(p, len);

        if (one == 0) {
            return 0;
        }

        all |= one;

        if (len == n) {
            return all;
        }
    }
}


/* TIME:WORKSPACE:SCOPES:SIGNATURE; 0 or -1 */

static int
identity_cut(const char *value, identity_t *id)
{
    size_t       stamp;
    const char  *p;

    stamp = strspn(value, "0123456789");
    p = value + stamp;

    if (stamp == 0 || stamp > IDENTITY_DIGITS || *p != ':') {
        return -1;
    }

    id->name = p + 1;
    id->name_len = strcspn(id->name, ":");
    p = id->name + id->name_len;

    if (id->name_len == 0 || id->name_len > IDENTITY_NAME || *p != ':') {
        return -1;
    }

    id->scopes = p + 1;
    id->scopes_len = strcspn(id->scopes, ":");
    p = id->scopes + id->scopes_len;

    if (*p != ':' || strlen(p + 1) != 2 * IDENTITY_HASH) {
        return -1;
    }

    id->said = (size_t) (p - value);
    id->sig = p + 1;

    return identity_scopes(id->scopes, id->scopes_len) != 0 ? 0 : -1;
}


static int
identity_signed(const identity_t *id, const char *text, size_t n)
{
    int                 good;
    char                hex[2 * IDENTITY_HASH];
    size_t              i, j;
    unsigned char       mac[EVP_MAX_MD_SIZE];
    static const char   digit[] = "0123456789abcdef";

    for (good = 0, i = 0; i < identity_nsecrets; i++) {
        if (HMAC(EVP_sha256(), identity_secrets[i],
                 (int) strlen(identity_secrets[i]),
                 (const unsigned char *) text, n, mac, NULL) == NULL)
        {
            return 0;
        }

        for (j = 0; j < sizeof(hex); j++) {
            hex[j] = digit[j % 2 == 0 ? mac[j / 2] >> 4 : mac[j / 2] & 0xf];
        }

        good |= CRYPTO_memcmp(hex, id->sig, sizeof(hex)) == 0;
    }

    return good;
}


static int
identity_fresh(const char *stamp)
{
    time_t     now;
    long long  t;

    now = time(NULL);
    t = strtoll(stamp, NULL, 10);

    return t >= now - IDENTITY_WINDOW && t <= now + IDENTITY_WINDOW;
}


/* as the module has it: files, unless it would be a run */

static unsigned
identity_needs(const request_t *r)
{
    size_t       n;
    const char  *p;

    n = strlen(r->path);

    if (strcmp(r->method, "POST") == 0 && n >= 8
        && strcmp(r->path + n - 8, "/execute") == 0)
    {
        return IDENTITY_EXECUTE;
    }

    for (p = r->path; *p != '\0'; p += n + (p[n] == '/')) {
        n = strcspn(p, "/");

        if (n == 5 && memcmp(p, "files", 5) == 0) {
            return IDENTITY_FILES;
        }
    }

    return IDENTITY_EXECUTE;
}


int
identity_check(request_t *r, const char *value, const char *uri, err_t *e)
{
    int          n, good;
    char        *text;
    identity_t   id;

    if (identity_nsecrets == 0 || identity_cut(value, &id) == -1) {
        return err_set(e, 401, "unauthorized", "a signed identity is needed");
    }

    n = asprintf(&text, "retort-identity %.*s %s %s", (int) id.said, value,
                 r->method, uri);

    if (n == -1) {
        return err_set(e, 500, "internal", "out of memory");
    }

    good = identity_signed(&id, text, (size_t) n) && identity_fresh(value);
    free(text);

    (void) snprintf(r->workspace, sizeof(r->workspace), "%.*s",
                    (int) id.name_len, id.name);

    if (!good || !text_is_name(r->workspace, sizeof(r->workspace) - 1)) {
        return err_set(e, 401, "unauthorized", "the signed identity is wrong, "
                       "or of another time");
    }

    if ((identity_scopes(id.scopes, id.scopes_len) & identity_needs(r)) == 0) {
        return err_set(e, 403, "forbidden", "this identity lacks the scope");
    }

    return 0;
}
