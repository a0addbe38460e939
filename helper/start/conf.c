
/*
 * Part of retortd (root): the configuration.  Files must belong to root and
 * be writable by nobody else; what is in them is believed, but every value is
 * checked for its range, because a wrong one would be a wrong wall.
 *
 * A line is "name value...", "#" begins a comment.
 */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "start.h"


#define CONF_FILE   65536
#define CONF_WORDS  64


typedef enum { CONF_TEXT, CONF_PATH, CONF_NUMBER, CONF_BYTES, CONF_TIME,
               CONF_CORES, CONF_LIST, CONF_LINK, CONF_LIFE, CONF_SWITCH,
               CONF_FENCE, CONF_FULL, CONF_BACKEND } conf_type_t;


typedef struct {
    const char          *name;
    conf_type_t          type;
    size_t               size;          /* of a number's field: 4 or 8 */
    size_t               offset;
    size_t               ceiling;       /* offset of the ceiling, 0: none */
    unsigned long long   min;
    unsigned long long   max;
} conf_row_t;


typedef struct {
    const char        *path;
    unsigned           line;
    const conf_row_t  *rows;
    size_t             nrows;
    char              *target;          /* what the offsets are in */
    char             **args;            /* of the profile's template */
    char             **text;            /* a profile's only text */
} conf_ctx_t;


#define K  1024ULL
#define M  (K * 1024)
#define G  (M * 1024)
#define YEAR  (366ULL * 86400000)
#define CONF_NO  0
#define CONF_RENEW  2           /* numbers or 3, once, unlike other lists */

