
/*
 * In retort-front, as its own uid without any capability.  MCP: the tools
 * about files of a sandbox.  One is written in front of a run that does
 * nothing, so that it gets a sandbox and its place like any other.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../file_type.h"
#include "../text.h"
#include "mcp.h"
#include "native.h"


#define MCP_WORKSPACE  "/workspace/"

#define MCP_OF_FILE                                                           \
    "\"sandbox_id\":{\"type\":[\"string\",\"null\"]},"                        \
    "\"error\":{\"type\":[\"object\",\"null\"]}"

#define MCP_IN_SANDBOX                                                        \
    "\"sandbox_id\":{\"type\":\"string\",\"description\":"                    \
    "\"Sandbox of an earlier result.\"}"

/* schemas: what is there beside the sandbox, and which of it has to be */

#define MCP_TAKES(more, required)                                             \
    "{\"type\":\"object\",\"properties\":{" MCP_IN_SANDBOX ","                \
    "\"path\":{\"type\":\"string\",\"description\":"                          \
    "\"Name in the working folder.\"}" more "}," required                     \
    "\"additionalProperties\":false}"

#define MCP_GIVES(more)                                                       \
    "{\"type\":\"object\",\"properties\":{" MCP_OF_FILE "," more "},"         \
    "\"required\":[\"sandbox_id\",\"error\"]}"

#define MCP_HAS_PATH  "\"required\":[\"path\"],"


/* models like to say where the working folder is */

static int
mcp_file_path(void *to, json_object *v, err_t *e)
{
    mcp_t       *m;
    const char  *path;

    m = to;
    path = json_object_get_string(v);

    if (strncmp(path, MCP_WORKSPACE, sizeof(MCP_WORKSPACE) - 1) == 0) {
        path += sizeof(MCP_WORKSPACE) - 1;
    }

    if (!mcp_is_whole(v)
        || (*path != '\0' && strcmp(path, ".") != 0
            && !job_file_name(path, strlen(path))))
    {
        return err_set(e, 400, "bad_name", "\"path\" is a relative name "
                       "without \".\" and \"..\"");
    }

    (void) snprintf(m->call->files.name, sizeof(m->call->files.name), "%s",
                    strcmp(path, ".") == 0 ? "" : path);

    return 0;
}


static int
mcp_file_recursive(void *to, json_object *v, err_t *e)
{
    (void) e;

    ((mcp_t *) to)->call->files.recursive = json_object_get_boolean(v);

    return 0;
}


static int
mcp_file_once(const mcp_t *m, err_t *e)
{
    return m->call->job.nfiles == 0 ? 0
           : err_set(e, 400, "bad_value", "either \"text\" or \"base64\"");
}


/* takes the bytes */

static int
mcp_file_take(mcp_t *m, char *data, size_t len, err_t *e)
{
    job_t  *job;

    job = &m->call->job;
    job->files = data != NULL ? calloc(1, sizeof(job_file_t)) : NULL;

    if (job->files == NULL) {
        free(data);
        return err_set(e, 500, "no_memory", "out of memory");
    }

    job->nfiles = 1;
    job->files->data = data;
    job->files->len = len;

    return 0;
}


static int
mcp_file_text(void *to, json_object *v, err_t *e)
{
    char    *data;
    size_t   len;

    if (mcp_file_once(to, e) == -1) {
        return -1;
    }

    data = json_in_copy(v, &len, e);

    return mcp_file_take(to, data, data != NULL ? len : 0, e);
}


static int
mcp_file_base64(void *to, json_object *v, err_t *e)
{
    size_t          n, len;
    unsigned char  *data;

    if (mcp_file_once(to, e) == -1) {
        return -1;
    }

    n = (size_t) json_object_get_string_len(v);
    len = 0;
    data = malloc(n + 1);

    if (data != NULL
        && text_base64(json_object_get_string(v), n, data, &len) == -1)
    {
        free(data);
        return err_set(e, 400, "bad_value", "\"base64\" is no base64");
    }

    return mcp_file_take(to, (char *) data, len, e);
}


