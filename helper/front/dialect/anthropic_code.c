
/*
 * In retort-front, as its own uid without any capability.  Blocks of a message
 * that ask for code to be run become the steps of a turn.  A block whose input
 * is wrong is answered as such; what is no block at all refuses the request.
 */

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../accept.h"
#include "../bounds.h"
#include "../json_in.h"
#include "anthropic.h"
#include "editor.h"


#define ANTHROPIC_BLOCKS  256
#define ANTHROPIC_RESULT  "_tool_result"


static const char *const  anthropic_tools[] = {
    "bash_code_execution", "text_editor_code_execution", "code_execution"
};

#define ANTHROPIC_TOOLS  (sizeof(anthropic_tools) / sizeof(anthropic_tools[0]))


static const char *
anthropic_string(json_object *o, const char *key)
{
    json_object  *v;

    return json_object_object_get_ex(o, key, &v)
           && json_object_is_type(v, json_type_string)
           ? json_object_get_string(v) : NULL;
}


/*
 * The same question of the same client has the same name: its id, its tool and
 * its input.  Files alone are no question that could be asked again.
 */

static int
anthropic_key(const turn_call_t *c, const anthropic_use_t *u,
    char key[TURN_KEY])
{
    buf_t          text;
    unsigned       i, n;
    json_object   *input;
    unsigned char  sha[EVP_MAX_MD_SIZE];

    memset(&text, 0, sizeof(text));
    n = 0;

    if (u->block != NULL
        && json_object_object_get_ex(u->block, "input", &input))
    {
        (void) buf_printf(&text, "%s %d ", u->id, (int) u->tool);
        (void) buf_puts(&text, json_object_to_json_string(input));

    } else {
        (void) buf_puts(&text, c->turn.req->execution);
    }

    if (!text.failed
        && EVP_Digest(text.data, text.len, sha, &n, EVP_sha256(), NULL) != 1)
    {
        n = 0;
    }

    for (i = 0; i < n && i < (TURN_KEY - 1) / 2; i++) {
        (void) snprintf(key + 2 * i, 3, "%02x", sha[i]);
    }

    buf_free(&text);

    return n != 0 ? 0 : -1;
}


static int
anthropic_wrong(anthropic_use_t *u, const char *why)
{
    (void) snprintf(u->why, sizeof(u->why), "%s", why);

    return -1;
}


/* code that is a text; -1: "why" is set, or memory ran out and it is empty */

static int
anthropic_source(anthropic_use_t *u, json_object *input, const char *key,
    job_t *job)
{
    err_t         e;
    json_object  *v;

    if (!json_object_object_get_ex(input, key, &v)
        || !json_object_is_type(v, json_type_string)
        || json_object_get_string_len(v) == 0)
    {
        (void) snprintf(u->why, sizeof(u->why), "%s: it must be a text", key);
        return -1;
    }

    job->code = json_in_copy(v, &job->code_len, &e);

    return job->code != NULL ? 0 : anthropic_wrong(u, "out of memory");
}


static int
anthropic_job(anthropic_use_t *u, const request_t *req, job_t *job)
{
    err_t         e;
    json_object  *input;

    job->timeout = req->run.timeout;
    job->output = req->run.output;
    job->box = req->box;
    job->own_limits = memcmp(&job->box, &req->profile->box, sizeof(job->box))
                      != 0;
    job->shelve = 1;

    if (u->tool == ANTHROPIC_UPLOAD) {
        job->language = KRN_BASH;
        job->code = strdup(":");
        job->code_len = 1;
        return job->code != NULL ? 0 : -1;
    }

    if (!json_object_object_get_ex(u->block, "input", &input)
        || !json_object_is_type(input, json_type_object))
    {
        return anthropic_wrong(u, "input: it must be an object");
    }

    switch (u->tool) {

    case ANTHROPIC_BASH:
        job->language = KRN_BASH;
        return anthropic_source(u, input, "command", job);

    case ANTHROPIC_PYTHON:
        job->language = KRN_PYTHON;
        return anthropic_source(u, input, "code", job);

    default:
        return editor_job(input, job, &e) == 0 ? 0
                                               : anthropic_wrong(u, e.text);
    }
}


