
/*
 * In retort-front, as its own uid without any capability.  MCP: a tool's
 * arguments become a job.  What the client wrote is not believed.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../text.h"
#include "mcp.h"
#include "qwen.h"


#define MCP_PRISME_TIME  20000  /* msec, unless less is allowed */


int
mcp_arg_code(void *to, json_object *v, err_t *e)
{
    job_t  *job;

    job = &((mcp_t *) to)->call->job;
    job->code = json_in_copy(v, &job->code_len, e);

    return job->code != NULL ? 0 : -1;
}


int
mcp_arg_sandbox(void *to, json_object *v, err_t *e)
{
    job_t       *job;
    const char  *id;

    job = &((mcp_t *) to)->call->job;
    id = json_object_get_string(v);

    if (!mcp_is_whole(v) || strlen(id) >= sizeof(job->sandbox)
        || !text_is_id(id, "sbx"))
    {
        return err_set(e, 404, "sandbox_not_found", "no such sandbox");
    }

    (void) snprintf(job->sandbox, sizeof(job->sandbox), "%s", id);

    return 0;
}


static int
mcp_arg_timeout(void *to, json_object *v, err_t *e)
{
    double      seconds;
    mcp_t      *m;
    uint64_t    max;

    m = to;
    max = m->call->req->run_max.timeout;
    seconds = json_object_get_double(v);

    if (!(seconds > 0) || seconds * 1000 > (double) max) {
        return err_set(e, 400, "bad_value", "\"timeout\" must be above 0 and "
                       "at most %" PRIu64 ".%03" PRIu64 " seconds",
                       max / 1000, max % 1000);
    }

    m->call->job.timeout = (uint64_t) ceil(seconds * 1000);

    return 0;
}


/* all of them, or the script would fail for a reason that is not its own */

static int
mcp_arg_files(void *to, json_object *v, err_t *e)
{
    job_t  *job;

    job = &((mcp_t *) to)->call->job;

    if (qwen_files(v, job, e) == -1) {
        return -1;
    }

    if (job->nfiles != json_object_array_length(v)) {
        return err_set(e, 400, "FileDownloadError", "a file is an http or "
                       "https URL, or a data URL with a \"name\"");
    }

    return 0;
}


const json_in_key_t  mcp_keys_session[] = {
    { "code", JSON_IN_STRING, mcp_arg_code },
    { "sandbox_id", JSON_IN_STRING, mcp_arg_sandbox },
    { "timeout", JSON_IN_NUMBER, mcp_arg_timeout },
    { NULL, JSON_IN_STRING, NULL }
};


const json_in_key_t  mcp_keys_code[] = {
    { "code", JSON_IN_STRING, mcp_arg_code },
    { NULL, JSON_IN_STRING, NULL }
};


const json_in_key_t  mcp_keys_prisme[] = {
    { "code", JSON_IN_STRING, mcp_arg_code },
    { "files", JSON_IN_ARRAY, mcp_arg_files },
    { NULL, JSON_IN_STRING, NULL }
};


/*
 * In a sandbox that was named, in the session's, or in a new one, which is
 * kept if its name goes back.
 */

static int
mcp_where(mcp_t *m, err_t *e)
{
    job_t  *job;

    job = &m->call->job;

    if (job->sandbox[0] != '\0' || job->session[0] != '\0'
        || m->tool->alone)
    {
        return 0;
    }

    if (*m->session == '\0') {
        job->keep = m->tool->handle;
        return 0;
    }

    if (job_session(job, m->session) == -1) {
        return err_set(e, 404, "session_not_found", "no such session");
    }

    return 0;
}


int
mcp_args(mcp_t *m, json_object *args, err_t *e)
{
    job_t            *job;
    const request_t  *req;

    job = &m->call->job;
    req = m->call->req;

    job->language = m->tool->language;
    job->timeout = req->run.timeout;
    job->output = req->run.output;
    job->box = req->box;
    job->own_limits = memcmp(&job->box, &req->profile->box,
                             sizeof(job->box)) != 0;

    if (m->prisme && job->timeout > MCP_PRISME_TIME) {
        job->timeout = MCP_PRISME_TIME;
    }

    if (args != NULL && json_in_keys(args, m->tool->keys, "", m, e) == -1) {
        return -1;
    }

    if (m->tool->now != NULL) {
        return 0;
    }

    if (m->tool->ready != NULL) {
        return m->tool->ready(m, e) == 0 ? mcp_where(m, e) : -1;
    }

    if (job->code_len == 0) {
        return err_set(e, 400, "bad_value", "\"code\" is missing or empty");
    }

    return mcp_where(m, e);
}