static const json_in_key_t  mcp_keys_write[] = {
    { "sandbox_id", JSON_IN_STRING, mcp_arg_sandbox },
    { "path", JSON_IN_STRING, mcp_file_path },
    { "text", JSON_IN_STRING, mcp_file_text },
    { "base64", JSON_IN_STRING, mcp_file_base64 },
    { NULL, JSON_IN_STRING, NULL }
};


static const json_in_key_t  mcp_keys_read[] = {
    { "sandbox_id", JSON_IN_STRING, mcp_arg_sandbox },
    { "path", JSON_IN_STRING, mcp_file_path },
    { NULL, JSON_IN_STRING, NULL }
};


static const json_in_key_t  mcp_keys_list[] = {
    { "sandbox_id", JSON_IN_STRING, mcp_arg_sandbox },
    { "path", JSON_IN_STRING, mcp_file_path },
    { "recursive", JSON_IN_BOOL, mcp_file_recursive },
    { NULL, JSON_IN_STRING, NULL }
};


static int
mcp_file_named(const mcp_t *m, err_t *e)
{
    return m->call->files.name[0] != '\0' ? 0
           : err_set(e, 400, "bad_value", "\"path\" is missing");
}


static int
mcp_write_ready(mcp_t *m, err_t *e)
{
    job_t  *job;

    job = &m->call->job;

    if (mcp_file_named(m, e) == -1) {
        return -1;
    }

    if (job->nfiles == 0) {
        return err_set(e, 400, "bad_value", "\"text\" or \"base64\" is "
                       "missing");
    }

    job->files->name = strdup(m->call->files.name);
    job->code = strdup("#\n");
    job->code_len = 2;

    return job->files->name != NULL && job->code != NULL ? 0
           : err_set(e, 500, "no_memory", "out of memory");
}


/* of which sandbox: the one that is named, or the session's */

static int
mcp_files_where(mcp_t *m, call_files_do_t what, err_t *e)
{
    call_files_t  *f;

    f = &m->call->files;
    f->what = what;

    if (m->call->job.sandbox[0] == '\0' && *m->session == '\0') {
        return err_set(e, 400, "bad_value", "\"sandbox_id\" is missing");
    }

    if (m->call->job.sandbox[0] != '\0') {
        memcpy(f->sandbox, m->call->job.sandbox, sizeof(f->sandbox));

    } else {
        (void) snprintf(f->session, sizeof(f->session), "%s", m->session);
    }

    return 0;
}


static int
mcp_list_ready(mcp_t *m, err_t *e)
{
    return mcp_files_where(m, CALL_FILES_LIST, e);
}


static int
mcp_read_ready(mcp_t *m, err_t *e)
{
    return mcp_file_named(m, e) == 0
           ? mcp_files_where(m, CALL_FILES_READ, e) : -1;
}


/* takes "error"; who has a sandbox may go on in it */

static json_object *
mcp_file_result(const char *sandbox, json_object *error)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "sandbox_id", *sandbox != '\0' ? mcp_text(sandbox) : NULL);
    native_add(o, "error", error);

    return o;
}


static json_object *
mcp_file_fail(mcp_t *m, const err_t *e)
{
    json_object  *error;

    (void) m;

    error = json_object_new_object();
    native_add(error, "name", mcp_text(e->code));
    native_add(error, "message", mcp_text(e->text));

    return mcp_twins(mcp_file_result("", error), 1);
}


static json_object *
mcp_write_done(mcp_t *m, const exec_t *x)
{
    json_object  *o;

    o = mcp_file_result(x->res.sandbox, native_error(&x->res));
    native_add(o, "path", mcp_text(m->call->files.name));
    native_add(o, "expires_at", x->res.expires != 0
                                ? native_time(x->res.expires) : NULL);

    return mcp_twins(o, x->res.verdict != VERDICT_OK);
}


