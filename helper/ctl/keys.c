
/*
 * Part of retortctl: keys.  A key is shown once, when it is made; the file has
 * only its hash.
 */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/sha.h>

#include "ctl.h"


#define KEYS_BYTES  32
#define KEYS_ID     12          /* digits of the hash that name a key */
#define KEYS_NAMES  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"    \
                    "0123456789._-"


static void
keys_hex(char *to, const unsigned char *p, size_t n)
{
    size_t             i;
    static const char  digits[] = "0123456789abcdef";

    for (i = 0; i < n; i++) {
        to[2 * i] = digits[p[i] >> 4];
        to[2 * i + 1] = digits[p[i] & 15];
    }

    to[2 * n] = '\0';
}


/* as nginx takes them: "what" is for people */

static int
keys_name(const char *s, size_t n, size_t max, const char *what)
{
    if (n != 0 && n <= max && strspn(s, KEYS_NAMES) >= n) {
        return 0;
    }

    ctl_error("\"%s\": a %s is 1 to %zu characters of [A-Za-z0-9._-]", s, what,
              max);

    return -1;
}


static int
keys_profiles(const char *list)
{
    size_t  n;

    if (list == NULL) {
        return 0;
    }

    for ( ;; ) {
        n = strcspn(list, ",");

        if (keys_name(list, n, 31, "profile") == -1) {
            return -1;
        }

        if (list[n] == '\0') {
            return 0;
        }

        list += n + 1;
    }
}


/* those of ngx_http_retort_scope.c */

static int
keys_scopes(const char *list)
{
    size_t              i, n;
    static const char  *names[] = { "execute", "files", "admin" };

    while (list != NULL) {
        n = strcspn(list, ",");

        for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            if (strlen(names[i]) == n && strncmp(list, names[i], n) == 0) {
                break;
            }
        }

        if (i == sizeof(names) / sizeof(names[0])) {
            ctl_error("\"%.*s\": a scope is execute, files or admin", (int) n,
                      list);
            return -1;
        }

        list = list[n] == ',' ? list + n + 1 : NULL;
    }

    return 0;
}


/* tells the master to read its files again, or the reader to do so */

static int
keys_reload(const ctl_t *ctl)
{
    int   n;
    long  pid;
    FILE  *f;

    if (!ctl->reload) {
        (void) fprintf(stderr, "nginx reads it when it is reloaded: nginx -s "
                       "reload, or --reload\n");
        return CTL_OK;
    }

    f = fopen(ctl->pid_file, "re");
    n = f != NULL ? fscanf(f, "%ld", &pid) : 0;

    if (f != NULL) {
        (void) fclose(f);
    }

    if (n != 1 || pid <= 1) {
        ctl_error("%s: no pid of nginx in it; the file of keys is written",
                  ctl->pid_file);
        return CTL_NO;
    }

    if (kill((pid_t) pid, SIGHUP) == -1) {
        ctl_error("process %ld: %s; the file of keys is written", pid,
                  strerror(errno));
        return CTL_NO;
    }

    return CTL_OK;
}


/* what a key may do */

static const char *
keys_may(const keyfile_line_t *l)
{
    return l->scopes[0] != '\0' ? l->scopes : "execute,files";
}


static json_object *
keys_json(const keyfile_line_t *l)
{
    char          id[KEYS_ID + 1];
    json_object  *o;

    (void) snprintf(id, sizeof(id), "%.*s", KEYS_ID, l->hash);
    o = json_object_new_object();
    (void) json_object_object_add(o, "id", json_object_new_string(id));
    (void) json_object_object_add(o, "workspace",
                                  json_object_new_string(l->workspace));
    (void) json_object_object_add(o, "profiles",
                                  l->profiles[0] != '\0'
                                  ? json_object_new_string(l->profiles)
                                  : NULL);
    (void) json_object_object_add(o, "scopes",
                                  json_object_new_string(keys_may(l)));

    return o;
}


static void
keys_tell(const ctl_t *ctl, const keyfile_line_t *l, const char *key)
{
    json_object  *o;

    if (!ctl->json) {
        (void) printf("%s\n", key);
        return;
    }

    o = keys_json(l);
    (void) json_object_object_add(o, "key", json_object_new_string(key));
    ask_print(o);
    (void) json_object_put(o);
}