/* one more step, if there is something to run */

static int
anthropic_step(turn_call_t *c, anthropic_use_t *u, err_t *e)
{
    turn_step_t  *s;

    u->step = -1;

    if (u->answered) {
        return 0;
    }

    s = &c->turn.steps[c->turn.nsteps];

    if (anthropic_job(u, c->turn.req, &s->job) == -1) {
        job_free(&s->job);
        return 0;
    }

    if (anthropic_key(c, u, s->key) == -1) {
        job_free(&s->job);
        return err_set(e, 500, "no_digest", "no SHA-256");
    }

    u->step = (int) c->turn.nsteps++;

    return 0;
}


static int
anthropic_is_use(const char *id)
{
    size_t  n;

    n = strlen("srvtoolu_");

    return strncmp(id, "srvtoolu_", n) == 0 && id[n] != '\0'
           && strlen(id) < ANTHROPIC_TOOL_ID
           && strspn(id + n, "abcdefghijklmnopqrstuvwxyz0123456789_"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
              == strlen(id + n);
}


static anthropic_use_t *
anthropic_use(anthropic_code_t *code, const char *id)
{
    size_t  i;

    for (i = 0; i < code->nuses; i++) {
        if (strcmp(code->uses[i].id, id) == 0) {
            return &code->uses[i];
        }
    }

    return NULL;
}


static int
anthropic_tool_use(turn_call_t *c, json_object *block, size_t at, err_t *e)
{
    size_t              tool;
    const char         *id, *name;
    anthropic_use_t    *u;
    anthropic_code_t   *code;

    code = c->own;
    id = anthropic_string(block, "id");
    name = anthropic_string(block, "name");

    if (id == NULL || !anthropic_is_use(id)) {
        return err_set(e, 400, "bad_value", "content.%zu.id: String should "
                       "match pattern '^srvtoolu_[a-zA-Z0-9_]+$'", at);
    }

    for (tool = 0; name != NULL && tool < ANTHROPIC_TOOLS
                   && strcmp(anthropic_tools[tool], name) != 0; tool++)
    {
        /* void */
    }

    if (name == NULL || tool == ANTHROPIC_TOOLS) {
        return err_set(e, 400, "bad_value", "content.%zu.name: there is no "
                       "such tool here", at);
    }

    if (anthropic_use(code, id) != NULL) {
        return err_set(e, 400, "bad_value", "content.%zu.id: it stands twice",
                       at);
    }

    if (code->nuses == BOUND_STEPS) {
        return err_set(e, 400, "bad_value", "content: at most %d runs",
                       BOUND_STEPS);
    }

    u = &code->uses[code->nuses++];
    u->block = block;
    u->id = id;
    u->tool = (anthropic_tool_t) tool;

    return 0;
}


static int
anthropic_upload(turn_call_t *c, json_object *block, size_t at, err_t *e)
{
    const char  *id;
    job_file_t  *f;

    id = anthropic_string(block, "file_id");

    if (id == NULL) {
        return err_set(e, 400, "bad_value", "content.%zu.file_id: Field "
                       "required", at);
    }

    f = realloc(c->files, (c->nfiles + 1) * sizeof(job_file_t));

    if (f == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    c->files = f;
    memset(&f[c->nfiles], 0, sizeof(job_file_t));
    f[c->nfiles].id = strdup(id);

    if (f[c->nfiles++].id == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    return c->nfiles <= BOUND_FILES
           ? 0 : err_set(e, 400, "bad_value", "content: at most %d files",
                         BOUND_FILES);
}


/* a client that sends an answer back as it is sends results, too */

static int
anthropic_answered(turn_call_t *c, json_object *block, const char *type)
{
    size_t            n, tail;
    const char       *id;
    anthropic_use_t  *u;

    n = strlen(type);
    tail = strlen(ANTHROPIC_RESULT);
    id = anthropic_string(block, "tool_use_id");

    if (n <= tail || strcmp(type + n - tail, ANTHROPIC_RESULT) != 0
        || id == NULL)
    {
        return 0;
    }

    u = anthropic_use(c->own, id);

    if (u != NULL) {
        u->answered = 1;
    }

    return 1;
}


static int
anthropic_block(turn_call_t *c, json_object *block, size_t at, err_t *e)
{
    const char  *type;

    type = json_object_is_type(block, json_type_object)
           ? anthropic_string(block, "type") : NULL;

    if (type == NULL) {
        return err_set(e, 400, "bad_value", "content.%zu.type: Field required",
                       at);
    }

    if (strcmp(type, "server_tool_use") == 0) {
        return anthropic_tool_use(c, block, at, e);
    }

    if (strcmp(type, "container_upload") == 0) {
        return anthropic_upload(c, block, at, e);
    }

    if (strcmp(type, "text") == 0 || anthropic_answered(c, block, type)) {
        return 0;
    }

    return err_set(e, 400, "bad_value", "content.%zu.type: a block is "
                   "\"server_tool_use\", \"container_upload\", \"text\" or "
                   "the result of a tool", at);
}


static int
anthropic_steps(turn_call_t *c, err_t *e)
{
    size_t              i;
    anthropic_code_t   *code;

    code = c->own;

    for (i = 0; i < code->nuses; i++) {
        if (anthropic_step(c, &code->uses[i], e) == -1) {
            return -1;
        }
    }

    if (c->turn.nsteps != 0 || c->nfiles == 0) {
        return 0;
    }

    /* files alone: somebody has to take them */

    code->uses[code->nuses].id = "";
    code->uses[code->nuses].tool = ANTHROPIC_UPLOAD;

    return anthropic_step(c, &code->uses[code->nuses++], e);
}


int
anthropic_blocks(turn_call_t *c, json_object *content, err_t *e)
{
    size_t              i, n;
    anthropic_code_t   *code;

    n = json_object_is_type(content, json_type_array)
        ? json_object_array_length(content) : 0;

    if (n == 0 || n > ANTHROPIC_BLOCKS) {
        return err_set(e, 400, "bad_value", "content: Input should be an array "
                       "of 1 to %d blocks", ANTHROPIC_BLOCKS);
    }

    code = c->own;
    code->uses = calloc(BOUND_STEPS + 1, sizeof(anthropic_use_t));
    c->turn.steps = calloc(BOUND_STEPS + 1, sizeof(turn_step_t));

    if (code->uses == NULL || c->turn.steps == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    for (i = 0; i < n; i++) {
        if (anthropic_block(c, json_object_array_get_idx(content, i), i, e)
            == -1)
        {
            return -1;
        }
    }

    return anthropic_steps(c, e);
}


/* "content" and "container", and what a client of messages sends as well */

static int
anthropic_body(turn_call_t *c, json_object *o, err_t *e)
{
    json_object                *content, *container;
    static const char *const    known[] = { "content", "container", "tools",
                                            "model", "max_tokens", NULL };

    json_object_object_foreach(o, key, v) {
        size_t  i;

        (void) v;

        for (i = 0; known[i] != NULL && strcmp(known[i], key) != 0; i++) {
            /* void */
        }

        if (known[i] == NULL) {
            return err_set(e, 400, "unknown_key", "%.64s: Extra inputs are not "
                           "permitted", key);
        }
    }

    if (json_object_object_get_ex(o, "container", &container)
        && anthropic_container(c, container, e) == -1)
    {
        return -1;
    }

    if (!json_object_object_get_ex(o, "content", &content)) {
        return err_set(e, 400, "bad_value", "content: Field required");
    }

    return anthropic_blocks(c, content, e);
}


int
anthropic_turn_parse(turn_call_t *c, const char *body, size_t len, err_t *e)
{
    anthropic_code_t  *code;

    code = calloc(1, sizeof(anthropic_code_t));
    c->own = code;

    if (code == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    if (!accept_is(c->turn.req->type, "application/json")) {
        return err_set(e, 415, "unsupported_type",
                       "the body must be application/json");
    }

    code->body = json_in(body, len, e);

    return code->body != NULL ? anthropic_body(c, code->body, e) : -1;
}


void
anthropic_turn_free(turn_call_t *c)
{
    anthropic_code_t  *code;

    code = c->own;
    free(c->turn.steps);

    if (code != NULL) {
        json_object_put(code->body);
        free(code->uses);
        free(code);
    }
}
