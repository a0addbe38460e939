
/*
 * In retort-front, as its own uid without any capability.  The rounds of an
 * execution.  What the model says is code to be run in a sandbox, and nothing
 * else comes of it.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "box.h"
#include "clock.h"
#include "dialect/native.h"
#include "dialect/ubik.h"
#include "endpoint.h"
#include "metrics.h"
#include "place.h"
#include "plan.h"
#include "readers.h"
#include "run.h"
#include "text.h"
#include "wake.h"


#define PLAN_ANSWER  1048576    /* bytes of what the model answers */
#define PLAN_TOLD    16384      /* of what it is told about a run */


typedef struct {
    exec_t           *x;
    const request_t  *req;
    job_t            *job;
    json_object      *memo;
    json_object      *messages; /* NULL: the code was given */
    json_object      *plan;     /* the memo's */
    buf_t             code;
    unsigned          round;
    unsigned          max;
    unsigned          done;     /* rounds that went well */
    int               ok;       /* the last one did */
    unsigned          asks;     /* questions to the client */
    size_t            sent;     /* of the job's files: those in the sandbox */
} plan_t;


/* what the model's side says */

typedef struct {
    buf_t  body;
    int    refused;
    int    large;
} plan_heard_t;


static void
plan_say(plan_t *p, buf_t *text)
{
    (void) pthread_mutex_lock(&p->x->lock);
    outputs_stream(&p->x->res.out, OUT_STDOUT,
                   text->data != NULL ? text->data : "", text->len, text->len,
                   clock_mono_us());
    exec_tell(p->x);
    (void) pthread_mutex_unlock(&p->x->lock);

    buf_free(text);
}


/* what is known goes where requests find it */

static void
plan_note(plan_t *p)
{
    char  *text;

    text = strdup(json_object_to_json_string_ext(p->memo,
                      JSON_C_TO_STRING_PLAIN|JSON_C_TO_STRING_NOSLASHESCAPE));

    (void) pthread_mutex_lock(&p->x->lock);

    if (text != NULL) {
        free(p->x->memo);
        p->x->memo = text;
    }

    (void) pthread_mutex_unlock(&p->x->lock);
}


/* a session that is there, or a new one with its name */

static int
plan_place(plan_t *p, err_t *e)
{
    box_t       *box;
    box_view_t   view;

    if (p->job->sandbox[0] != '\0') {
        return box_look(p->job->sandbox, p->req->workspace, &view, e);
    }

    box = place_fresh(p->req, p->job->own_limits ? &p->job->box : NULL, e);

    if (box == NULL) {
        return -1;
    }

    if (box_keep(box, p->req->workspace, p->req->run.ttl, e) == -1) {
        box_end(box);
        return -1;
    }

    memcpy(p->job->sandbox, box->sandbox, sizeof(p->job->sandbox));
    box_release(box);

    return 0;
}


static int
plan_head(void *own, int status, const char *type)
{
    (void) type;

    ((plan_heard_t *) own)->refused = (status != 200);

    return status == 200 ? 0 : -1;
}


static int
plan_data(void *own, const char *p, size_t n)
{
    plan_heard_t  *h;

    h = own;
    h->large = (h->body.len + n > PLAN_ANSWER);

    return h->large ? -1 : buf_add(&h->body, p, n);
}


static int
plan_unheard(const plan_heard_t *h, err_t *e)
{
    return h->refused ? err_set(e, 502, "planner_failed", "the planner refused "
                                "to answer")
           : h->large ? err_set(e, 502, "planner_failed", "the planner's "
                                "answer is too long") : -1;
}


/* one question to the model, and the text that it answers */

