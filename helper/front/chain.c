
/*
 * In retort-front, as its own uid without any capability.  One lock is held
 * while a line gets its number, its time and its place.  Files are opened for
 * adding alone, and once the process is locked only new ones can be opened.
 */

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bounds.h"
#include "buf.h"
#include "chain.h"
#include "chain_file.h"
#include "clock.h"
#include "flog.h"
#include "json_out.h"


#define CHAIN_RETRIES  16       /* names that are taken */


typedef struct {
    int         dir;
    int         fd;             /* of the file, or -1 */
    char        name[CHAIN_NAME];
    uint64_t    size;
    uint64_t    n;              /* of the last line */
    char        head[CHAIN_HEX];
    int         failed;         /* since the last line */
    uint64_t    lost;
    uint64_t    torn;           /* bytes behind the last line */
    int         open;           /* they do not end with a newline */
    EVP_MD_CTX  *sum;           /* of them */
    uint64_t    told;           /* mono usec */
} chain_t;


static chain_t          chain;
static EVP_MD          *chain_md;
static pthread_once_t   chain_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t  chain_mutex = PTHREAD_MUTEX_INITIALIZER;


static void
chain_hex(const unsigned char *p, unsigned len, char *hex)
{
    unsigned           i;
    static const char  digits[] = "0123456789abcdef";

    for (i = 0; i < len; i++) {
        *hex++ = digits[p[i] >> 4];
        *hex++ = digits[p[i] & 15];
    }

    *hex = '\0';
}


/* to look for it each time takes as long as a line's digest */

static void
chain_find(void)
{
    chain_md = EVP_MD_fetch(NULL, "SHA256", NULL);
}


void
chain_sha256(const void *p, size_t len, char hex[CHAIN_HEX])
{
    unsigned       n;
    unsigned char  md[EVP_MAX_MD_SIZE];

    n = 0;
    hex[0] = '\0';
    (void) pthread_once(&chain_once, chain_find);

    if (EVP_Digest(p, len, md, &n, chain_md, NULL) == 1) {
        chain_hex(md, n, hex);
    }
}


/* bytes that are no line */

static void
chain_torn(chain_t *c, const void *p, size_t len)
{
    if (len == 0) {
        return;
    }

    if (c->torn == 0) {
        (void) EVP_DigestInit_ex(c->sum, EVP_sha256(), NULL);
    }

    (void) EVP_DigestUpdate(c->sum, p, len);
    c->torn += len;
    c->open = ((const char *) p)[len - 1] != '\n';
}


/* of a copy: more of them may come */

static void
chain_torn_hash(const chain_t *c, char hex[CHAIN_HEX])
{
    unsigned        n;
    EVP_MD_CTX     *sum;
    unsigned char   md[EVP_MAX_MD_SIZE];

    n = 0;
    hex[0] = '\0';
    sum = EVP_MD_CTX_new();

    if (sum != NULL && c->torn != 0 && EVP_MD_CTX_copy_ex(sum, c->sum) == 1
        && EVP_DigestFinal_ex(sum, md, &n) == 1)
    {
        chain_hex(md, n, hex);
    }

    EVP_MD_CTX_free(sum);
}


/* how many bytes are in the file now; errno */

static size_t
chain_write(chain_t *c, const char *p, size_t len)
{
    size_t   done;
    ssize_t  n;

    for (done = 0; done < len; done += (size_t) n) {
        n = write(c->fd, p + done, len - done);

        if (n == -1 && errno == EINTR) {
            n = 0;
            continue;
        }

        if (n <= 0) {
            break;
        }
    }

    c->size += done;

    return done;
}


/* one line, and it is the head then; 0 or -1 */

static int
chain_add(chain_t *c, const char *members, size_t len)
{
    char    time[CLOCK_TEXT], hash[CHAIN_HEX];
    buf_t   b;
    size_t  n;

    memset(&b, 0, sizeof(b));
    clock_text(clock_wall_ms(), time);

    json_out_open(&b, NULL, '{');
    json_out_number(&b, "n", c->n + 1);
    json_out_text(&b, "time", time, strlen(time));
    (void) buf_add(&b, ",", 1);
    (void) buf_add(&b, members, len);
    json_out_text(&b, "prev", c->head, strlen(c->head));

    if (!b.failed) {
        chain_sha256(b.data, b.len, hash);
        json_out_text(&b, "hash", hash, strlen(hash));
        (void) buf_add(&b, "}\n", 2);
    }

    if (b.failed || hash[0] == '\0') {
        buf_free(&b);
        errno = ENOMEM;
        return -1;
    }

    n = chain_write(c, b.data, b.len);

    if (n != b.len) {
        chain_torn(c, b.data, n);
        buf_free(&b);
        return -1;
    }

    buf_free(&b);
    c->n++;
    memcpy(c->head, hash, sizeof(hash));

    return 0;
}


