
/*
 * In retort-front, as its own uid without any capability.  Azure's dynamic
 * sessions: what a request says in its query and path.
 */

#include <stdio.h>
#include <string.h>

#include "../file_type.h"
#include "azure.h"


#define AZURE_ID_MIN  4
#define AZURE_ID_MAX  128
#define AZURE_NAME    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"  \
                      "0123456789"
#define AZURE_MARKS   "_|}{[]:\";'<>?/.,@#$%^&*()-+=!~`"
#define AZURE_FOLDER  "mnt/data"        /* what /workspace is called */
#define AZURE_CONTENT "/content"


int
azure_identifier(const char *id, err_t *e)
{
    size_t  n;

    n = strlen(id);

    if (n < AZURE_ID_MIN || n > AZURE_ID_MAX) {
        return err_set(e, 400, "identifier_length", "The session identifier "
                       "must have %d to %d characters.", AZURE_ID_MIN,
                       AZURE_ID_MAX);
    }

    if (strspn(id, AZURE_NAME AZURE_MARKS) != n) {
        return err_set(e, 400, "identifier_invalid", "The session identifier "
                       "has a character that is not allowed in it.");
    }

    return 0;
}


int
azure_version(const request_t *req, err_t *e)
{
    char  text[64];

    if (azure_is_image(req)
        || (file_query(req->query, "api-version", text, sizeof(text)) == 0
            && text[0] != '\0'))
    {
        return 0;
    }

    return err_set(e, 400, "api_version", "The parameter api-version is "
                   "required in the query.");
}


int
azure_is_old(const request_t *req)
{
    char  text[64];

    return file_query(req->query, "api-version", text, sizeof(text)) == 0
           && strcmp(text, "2024-10") < 0;
}


int
azure_named(const request_t *req, char name[JOB_SESSION], err_t *e)
{
    char  text[3 * AZURE_ID_MAX + 1];

    name[0] = '\0';

    if (azure_is_image(req)) {
        /* a container is one session, whatever a request is called in it */
        (void) snprintf(name, JOB_SESSION, "container");
        return 0;
    }

    if (file_query(req->query, "identifier", text, sizeof(text)) == -1) {
        /* what does not fit, or is not encoded well */
        memset(text, '\x7f', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
    }

    if (text[0] == '\0') {
        return err_set(e, 400, "identifier_missing", "The parameter "
                       "identifier is required in the query.");
    }

    if (azure_identifier(text, e) == -1) {
        return -1;
    }

    memcpy(name, text, strlen(text) + 1);

    return 0;
}


/* the image only says again what a request is called */

void
azure_told(const request_t *req, char name[JOB_SESSION])
{
    err_t        e;
    const char  *id;

    if (!azure_is_image(req)) {
        (void) azure_named(req, name, &e);
        return;
    }

    id = azure_is_shell(req)
         ? request_param(req->params, "HTTP_X_EXECUTION_IDENTIFIER") : NULL;

    if (id != NULL) {
        (void) snprintf(name, JOB_SESSION, "%s", id);

    } else if (file_query(req->query, "identifier", name, JOB_SESSION) == -1) {
        name[0] = '\0';
    }
}


/* the client's name for an execution, "" if it has none */

int
azure_called(const request_t *req, char name[JOB_SESSION], err_t *e)
{
    size_t       n;
    const char  *id;

    id = request_param(req->params, "HTTP_OPERATION_ID");
    name[0] = '\0';

    if (id == NULL) {
        return 0;
    }

    n = strlen(id);

    /* one of our own would never be found by that name */

    if (n == 0 || n >= JOB_SANDBOX || strspn(id, AZURE_NAME "-_.") != n
        || strncmp(id, "exec_", 5) == 0)
    {
        return err_set(e, 400, "operation_id", "operation-id must have 1 to "
                       "%d characters of letters, digits, \"-\", \"_\" and "
                       "\".\".", JOB_SANDBOX - 1);
    }

    (void) snprintf(name, JOB_SESSION, "%s", id);

    return 0;
}


/* a path as Azure's clients write it: absolute, or below the folder of files */

static const char *
azure_path(const char *path)
{
    size_t  n;

    n = strlen(AZURE_FOLDER);
    path += strspn(path, "/");

    if (strncmp(path, AZURE_FOLDER, n) == 0
        && (path[n] == '/' || path[n] == '\0'))
    {
        path += n;
        path += strspn(path, "/");
    }

    return path;
}


static int
azure_join(char *to, size_t size, const char *folder, const char *name,
    size_t len)
{
    int  n;

    n = snprintf(to, size, "%s%s%.*s", folder,
                 *folder != '\0' && len != 0 ? "/" : "", (int) len, name);

    return n >= 0 && (size_t) n < size ? 0 : -1;
}


/* .../NAME/content is the file's bytes, .../NAME what is known of it */

static size_t
azure_file_name(const char *name, dialect_file_t *f)
{
    size_t  n, tail;

    n = strlen(name);
    tail = strlen(AZURE_CONTENT);

    if (f->op == OP_FILE_SHOW && n > tail
        && strcmp(name + n - tail, AZURE_CONTENT) == 0)
    {
        f->op = OP_FILE_GET;
        return n - tail;
    }

    return n;
}


int
azure_file(const request_t *req, const char *rest, dialect_file_t *f,
    err_t *e)
{
    char         path[BOUND_FILE_NAME + 1];
    size_t       n;
    const char  *folder;

    if (azure_named(req, f->session, e) == -1) {
        return -1;
    }

    if (file_query(req->query, "path", path, sizeof(path)) == -1) {
        return err_set(e, 400, "bad_name", "The path of the query is not "
                       "one.");
    }

    folder = azure_path(path);
    n = strlen(folder);

    while (n != 0 && folder[n - 1] == '/') {
        n--;
    }

    (void) azure_join(f->folder, sizeof(f->folder), "", folder, n);

    if (rest == NULL) {
        return 0;
    }

    rest = azure_path(rest);

    if (azure_join(f->name, sizeof(f->name), f->folder, rest,
                   azure_file_name(rest, f)) == -1)
    {
        return err_set(e, 400, "bad_name", "The file's name is too long.");
    }

    return 0;
}
