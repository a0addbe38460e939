
/*
 * After each run: which files of /workspace it made, changed or removed, and
 * those that its client shall see at once.  Runs in the kernel process; all
 * that is said here the tenant could say itself.
 *
 * The tree of the walk before is kept.  A file counts as changed if its ctime
 * or size did, unless its digest says otherwise.  What a mapping writes into a
 * file changes no time on tmpfs, and is not noticed.
 */

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"


#define CHANGES_TOLD   256
#define CHANGES_BYTES  (32 * 1024 * 1024)       /* digested after one run */


typedef struct {
    krn_want_t  want;           /* what is left of it */
    uint64_t    bytes;          /* that may still be digested */
    unsigned    told;
} changes_t;


static tree_t    changes_tree;
static int       changes_unknown = 1;   /* the tree is not what there is */
static tree_t    changes_outputs;       /* its top alone is used */
static EVP_MD    *changes_md;


void
changes_warm(void)
{
    unsigned       n;
    unsigned char  sha[EVP_MAX_MD_SIZE];

    changes_md = EVP_MD_fetch(NULL, "SHA256", NULL);

    if (changes_md != NULL) {
        (void) EVP_Digest("", 0, sha, &n, changes_md, NULL);
    }
}


void
changes_forget(void)
{
    changes_unknown = 1;
}


/* the walk, if there can be anything to see */

static void
changes_walk(tree_tell_pt tell, void *data)
{
    int          fd;
    struct stat  st;

    if (stat(KERN_WORKSPACE, &st) == 0 && tree_idle(&changes_tree, &st)) {
        return;
    }

    fd = open(KERN_WORKSPACE, O_RDONLY|O_DIRECTORY|O_CLOEXEC);

    if (fd == -1) {
        return;
    }

    changes_tree.tell = tell;
    changes_tree.data = data;
    (void) tree_walk(&changes_tree, fd);
    (void) close(fd);
}


void
changes_before(void)
{
    if (changes_unknown) {
        changes_unknown = 0;
        changes_walk(NULL, NULL);
    }
}


/* a kernel that was killed in the middle of an upload left a part of it */

static int
changes_sweep(void *data, tree_change_t what, int dir, const char *path,
    tree_node_t *node)
{
    (void) data;
    (void) what;
    (void) path;

    if (S_ISREG(node->mode)
        && strncmp(node->name, FILE_PART, strlen(FILE_PART)) == 0)
    {
        (void) unlinkat(dir, node->name, 0);
    }

    return 0;
}


void
changes_start(void)
{
    if (changes_md == NULL) {
        changes_warm();
    }

    /* if it cannot be made now, it is tried again after each run */
    (void) mkdir(KERN_OUTPUTS, 0700);
    changes_unknown = 0;
    changes_walk(changes_sweep, NULL);
}


/* a descriptor of a regular file of at most "max" bytes, and its size; or -1 */

static int
changes_open(int dir, const char *name, uint64_t max, uint64_t *size)
{
    int          fd;
    struct stat  st;

    fd = openat(dir, name, O_RDONLY|O_NOFOLLOW|O_NONBLOCK|O_CLOEXEC);

    if (fd == -1) {
        return -1;
    }

    if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)
        || (uint64_t) st.st_size > max)
    {
        (void) close(fd);
        return -1;
    }

    *size = (uint64_t) st.st_size;

    return fd;
}


static int
changes_digest(EVP_MD_CTX *ctx, int fd, unsigned char *sha, uint64_t left)
{
    ssize_t      n;
    static char  bytes[65536];

    if (EVP_DigestInit_ex(ctx, changes_md, NULL) != 1) {
        return -1;
    }

    for ( ;; ) {
        n = read(fd, bytes, sizeof(bytes));

        if (n == 0) {
            return EVP_DigestFinal_ex(ctx, sha, NULL) == 1 ? 0 : -1;
        }

        if (n < 0 || (uint64_t) n > left
            || EVP_DigestUpdate(ctx, bytes, (size_t) n) != 1)
        {
            return -1;
        }

        left -= (uint64_t) n;
    }
}


/* 0 if the content is known to be what it was */

static int
changes_hash(changes_t *c, int dir, tree_node_t *node)
{
    int            fd, rc, was;
    uint64_t       size;
    EVP_MD_CTX     *ctx;
    unsigned char  sha[EVP_MAX_MD_SIZE];

    was = node->hashed;
    node->hashed = 0;
    fd = changes_md != NULL ? changes_open(dir, node->name, c->bytes, &size)
                            : -1;

    if (fd == -1) {
        return 1;
    }

    ctx = EVP_MD_CTX_new();
    rc = ctx != NULL ? changes_digest(ctx, fd, sha, c->bytes) : -1;
    EVP_MD_CTX_free(ctx);
    (void) close(fd);

    if (rc == -1) {
        return 1;
    }

    c->bytes -= size;
    rc = !was || memcmp(node->sha, sha, TREE_SHA) != 0;
    memcpy(node->sha, sha, TREE_SHA);
    node->hashed = 1;

    return rc;
}