static int
plan_ask(plan_t *p, buf_t *text, err_t *e)
{
    int               rc;
    char              model[FETCH_TEXT];
    buf_t             body;
    const char       *name;
    plan_heard_t      heard;
    endpoint_sink_t   sink;

    name = ubik_text(p->memo, "planner");
    memset(&body, 0, sizeof(body));
    memset(&heard, 0, sizeof(heard));
    sink.head = plan_head;
    sink.data = plan_data;
    sink.own = &heard;

    rc = endpoint_model(name, model, e);

    if (rc == 0) {
        ubik_chat_body(p->messages, model, &body);
        rc = call_endpoint(name, NULL, body.data, body.len, -1, &sink, e);

        if (rc == -1) {
            (void) plan_unheard(&heard, e);
        }
    }

    if (rc == 0) {
        rc = ubik_chat_answer(&heard.body, text, e);
    }

    if (rc == 0) {
        ubik_chat_add(p->messages, "assistant", text);
    }

    buf_free(&body);
    buf_free(&heard.body);

    return rc;
}


/* a file goes into the sandbox with the next code, as documents do */

static int
plan_file(plan_t *p, exec_input_t *input, buf_t *text, err_t *e)
{
    job_file_t  *files;

    if (input->file.name == NULL) {
        return 0;
    }

    files = realloc(p->job->files,
                    (p->job->nfiles + 1) * sizeof(job_file_t));

    if (files == NULL) {
        return err_set(e, 500, "no_memory", "out of memory");
    }

    (void) buf_printf(text, "%sFiles:\n/home/%s\n",
                      text->len != 0 ? "\n\n" : "", input->file.name);
    files[p->job->nfiles++] = input->file;
    p->job->files = files;
    memset(&input->file, 0, sizeof(job_file_t));

    return 0;
}


/* what the client answers is told the model as it is */

static int
plan_told(plan_t *p, exec_input_t *input, err_t *e)
{
    int    rc;
    buf_t  text;

    memset(&text, 0, sizeof(text));
    (void) buf_puts(&text, input->text);
    rc = plan_file(p, input, &text, e);

    if (rc == 0 && text.failed) {
        rc = err_set(e, 500, "no_memory", "out of memory");
    }

    if (rc == 0) {
        ubik_chat_add(p->messages, "user", &text);
    }

    buf_free(&text);

    return rc;
}


/* the client is asked, and the model told what it said; 0, or -1 and "e" */

static int
plan_input(plan_t *p, const buf_t *question, err_t *e)
{
    int            rc;
    reader_t       waits;
    out_item_t    *item;
    exec_input_t  *input;

    if (readers_enter(&waits, READERS_FOLLOW, p->req->workspace, e) == -1) {
        return -1;
    }

    (void) pthread_mutex_lock(&p->x->lock);
    item = outputs_add(&p->x->res.out, OUT_DISPLAY);

    if (item != NULL) {
        (void) outputs_text(&p->x->res.out, &item->text, question->data,
                            question->len, question->len);
    }

    /* who sees the question may answer it */
    p->x->asks = 1;
    (void) pthread_mutex_unlock(&p->x->lock);

    input = exec_ask(p->x, clock_mono_us() + UBIK_WAIT * 1000000ull);
    readers_leave(&waits);

    if (input == NULL) {
        return wake_cancelled() != WAKE_GO_ON
               ? err_set(e, 0, "cancelled", "it was ended")
               : err_set(e, 504, "no_input", "nobody has answered: %.200s",
                         question->data);
    }

    rc = plan_told(p, input, e);
    exec_input_free(input);

    return rc;
}


/* what the model answers, once it has no question any more */

static int
plan_answer(plan_t *p, buf_t *text, err_t *e)
{
    int    rc, more;
    buf_t  code, question;

    do {
        more = 0;
        buf_free(text);
        memset(&code, 0, sizeof(code));
        memset(&question, 0, sizeof(question));
        rc = plan_ask(p, text, e);

        if (rc == 0 && p->asks < UBIK_ASKS
            && ubik_chat_code(text->data != NULL ? text->data : "", text->len,
                              &code) == 0
            && ubik_chat_question(text, &question))
        {
            p->asks++;
            more = 1;
            (void) buf_add(&question, "", 1);
            question.len--;
            rc = question.failed ? err_set(e, 500, "no_memory", "no memory")
                                 : plan_input(p, &question, e);
        }

        buf_free(&code);
        buf_free(&question);
    } while (rc == 0 && more);

    return rc;
}


/* 1 and p->code; 0 if there is no more to do; -1 and "e" */

