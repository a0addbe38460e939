
/*
 * In retort-front, as its own uid without any capability.  Ubik: the
 * transcript of an execution.  Texts of a sandbox stay as they came until an
 * answer is written.
 */

#include <string.h>

#include "../markdown.h"
#include "native.h"
#include "ubik.h"


/* a list of JSON as the vendor has it: no blank but behind a comma */

void
ubik_log_begin(buf_t *to, const char *sandbox, json_object *plan)
{
    size_t  i;

    (void) buf_printf(to, "INFO: Started sandbox session: %s\n"
                      "INFO: Development plan: [", sandbox);

    for (i = 0; i < json_object_array_length(plan); i++) {
        (void) buf_puts(to, i == 0 ? "" : ", ");
        (void) buf_puts(to, json_object_to_json_string_ext(
                            json_object_array_get_idx(plan, i),
                            JSON_C_TO_STRING_PLAIN
                            |JSON_C_TO_STRING_NOSLASHESCAPE));
    }

    (void) buf_puts(to, "]\n");
}


void
ubik_log_round(buf_t *to, unsigned n, unsigned max, const char *step,
    const buf_t *code)
{
    (void) buf_printf(to, "\n--- Round %u/%u: %s ---\nGENERATED CODE:\n", n,
                      max, step);
    (void) buf_add(to, code->data, code->len);

    if (code->len == 0 || code->data[code->len - 1] != '\n') {
        (void) buf_puts(to, "\n");
    }
}


static void
ubik_log_part(buf_t *to, const char *name, const buf_t *text)
{
    (void) buf_printf(to, "%s:\n", name);
    (void) buf_add(to, text->data != NULL ? text->data : "", text->len);

    if (text->len != 0 && text->data[text->len - 1] != '\n') {
        (void) buf_puts(to, "\n");
    }

    (void) buf_puts(to, "\n");
}


/* the value of a last expression is what a prompt would have shown */

static void
ubik_log_stdout(buf_t *to, const result_t *res)
{
    buf_t              all;
    const out_item_t  *value;

    memset(&all, 0, sizeof(all));
    outputs_join(&res->out, OUT_STDOUT, &all);
    value = outputs_last(&res->out, OUT_RESULT);

    if (value != NULL) {
        (void) buf_add(&all, value->text.data, value->text.len);
    }

    ubik_log_part(to, "STDOUT", &all);
    buf_free(&all);
}


void
ubik_log_result(buf_t *to, const result_t *res)
{
    buf_t              all;
    const out_item_t  *error;

    ubik_log_stdout(to, res);

    memset(&all, 0, sizeof(all));
    outputs_join(&res->out, OUT_STDERR, &all);
    error = outputs_last(&res->out, OUT_ERROR);

    if (error != NULL) {
        markdown_no_ansi(&all, error->traceback.len != 0
                               ? error->traceback.data : error->text.data,
                         error->traceback.len != 0
                         ? error->traceback.len : error->text.len);
    }

    if (all.len != 0) {
        ubik_log_part(to, "STDERR", &all);
    }

    buf_free(&all);
    (void) buf_printf(to, "STATUS: Execution %s\n",
                      res->verdict == VERDICT_OK ? "successful" : "failed");
}


void
ubik_log_error(buf_t *to, const result_t *res)
{
    const out_item_t  *error;

    error = outputs_last(&res->out, OUT_ERROR);

    if (res->verdict == VERDICT_OK) {
        return;
    }

    if (error == NULL) {
        (void) buf_puts(to, verdict_text(res->verdict));
        return;
    }

    outputs_error_line(to, error);
}
