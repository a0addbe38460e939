
/*
 * In retort-front, as its own uid without any capability.  MCP: resources.
 * The skill, the files of sandboxes, artifacts, and the fixtures'.
 */

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../file_type.h"
#include "../text.h"
#include "../utf8.h"
#include "mcp.h"
#include "mcp_fixture.h"
#include "native.h"


#define MCP_SKILL      "retort://skill"
#define MCP_SANDBOXES  "retort://sandboxes/"
#define MCP_FILES      "/files/"
#define MCP_ARTIFACTS  "retort://artifacts/"
#define MCP_TEMPLATE   "test://template/"

#define MCP_OF(uri, name, text, mime)                                         \
    "{\"uri\":\"" uri "\",\"name\":\"" name "\",\"description\":\"" text      \
    "\",\"mimeType\":\"" mime "\"}"


static json_object *
mcp_resource_file(const char *sandbox, const file_info_t *f)
{
    buf_t         uri;
    json_object  *o;

    memset(&uri, 0, sizeof(uri));
    (void) buf_printf(&uri, MCP_SANDBOXES "%s" MCP_FILES, sandbox);
    file_url(&uri, f->name);

    o = json_object_new_object();
    native_add(o, "uri", native_bytes(uri.data, uri.len));
    native_add(o, "name", mcp_text(f->name));
    native_add(o, "mimeType", mcp_text(file_type(f->name)));
    native_add(o, "size", native_number(f->size));
    buf_free(&uri);

    return o;
}


static void
mcp_resources_listed(mcp_t *m)
{
    size_t               i;
    json_object         *all;
    const file_infos_t  *list;

    all = mcp_json("[" MCP_OF(MCP_SKILL, "skill", "When and how to run code.",
                              "text/markdown") "]");
    list = &m->call->files.list;

    if (m->fixtures) {
        (void) json_object_array_add(all, mcp_json(
            MCP_OF("test://static-text", "text", "A fixture.",
                   "text/plain")));
        (void) json_object_array_add(all, mcp_json(
            MCP_OF("test://static-binary", "binary", "A fixture.",
                   "image/png")));
        (void) json_object_array_add(all, mcp_json(
            MCP_OF("test://watched-resource", "watched", "A fixture.",
                   "text/plain")));
    }

    for (i = 0; i < list->n; i++) {
        if (!list->file[i].folder) {
            (void) json_object_array_add(all, mcp_resource_file(
                                             m->call->files.sandbox,
                                             &list->file[i]));
        }
    }

    (void) mcp_page(m, "resources", all);
}


/* in a session those of its sandbox, if it has one by now */

call_do_t
mcp_resources_list(mcp_t *m)
{
    if (*m->session == '\0') {
        mcp_resources_listed(m);
        return CALL_ANSWERED;
    }

    m->filed = mcp_resources_listed;
    m->call->files.what = CALL_FILES_LIST;
    m->call->files.recursive = 1;
    (void) snprintf(m->call->files.session, JOB_SESSION, "%s", m->session);

    return CALL_FILES;
}


call_do_t
mcp_resources_templates(mcp_t *m)
{
    json_object  *all;

    all = mcp_json(
        "[{\"uriTemplate\":\"" MCP_SANDBOXES "{sandbox_id}" MCP_FILES
        "{+path}\",\"name\":\"file\",\"description\":"
        "\"A file of a sandbox.\"},"
        "{\"uriTemplate\":\"" MCP_ARTIFACTS "{file_id}\",\"name\":"
        "\"artifact\",\"description\":\"A picture or file that a run "
        "left.\"}]");

    if (m->fixtures) {
        (void) json_object_array_add(all, mcp_json(
            "{\"uriTemplate\":\"" MCP_TEMPLATE "{id}/data\",\"name\":"
            "\"template\",\"mimeType\":\"application/json\"}"));
    }

    return mcp_page(m, "resourceTemplates", all);
}


static call_do_t
mcp_resource_none(mcp_t *m, const char *uri)
{
    json_object  *data;

    data = json_object_new_object();
    native_add(data, "uri", mcp_text(uri));
    (void) mcp_error(m, 200, m->modern ? MCP_PARAMS : MCP_NO_RESOURCE,
                     "no such resource", data);

    return CALL_ANSWERED;
}


static void
mcp_resource_give(mcp_t *m, const char *key, const char *mime,
    json_object *content)
{
    json_object  *o, *one, *all;

    one = json_object_new_object();
    native_add(one, "uri", mcp_text(mcp_param(m, "uri")));
    native_add(one, "mimeType", mcp_text(mime));
    native_add(one, key, content);
    all = json_object_new_array();
    (void) json_object_array_add(all, one);
    o = json_object_new_object();
    native_add(o, "contents", all);
    mcp_result(m, mcp_cached(m, o));
}


json_object *
mcp_base64(const char *p, size_t n)
{
    int             len;
    json_object    *o;
    unsigned char  *text;

    text = malloc(n / 3 * 4 + 5);

    if (text == NULL) {
        return NULL;
    }

    len = EVP_EncodeBlock(text, (const unsigned char *) p, (int) n);
    o = json_object_new_string_len((const char *) text, len);
    free(text);

    return o;
}