static int
plan_next(plan_t *p, err_t *e)
{
    int    rc;
    buf_t  text;

    if (p->messages == NULL) {
        return p->round == 0;
    }

    if (p->ok && p->done >= json_object_array_length(p->plan)) {
        return 0;
    }

    memset(&text, 0, sizeof(text));
    rc = plan_answer(p, &text, e);

    if (rc == 0) {
        buf_free(&p->code);
        rc = ubik_chat_code(text.data != NULL ? text.data : "", text.len,
                            &p->code) != 0 && p->code.len != 0;

        if (p->round == 0) {
            json_object_put(p->plan);
            p->plan = ubik_chat_plan(text.data != NULL ? text.data : "",
                                     text.len);
            native_add(p->memo, "plan", json_object_get(p->plan));
        }
    }

    if (rc == 0 && !p->ok) {
        rc = err_set(e, 502, "planner_failed", "the planner's answer has no "
                     "code");
    }

    buf_free(&text);

    return rc;
}


static void
plan_artifact(plan_t *p, const out_artifact_t *a, int saved)
{
    char          name[OUT_NAME + 24];
    size_t        i;
    const char   *dot;
    json_object  *list, *o;

    if (a->file[0] == '\0'
        || !json_object_object_get_ex(p->memo, saved ? "files" : "artifacts",
                                      &list))
    {
        return;
    }

    dot = strrchr(a->file, '.');

    if (saved) {
        (void) snprintf(name, sizeof(name), "%s", a->name);

    } else {
        (void) snprintf(name, sizeof(name), "plot_%zu%s",
                        json_object_array_length(list),
                        dot != NULL ? dot : "");
    }

    /* a later round may have written the same file again */

    for (i = 0; i < json_object_array_length(list); i++) {
        o = json_object_array_get_idx(list, i);

        if (strcmp(ubik_text(o, "name"), name) == 0) {
            native_add(o, "file", native_string(a->file));
            return;
        }
    }

    o = json_object_new_object();
    native_add(o, "name", native_string(name));
    native_add(o, "file", native_string(a->file));
    (void) json_object_array_add(list, o);
}


/* what a run left, for its answer and for the model */

static void
plan_take(plan_t *p, const result_t *res)
{
    buf_t              text, error;
    const out_item_t  *item;

    for (item = res->out.first; item != NULL; item = item->next) {
        if (item->nartifacts != 0
            && (item->type == OUT_SAVED || item->type == OUT_IMAGE
                || item->type == OUT_RESULT || item->type == OUT_DISPLAY))
        {
            plan_artifact(p, &item->artifacts[0], item->type == OUT_SAVED);
        }
    }

    memset(&text, 0, sizeof(text));
    memset(&error, 0, sizeof(error));
    ubik_log_result(&text, res);
    ubik_log_error(&error, res);
    native_add(p->memo, "error", error.len != 0
                                 ? native_bytes(error.data, error.len) : NULL);
    buf_free(&error);

    if (p->messages != NULL) {
        if (text.len > PLAN_TOLD) {
            memmove(text.data, text.data + text.len - PLAN_TOLD, PLAN_TOLD);
            text.len = PLAN_TOLD;
        }

        ubik_chat_add(p->messages, "user", &text);
        buf_free(&text);
        ubik_log_result(&text, res);
    }

    plan_say(p, &text);
}


/* 0, or -1 and "e" if nothing could run */

