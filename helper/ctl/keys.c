
/*
 * Part of retortctl: keys.  A key is shown once, when it is made; the file has
 * only its hash.  Who wants to fetch it again has it kept beside, for root.
 */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/sha.h>

#include "ctl.h"


#define KEYS_BYTES  32
#define KEYS_KEY    (2 * KEYS_BYTES + 1)
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
keys_hash(char hash[2 * SHA256_DIGEST_LENGTH + 1], const char *key)
{
    unsigned char  sum[SHA256_DIGEST_LENGTH];

    (void) SHA256((const unsigned char *) key, strlen(key), sum);
    keys_hex(hash, sum, sizeof(sum));
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


/* a new line with a new key; 0, or -1 and that is told */

static int
keys_make(keyfile_t *k, const char *workspace, const char *profiles,
    const char *scopes, char key[KEYS_KEY])
{
    char           hash[2 * SHA256_DIGEST_LENGTH + 1];
    unsigned char  bytes[KEYS_BYTES];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes)) {
        ctl_error("no random bytes: %s", strerror(errno));
        return -1;
    }

    keys_hex(key, bytes, sizeof(bytes));
    keys_hash(hash, key);

    return keyfile_add(k, workspace, hash, profiles, scopes);
}


/* writes the file with its last line, which has that key */

static int
keys_put(const ctl_t *ctl, keyfile_t *k, const char *key, int save)
{
    if (keyfile_write(k) == -1
        || (save && keyfile_save(k, ctl->args[0], key) == -1))
    {
        return CTL_NO;
    }

    keys_tell(ctl, &k->lines[k->n - 1], key);

    return keys_reload(ctl);
}


int
key_add(const ctl_t *ctl)
{
    int        rc;
    char       key[KEYS_KEY];
    keyfile_t  k;

    if (keys_name(ctl->args[0], strlen(ctl->args[0]), 64, "workspace") == -1
        || keys_profiles(ctl->profile) == -1
        || keys_scopes(ctl->scope) == -1)
    {
        return CTL_USAGE;
    }

    rc = CTL_NO;

    if (keyfile_open(&k, ctl->keys, 1) == 0
        && keys_make(&k, ctl->args[0],
                     ctl->profile != NULL ? ctl->profile : "",
                     ctl->scope != NULL ? ctl->scope : "", key) == 0)
    {
        rc = keys_put(ctl, &k, key, ctl->save);
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


/* the same of all so far, or NULL */

static const char *
keys_both(size_t n, const char *all, const char *one)
{
    return n == 0 || (all != NULL && strcmp(all, one) == 0) ? one : NULL;
}


/* takes them off; how many, and what they all may, or NULL */

static size_t
keys_drop(const ctl_t *ctl, keyfile_t *k, const char **profiles,
    const char **scopes)
{
    size_t           i, n;
    keyfile_line_t  *l;

    *profiles = NULL;
    *scopes = NULL;

    for (n = 0, i = 0; i < k->n; i++) {
        l = &k->lines[i];

        if (!keys_is(ctl, l)) {
            continue;
        }

        *profiles = keys_both(n, *profiles, l->profiles);
        *scopes = keys_both(n, *scopes, l->scopes);
        free(l->line);
        l->line = NULL;
        n++;
    }

    if (n == 0) {
        ctl_error("%s has no such key: see \"retortctl key list\"",
                  ctl->args[0]);
    }

    return n;
}


/* is this key of the workspace one that is good? */

static int
keys_good(const ctl_t *ctl, const keyfile_t *k, const char *key)
{
    char    hash[2 * SHA256_DIGEST_LENGTH + 1];
    size_t  i;

    keys_hash(hash, key);

    for (i = 0; i < k->n; i++) {
        if (k->lines[i].workspace != NULL && k->lines[i].line != NULL
            && strcmp(k->lines[i].workspace, ctl->args[0]) == 0
            && strcmp(k->lines[i].hash, hash) == 0)
        {
            return 1;
        }
    }

    return 0;
}


/* one that was kept and is good no more is not kept any longer */

static void
keys_unsave(const ctl_t *ctl, keyfile_t *k)
{
    char  key[KEYS_KEY];

    if (keyfile_saved(k, ctl->args[0], key, sizeof(key)) == 0
        && !keys_good(ctl, k, key))
    {
        keyfile_unsave(k, ctl->args[0]);
    }

    explicit_bzero(key, sizeof(key));
}


int
key_revoke(const ctl_t *ctl)
{
    int           rc;
    size_t        n;
    keyfile_t     k;
    const char   *profiles, *scopes;
    json_object  *o;

    n = 0;
    rc = CTL_NO;

    if (keyfile_open(&k, ctl->keys, 1) == 0) {
        n = keys_drop(ctl, &k, &profiles, &scopes);

        if (n != 0 && keyfile_write(&k) == 0) {
            keys_unsave(ctl, &k);
            rc = CTL_OK;
        }
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


/* a new key in the place of the old ones, in one step */

int
key_rotate(const ctl_t *ctl)
{
    int          rc, save;
    char         key[KEYS_KEY];
    keyfile_t    k;
    const char  *profiles, *scopes;

    if (keys_profiles(ctl->profile) == -1
        || keys_scopes(ctl->scope) == -1)
    {
        return CTL_USAGE;
    }

    rc = CTL_NO;

    if (keyfile_open(&k, ctl->keys, 1) == 0
        && keys_drop(ctl, &k, &profiles, &scopes) != 0)
    {
        save = ctl->save
               || keyfile_saved(&k, ctl->args[0], key, sizeof(key)) == 0;
        profiles = ctl->profile != NULL ? ctl->profile : profiles;
        scopes = ctl->scope != NULL ? ctl->scope : scopes;

        if (profiles == NULL || scopes == NULL) {
            ctl_error("the keys of %s have different rights: say --id, or "
                      "--profile and --scope", ctl->args[0]);

        } else if (keys_make(&k, ctl->args[0], profiles, scopes, key) == 0) {
            rc = keys_put(ctl, &k, key, save);
        }
    }

    keyfile_close(&k);
    explicit_bzero(key, sizeof(key));

    return rc;
}


/* one that was kept when it was made */

int
key_fetch(const ctl_t *ctl)
{
    int           rc;
    char          key[KEYS_KEY];
    keyfile_t     k;
    json_object  *o;

    rc = CTL_NO;

    if (keyfile_open(&k, ctl->keys, 0) == 0) {
        if (keyfile_saved(&k, ctl->args[0], key, sizeof(key)) == -1
            || !keys_good(ctl, &k, key))
        {
            ctl_error("no key of %s is kept: \"retortctl key rotate --save\" "
                      "makes one that is", ctl->args[0]);

        } else if (ctl->json) {
            o = json_object_new_object();
            (void) json_object_object_add(o, "apiKey",
                                          json_object_new_string(key));
            ask_print(o);
            (void) json_object_put(o);
            rc = CTL_OK;

        } else {
            (void) printf("%s\n", key);
            rc = CTL_OK;
        }
    }

    keyfile_close(&k);
    explicit_bzero(key, sizeof(key));

    return rc;
}