static void
changes_say(changes_t *c, uint32_t what, const char *path,
    const tree_node_t *node)
{
    wire_part_t    part[2];
    krn_changed_t  changed;

    if (c->told++ >= CHANGES_TOLD) {
        what = KRN_MORE_CHANGES;
    }

    if (what == KRN_MORE_CHANGES) {
        wire_send(KRN_CHANGE, what, 0, NULL, 0);
        return;
    }

    memset(&changed, 0, sizeof(changed));
    changed.size = node->size;

    if (node->hashed) {
        changed.hashed = 1;
        memcpy(changed.sha, node->sha, TREE_SHA);
    }

    part[0].data = path;
    part[0].len = strlen(path);
    part[1].data = &changed;
    part[1].len = sizeof(changed);
    wire_send(KRN_CHANGE, what, 0, part, 2);
}


/* the bytes of a file, which are freed by the caller; NULL: not all came */

static char *
changes_read(int fd, uint64_t size)
{
    char      *bytes;
    ssize_t   n;
    uint64_t  at;

    bytes = malloc((size_t) size + 1);

    for (at = 0; bytes != NULL && at < size; at += (uint64_t) n) {
        n = read(fd, bytes + at, (size_t) (size - at));

        if (n <= 0) {
            free(bytes);
            return NULL;
        }
    }

    return bytes;
}


/* a file as a display */

static void
changes_show(changes_t *c, int dir, const char *name, const char *path)
{
    int          fd;
    char         *bytes;
    uint64_t     size;
    wire_part_t  part[3];

    if (c->want.files == 0) {
        return;
    }

    fd = changes_open(dir, name, c->want.bytes, &size);

    if (fd == -1) {
        return;
    }

    bytes = changes_read(fd, size);
    (void) close(fd);

    if (bytes == NULL) {
        return;
    }

    part[0].data = "";
    part[0].len = 0;
    part[1].data = bytes;
    part[1].len = (size_t) size;
    part[2].data = path;
    part[2].len = strlen(path);
    wire_send(KRN_DISPLAY, KRN_SHOW, 1, NULL, 0);
    wire_send(KRN_MIME, 0, 0, part, 3);
    c->want.files--;
    free(bytes);
}


static int
changes_picture(const char *name)
{
    size_t       i;
    const char   *dot;
    static const char *const  kinds[] = {
        ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".pdf"
    };

    dot = strrchr(name, '.');

    for (i = 0; dot != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcasecmp(dot, kinds[i]) == 0) {
            return 1;
        }
    }

    return 0;
}


/* what programs keep for themselves */

static int
changes_hidden(const char *path)
{
    return path[0] == '.' || strstr(path, "/.") != NULL;
}


static int
changes_tell(void *data, tree_change_t what, int dir, const char *path,
    tree_node_t *node)
{
    changes_t  *c;

    c = data;

    if (!S_ISREG(node->mode)) {
        return 0;
    }

    if (what != TREE_DELETED && changes_hash(c, dir, node) == 0) {
        return 0;
    }

    changes_say(c, (uint32_t) what, path, node);

    if (what != TREE_DELETED && !changes_hidden(path)
        && !(c->want.flags & KRN_WANT_OUTPUTS)
        && ((c->want.flags & KRN_WANT_ALL) || changes_picture(path)))
    {
        changes_show(c, dir, node->name, path);
    }

    return c->told > CHANGES_TOLD ? -1 : 0;
}


static int
changes_one_output(void *data, tree_change_t what, int dir, const char *path,
    tree_node_t *node)
{
    changes_t  *c;

    (void) what;
    c = data;

    if (!S_ISREG(node->mode)) {
        return 0;
    }

    if ((c->want.flags & KRN_WANT_OUTPUTS)
        && (node->size > c->want.bytes || c->want.files == 0))
    {
        changes_say(c, KRN_UNSHOWN, path, node);
    }

    changes_show(c, dir, node->name, path);

    return 0;
}


/* what the run put into OUTPUT_DIR is shown, and the folder is made anew */

static void
changes_output(changes_t *c)
{
    int          fd;
    struct stat  st;

    if (lstat(KERN_OUTPUTS, &st) == 0
        && tree_idle(&changes_outputs, &st))
    {
        return;
    }

    fd = open(KERN_OUTPUTS, O_RDONLY|O_DIRECTORY|O_NOFOLLOW|O_CLOEXEC);

    if (fd == -1) {
        (void) unlink(KERN_OUTPUTS);
        (void) mkdir(KERN_OUTPUTS, 0700);
        return;
    }

    tree_free(&changes_outputs);
    changes_outputs.flat = 1;
    changes_outputs.tell = changes_one_output;
    changes_outputs.data = c;
    (void) tree_walk(&changes_outputs, fd);

    if (changes_outputs.top.nkids == 0) {
        (void) close(fd);
        return;
    }

    (void) file_empty(fd, FILE_DEPTH);
    (void) rmdir(KERN_OUTPUTS);
    (void) mkdir(KERN_OUTPUTS, 0700);
    tree_free(&changes_outputs);
}


void
changes_after(const krn_want_t *want)
{
    changes_t  c;

    memset(&c, 0, sizeof(c));
    c.want = *want;
    c.bytes = CHANGES_BYTES;
    changes_output(&c);
    changes_walk(changes_tell, &c);

    if (changes_tree.partial && c.told <= CHANGES_TOLD) {
        changes_say(&c, KRN_MORE_CHANGES, "", NULL);
    }
}