static int
plan_cell(plan_t *p, err_t *e)
{
    int         rc;
    char        hex[33];
    job_t       job;
    exec_t     *x;
    request_t   req;

    req = *p->req;
    memset(&job, 0, sizeof(job));

    if (text_random(hex) == -1) {
        return err_set(e, 500, "no_memory", "no random number");
    }

    memcpy(strrchr(req.execution, '_') + 1, hex, sizeof(hex));
    req.started = clock_mono_us();

    job.timeout = p->job->timeout;
    job.output = p->job->output;
    job.box = p->job->box;
    job.whole = 1;
    job.code = p->code.data;
    job.code_len = p->code.len;
    memcpy(job.sandbox, p->job->sandbox, sizeof(job.sandbox));

    if (p->job->nfiles > p->sent) {
        job.files = p->job->files + p->sent;
        job.nfiles = p->job->nfiles - p->sent;
        p->sent = p->job->nfiles;
    }

    x = exec_begin(&req, &job, e);

    if (x == NULL) {
        return -1;
    }

    rc = run_job(x, &req, &job, -1, NULL, e);

    if (rc == 0) {
        metrics_run(&req, &x->res);
        p->ok = (x->res.verdict == VERDICT_OK);
        p->done += p->ok ? 1 : 0;
        plan_take(p, &x->res);
        p->x->res.expires = x->res.expires;
        p->x->res.fate = x->res.fate;
        p->x->res.verdict = x->res.verdict;
        memcpy(p->job->sandbox, x->res.sandbox, sizeof(p->job->sandbox));
    }

    exec_forget(x);
    exec_release(x);

    return rc;
}


static const char *
plan_step(const plan_t *p)
{
    size_t        n;
    const char   *step;
    json_object  *v;

    n = json_object_array_length(p->plan);
    v = json_object_array_get_idx(p->plan, p->done < n ? p->done
                                           : n != 0 ? n - 1 : 0);
    step = v != NULL ? json_object_get_string(v) : NULL;

    return step != NULL ? step : "Run the code";
}


static int
plan_round(plan_t *p, err_t *e)
{
    buf_t  text;

    memset(&text, 0, sizeof(text));

    if (p->round++ == 0) {
        ubik_log_begin(&text, p->job->sandbox, p->plan);
    }

    native_add(p->memo, "rounds", json_object_new_int((int) p->round));
    ubik_log_round(&text, p->round, p->max, plan_step(p), &p->code);
    plan_say(p, &text);
    plan_note(p);

    return plan_cell(p, e);
}


static int
plan_rounds(plan_t *p, err_t *e)
{
    int  rc;

    if (plan_place(p, e) == -1) {
        return -1;
    }

    exec_placed(p->x, p->job->sandbox);

    do {
        rc = plan_next(p, e);

        if (rc == 1) {
            rc = plan_round(p, e) == 0 ? 1 : -1;
        }

        if (p->job->sandbox[0] == '\0') {
            /* it has ended, and nothing can go on in it */
            break;
        }
    } while (rc == 1 && p->round < p->max);

    return rc == -1 ? -1 : 0;
}


static void
plan_begin(plan_t *p)
{
    json_object  *v;

    p->memo = ubik_memo(p->x->memo);
    p->plan = json_object_new_array();
    p->max = 1;

    if (p->job->code_len != 0) {
        (void) buf_add(&p->code, p->job->code, p->job->code_len);
        (void) json_object_array_add(p->plan, native_string("Run the code of "
                                                            "the request"));

    } else {
        p->messages = ubik_chat_begin(p->memo);
        p->max = UBIK_ROUNDS;
    }

    v = json_object_new_array();
    native_add(p->memo, "artifacts", v);
    v = json_object_new_array();
    native_add(p->memo, "files", v);
    native_add(p->memo, "plan", json_object_get(p->plan));
}


void
plan_run(exec_t *x, const request_t *req, job_t *job)
{
    err_t   e;
    plan_t  p;

    memset(&e, 0, sizeof(e));
    memset(&p, 0, sizeof(p));
    p.x = x;
    p.req = req;
    p.job = job;

    outputs_init(&x->res.out, job->output);
    plan_begin(&p);

    if (plan_rounds(&p, &e) == -1) {
        x->res.verdict = e.status == 0 ? VERDICT_CANCELLED : VERDICT_ERROR;
        native_add(p.memo, "error", native_string(e.text));
    }

    (void) pthread_mutex_lock(&x->lock);
    memcpy(x->res.sandbox, job->sandbox, sizeof(x->res.sandbox));
    outputs_finish(&x->res.out);
    (void) pthread_mutex_unlock(&x->lock);

    native_add(p.memo, "completed", native_number(clock_wall_ms()));
    plan_note(&p);

    json_object_put(p.memo);
    json_object_put(p.messages);
    json_object_put(p.plan);
    buf_free(&p.code);
}
