
/*
 * In retort-front, as its own uid without any capability.  Ubik: what is said
 * to the model that plans and writes code, and what it answers.  Its answers
 * are believed no more than a client's.
 */

#include <string.h>

#include "../json_in.h"
#include "native.h"
#include "ubik.h"


#define UBIK_FENCE  "```"
#define UBIK_STEPS  16

static const char  ubik_chat_rules[] =
    "You solve a task by writing Python that is run for you in a sandbox "
    "without network. Files of the user are in /home/" UBIK_FILES "/. Reply "
    "with a short plan as a list, one step a line that begins with \"- \", "
    "and below it exactly one fenced block (```python) with the code for the "
    "first step. You are told what the code printed, and go on. Variables and "
    "files stay from block to block. Print what matters. If code fails, reply "
    "with a corrected block. If you cannot go on without something that only "
    "the user knows, reply with one line ASK: and your question, without a "
    "block. When the task is done, reply DONE without a block. Never invent a "
    "result.";


/*
 * What comes first behind "p": a block's code, or *from is NULL.  Where to look
 * on, which is behind all that was looked at.
 */

static const char *
ubik_chat_block(const char *p, const char *end, const char **from,
    const char **to)
{
    const char  *open, *line, *close;

    *from = NULL;
    open = memmem(p, (size_t) (end - p), UBIK_FENCE, 3);

    if (open == NULL) {
        return end;
    }

    line = memchr(open, '\n', (size_t) (end - open));

    if (line == NULL) {
        return end;
    }

    if (open != p && open[-1] != '\n') {
        return line + 1;
    }

    close = memmem(line, (size_t) (end - line), "\n" UBIK_FENCE, 4);

    if (close == NULL) {
        return end;
    }

    *from = line + 1;
    *to = close + 1;

    return close + 4;
}


static int
ubik_chat_is_python(const char *p, const char *from)
{
    size_t       i;
    const char  *info;

    static const char *const  names[] = { "", "python", "py", "python3" };

    info = from - 1;

    while (info > p && info[-1] != '`') {
        info--;
    }

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == (size_t) (from - 1 - info)
            && strncmp(info, names[i], strlen(names[i])) == 0)
        {
            return 1;
        }
    }

    return 0;
}


int
ubik_chat_code(const char *p, size_t n, buf_t *code)
{
    int          blocks;
    const char  *at, *next, *end, *from, *to;

    blocks = 0;
    end = p + n;

    for (at = p; at < end; at = next) {
        next = ubik_chat_block(at, end, &from, &to);

        if (from != NULL && ubik_chat_is_python(p, from) && ++blocks == 1) {
            (void) buf_add(code, from, (size_t) (to - from));
        }
    }

    return blocks > 1 ? 2 : blocks;
}


int
ubik_chat_question(const buf_t *text, buf_t *question)
{
    const char  *p, *end, *line;

    p = text->data != NULL ? text->data : "";
    end = p + text->len;

    for ( /* void */ ; p < end; p = line + 1) {
        line = memchr(p, '\n', (size_t) (end - p));
        line = line != NULL ? line : end;

        if (line - p > 5 && strncmp(p, "ASK: ", 5) == 0) {
            (void) buf_add(question, p + 5, (size_t) (line - p) - 5);
            return 1;
        }
    }

    return 0;
}


static size_t
ubik_chat_bullet(const char *p, size_t n)
{
    size_t  i;

    if (n > 2 && (*p == '-' || *p == '*') && p[1] == ' ') {
        return 2;
    }

    for (i = 0; i < n && p[i] >= '0' && p[i] <= '9'; i++) { /* void */ }

    return i != 0 && i + 1 < n && (p[i] == '.' || p[i] == ')')
           && p[i + 1] == ' ' ? i + 2 : 0;
}


json_object *
ubik_chat_plan(const char *p, size_t n)
{
    size_t        skip, len;
    const char   *end, *line;
    json_object  *plan;

    plan = json_object_new_array();
    end = p + n;

    for ( /* void */ ; p < end; p = line + 1) {
        line = memchr(p, '\n', (size_t) (end - p));
        line = line != NULL ? line : end;
        len = (size_t) (line - p);

        if (strncmp(p, UBIK_FENCE, len < 3 ? len : 3) == 0 && len >= 3) {
            break;
        }

        skip = ubik_chat_bullet(p, len);

        if (skip != 0 && json_object_array_length(plan) < UBIK_STEPS) {
            (void) json_object_array_add(plan, native_bytes(p + skip,
                                                            len - skip));
        }
    }

    return plan;
}


void
ubik_chat_add(json_object *messages, const char *role, const buf_t *text)
{
    json_object  *o;

    o = json_object_new_object();
    native_add(o, "role", native_string(role));
    native_add(o, "content", native_bytes(text->data != NULL ? text->data : "",
                                          text->len));
    (void) json_object_array_add(messages, o);
}


json_object *
ubik_chat_begin(json_object *memo)
{
    size_t        i;
    buf_t         text;
    json_object  *inputs, *v, *messages;

    messages = json_object_new_array();
    memset(&text, 0, sizeof(text));
    (void) buf_puts(&text, ubik_chat_rules);
    ubik_chat_add(messages, "system", &text);
    text.len = 0;

    if (json_object_object_get_ex(memo, "inputs", &inputs)) {
        (void) buf_puts(&text, ubik_text(inputs, "request"));

        if (*ubik_text(inputs, "context") != '\0') {
            (void) buf_puts(&text, "\n\nContext:\n");
            (void) buf_puts(&text, ubik_text(inputs, "context"));
        }
    }

    if (json_object_object_get_ex(memo, "documents", &v)) {
        for (i = 0; i < json_object_array_length(v); i++) {
            (void) buf_puts(&text, i == 0 ? "\n\nFiles:\n" : "");
            (void) buf_puts(&text, "/home/" UBIK_FILES "/");
            (void) buf_puts(&text, json_object_get_string(
                                       json_object_array_get_idx(v, i)));
            (void) buf_puts(&text, "\n");
        }
    }

    ubik_chat_add(messages, "user", &text);
    buf_free(&text);

    return messages;
}


void
ubik_chat_body(json_object *messages, const char *model, buf_t *to)
{
    json_object  *o;

    o = json_object_new_object();

    if (*model != '\0') {
        native_add(o, "model", native_string(model));
    }

    native_add(o, "messages", json_object_get(messages));
    native_add(o, "stream", json_object_new_boolean(0));
    native_line(to, o);
}


/* choices[0].message.content */

int
ubik_chat_answer(const buf_t *body, buf_t *text, err_t *e)
{
    int           rc;
    json_object  *o, *v;

    o = json_in(body->data != NULL ? body->data : "", body->len, e);

    if (o == NULL) {
        return err_set(e, 502, "planner_failed", "the planner's answer is no "
                       "JSON");
    }

    rc = json_object_object_get_ex(o, "choices", &v)
         && json_object_is_type(v, json_type_array)
         && json_object_array_length(v) != 0
         && json_object_object_get_ex(json_object_array_get_idx(v, 0),
                                      "message", &v)
         && json_object_object_get_ex(v, "content", &v)
         && json_object_is_type(v, json_type_string) ? 0 : -1;

    if (rc == 0) {
        (void) buf_add(text, json_object_get_string(v),
                       (size_t) json_object_get_string_len(v));

    } else {
        (void) err_set(e, 502, "planner_failed", "the planner's answer has no "
                       "text");
    }

    json_object_put(o);

    return rc;
}
