
/*
 * Inside of the Qwen-Agent dialect.
 */

#ifndef FRONT_QWEN_H
#define FRONT_QWEN_H

#include <json-c/json.h>

#include "dialect.h"


/*
 * What the agent's "params" mean: appends the code that is to run.  0, or -1
 * and "e": a "code" that is no text.
 */

int qwen_code(const char *params, size_t len, buf_t *code, err_t *e);

/*
 * What the kernel gets for it: the countdown's line first (timer: Python's
 * text of the seconds, NULL for none), fonts after a theme, two newlines last.
 */

void qwen_wrap(const char *code, size_t len, const char *timer, buf_t *to);

/*
 * Input files.  One that cannot be had is logged and left out; -1 and "e" only
 * if memory runs out.
 */

int qwen_files(json_object *files, job_t *job, err_t *e);

/* the result as the one text that an agent reads */

void qwen_text(buf_t *to, const outputs_t *o, const link_t *link,
    uint32_t fence);


#endif /* FRONT_QWEN_H */