int
mcp_is_text(const char *p, size_t n)
{
    return n == 0 || (memchr(p, '\0', n) == NULL && utf8_valid(p, n));
}


static void
mcp_resource_read(mcp_t *m)
{
    int           text;
    const char   *mime;
    const buf_t  *b;

    b = &m->call->files.bytes;
    mime = file_type(mcp_param(m, "uri"));
    text = mcp_is_text(b->data, b->len);

    mcp_resource_give(m, text ? "text" : "blob",
                      text && strncmp(mime, "application/octet", 17) == 0
                      ? "text/plain" : mime,
                      text ? native_bytes(b->data, b->len)
                           : mcp_base64(b->data, b->len));
}


/* "…/SANDBOX/files/PATH" */

static call_do_t
mcp_resource_of_box(mcp_t *m, const char *uri)
{
    size_t         n;
    const char    *p;
    call_files_t  *f;

    f = &m->call->files;
    p = uri + sizeof(MCP_SANDBOXES) - 1;
    n = strcspn(p, "/");

    if (n >= JOB_SANDBOX || strncmp(p + n, MCP_FILES,
                                    sizeof(MCP_FILES) - 1) != 0)
    {
        return mcp_resource_none(m, uri);
    }

    (void) snprintf(f->sandbox, JOB_SANDBOX, "%.*s", (int) n, p);
    p += n + sizeof(MCP_FILES) - 1;

    if (!text_is_id(f->sandbox, "sbx")
        || file_decode(p, strlen(p), '%', f->name, sizeof(f->name)) == -1)
    {
        return mcp_resource_none(m, uri);
    }

    m->filed = mcp_resource_read;
    f->what = CALL_FILES_READ;

    return CALL_FILES;
}


static call_do_t
mcp_resource_artifact(mcp_t *m, const char *uri)
{
    (void) snprintf(m->call->files.name, sizeof(m->call->files.name), "%s",
                    uri + sizeof(MCP_ARTIFACTS) - 1);
    m->filed = mcp_resource_read;
    m->call->files.what = CALL_FILES_ARTIFACT;

    return CALL_FILES;
}


/* 0, or -1 if it is none of them */

static int
mcp_resource_fixture(mcp_t *m, const char *uri)
{
    int   n;
    char  text[256];

    if (strcmp(uri, "test://static-binary") == 0) {
        mcp_resource_give(m, "blob", "image/png", mcp_text(MCP_PNG));
        return 0;
    }

    if (strcmp(uri, "test://static-text") == 0
        || strcmp(uri, "test://watched-resource") == 0)
    {
        mcp_resource_give(m, "text", "text/plain", mcp_text(
            "This is the content of the static text resource."));
        return 0;
    }

    if (strncmp(uri, MCP_TEMPLATE, sizeof(MCP_TEMPLATE) - 1) != 0) {
        return -1;
    }

    uri += sizeof(MCP_TEMPLATE) - 1;
    n = (int) strspn(uri, "0123456789");

    if (n == 0 || n > 16 || strcmp(uri + n, "/data") != 0) {
        return -1;
    }

    (void) snprintf(text, sizeof(text), "{\"id\":\"%.*s\",\"templateTest\":"
                    "true,\"data\":\"Data for ID: %.*s\"}", n, uri, n, uri);
    mcp_resource_give(m, "text", "application/json", mcp_text(text));

    return 0;
}


call_do_t
mcp_resources_read(mcp_t *m)
{
    const char  *uri;

    uri = mcp_param(m, "uri");

    if (strcmp(uri, MCP_SKILL) == 0) {
        mcp_resource_give(m, "text", "text/markdown", mcp_text(mcp_skill));
        return CALL_ANSWERED;
    }

    if (m->fixtures && mcp_resource_fixture(m, uri) == 0) {
        return CALL_ANSWERED;
    }

    if (strncmp(uri, MCP_SANDBOXES, sizeof(MCP_SANDBOXES) - 1) == 0) {
        return mcp_resource_of_box(m, uri);
    }

    if (strncmp(uri, MCP_ARTIFACTS, sizeof(MCP_ARTIFACTS) - 1) == 0) {
        return mcp_resource_artifact(m, uri);
    }

    return mcp_resource_none(m, uri);
}


/* what is too large, or cannot be had now, is there nevertheless */

void
mcp_resource_fail(mcp_t *m, const err_t *e)
{
    if (e->status == 413 || e->status == 429 || e->status == 0
        || e->status >= 500)
    {
        (void) mcp_error(m, 200, MCP_INTERNAL, e->text, NULL);

    } else {
        (void) mcp_resource_none(m, mcp_param(m, "uri"));
    }
}


/* fixtures never change */

call_do_t
mcp_nothing(mcp_t *m)
{
    mcp_result(m, json_object_new_object());

    return CALL_ANSWERED;
}
