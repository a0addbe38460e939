
/*
 * In retort-front, as its own uid without any capability.  Names and code come
 * from clients and sandboxes: json-c escapes them, and how many there are and
 * how long is bounded.
 */

#include <json-c/json.h>
#include <string.h>
#include <sys/stat.h>

#include "audit.h"
#include "bounds.h"
#include "chain.h"
#include "flog.h"
#include "utf8.h"


static int  audit_on;
static int  audit_code;
static int  audit_refuse;


/* each key is a constant, and comes once */

static void
audit_add(json_object *o, const char *key, json_object *value)
{
    (void) json_object_object_add_ex(o, key, value,
                                     JSON_C_OBJECT_ADD_KEY_IS_NEW
                                     |JSON_C_OBJECT_ADD_CONSTANT_KEY);
}


static void
audit_text(json_object *o, const char *key, const char *p, size_t n)
{
    buf_t  b;

    memset(&b, 0, sizeof(b));
    utf8_clean(&b, p, n);
    audit_add(o, key, json_object_new_string_len(b.data != NULL ? b.data : "",
                                                 (int) b.len));
    buf_free(&b);
}


static void
audit_word(json_object *o, const char *key, const char *s)
{
    audit_add(o, key, s[0] != '\0' ? json_object_new_string(s) : NULL);
}


static void
audit_number(json_object *o, const char *key, uint64_t n)
{
    audit_add(o, key, json_object_new_uint64(n));
}


/* writes and puts it; 0, or -1 if it is lost */

static int
audit_put(json_object *o)
{
    int          rc;
    size_t       n;
    const char  *s;

    s = json_object_to_json_string_length(o, JSON_C_TO_STRING_PLAIN
                                          |JSON_C_TO_STRING_NOSLASHESCAPE, &n);
    rc = s != NULL && n > 2 ? chain_put(s + 1, n - 2) : -1;
    (void) json_object_put(o);

    return rc;
}


static json_object *
audit_line(const char *event)
{
    json_object  *o;

    o = json_object_new_object();
    audit_word(o, "event", event);

    return o;
}


static json_object *
audit_who(const char *event, const run_t *r)
{
    json_object  *o;

    o = audit_line(event);
    audit_word(o, "execution", r->x->id);
    audit_word(o, "workspace", r->req->workspace);
    audit_word(o, "api", r->req->control ? "control" : r->req->api);
    audit_word(o, "profile", r->box->profile->name);
    audit_word(o, "sandbox", r->box->sandbox);
    audit_number(o, "box", r->box->id);
    audit_word(o, "language", r->job->language == KRN_BASH ? "bash"
                                                           : "python");
    audit_number(o, "code_bytes", r->job->code_len);
    audit_word(o, "code_sha256", r->code);

    return o;
}


static void
audit_source(json_object *o, const job_t *job)
{
    size_t  n;

    if (!audit_code) {
        return;
    }

    n = utf8_cut(job->code, job->code_len, BOUND_AUDIT_CODE);
    audit_text(o, "code", job->code, n);

    if (n < job->code_len) {
        audit_add(o, "code_cut", json_object_new_boolean(1));
    }
}


static json_object *
audit_named(const char *name, uint64_t size, const char *sha256)
{
    json_object  *o;

    o = json_object_new_object();
    audit_text(o, "name", name, strlen(name));
    audit_number(o, "size", size);
    audit_word(o, "sha256", sha256);

    return o;
}


/* a list of which the first are told */

static void
audit_list(json_object *o, const char *key, json_object *list, size_t all)
{
    audit_add(o, key, list);

    if (all > json_object_array_length(list)) {
        audit_number(o, "more", all - json_object_array_length(list));
    }
}


static void
audit_inputs(json_object *o, const job_t *job)
{
    char          sha256[CHAIN_HEX];
    size_t        i;
    json_object  *list;

    list = json_object_new_array();

    for (i = 0; i < job->nfiles && i < BOUND_AUDIT_LIST; i++) {
        chain_sha256(job->files[i].data, job->files[i].len, sha256);
        (void) json_object_array_add(list, audit_named(job->files[i].name,
                                                       job->files[i].len,
                                                       sha256));
    }

    audit_list(o, "inputs", list, job->nfiles);
}


static void
audit_changes(json_object *o, const outputs_t *out)
{
    size_t               i;
    json_object         *list, *one;
    const out_change_t  *c;

    static const char *const  words[] = { "", "created", "changed", "deleted" };

    list = json_object_new_array();

    for (i = 0; i < out->nchanges && i < BOUND_AUDIT_LIST; i++) {
        c = &out->changes[i];
        one = audit_named(c->name, c->size, c->sha256);
        audit_word(one, "change", words[c->change & 3]);
        (void) json_object_array_add(list, one);
    }

    audit_list(o, "files", list, out->nchanges + (out->more_changes != 0));
}


