
/*
 * In retort-front, as its own uid without any capability.  Names and code come
 * from clients and sandboxes: they are cleaned and escaped, and how many there
 * are and how long is bounded.
 */

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "audit.h"
#include "bounds.h"
#include "chain.h"
#include "flog.h"
#include "json_out.h"
#include "utf8.h"


static int  audit_on;
static int  audit_code;
static int  audit_refuse;


/* puts it; 0, or -1 if it is lost */

static int
audit_put(buf_t *b)
{
    int  rc;

    rc = b->failed ? -1 : chain_put(b->data, b->len);
    buf_free(b);

    return rc;
}


static void
audit_line(buf_t *b, const char *event)
{
    memset(b, 0, sizeof(buf_t));
    json_out_string(b, "event", event);
}


static void
audit_who(buf_t *b, const char *event, const run_t *r)
{
    audit_line(b, event);
    json_out_string(b, "execution", r->x->id);
    json_out_string(b, "workspace", r->req->workspace);
    json_out_string(b, "api", r->req->control ? "control" : r->req->api);
    json_out_string(b, "profile", r->box->profile->name);
    json_out_string(b, "sandbox", r->box->sandbox);
    json_out_number(b, "box", r->box->id);
    json_out_string(b, "language", r->job->language == KRN_BASH ? "bash"
                                                           : "python");
    json_out_number(b, "code_bytes", r->job->code_len);
    json_out_string(b, "code_sha256", r->code);
}


static void
audit_source(buf_t *b, const job_t *job)
{
    size_t  n;

    if (!audit_code) {
        return;
    }

    n = utf8_cut(job->code, job->code_len, BOUND_AUDIT_CODE);
    json_out_bytes(b, "code", job->code, n);

    if (n < job->code_len) {
        json_out_word(b, "code_cut", "true");
    }
}


/* the object stays open */

static void
audit_named(buf_t *b, const char *name, uint64_t size, const char *sha256)
{
    json_out_open(b, NULL, '{');
    json_out_bytes(b, "name", name, strlen(name));
    json_out_number(b, "size", size);
    json_out_string(b, "sha256", sha256);
}


/* the end of a list of which the first are told */

static void
audit_more(buf_t *b, const char *key, size_t told, size_t all)
{
    json_out_close(b, ']');

    if (all > told) {
        json_out_number(b, key, all - told);
    }
}


static void
audit_inputs(buf_t *b, const job_t *job)
{
    char    sha256[CHAIN_HEX];
    size_t  i;

    json_out_open(b, "inputs", '[');

    for (i = 0; i < job->nfiles && i < BOUND_AUDIT_LIST; i++) {
        chain_sha256(job->files[i].data, job->files[i].len, sha256);
        audit_named(b, job->files[i].name, job->files[i].len, sha256);
        json_out_close(b, '}');
    }

    audit_more(b, "inputs_more", i, job->nfiles);
}


static void
audit_changes(buf_t *b, const outputs_t *out)
{
    size_t               i;
    const out_change_t  *c;

    static const char *const  words[] = { "", "created", "changed", "deleted" };

    json_out_open(b, "files", '[');

    for (i = 0; i < out->nchanges && i < BOUND_AUDIT_LIST; i++) {
        c = &out->changes[i];
        audit_named(b, c->name, c->size, c->sha256);
        json_out_string(b, "change", words[c->change & 3]);
        json_out_close(b, '}');
    }

    audit_more(b, "files_more", i, out->nchanges + (out->more_changes != 0));
}


/* where it is in the store is nobody's business but the client's */

static void
audit_artifact(buf_t *b, const out_artifact_t *a)
{
    audit_named(b, a->name, a->size, a->sha256);
    json_out_bytes(b, "mime", a->mime, strlen(a->mime));

    if (a->why[0] != '\0') {
        json_out_bytes(b, "refused", a->why, strlen(a->why));
    }

    json_out_close(b, '}');
}


/* not 0 if one was refused */

static int
audit_artifacts(buf_t *b, const outputs_t *out)
{
    int                refused;
    size_t             i, all;
    const out_item_t  *item;

    all = 0;
    refused = 0;
    json_out_open(b, "artifacts", '[');

    for (item = out->first; item != NULL; item = item->next) {
        for (i = 0; i < item->nartifacts; i++, all++) {
            if (all < BOUND_AUDIT_LIST) {
                audit_artifact(b, &item->artifacts[i]);
            }

            refused |= item->artifacts[i].why[0] != '\0';
        }
    }

    if (out->whole.file[0] != '\0' && all++ < BOUND_AUDIT_LIST) {
        audit_artifact(b, &out->whole);
    }

    audit_more(b, "artifacts_more", all < BOUND_AUDIT_LIST ? all
                                                           : BOUND_AUDIT_LIST,
               all);

    return refused;
}