static void
mcp_list_filed(mcp_t *m)
{
    size_t               i;
    json_object         *all, *one, *o;
    const file_infos_t  *list;

    all = json_object_new_array();
    list = &m->call->files.list;

    for (i = 0; i < list->n; i++) {
        one = json_object_new_object();
        native_add(one, "path", mcp_text(list->file[i].name));
        native_add(one, "folder",
                   json_object_new_boolean(list->file[i].folder));
        native_add(one, "size", native_number(list->file[i].size));
        native_add(one, "modified", native_time(list->file[i].modified));
        (void) json_object_array_add(all, one);
    }

    o = mcp_file_result(m->call->files.sandbox, NULL);
    native_add(o, "files", all);
    native_add(o, "truncated", json_object_new_boolean(list->truncated));
    mcp_result(m, mcp_twins(o, 0));
}


static void
mcp_read_filed(mcp_t *m)
{
    int           text;
    buf_t        *b;
    json_object  *o;

    b = &m->call->files.bytes;
    text = mcp_is_text(b->data, b->len);

    o = mcp_file_result(m->call->files.sandbox, NULL);
    native_add(o, "path", mcp_text(m->call->files.name));
    native_add(o, "size", native_number(b->len));
    native_add(o, "mime", mcp_text(file_type(m->call->files.name)));
    native_add(o, text ? "text" : "base64",
               text ? native_bytes(b->data, b->len)
                    : mcp_base64(b->data, b->len));
    mcp_result(m, mcp_twins(o, 0));
}


const mcp_tool_t  mcp_files_tools[] = {

    { .name = "write_file", .title = "Write a file",
      .description = "Writes a file of a sandbox, over one of this name. "
          "Without sandbox_id a sandbox is made; its id is in the result.",
      .input = MCP_TAKES(",\"text\":{\"type\":\"string\"},\"base64\":"
          "{\"type\":\"string\",\"description\":"
          "\"Instead of text, for bytes.\"}", MCP_HAS_PATH),
      .output = MCP_GIVES("\"path\":{\"type\":\"string\"},\"expires_at\":"
          "{\"type\":[\"string\",\"null\"]}"),
      .annotations = "{\"readOnlyHint\":false,\"destructiveHint\":true,"
          "\"idempotentHint\":true,\"openWorldHint\":false}",
      .keys = mcp_keys_write, .language = KRN_PYTHON, .handle = 1,
      .ready = mcp_write_ready, .done = mcp_write_done,
      .fail = mcp_file_fail },

    { .name = "read_file", .title = "Read a file",
      .description = "Reads a whole file of a sandbox: text as it is, other "
          "bytes as base64. At most 4 MiB.",
      .input = MCP_TAKES("", MCP_HAS_PATH),
      .output = MCP_GIVES("\"path\":{\"type\":\"string\"},\"size\":{\"type\":"
          "\"integer\"},\"mime\":{\"type\":\"string\"},\"text\":{\"type\":"
          "\"string\"},\"base64\":{\"type\":\"string\"}"),
      .annotations = MCP_READS, .keys = mcp_keys_read, .handle = 1,
      .ready = mcp_read_ready, .filed = mcp_read_filed,
      .fail = mcp_file_fail },

    { .name = "list_files", .title = "List files",
      .description = "Lists the files of a sandbox's working folder, or of a "
          "folder in it.",
      .input = MCP_TAKES(",\"recursive\":{\"type\":\"boolean\"}", ""),
      .output = MCP_GIVES("\"files\":{\"type\":\"array\",\"items\":{\"type\":"
          "\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
          "\"folder\":{\"type\":\"boolean\"},\"size\":{\"type\":"
          "\"integer\"}}}},\"truncated\":{\"type\":\"boolean\"}"),
      .annotations = MCP_READS, .keys = mcp_keys_list, .handle = 1,
      .ready = mcp_list_ready, .filed = mcp_list_filed,
      .fail = mcp_file_fail },

    { .name = NULL }
};