static void
chain_say(chain_t *c)
{
    c->told = clock_mono_us();
    flog(RLOG_INFO, "audit: %s, head %llu:%s", c->name,
         (unsigned long long) c->n, c->head);
}


/* what is wrong with the lines before is said first; 0 or -1 */

static int
chain_mend(chain_t *c)
{
    int   n;
    char  text[256], hash[CHAIN_HEX];

    if (c->open) {
        if (chain_write(c, "\n", 1) != 1) {
            return -1;
        }

        chain_torn(c, "\n", 1);
    }

    chain_torn_hash(c, hash);
    n = snprintf(text, sizeof(text), "\"event\":\"gap\",\"lost\":%llu,\"torn\":"
                 "%llu,\"torn_sha256\":\"%s\"", (unsigned long long) c->lost,
                 (unsigned long long) c->torn, hash);

    if (chain_add(c, text, (size_t) n) == -1) {
        return -1;
    }

    flog(RLOG_WARN, "audit: the log is written again, %llu lines are missing",
         (unsigned long long) c->lost);
    c->failed = 0;
    c->lost = 0;
    c->torn = 0;
    c->open = 0;

    return 0;
}


/* a file of this day, or the next part of it; 0 or -1 */

static int
chain_next(chain_t *c, const char *day)
{
    int   i, n;
    char  text[128], before[CHAIN_NAME];

    memcpy(before, c->name, sizeof(before));

    for (i = 0; i < CHAIN_RETRIES; i++) {
        if (chain_file_next(c->name, day) == -1) {
            break;
        }

        c->fd = openat(c->dir, c->name, CHAIN_CREATE, 0600);

        if (c->fd != -1 || errno != EEXIST) {
            break;
        }
    }

    if (c->fd == -1) {
        memcpy(c->name, before, sizeof(before));
        return -1;
    }

    c->size = 0;
    n = snprintf(text, sizeof(text), "\"event\":\"open\",\"after\":\"%s\"",
                 before);

    return chain_add(c, text, (size_t) n);
}


/* a file that takes lines; 0 or -1 */

static int
chain_ready(chain_t *c)
{
    char         day[CLOCK_TEXT];
    const char  *seal = "\"event\":\"seal\"";

    clock_text(clock_wall_ms(), day);
    day[CHAIN_DAY] = '\0';

    if (c->fd != -1 && c->failed && chain_mend(c) == -1) {
        return -1;
    }

    if (c->fd != -1
        && (strncmp(c->name, day, CHAIN_DAY) < 0 || c->size >= CHAIN_PART))
    {
        if (chain_add(c, seal, strlen(seal)) == -1) {
            return -1;
        }

        chain_say(c);
        (void) close(c->fd);
        c->fd = -1;
    }

    if (c->fd != -1) {
        return 0;
    }

    return chain_next(c, day) == -1 || (c->failed && chain_mend(c) == -1)
           ? -1 : 0;
}


int
chain_put(const char *members, size_t len)
{
    int       rc;
    chain_t  *c;

    c = &chain;

    (void) pthread_mutex_lock(&chain_mutex);

    rc = chain_ready(c);

    if (rc == 0) {
        rc = chain_add(c, members, len);
    }

    if (rc == -1) {
        if (!c->failed) {
            flog(RLOG_ERROR, "audit: %s: %s", c->name, strerror(errno));
        }

        c->failed = 1;
        c->lost++;

    } else if (clock_mono_us() - c->told > BOUND_AUDIT_TELL * 1000ull) {
        chain_say(c);
    }

    (void) pthread_mutex_unlock(&chain_mutex);

    return rc;
}


void
chain_tell(void)
{
    (void) pthread_mutex_lock(&chain_mutex);
    chain_say(&chain);
    (void) pthread_mutex_unlock(&chain_mutex);
}


int
chain_open(int dir, const char *member, int *clean)
{
    chain_t      *c;
    chain_end_t   end;

    c = &chain;
    c->dir = dir;
    c->fd = -1;
    c->sum = EVP_MD_CTX_new();

    if (c->sum == NULL || chain_file_end(dir, &end) == -1) {
        flog(RLOG_ERROR, "audit: %s", strerror(errno));
        return -1;
    }

    memcpy(c->name, end.name, sizeof(end.name));
    memcpy(c->head, end.head, sizeof(end.head));
    c->n = end.n;
    c->fd = end.fd;
    c->size = end.size;
    *clean = end.last.len == 0 || strstr(end.last.data, member) != NULL;

    if (end.torn.len != 0) {
        chain_torn(c, end.torn.data, end.torn.len);
        c->failed = 1;
        flog(RLOG_WARN, "audit: %s: %zu bytes at its end are no line",
             c->name, end.torn.len);
    }

    buf_free(&end.last);
    buf_free(&end.torn);

    return 0;
}