/* where it is in the store is nobody's business but the client's */

static void
audit_artifact(json_object *list, const out_artifact_t *a)
{
    json_object  *o;

    if (json_object_array_length(list) >= BOUND_AUDIT_LIST) {
        return;
    }

    o = audit_named(a->name, a->size, a->sha256);
    audit_text(o, "mime", a->mime, strlen(a->mime));

    if (a->why[0] != '\0') {
        audit_text(o, "refused", a->why, strlen(a->why));
    }

    (void) json_object_array_add(list, o);
}


/* not 0 if one was refused */

static int
audit_artifacts(json_object *o, const outputs_t *out)
{
    int                refused;
    size_t             i, all;
    json_object       *list;
    const out_item_t  *item;

    all = 0;
    refused = 0;
    list = json_object_new_array();

    for (item = out->first; item != NULL; item = item->next) {
        for (i = 0; i < item->nartifacts; i++, all++) {
            audit_artifact(list, &item->artifacts[i]);
            refused |= item->artifacts[i].why[0] != '\0';
        }
    }

    if (out->whole.file[0] != '\0') {
        audit_artifact(list, &out->whole);
        all++;
    }

    audit_list(o, "artifacts", list, all);

    return refused;
}


static void
audit_hit(json_object *list, int hit, const char *limit)
{
    if (hit) {
        (void) json_object_array_add(list, json_object_new_string(limit));
    }
}


static void
audit_limits(json_object *o, const result_t *res, int refused)
{
    json_object  *list;

    list = json_object_new_array();
    audit_hit(list, res->verdict == VERDICT_TIMEOUT, "timeout");
    audit_hit(list, res->verdict == VERDICT_OOM, "memory");
    audit_hit(list, outputs_cut(&res->out), "output");
    audit_hit(list, res->out.nlost != 0, "outputs");
    audit_hit(list, refused, "artifacts");
    audit_add(o, "limits", list);
}


static void
audit_usage(json_object *o, const result_t *res)
{
    json_object  *u;

    u = json_object_new_object();
    audit_number(u, "queue_us", res->queue_us);
    audit_number(u, "create_us", res->create_us);
    audit_number(u, "wall_us", res->wall_us);
    audit_number(u, "cpu_us", res->cpu_us);
    audit_number(u, "cpu_system_us", res->cpu_system_us);
    audit_number(u, "memory_peak", res->memory_peak);
    audit_number(u, "written", res->written);
    audit_number(u, "processes", res->processes);
    audit_number(u, "output", res->out.stream_size);
    audit_add(o, "usage", u);
}


int
audit_begin(run_t *r, err_t *e)
{
    if (!audit_on) {
        return 0;
    }

    chain_sha256(r->job->code, r->job->code_len, r->code);

    if (audit_put(audit_who("begin", r)) == 0 || !audit_refuse) {
        return 0;
    }

    return err_set(e, 503, "audit_unavailable", "runs are logged, and the log "
                   "cannot be written now");
}


void
audit_run(const run_t *r)
{
    int              refused;
    json_object     *o;
    const result_t  *res;

    if (!audit_on) {
        return;
    }

    res = r->res;
    o = audit_who("run", r);
    audit_source(o, r->job);
    audit_word(o, "verdict", verdict_text(res->verdict));
    audit_add(o, "exit_code", json_object_new_int(res->exit_code));
    audit_inputs(o, r->job);
    audit_changes(o, &res->out);
    refused = audit_artifacts(o, &res->out);
    audit_limits(o, res, refused);
    audit_usage(o, res);
    (void) audit_put(o);
}


void
audit_none(const run_t *r)
{
    if (audit_on) {
        (void) audit_put(audit_who("none", r));
    }
}


void
audit_lost(const char *id, const char *workspace, const char *sandbox)
{
    json_object  *o;

    if (!audit_on) {
        return;
    }

    o = audit_line("run");
    audit_text(o, "execution", id, strlen(id));
    audit_text(o, "workspace", workspace, strlen(workspace));
    audit_text(o, "sandbox", sandbox, strlen(sandbox));
    audit_word(o, "verdict", verdict_text(VERDICT_LOST));
    (void) audit_put(o);
}


int
audit_init(int dir, const retort_settings_t *s)
{
    int           clean;
    struct stat   st;
    json_object  *o;

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

    o = audit_line("start");
    audit_word(o, "node", s->node);
    audit_add(o, "clean", json_object_new_boolean(clean));
    (void) audit_put(o);
    chain_tell();

    return 0;
}


void
audit_stop(void)
{
    if (audit_on) {
        (void) audit_put(audit_line("stop"));
        chain_tell();
    }
}