static void
audit_hit(buf_t *b, int hit, const char *limit)
{
    if (hit) {
        json_out_string(b, NULL, limit);
    }
}


static void
audit_limits(buf_t *b, const result_t *res, int refused)
{
    json_out_open(b, "limits", '[');
    audit_hit(b, res->verdict == VERDICT_TIMEOUT, "timeout");
    audit_hit(b, res->verdict == VERDICT_OOM, "memory");
    audit_hit(b, outputs_cut(&res->out), "output");
    audit_hit(b, res->out.nlost != 0, "outputs");
    audit_hit(b, refused, "artifacts");
    json_out_close(b, ']');
}


static void
audit_usage(buf_t *b, const result_t *res)
{
    json_out_open(b, "usage", '{');
    json_out_number(b, "queue_us", res->queue_us);
    json_out_number(b, "create_us", res->create_us);
    json_out_number(b, "wall_us", res->wall_us);
    json_out_number(b, "cpu_us", res->cpu_us);
    json_out_number(b, "cpu_system_us", res->cpu_system_us);
    json_out_number(b, "memory_peak", res->memory_peak);
    json_out_number(b, "written", res->written);
    json_out_number(b, "processes", res->processes);
    json_out_number(b, "output", res->out.stream_size);
    json_out_close(b, '}');
}


int
audit_begin(run_t *r, err_t *e)
{
    buf_t  b;

    if (!audit_on) {
        return 0;
    }

    chain_sha256(r->job->code, r->job->code_len, r->code);
    audit_who(&b, "begin", r);

    if (audit_put(&b) == 0 || !audit_refuse) {
        return 0;
    }

    return err_set(e, 503, "audit_unavailable", "runs are logged, and the log "
                   "cannot be written now");
}


void
audit_run(const run_t *r)
{
    int              refused;
    char             code[16];
    buf_t            b;
    const result_t  *res;

    if (!audit_on) {
        return;
    }

    res = r->res;
    (void) snprintf(code, sizeof(code), "%d", res->exit_code);

    audit_who(&b, "run", r);
    audit_source(&b, r->job);
    json_out_string(&b, "verdict", verdict_text(res->verdict));
    json_out_word(&b, "exit_code", code);
    audit_inputs(&b, r->job);
    audit_changes(&b, &res->out);
    refused = audit_artifacts(&b, &res->out);
    audit_limits(&b, res, refused);
    audit_usage(&b, res);
    (void) audit_put(&b);
}


void
audit_none(const run_t *r)
{
    buf_t  b;

    if (audit_on) {
        audit_who(&b, "none", r);
        (void) audit_put(&b);
    }
}


void
audit_lost(const char *id, const char *workspace, const char *sandbox)
{
    buf_t  b;

    if (!audit_on) {
        return;
    }

    audit_line(&b, "run");
    json_out_bytes(&b, "execution", id, strlen(id));
    json_out_bytes(&b, "workspace", workspace, strlen(workspace));
    json_out_bytes(&b, "sandbox", sandbox, strlen(sandbox));
    json_out_string(&b, "verdict", verdict_text(VERDICT_LOST));
    (void) audit_put(&b);
}


int
audit_init(int dir, const retort_settings_t *s)
{
    int           clean;
    buf_t         b;
    struct stat   st;

    if (fstat(dir, &st) == -1) {
        flog(RLOG_ERROR, "audit: descriptor %d is missing", dir);
        return -1;
    }

    if (!S_ISDIR(st.st_mode)) {
        return 0;
    }

    if (chain_open(dir, "\"event\":\"stop\"", &clean) == -1) {
        return -1;
    }

    audit_on = 1;
    audit_code = s->audit_code != 0;
    audit_refuse = s->audit_full == RETORT_AUDIT_REFUSE;

    audit_line(&b, "start");
    json_out_string(&b, "node", s->node);
    json_out_word(&b, "clean", clean ? "true" : "false");
    (void) audit_put(&b);
    chain_tell();

    return 0;
}


void
audit_stop(void)
{
    buf_t  b;

    if (audit_on) {
        audit_line(&b, "stop");
        (void) audit_put(&b);
        chain_tell();
    }
}
