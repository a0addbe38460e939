
/*
 * A text editor of three commands (view, create, str_replace), as Anthropic's
 * tool has it, for every dialect that offers one.  It is a program in the
 * sandbox (sandbox-image/python/retort_edit.py): what it says is a tenant's
 * word, and checked like one.
 */

#ifndef FRONT_EDITOR_H
#define FRONT_EDITOR_H

#include <json-c/json.h>

#include "../exec.h"
#include "../job.h"


/*
 * The job for a tool's input; its limits are the caller's to set, "output"
 * before this.  0; or -1 and "e", whose text says what is wrong with it.
 */

int editor_job(json_object *input, job_t *job, err_t *e);

/* an object of the vendor's, with its "type": what became of it */

json_object *editor_result(const result_t *res);

/* the same of a run that is none; "message" may be NULL */

json_object *editor_error(const char *code, const char *message);


#endif /* FRONT_EDITOR_H */