int
key_add(const ctl_t *ctl)
{
    int            rc;
    char           key[2 * KEYS_BYTES + 1], hash[2 * SHA256_DIGEST_LENGTH + 1];
    keyfile_t      k;
    unsigned char  bytes[KEYS_BYTES], sum[SHA256_DIGEST_LENGTH];

    if (keys_name(ctl->args[0], strlen(ctl->args[0]), 64, "workspace") == -1
        || keys_profiles(ctl->profile) == -1
        || keys_scopes(ctl->scope) == -1)
    {
        return CTL_USAGE;
    }

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes)) {
        ctl_error("no random bytes: %s", strerror(errno));
        return CTL_NO;
    }

    keys_hex(key, bytes, sizeof(bytes));
    (void) SHA256((unsigned char *) key, strlen(key), sum);
    keys_hex(hash, sum, sizeof(sum));

    rc = CTL_NO;

    if (keyfile_open(&k, ctl->keys, 1) == 0
        && keyfile_add(&k, ctl->args[0], hash,
                       ctl->profile != NULL ? ctl->profile : "",
                       ctl->scope != NULL ? ctl->scope : "") == 0
        && keyfile_write(&k) == 0)
    {
        keys_tell(ctl, &k.lines[k.n - 1], key);
        rc = keys_reload(ctl);
    }

    keyfile_close(&k);
    explicit_bzero(key, sizeof(key));

    return rc;
}


int
key_list(const ctl_t *ctl)
{
    size_t           i;
    keyfile_t        k;
    json_object     *o, *all;
    keyfile_line_t  *l;

    if (keyfile_open(&k, ctl->keys, 0) == -1) {
        keyfile_close(&k);
        return CTL_NO;
    }

    o = json_object_new_object();
    all = json_object_new_array();
    (void) json_object_object_add(o, "keys", all);

    if (!ctl->json) {
        (void) printf("%-*s %-24s %-24s %s\n", KEYS_ID, "ID", "WORKSPACE",
                      "PROFILES", "SCOPES");
    }

    for (i = 0; i < k.n; i++) {
        l = &k.lines[i];

        if (l->workspace == NULL) {
            continue;
        }

        (void) json_object_array_add(all, keys_json(l));

        if (!ctl->json) {
            (void) printf("%.*s %-24s %-24s %s\n", KEYS_ID, l->hash,
                          l->workspace,
                          l->profiles[0] != '\0' ? l->profiles : "all",
                          keys_may(l));
        }
    }

    if (ctl->json) {
        ask_print(o);
    }

    (void) json_object_put(o);
    keyfile_close(&k);

    return CTL_OK;
}


static int
keys_is(const ctl_t *ctl, const keyfile_line_t *l)
{
    return l->workspace != NULL && strcmp(l->workspace, ctl->args[0]) == 0
           && (ctl->id == NULL
               || (strlen(ctl->id) == KEYS_ID
                   && strncmp(ctl->id, l->hash, KEYS_ID) == 0));
}


int
key_revoke(const ctl_t *ctl)
{
    int           rc;
    size_t        i, n;
    keyfile_t     k;
    json_object  *o;

    rc = keyfile_open(&k, ctl->keys, 1) == 0 ? CTL_OK : CTL_NO;

    for (n = 0, i = 0; rc == CTL_OK && i < k.n; i++) {
        if (keys_is(ctl, &k.lines[i])) {
            free(k.lines[i].line);
            k.lines[i].line = NULL;
            n++;
        }
    }

    if (rc == CTL_OK && n == 0) {
        ctl_error("%s has no such key: see \"retortctl key list\"",
                  ctl->args[0]);
        rc = CTL_NO;
    }

    if (rc == CTL_OK && keyfile_write(&k) == -1) {
        rc = CTL_NO;
    }

    keyfile_close(&k);

    if (rc != CTL_OK) {
        return rc;
    }

    if (ctl->json) {
        o = json_object_new_object();
        (void) json_object_object_add(o, "revoked",
                                      json_object_new_int64((int64_t) n));
        ask_print(o);
        (void) json_object_put(o);

    } else {
        (void) printf("%zu removed\n", n);
    }

    return keys_reload(ctl);
}
