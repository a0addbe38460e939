
/*
 * In retort-front, as its own uid without any capability.  Names come from
 * clients and sandboxes, and are checked; the bytes are only counted and
 * written.
 */

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "artifact.h"
#include "bounds.h"
#include "clock.h"
#include "file_type.h"
#include "flog.h"
#include "secret.h"
#include "shelf_index.h"
#include "text.h"
#include "usage.h"
#include "utf8.h"


#define SHELF_MAGIC  "RSHELF1"


/* behind the bytes */

typedef struct {
    char      magic[8];
    uint64_t  size;
    uint64_t  created;
    uint64_t  expires;
    uint64_t  made;
    char      mime[SHELF_MIME];
    char      name[SHELF_NAME];
} shelf_tail_t;

static_assert(sizeof(shelf_tail_t) == 40 + SHELF_MIME + SHELF_NAME,
              "shelf: no padding");


int
shelf_is_name(const char *name)
{
    size_t  i, n, chars;

    n = strlen(name);

    if (n == 0 || n >= SHELF_NAME || !utf8_valid(name, n)
        || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
    {
        return 0;
    }

    chars = 0;

    for (i = 0; i < n; i++) {
        if ((unsigned char) name[i] < ' ' || name[i] == 0x7f
            || strchr("<>:\"|?*\\/", name[i]) != NULL)
        {
            return 0;
        }

        chars += ((unsigned char) name[i] & 0xc0) != 0x80;
    }

    return chars <= SHELF_CHARS;
}


int
shelf_is_mime(const char *mime)
{
    size_t        n;
    static char   chars[] = "abcdefghijklmnopqrstuvwxyz0123456789!#$&-^_.+"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    n = strspn(mime, chars);

    if (n == 0 || mime[n] != '/' || strlen(mime) >= SHELF_MIME) {
        return 0;
    }

    mime += n + 1;
    n = strspn(mime, chars);

    return n != 0 && mime[n] == '\0';
}


void
shelf_type(char mime[SHELF_MIME], const char *name)
{
    const char  *type;

    type = file_type(name);
    (void) snprintf(mime, SHELF_MIME, "%.*s", (int) strcspn(type, ";"), type);
}


static void
shelf_file(const char *hex, char file[OUT_FILE])
{
    (void) snprintf(file, OUT_FILE, "%s" STORE_SHELF, hex);
}


static void
shelf_forget(const char *hex)
{
    char  file[OUT_FILE];

    shelf_file(hex, file);
    store_forget(file);
}


/* what stands behind the bytes of a file; -1 if that is not what we write */

static int
shelf_read(int fd, uint64_t all, shelf_tail_t *t)
{
    return all >= sizeof(*t)
           && pread(fd, t, sizeof(*t), (off_t) (all - sizeof(*t)))
              == (ssize_t) sizeof(*t)
           && memcmp(t->magic, SHELF_MAGIC, sizeof(t->magic)) == 0
           && (all == sizeof(*t) || all - sizeof(*t) == t->size)
           && memchr(t->name, '\0', sizeof(t->name)) != NULL
           && memchr(t->mime, '\0', sizeof(t->mime)) != NULL
           && shelf_is_name(t->name) && shelf_is_mime(t->mime) ? 0 : -1;
}


/* one file that an earlier front left */

static int
shelf_found(const char *file)
{
    int            fd, rc;
    uint64_t       all;
    shelf_info_t   info;
    shelf_tail_t   t;

    if (!store_is_shelved(file)) {
        return 0;
    }

    fd = store_open(file, &all);

    if (fd == -1) {
        return 0;
    }

    rc = shelf_read(fd, all, &t);
    (void) close(fd);

    if (rc == -1) {
        flog(RLOG_WARN, "shelf: a damaged file is removed");
        store_forget(file);
        return 0;
    }

    memset(&info, 0, sizeof(info));
    memcpy(info.name, t.name, sizeof(info.name));
    memcpy(info.mime, t.mime, sizeof(info.mime));
    info.size = t.size;
    info.created = t.created;
    info.expires = t.expires;
    info.made = (t.made != 0);

    return shelf_index_add(file, &info, all == sizeof(t) && t.size != 0);
}


int
shelf_init(const retort_settings_t *s)
{
    if (shelf_index_init(s->node) == -1 || store_names(shelf_found) == -1)
    {
        flog(RLOG_ERROR, "shelf: %s", strerror(errno));
        return -1;
    }

    return 0;
}


static int
shelf_failed(err_t *e)
{
    return err_set(e, 500, "store_failed", "the artifact store failed");
}


static int
shelf_owner(char owner[STORE_OWNER + 1], const char *workspace, err_t *e)
{
    return secret_hex(owner, STORE_OWNER, ARTIFACT_OWNER, workspace) == 0
           ? 0 : shelf_failed(e);
}


int
shelf_begin(shelf_in_t *in, const char *workspace, err_t *e)
{
    memset(in, 0, sizeof(shelf_in_t));
    in->fd = -1;

    if (shelf_owner(in->owner, workspace, e) == -1) {
        return -1;
    }

    if (shelf_index_count(in->owner) >= BOUND_SHELF) {
        return err_set(e, 507, "storage_quota_exceeded", "the workspace has "
                       "%d files already", BOUND_SHELF);
    }

    in->fd = store_part(in->part);

    return in->fd != -1 ? 0 : shelf_failed(e);
}


static int
shelf_write(shelf_in_t *in, const void *p, size_t n, err_t *e)
{
    uint64_t  more;

    in->size += n;
    more = usage_of(in->size) - in->charged;

    if (more != 0 && store_charge(in->owner, more) == -1) {
        return err_set(e, 507, "storage_quota_exceeded",
                       "the workspace's store is full");
    }

    in->charged += more;

    if (store_bytes(in->fd, p, n) == 0) {
        return 0;
    }

    return errno == ENOSPC || errno == EDQUOT
           ? err_set(e, 507, "storage_full", "the artifact store is full")
           : shelf_failed(e);
}


int
shelf_add(shelf_in_t *in, const void *p, size_t n, err_t *e)
{
    if (n > BOUND_SHELF_FILE - in->size) {
        return err_set(e, 413, "too_large", "a file has at most %d bytes",
                       BOUND_SHELF_FILE);
    }

    return shelf_write(in, p, n, e);
}


void
shelf_drop(shelf_in_t *in)
{
    if (in->fd != -1) {
        (void) close(in->fd);
        store_part_drop(in->part, in->owner, in->charged);
        in->fd = -1;
    }
}


/* the file gets its name; the part is none of ours any more */

static int
shelf_publish(shelf_in_t *in, const char *hex, err_t *e)
{
    int       rc;
    char      file[OUT_FILE];
    uint64_t  life, issued;

    rc = close(in->fd);
    in->fd = -1;
    life = 1;
    shelf_file(hex, file);

    if (rc == -1) {
        store_part_drop(in->part, in->owner, in->charged);
        return shelf_failed(e);
    }

    return store_part_keep(in->part, file, (size_t) in->size, &life, &issued)
           == STORE_OK ? 0 : shelf_failed(e);
}


/* what is known of a file, as it stands behind its bytes */

static void
shelf_tail(shelf_tail_t *t, const shelf_info_t *info)
{
    memset(t, 0, sizeof(shelf_tail_t));
    memcpy(t->magic, SHELF_MAGIC, sizeof(t->magic));
    t->size = info->size;
    t->created = info->created;
    t->expires = info->expires;
    t->made = (uint64_t) info->made;
    (void) snprintf(t->mime, sizeof(t->mime), "%s", info->mime);
    (void) snprintf(t->name, sizeof(t->name), "%s", info->name);
}


static int
shelf_finish(shelf_in_t *in, shelf_info_t *info, err_t *e)
{
    char          hex[33];
    shelf_tail_t  t;

    if (text_random(hex) == -1) {
        return shelf_failed(e);
    }

    memcpy(hex, in->owner, STORE_OWNER);
    info->size = in->size;
    info->created = shelf_index_now();
    shelf_index_id(hex, info->id);
    shelf_tail(&t, info);

    if (shelf_write(in, &t, sizeof(t), e) == -1
        || shelf_publish(in, hex, e) == -1)
    {
        return -1;
    }

    if (shelf_index_add(hex, info, 0) == -1) {
        shelf_forget(hex);
        return err_set(e, 500, "no_memory", "out of memory");
    }

    return 0;
}


int
shelf_keep(shelf_in_t *in, shelf_info_t *info, err_t *e)
{
    int  rc;

    rc = shelf_finish(in, info, e);
    shelf_drop(in);

    return rc;
}


int
shelf_put(const char *workspace, shelf_info_t *info, const void *p, size_t n,
    err_t *e)
{
    int         rc;
    shelf_in_t  in;

    rc = shelf_begin(&in, workspace, e);

    if (rc == 0) {
        rc = shelf_add(&in, p, n, e);
    }

    if (rc == 0) {
        rc = shelf_keep(&in, info, e);
    }

    shelf_drop(&in);

    return rc;
}


int
shelf_open(const char *id, const char *workspace, shelf_info_t *info,
    err_t *e)
{
    int       fd;
    char      file[OUT_FILE];
    uint64_t  all;

    if (shelf_look(id, workspace, info, e) == -1) {
        return -1;
    }

    if (info->expires != 0 && info->expires <= clock_wall_ms() / 1000) {
        return err_set(e, 404, "file_expired", "File `%s` has expired.",
                       info->id);
    }

    shelf_file(shelf_index_hex(info->id), file);
    fd = store_open(file, &all);

    if (fd != -1 && all != info->size + sizeof(shelf_tail_t)) {
        (void) close(fd);
        fd = -1;
    }

    return fd != -1 ? fd : err_set(e, 404, "file_not_found",
                                   "File `%s` not found.", info->id);
}


/*
 * Its bytes go, what is known of it stays: that is all that is written anew.
 * If there is no room for it, all of it goes.
 */

static int
shelf_empty(const char *hex, const shelf_info_t *info)
{
    int           rc;
    err_t         e;
    shelf_in_t    in;
    shelf_tail_t  t;

    memset(&in, 0, sizeof(in));
    memcpy(in.owner, hex, STORE_OWNER);
    shelf_tail(&t, info);
    in.fd = store_part(in.part);
    rc = in.fd != -1 ? shelf_write(&in, &t, sizeof(t), &e) : -1;

    if (rc == 0) {
        rc = shelf_publish(&in, hex, &e);
    }

    shelf_drop(&in);

    return rc;
}


int
shelf_delete(const char *id, const char *workspace, err_t *e)
{
    shelf_info_t  info;

    if (shelf_look(id, workspace, &info, e) == -1) {
        return -1;
    }

    shelf_index_remove(shelf_index_hex(info.id));
    shelf_forget(shelf_index_hex(info.id));

    return 0;
}


/* takes away one that is due; 0 if there is none, until "next" */

static int
shelf_sweep(uint64_t *next)
{
    int            empty;
    char           hex[SHELF_HEX + 1];
    shelf_info_t   info;

    if (!shelf_index_due(hex, &info, &empty, next)) {
        return 0;
    }

    if (empty || shelf_empty(hex, &info) == -1) {
        shelf_index_remove(hex);
        shelf_forget(hex);

    } else if (!shelf_index_has(hex)) {
        /* a client removed it while it was written anew */
        shelf_forget(hex);
    }

    return 1;
}


void *
shelf_sweeper(void *unused)
{
    uint64_t  next;

    (void) unused;

    for ( ;; ) {
        while (shelf_sweep(&next)) { /* void */ }

        shelf_index_wait(next);
    }

    return NULL;
}