#define TEXT(f)  { #f, CONF_TEXT, 0, offsetof(start_t, f), CONF_NO, 0, 0 }
#define PATH(f)  { #f, CONF_PATH, 0, offsetof(start_t, f), CONF_NO, 0, 0 }
#define LINE(f)                                                               \
    { #f, CONF_LIST, 1, offsetof(start_t, fetch), CONF_NO, 1, START_ARGS - 1 }
#define WHOLE(f, min, max)                                                    \
    { #f, CONF_NUMBER, 8, offsetof(start_t, f), CONF_NO, min, max }
#define SET(f, type, size, min, max)                                          \
    { #f, type, size, offsetof(start_t, settings.f), CONF_NO, min, max }

static const conf_row_t  conf_rows[] = {
    PATH(listen), PATH(image), PATH(layer), PATH(programs), PATH(profiles),
    PATH(artifacts), PATH(audit), TEXT(group), TEXT(user), TEXT(front_user),
    TEXT(fetch_user), TEXT(node), TEXT(name), TEXT(control_group),
    PATH(docker_socket), TEXT(docker_group),
    LINE(fetch), LINE(fetch_hosts), LINE(fetch_ports), LINE(fetch_allow),
    LINE(endpoint),
    { "allow_uid", CONF_LIST, 0, offsetof(start_t, allow), 0, 0, START_UIDS },
    WHOLE(slots, 1, 4096),
    WHOLE(uid_base, 65536, 4294000000ULL),
    WHOLE(threads, 1, 1024),
    SET(artifacts_keep, CONF_TIME, 8, 1000, YEAR),
    SET(artifacts_quota, CONF_BYTES, 8, M, 1024 * 1024 * G),
    SET(audit_code, CONF_SWITCH, 4, 0, 1),
    SET(audit_full, CONF_FULL, 4, 0, 1)
};

#define P(f)  offsetof(retort_profile_t, f)
#define BOX(f, type, min, max)                                                \
    { #f, type, sizeof(((retort_box_limits_t *) 0)->f), P(box.f),             \
      P(box_max.f), min, max }
#define RUN(f, type, min, max)                                                \
    { #f, type, 8, P(run.f), P(run_max.f), min, max }

static const conf_row_t  conf_profile_rows[] = {
    { "rootfs", CONF_PATH, 0, CONF_NO, CONF_NO, 0, 0 },
    { "import", CONF_LIST, 0, CONF_NO, CONF_NO, 0, START_ARGS - 1 },
    { "import_allow", CONF_LIST, 0, 1, CONF_NO, 1, START_ARGS - 1 },
    { "renew", CONF_LIST, 0, 2, CONF_NO, CONF_RENEW, START_ARGS - 1 },
    { "docker_image", CONF_LIST, 0, 3, CONF_NO, 1, START_ARGS - 1 },
    { "docker_runtime", CONF_LIST, 0, 4, CONF_NO, 1, START_ARGS - 1 },
    { "backend", CONF_BACKEND, 4, P(backend), CONF_NO, 0, 1 },
    { "docker_reuse", CONF_TIME, 4, P(reuse), CONF_NO, 0, 86400000 },
    BOX(memory, CONF_BYTES, 32 * M, 1024 * G),
    BOX(disk, CONF_BYTES, 64 * K, 1024 * G),
    BOX(inodes, CONF_NUMBER, 16, 100000000),
    BOX(tmp, CONF_BYTES, 64 * K, 64 * G),
    BOX(fsize, CONF_BYTES, 64 * K, 1024 * G),
    BOX(processes, CONF_NUMBER, 4, 32768),
    BOX(cpu, CONF_CORES, 10, 1024000),
    BOX(files, CONF_NUMBER, 32, 1048576),
    RUN(timeout, CONF_TIME, 100, 86400000),
    RUN(output, CONF_BYTES, 1 * K, 1 * G),
    RUN(image, CONF_BYTES, 1 * K, 1 * G),
    RUN(request, CONF_BYTES, 1 * K, 1 * G),
    RUN(artifacts, CONF_NUMBER, 0, 100000),
    RUN(ttl, CONF_TIME, 1000, 604800000ULL),
    { "ready", CONF_NUMBER, 4, P(ready), CONF_NO, 0, 4096 },
    { "sessions", CONF_NUMBER, 4, P(sessions), CONF_NO, 1, 4096 },
    { "life", CONF_LIFE, 4, P(life), CONF_NO, 0, 1 },
    { "snapshot", CONF_SWITCH, 4, P(snapshot), CONF_NO, 0, 1 },
    { "qwen_fence", CONF_FENCE, 4, P(fence), CONF_NO, 0, 1 },
    { "alive", CONF_TIME, 8, P(alive), CONF_NO, 1000, YEAR },
    { "M6_CODE_INTERPRETER_STATIC_URL", CONF_LINK, RETORT_PROFILE_LINK,
      P(m6_static_url), CONF_NO, 0, 0 },
    { "M6_CODE_INTERPRETER_WORK_DIR", CONF_LINK, RETORT_PROFILE_LINK,
      P(m6_work_dir), CONF_NO, 0, 0 }
};


/* what a template is told with, by the offset of the row */

static char *const  conf_options[] = {
    "--import", "--allow", "--renew", "--image", "--runtime"
};


/* 0 and 1 of a field that is a word */

static const char *const  conf_choices[][2] = {
    { "timed", "exit" }, { "off", "on" }, { "three", "longer" },
    { "refuse", "go-on" }, { "namespace", "docker" }
};


static int
conf_error(const conf_ctx_t *c, const char *what, const char *word)
{
    rlog(RLOG_ERROR, "%s:%u: %s \"%s\"", c->path, c->line, what, word);

    return -1;
}


/* nobody but root may have had a hand in it */

static int
conf_trusted(int fd, const char *path, mode_t type)
{
    struct stat  st;

    if (fstat(fd, &st) == -1 || (st.st_mode & S_IFMT) != type) {
        rlog(RLOG_ERROR, "%s: not what it should be", path);
        return -1;
    }

    if (st.st_uid != 0 || (st.st_mode & (S_IWGRP|S_IWOTH)) != 0) {
        rlog(RLOG_ERROR, "%s: must belong to root and be writable by root "
             "alone: chown root, chmod go-w", path);
        return -1;
    }

    return 0;
}


static char *
conf_load(const char *path)
{
    int      fd;
    char     *text;
    ssize_t  n;

    fd = open(path, O_RDONLY|O_CLOEXEC|O_NOCTTY);

    if (fd == -1) {
        rlog_errno(RLOG_ERROR, errno, "%s", path);
        return NULL;
    }

    text = calloc(1, CONF_FILE + 1);
    n = -1;

    if (text != NULL && conf_trusted(fd, path, S_IFREG) == 0) {
        n = read(fd, text, CONF_FILE);
    }

    (void) close(fd);

    if (n == -1 || n == CONF_FILE || memchr(text, '\0', (size_t) n) != NULL) {
        rlog(RLOG_ERROR, "%s: cannot be read, or is no text of less than %d "
             "bytes", path, CONF_FILE);
        return NULL;
    }

    return text;
}


/* digits with an optional fraction and a unit: 1.5g, 30s, 500ms, 2 */

static int
conf_number(const char *word, conf_type_t type, unsigned long long *value)
{
    char                 *end;
    size_t               i;
    double               x;
    static const struct {
        conf_type_t  type;
        const char  *name;
        double       factor;
    } units[] = {
        { CONF_BYTES, "", 1 }, { CONF_BYTES, "k", K }, { CONF_BYTES, "m", M },
        { CONF_BYTES, "g", G }, { CONF_NUMBER, "", 1 },
        { CONF_TIME, "ms", 1 }, { CONF_TIME, "s", 1000 },
        { CONF_TIME, "m", 60000 }, { CONF_TIME, "h", 3600000 },
        { CONF_TIME, "d", 86400000 }, { CONF_CORES, "", 1000 }
    };

    if (type >= CONF_LIFE) {
        *value = strcmp(word, conf_choices[type - CONF_LIFE][1]) == 0;
        return -(!*value && strcmp(word, conf_choices[type - CONF_LIFE][0]));
    }

    if (!isdigit((unsigned char) word[0]) || strpbrk(word, "xX") != NULL) {
        return -1;
    }

    x = strtod(word, &end);

    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (units[i].type == type && strcmp(units[i].name, end) == 0) {
            x *= units[i].factor;
            *value = x <= 1e18 ? (unsigned long long) x : 0;
            return x <= 1e18 ? 0 : -1;
        }
    }

    return -1;
}


static int
conf_store(const conf_ctx_t *c, const conf_row_t *row, const char *word,
    size_t offset, unsigned long long *value)
{
    uint32_t  narrow;

    if (conf_number(word, row->type, value) == -1
        || *value < row->min || *value > row->max)
    {
        if (row->type >= CONF_LIFE) {
            rlog(RLOG_ERROR, "%s:%u: \"%s\" is %s or %s, not \"%s\"", c->path,
                 c->line, row->name, conf_choices[row->type - CONF_LIFE][0],
                 conf_choices[row->type - CONF_LIFE][1], word);
            return -1;
        }

        rlog(RLOG_ERROR, "%s:%u: \"%s\" of \"%s\" is no value from %llu to "
             "%llu", c->path, c->line, word, row->name, row->min, row->max);
        return -1;
    }

    narrow = (uint32_t) *value;
    memcpy(c->target + offset, row->size == 4 ? (void *) &narrow : value,
           row->size);

    return 0;
}


/*
 * A template gets each word behind the option that it is for, retort-fetch a
 * whole line with its name, which ends with "".
 */

static int
conf_list(const conf_ctx_t *c, const conf_row_t *row, char **words, int n)
{
    int   i, used, given;
    char  *option, **list;

    list = (char **) (void *) (c->target + row->offset);
    option = NULL;

    if (c->args != NULL) {
        list = c->args;
        option = conf_options[row->offset];
    }

    for (used = given = 0; *list != NULL; used++) {
        given += *list++ == option;
    }

    used += option != NULL ? 2 * n : n + 2 * (int) row->size;

    if (n < (int) row->min || used > (int) row->max
        || (row->min == CONF_RENEW && (given != 0 || n > CONF_RENEW + 1)))
    {
        return conf_error(c, "wrong number of values for", row->name);
    }

    for (i = 0; row->min == CONF_RENEW && i < n; i++) {
        if (words[i][strspn(words[i], "0123456789")] != '\0'
            || strlen(words[i]) > 9)
        {
            return conf_error(c, "no number of up to nine digits:", words[i]);
        }
    }

    for (i = -(int) row->size; i < n; i++) {
        if (option != NULL) {
            *list++ = option;
        }

        *list++ = words[i];
    }

    if (row->size != 0) {
        *list = "";
    }

    return 0;
}


static int
conf_apply(const conf_ctx_t *c, const conf_row_t *row, char **words, int n)
{
    char                *text;
    unsigned long long   value, max;

    if (row->type == CONF_LIST) {
        return conf_list(c, row, words, n);
    }

    if (n < 1 || n > (row->ceiling != CONF_NO ? 2 : 1)) {
        return conf_error(c, "wrong number of values for", row->name);
    }

    if (row->type == CONF_PATH
        && (words[0][0] != '/' || strpbrk(words[0], ",:\\") != NULL))
    {
        return conf_error(c, "no absolute path without \",\", \":\" and "
                          "\"\\\":", words[0]);
    }

    if (row->type == CONF_TEXT || row->type == CONF_PATH) {
        text = words[0];
        memcpy(c->text != NULL ? (char *) c->text : c->target + row->offset,
               &text, sizeof(text));
        return 0;
    }

    if (row->type == CONF_LINK) {
        if (strpbrk(words[0], "()<>\"\\?") != NULL
            || strlen(words[0]) >= row->size)
        {
            return conf_error(c, "links cannot begin so:", words[0]);
        }

        memcpy(c->target + row->offset, words[0], strlen(words[0]) + 1);
        return 0;
    }

    max = row->max;

    if ((row->ceiling != CONF_NO
         && conf_store(c, row, words[n - 1], row->ceiling, &max) == -1)
        || conf_store(c, row, words[0], row->offset, &value) == -1)
    {
        return -1;
    }

    /* that would be a hole */

    return value <= max ? 0
           : conf_error(c, "the default is above the ceiling:", row->name);
}


/* cuts one line into words, in place */

static int
conf_words(char *line, char **words)
{
    int  n;

    n = 0;
    line[strcspn(line, "#")] = '\0';

    for ( ;; ) {
        line += strspn(line, " \t\r");

        if (*line == '\0' || n == CONF_WORDS - 1) {
            words[n] = NULL;
            return *line == '\0' ? n : -1;
        }

        words[n++] = line;
        line += strcspn(line, " \t\r");

        if (*line != '\0') {
            *line++ = '\0';
        }
    }
}


static int
conf_line(const conf_ctx_t *c, char *line)
{
    int     n;
    char    *words[CONF_WORDS];
    size_t  i;

    n = conf_words(line, words);

    if (n <= 0) {
        return n == 0 ? 0 : conf_error(c, "too many words in", line);
    }

    for (i = 0; i < c->nrows; i++) {
        if (strcmp(c->rows[i].name, words[0]) == 0) {
            return conf_apply(c, &c->rows[i], words + 1, n - 1);
        }
    }

    return conf_error(c, "unknown name", words[0]);
}


static int
conf_file(conf_ctx_t *c)
{
    char  *line, *next;

    line = conf_load(c->path);

    if (line == NULL) {
        return -1;
    }

    for (c->line = 1; line != NULL; c->line++) {
        next = strchr(line, '\n');

        if (next != NULL) {
            *next++ = '\0';
        }

        if (conf_line(c, line) == -1) {
            return -1;
        }

        line = next;
    }

    return 0;
}


/* letters, digits and "-", shorter than "size"; used in paths and ids */

static int
conf_is_name(const char *name, size_t size)
{
    size_t  n;

    n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return n != 0 && name[n] == '\0' && n < size && name[0] != '-';
}


static const retort_profile_t  conf_defaults = {
    .box = { 512 * M, 256 * M, 16384, 64 * M, 256 * M, 64, 1000, 256, 0 },
    .box_max = { 2 * G, 1 * G, 65536, 256 * M, 1 * G, 256, 2000, 1024, 0 },
    .run = { 30000, 1 * M, 16 * M, 16 * M, 64, 600000 },
    .run_max = { 300000, 16 * M, 64 * M, 64 * M, 256, 3600000 },
    .ready = 4,
    .sessions = 64,
    .snapshot = 1
};


/* beside the image, if "auto/image" made it */

static void
conf_manifest(start_t *s, uint32_t i)
{
    char  path[4096];

    (void) snprintf(path, sizeof(path), "%s/../manifest", s->rootfs[i]);

    if (access(path, R_OK) == 0) {
        s->manifest[i] = conf_load(path);
    }

    if (s->manifest[i] != NULL) {
        s->settings.profile[i].manifest = (uint32_t) strlen(s->manifest[i]);
    }
}


int
conf_profile(start_t *s, const char *file, const char *name)
{
    int               n;
    char              path[4096];
    uint32_t          i;
    conf_ctx_t        c = { 0 };
    retort_profile_t  *p;

    n = snprintf(path, sizeof(path), "%s/%s", s->profiles, file);
    i = s->settings.nprofiles;

    if (n < 0 || (size_t) n >= sizeof(path) || i == RETORT_PROFILES_MAX
        || !conf_is_name(name, RETORT_PROFILE_NAME))
    {
        rlog(RLOG_ERROR, "%s: more than %d profiles, or a name that is not "
             "made of a-z, 0-9 and \"-\"", path, RETORT_PROFILES_MAX);
        return -1;
    }

    p = &s->settings.profile[i];
    *p = conf_defaults;
    (void) snprintf(p->name, sizeof(p->name), "%s", name);

    c.path = path;
    c.rows = conf_profile_rows;
    c.nrows = sizeof(conf_profile_rows) / sizeof(conf_profile_rows[0]);
    c.target = (char *) p;
    c.args = s->args[i];
    c.text = &s->rootfs[i];
    s->rootfs[i] = s->image != NULL ? s->image : "/";

    if (conf_file(&c) == -1) {
        return -1;
    }

    if (p->life == RETORT_LIFE_EXIT && p->alive == 0) {
        rlog(RLOG_ERROR, "%s: \"life exit\" needs \"alive\"", path);
        return -1;
    }

    if (p->reuse != 0 && p->backend != RETORT_BACKEND_DOCKER) {
        rlog(RLOG_ERROR, "%s: \"docker_reuse\" is for containers", path);
        return -1;
    }

    conf_manifest(s, i);
    s->settings.nprofiles = i + 1;

    return 0;
}


static int
conf_profiles(start_t *s)
{
    int            rc;
    DIR            *dir;
    char           name[256];
    size_t         len;
    struct dirent  *e;

    dir = opendir(s->profiles);

    if (dir == NULL) {
        rlog_errno(RLOG_ERROR, errno, "%s", s->profiles);
        return -1;
    }

    rc = conf_trusted(dirfd(dir), s->profiles, S_IFDIR);

    while (rc == 0 && (e = readdir(dir)) != NULL) {
        len = strlen(e->d_name);

        if (len > 5 && strcmp(e->d_name + len - 5, ".conf") == 0) {
            (void) snprintf(name, sizeof(name), "%.*s", (int) (len - 5),
                            e->d_name);
            rc = conf_profile(s, e->d_name, name);
        }
    }

    (void) closedir(dir);

    if (rc == 0 && s->settings.nprofiles == 0) {
        rlog(RLOG_ERROR, "%s: no profile (NAME.conf)", s->profiles);
        return -1;
    }

    return rc;
}


static int
conf_check(start_t *s)
{
    size_t      i;
    const char  *paths[] = {
        s->listen, s->image, s->layer, s->programs, s->profiles, s->artifacts
    };

    for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (paths[i] == NULL) {
            rlog(RLOG_ERROR, "listen, image, layer, programs, profiles and "
                 "artifacts must all be there");
            return -1;
        }
    }

    if (!conf_is_name(s->node, RETORT_NODE_NAME)
        || !conf_is_name(s->name, RETORT_PROFILE_NAME))
    {
        rlog(RLOG_ERROR, "node and name are made of a-z, 0-9 and \"-\"");
        return -1;
    }

    if (s->allow[0] == NULL) {
        s->allow[0] = s->group;
    }

    s->settings.magic = RETORT_SETTINGS_MAGIC;
    s->settings.size = sizeof(s->settings);
    (void) snprintf(s->settings.node, sizeof(s->settings.node), "%s", s->node);
    s->settings.nslots = (uint32_t) s->slots;
    s->settings.uid_base = (uint32_t) s->uid_base;

    return 0;
}


int
conf_read(start_t *s, const char *path, const char *listen)
{
    char        *words[1];
    conf_ctx_t  c;

    s->group = "www-data";
    s->control_group = "root";
    s->user = "retort";
    s->front_user = "retort-front";
    s->fetch_user = "retort-fetch";
    s->docker_socket = "/run/docker.sock";
    s->docker_group = "docker";
    s->node = "local";
    s->name = "retort";
    s->slots = 256;
    s->uid_base = 1500000000;
    s->threads = 64;
    s->settings.artifacts_keep = 86400000;
    s->settings.artifacts_quota = 1 * G;

    memset(&c, 0, sizeof(c));
    c.path = path;
    c.rows = conf_rows;
    c.nrows = sizeof(conf_rows) / sizeof(conf_rows[0]);
    c.target = (char *) s;

    /* the first row is "listen" */
    words[0] = (char *) listen;

    if (conf_file(&c) == -1
        || (listen != NULL && conf_apply(&c, conf_rows, words, 1) == -1)
        || conf_check(s) == -1)
    {
        return -1;
    }

    return conf_profiles(s);
}
