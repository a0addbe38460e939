
/*
 * In retort-front, as its own uid without any capability.  What became of the
 * blocks that asked for something.
 */

#include <stdio.h>
#include <string.h>

#include "../markdown.h"
#include "anthropic.h"
#include "editor.h"


#define ANTHROPIC_KILLED  137   /* what a shell says of one that was killed */


static const char *const  anthropic_kinds[] = {
    "bash_code_execution", "text_editor_code_execution", "code_execution"
};


static json_object *
anthropic_type(const char *kind, const char *tail)
{
    char  text[80];

    (void) snprintf(text, sizeof(text), "%s_%s", kind, tail);

    return json_object_new_string(text);
}


static json_object *
anthropic_error(const char *kind, const char *code)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "type", anthropic_type(kind, "tool_result_error"));
    native_add(o, "error_code", json_object_new_string(code));

    return o;
}


/*
 * Why a run is told of as an error; NULL if it is not.  Python's tool has no
 * word for too much: its result says what is missing.
 */

static const char *
anthropic_fault(anthropic_tool_t tool, const turn_step_t *s)
{
    if (s->x == NULL) {
        return s->e.status == 429 ? "too_many_requests" : "unavailable";
    }

    switch (s->x->res.verdict) {

    case VERDICT_TIMEOUT:
        return "execution_time_exceeded";

    case VERDICT_CANCELLED:
    case VERDICT_LOST:
        return "unavailable";

    default:
        return tool == ANTHROPIC_BASH
               && (outputs_cut(&s->x->res.out)
                   || s->x->res.out.unshown != 0)
               ? "output_file_too_large" : NULL;
    }
}


static void
anthropic_line(buf_t *to)
{
    if (to->len != 0 && to->data[to->len - 1] != '\n') {
        (void) buf_puts(to, "\n");
    }
}


/* an exception's traceback, or why the run was ended, behind what it said */

static void
anthropic_last(const outputs_t *out, buf_t *to)
{
    const out_item_t  *item;

    item = outputs_last(out, OUT_ERROR);

    if (item == NULL) {
        return;
    }

    anthropic_line(to);

    if (item->traceback.len != 0) {
        markdown_no_ansi(to, item->traceback.data, item->traceback.len);

    } else {
        (void) buf_add(to, item->text.data, item->text.len);
    }

    anthropic_line(to);
}


/* what could not be kept is said where people look */

static void
anthropic_unkept(const outputs_t *out, buf_t *to)
{
    size_t             i;
    const out_item_t  *item;

    for (item = out->first; item != NULL; item = item->next) {
        for (i = 0; i < item->nartifacts; i++) {
            if (item->artifacts[i].why[0] != '\0') {
                (void) buf_printf(to, "%s was not kept: %s\n",
                                  item->artifacts[i].name,
                                  item->artifacts[i].why);
            }
        }
    }

    if (out->unshown != 0) {
        (void) buf_printf(to, "%u more not kept: too large, or too many\n",
                          out->unshown);
    }
}


static json_object *
anthropic_stderr(const anthropic_use_t *u, const result_t *res)
{
    buf_t         text;
    json_object  *v;

    memset(&text, 0, sizeof(text));
    outputs_join(&res->out, OUT_STDERR, &text);

    /* that a command's code is not 0 needs no words */
    if (u->tool == ANTHROPIC_PYTHON || res->verdict > VERDICT_ERROR) {
        anthropic_last(&res->out, &text);
    }

    anthropic_unkept(&res->out, &text);
    v = native_bytes(text.data, text.len);
    buf_free(&text);

    return v;
}


static int
anthropic_code_of(const anthropic_use_t *u, const result_t *res)
{
    if (res->verdict > VERDICT_ERROR) {
        return ANTHROPIC_KILLED;
    }

    return u->tool == ANTHROPIC_BASH ? res->exit_code
                                     : res->verdict == VERDICT_ERROR;
}


static json_object *
anthropic_outputs(const char *kind, const outputs_t *out)
{
    size_t             i;
    json_object       *all, *o;
    const out_item_t  *item;

    all = json_object_new_array();

    for (item = out->first; item != NULL; item = item->next) {
        for (i = 0; i < item->nartifacts; i++) {
            if (item->artifacts[i].id[0] == '\0') {
                continue;
            }

            o = json_object_new_object();
            native_add(o, "type", anthropic_type(kind, "output"));
            native_add(o, "file_id", native_string(item->artifacts[i].id));
            (void) json_object_array_add(all, o);
        }
    }

    return all;
}


