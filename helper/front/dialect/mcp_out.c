
/*
 * In retort-front, as its own uid without any capability.  MCP: results of
 * python, bash and code_interpreter.  Each is whole for programs, and the same
 * as a text for models; a failed one fits the tool's schema, too.
 */

#include <string.h>

#include "../clock.h"
#include "../markdown.h"
#include "mcp.h"
#include "native.h"


static json_object *
mcp_block(json_object *text)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "type", mcp_text("text"));
    native_add(o, "text", text);

    return o;
}


static json_object *
mcp_whole(json_object *text, int failed)
{
    json_object  *o, *content;

    content = json_object_new_array();
    (void) json_object_array_add(content, mcp_block(text));

    o = json_object_new_object();
    native_add(o, "content", content);
    native_add(o, "isError", json_object_new_boolean(failed));

    return o;
}


json_object *
mcp_twins(json_object *structured, int failed)
{
    json_object  *o;

    o = mcp_whole(mcp_text(json_object_to_json_string_ext(structured,
                               JSON_C_TO_STRING_PLAIN
                               |JSON_C_TO_STRING_NOSLASHESCAPE)), failed);
    native_add(o, "structuredContent", structured);

    return o;
}


static json_object *
mcp_picture(const picture_t *p)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "type", mcp_text("image"));
    native_add(o, "data", json_object_new_string_len(p->base64.data,
                                                     (int) p->base64.len));
    native_add(o, "mimeType", mcp_text(p->artifact->mime));

    return o;
}


static json_object *
mcp_link(const mcp_t *m, const out_artifact_t *a)
{
    char          url[LINK_URL];
    json_object  *o;

    link_url(&m->call->req->link, a, url);

    o = json_object_new_object();
    native_add(o, "type", mcp_text("resource_link"));
    native_add(o, "uri", mcp_text(url));
    native_add(o, "name", mcp_text(a->name));
    native_add(o, "mimeType", mcp_text(a->mime));

    return o;
}


/* the oldest clients know no links, and have them in the text */

json_object *
mcp_pictures(const mcp_t *m, json_object *result)
{
    size_t            i;
    json_object      *content;
    const picture_t  *p;

    (void) json_object_object_get_ex(result, "content", &content);

    for (i = 0; i < m->call->npics; i++) {
        p = &m->call->pics[i];

        if (p->base64.len != 0 && !m->links) {
            (void) json_object_array_add(content, mcp_picture(p));

        } else if (*m->version != '\0'
                   && strcmp(m->version, "2025-03-26") != 0)
        {
            (void) json_object_array_add(content, mcp_link(m, p->artifact));
        }
    }

    return result;
}


json_object *
mcp_run_done(mcp_t *m, const exec_t *x)
{
    json_object       *o;
    const result_t    *res;
    const out_item_t  *value;

    res = &x->res;
    value = outputs_last(&res->out, OUT_RESULT);

    o = json_object_new_object();
    native_add(o, "sandbox_id", res->sandbox[0] != '\0'
                                ? mcp_text(res->sandbox) : NULL);
    native_add(o, "status", mcp_text(verdict_text(res->verdict)));
    native_add(o, "state", mcp_text(fate_text(res->fate)));
    native_add(o, "stdout", native_stream(&res->out, OUT_STDOUT));
    native_add(o, "stderr", native_stream(&res->out, OUT_STDERR));

    if (m->tool->language == KRN_BASH) {
        native_add(o, "exit_code", json_object_new_int(res->exit_code));

    } else {
        native_add(o, "result", value != NULL
                                ? native_bytes(value->text.data,
                                               value->text.len) : NULL);
    }

    native_add(o, "error", native_error(res));
    native_add(o, "artifacts", native_artifacts(m->call->req, &res->out));
    native_add(o, "expires_at", res->expires != 0
                                ? native_time(res->expires) : NULL);

    return mcp_pictures(m, mcp_twins(o, res->verdict != VERDICT_OK));
}


json_object *
mcp_run_fail(mcp_t *m, const err_t *e)
{
    json_object  *o, *error;

    (void) m;

    error = json_object_new_object();
    native_add(error, "name", mcp_text(e->code));
    native_add(error, "message", mcp_text(e->text));
    native_add(error, "traceback", mcp_text(""));

    o = json_object_new_object();
    native_add(o, "sandbox_id", NULL);
    native_add(o, "status", mcp_text("error"));
    native_add(o, "stdout", mcp_text(""));
    native_add(o, "stderr", mcp_text(""));
    native_add(o, "error", error);

    return mcp_twins(o, 1);
}


json_object *
mcp_code_done(mcp_t *m, const exec_t *x)
{
    buf_t         md;
    json_object  *o;

    memset(&md, 0, sizeof(md));
    markdown(&md, &x->res.out, &m->call->req->link);
    o = mcp_whole(native_bytes(md.data, md.len),
                  x->res.verdict != VERDICT_OK);
    buf_free(&md);

    return mcp_pictures(m, o);
}


json_object *
mcp_code_fail(mcp_t *m, const err_t *e)
{
    buf_t         text;
    json_object  *o;

    (void) m;

    memset(&text, 0, sizeof(text));
    (void) buf_printf(&text, "%s: %s", e->code, e->text);
    o = mcp_whole(native_bytes(text.data, text.len), 1);
    buf_free(&text);

    return o;
}
