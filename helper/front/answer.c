
/*
 * In retort-front, as its own uid without any capability.  No byte of a client
 * or a sandbox gets into a header line, but ids that were checked.
 */

#include <inttypes.h>
#include <string.h>

#include "answer.h"


typedef struct {
    int          status;
    const char  *text;
} answer_status_t;


static const answer_status_t  answer_statuses[] = {
    { 200, "OK" },
    { 201, "Created" },
    { 202, "Accepted" },
    { 204, "No Content" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 406, "Not Acceptable" },
    { 409, "Conflict" },
    { 410, "Gone" },
    { 413, "Request Entity Too Large" },
    { 415, "Unsupported Media Type" },
    { 429, "Too Many Requests" },
    { 499, "Client Closed Request" },
    { 500, "Internal Server Error" },
    { 503, "Service Unavailable" },
    { 504, "Gateway Time-out" },
    { 507, "Insufficient Storage" },
    { 529, "Overloaded" }
};


void
answer_free(answer_t *a)
{
    buf_free(&a->lines);
    buf_free(&a->body);
    pictures_free(a->pictures, a->npictures);
    memset(a, 0, sizeof(answer_t));
}


static const char *
answer_text(int status)
{
    size_t  i;

    for (i = 0; i < sizeof(answer_statuses) / sizeof(answer_statuses[0]); i++) {
        if (answer_statuses[i].status == status) {
            return answer_statuses[i].text;
        }
    }

    return "Unknown";
}


int
answer_head(const answer_t *a, buf_t *to)
{
    (void) buf_printf(to, "Status: %d %s\r\n", a->status,
                      answer_text(a->status));

    if (a->type != NULL) {
        (void) buf_printf(to, "Content-Type: %s\r\n", a->type);

        if (!a->streamed || a->length != ANSWER_OPEN) {
            (void) buf_printf(to, "Content-Length: %" PRIu64 "\r\n",
                              a->streamed ? a->length : a->body.len);
        }
    }

    if (a->retry_after != 0) {
        (void) buf_printf(to, "Retry-After: %d\r\n", a->retry_after);
    }

    (void) buf_printf(to, "X-Retort-Form: %s\r\n",
                      a->form != NULL ? a->form : "none");

    (void) buf_add(to, a->lines.data, a->lines.len);
    (void) buf_puts(to, "\r\n");

    return to->failed || a->lines.failed ? -1 : 0;
}


int
answer_write(const answer_t *a, buf_t *to)
{
    if (answer_head(a, to) == -1) {
        return -1;
    }

    (void) buf_add(to, a->body.data, a->body.len);

    return to->failed || a->body.failed ? -1 : 0;
}


void
answer_run(answer_t *a, const char *execution, const result_t *res)
{
    buf_t  *to;

    to = &a->lines;

    (void) buf_printf(to, "X-Retort-Execution: %s\r\n", execution);

    if (res->sandbox[0] != '\0') {
        (void) buf_printf(to, "X-Retort-Sandbox: %s\r\n", res->sandbox);
    }

    (void) buf_printf(to, "X-Retort-Status: %s\r\n"
                      "X-Retort-Wall-Us: %" PRIu64 "\r\n"
                      "X-Retort-Cpu-Us: %" PRIu64 "\r\n"
                      "X-Retort-Peak-Memory: %" PRIu64 "\r\n",
                      verdict_text(res->verdict), res->wall_us,
                      res->cpu_us, res->memory_peak);
}