static json_object *
anthropic_run(const anthropic_use_t *u, const turn_step_t *s)
{
    const char    *kind, *fault;
    json_object   *o;

    kind = anthropic_kinds[u->tool];
    fault = anthropic_fault(u->tool, s);

    if (fault != NULL) {
        return anthropic_error(kind, fault);
    }

    o = json_object_new_object();
    native_add(o, "type", anthropic_type(kind, "result"));
    native_add(o, "stdout", native_stream(&s->x->res.out, OUT_STDOUT));
    native_add(o, "stderr", anthropic_stderr(u, &s->x->res));
    native_add(o, "return_code",
               json_object_new_int(anthropic_code_of(u, &s->x->res)));
    native_add(o, "content", anthropic_outputs(kind, &s->x->res.out));

    return o;
}


static json_object *
anthropic_edited(const turn_step_t *s)
{
    const char  *fault;

    fault = s->x == NULL ? anthropic_fault(ANTHROPIC_EDITOR, s) : NULL;

    return fault != NULL ? editor_error(fault, NULL)
                         : editor_result(&s->x->res);
}


json_object *
anthropic_content(anthropic_tool_t tool, const exec_t *x, const err_t *e)
{
    turn_step_t       s;
    anthropic_use_t   u;

    if (x == NULL && e->status == 400) {
        return tool == ANTHROPIC_EDITOR
               ? editor_error("invalid_tool_input", e->text)
               : anthropic_error(anthropic_kinds[tool], "invalid_tool_input");
    }

    memset(&s, 0, sizeof(s));
    memset(&u, 0, sizeof(u));
    u.tool = tool;
    s.x = (exec_t *) x;

    if (x == NULL) {
        s.e = *e;
    }

    return tool == ANTHROPIC_EDITOR ? anthropic_edited(&s)
                                    : anthropic_run(&u, &s);
}


json_object *
anthropic_result(const turn_call_t *c, const anthropic_use_t *u)
{
    json_object         *o, *content;
    const turn_step_t   *s;

    s = u->step != -1 ? &c->turn.steps[u->step] : NULL;

    if (s != NULL && !s->done) {
        return NULL;
    }

    if (s == NULL) {
        content = u->tool == ANTHROPIC_EDITOR
                  ? editor_error("invalid_tool_input", u->why)
                  : anthropic_error(anthropic_kinds[u->tool],
                                    "invalid_tool_input");

    } else if (u->tool == ANTHROPIC_EDITOR) {
        content = anthropic_edited(s);

    } else {
        content = anthropic_run(u, s);
    }

    o = json_object_new_object();
    native_add(o, "type", anthropic_type(anthropic_kinds[u->tool],
                                         "tool_result"));
    native_add(o, "tool_use_id", json_object_new_string(u->id));
    native_add(o, "content", content);

    return o;
}


/* what goes on is said again, so that the answer can be sent back as it is */

static void
anthropic_contents(const turn_call_t *c, json_object *content, int64_t *runs)
{
    size_t                    i;
    json_object              *o;
    const anthropic_use_t    *u;
    const anthropic_code_t   *code;

    code = c->own;

    for (i = 0; i < code->nuses; i++) {
        u = &code->uses[i];

        if (u->answered || u->tool == ANTHROPIC_UPLOAD) {
            continue;
        }

        o = anthropic_result(c, u);
        *runs += o != NULL;
        (void) json_object_array_add(content,
                                     o != NULL ? o
                                               : json_object_get(u->block));
    }
}


void
anthropic_turn_render(turn_call_t *c, answer_t *a)
{
    int64_t       runs;
    json_object  *o, *content, *usage, *tools;

    runs = 0;
    content = json_object_new_array();
    anthropic_contents(c, content, &runs);

    tools = json_object_new_object();
    native_add(tools, "code_execution_requests", json_object_new_int64(runs));
    usage = json_object_new_object();
    native_add(usage, "server_tool_use", tools);

    o = json_object_new_object();
    native_add(o, "type", json_object_new_string("code_execution"));
    native_add(o, "container", anthropic_container_out(c));
    native_add(o, "content", content);
    native_add(o, "stop_reason", json_object_new_string(
                   c->turn.whole ? "end_turn" : "pause_turn"));
    native_add(o, "usage", usage);
    anthropic_answer(o, a);
}
