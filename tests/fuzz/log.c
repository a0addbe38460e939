
/*
 * The end of a log of runs, which somebody may have changed: what a front
 * finds and goes on from is a chain again, and who verifies it is told of what
 * is not.  And a file of keys, which root wrote.  The first byte says which.
 *
 * links: helper/front/chain.c helper/front/chain_file.c helper/front/buf.c
 * links: helper/front/json_out.c helper/front/utf8.c
 * links: helper/front/clock.c helper/ctl/keyfile.c helper/ctl/audit.c
 * links: tests/fuzz/lib/quiet.c
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "front/chain.h"
#include "front/chain_file.h"
#include "start/start.h"
#include "fuzz.h"


#define LOG_FILE  "2026-01-01.0001.jsonl"


static char  top[] = "/tmp/fuzz-log-XXXXXX";
static int   dir;


/* ---- what others of retortctl have ---- */

void
ctl_error(const char *fmt, ...)
{
    (void) fmt;
}


const char *
ask_text(json_object *o, const char *key)
{
    json_object  *v;

    return json_object_object_get_ex(o, key, &v)
           && json_object_is_type(v, json_type_string)
           ? json_object_get_string(v) : "-";
}


long long
ask_number(json_object *o, const char *key)
{
    json_object  *v;

    return json_object_object_get_ex(o, key, &v)
           ? json_object_get_int64(v) : 0;
}


void
ask_print(json_object *o)
{
    FUZZ_CHECK(json_object_to_json_string(o) != NULL);
}


int
conf_read(start_t *s, const char *path, const char *name)
{
    (void) s;
    (void) path;
    (void) name;

    return -1;
}


static void
end(void)
{
    (void) unlinkat(dir, LOG_FILE, 0);
    (void) rmdir(top);
}


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;

    if (mkdtemp(top) == NULL || atexit(end) != 0) {
        abort();
    }

    dir = open(top, O_RDONLY|O_DIRECTORY|O_CLOEXEC);

    return 0;
}


static void
log_end(void)
{
    char          hash[CHAIN_HEX];
    chain_end_t   e;

    FUZZ_CHECK(chain_file_end(dir, &e) == 0);

    if (e.last.len != 0) {
        /* 75 bytes are its hash, and one is the NUL */
        FUZZ_CHECK(e.last.len > 76);
        chain_sha256(e.last.data, e.last.len - 76, hash);
        FUZZ_CHECK(strcmp(hash, e.head) == 0);
    }

    if (e.fd != -1) {
        (void) close(e.fd);
    }

    buf_free(&e.last);
    buf_free(&e.torn);
}


static void
log_keys(void)
{
    char        path[64];
    keyfile_t   k;

    (void) snprintf(path, sizeof(path), "%s/" LOG_FILE, top);

    (void) keyfile_open(&k, path, 0);
    keyfile_close(&k);
}


/* a log that is good has a line; what is appended to it is found */

static void
log_verify(void)
{
    int    fd;
    char  *args[] = { top };
    ctl_t  ctl;

    memset(&ctl, 0, sizeof(ctl));
    ctl.json = 1;
    ctl.args = args;
    ctl.nargs = 1;

    if (audit_verify(&ctl) != CTL_OK) {
        return;
    }

    fd = openat(dir, LOG_FILE, O_WRONLY|O_APPEND|O_CLOEXEC);

    if (fd == -1 || write(fd, "{}\n", 3) != 3) {
        abort();
    }

    (void) close(fd);
    FUZZ_CHECK(audit_verify(&ctl) == CTL_NO);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int      fd;
    uint8_t  which;

    which = fuzz_byte(&data, &size);
    fd = openat(dir, LOG_FILE, O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0600);

    if (fd == -1 || write(fd, data, size) != (ssize_t) size) {
        abort();
    }

    (void) close(fd);

    if (which == 'k') {
        log_keys();

    } else if (which == 'v') {
        log_verify();

    } else {
        log_end();
    }

    return 0;
}
