
/*
 * In retort-front, as its own uid without any capability.  Azure's dynamic
 * sessions: what could not be done, in Azure's words for it.
 */

#include <stdio.h>
#include <string.h>

#include "azure.h"
#include "native.h"


typedef struct {
    const char  *code;          /* ours */
    int          status;        /* of the answer; 0: as it is */
    const char  *name;          /* Azure's */
} azure_code_t;


static const azure_code_t  azure_codes[] = {
    { "identifier_length", 0, "InvalidLengthOfSessionIdentifier" },
    { "identifier_invalid", 0, "InvalidSessionIdentifier" },
    { "identifier_missing", 0, "SessionIdentifierMissing" },
    { "api_version", 0, "InvalidApiVersion" },
    { "operation_id", 0, "InvalidOperationId" },
    { "sandbox_not_found", 404, "NoSessionFoundError" },
    { "sandbox_expired", 404, "NoSessionFoundError" },
    { "execution_not_found", 0, "ExecutionNotFound" },
    { "execution_exists", 0, "OperationIdAlreadyExists" },
    { "file_not_found", 0, "FileNotFound" },
    { "bad_name", 0, "FilePathInvalid" },
    { "no_capacity", 429, "SessionsCountExceedsLimit" },
    { "sessions_full", 404, "SessionsCountExceedsLimit" },
    { "sandbox_busy", 429, "SessionBusy" },
    { "forbidden", 0, "Forbidden" }
};


/* what has no name of its own is called as its status is */

static const azure_code_t  azure_statuses[] = {
    { "", 400, "BadRequest" },
    { "", 403, "Forbidden" },
    { "", 404, "NotFound" },
    { "", 405, "MethodNotAllowed" },
    { "", 409, "Conflict" },
    { "", 413, "RequestEntityTooLarge" },
    { "", 415, "UnsupportedMediaType" },
    { "", 429, "TooManyRequests" },
    { "", 503, "ServiceUnavailable" },
    { "", 504, "GatewayTimeout" },
    { "", 507, "InsufficientStorage" }
};


const char *
azure_code(const err_t *e, int *status)
{
    size_t  i;

    *status = e->status;

    for (i = 0; i < sizeof(azure_codes) / sizeof(azure_codes[0]); i++) {
        if (strcmp(azure_codes[i].code, e->code) == 0) {
            *status = azure_codes[i].status != 0 ? azure_codes[i].status
                                                 : e->status;
            return azure_codes[i].name;
        }
    }

    for (i = 0; i < sizeof(azure_statuses) / sizeof(azure_statuses[0]); i++) {
        if (azure_statuses[i].status == e->status) {
            return azure_statuses[i].name;
        }
    }

    return "InternalServerError";
}


void
azure_write(json_object *o, answer_t *a)
{
    native_write(o, a);
    a->form = NULL;
}


void
azure_fail(const err_t *e, answer_t *a)
{
    const char   *code;
    json_object  *o, *error;

    code = azure_code(e, &a->status);
    error = json_object_new_object();
    native_add(error, "code", native_string(code));
    native_add(error, "message", native_string(e->text));
    o = json_object_new_object();
    native_add(o, "error", error);

    azure_write(o, a);
    a->retry_after = e->retry_after;
    (void) buf_printf(&a->lines, "x-ms-error-code: %s\r\n", code);
}


/* a location may want it to be what it was before it was 429 */

void
azure_retell(const request_t *req, err_t *e)
{
    if (strcmp(e->code, "no_capacity") == 0
        && request_param(req->params, "RETORT_AZURE_FULL") != NULL)
    {
        (void) snprintf(e->code, sizeof(e->code), "sessions_full");
        e->retry_after = 0;
    }
}


/* the image has texts for those that it knows */

void
azure_image_fail(const err_t *e, answer_t *a)
{
    char  text[64 + JOB_SANDBOX];

    if (strcmp(e->code, "code_missing") == 0) {
        azure_write(native_string(e->text), a);
        a->status = e->status;

    } else if (strcmp(e->code, "execution_not_found") == 0) {
        (void) snprintf(text, sizeof(text), "No execution available for "
                        "operation Id: %s", a->asked);
        azure_write(native_string(text), a);
        a->status = e->status;

    } else {
        azure_fail(e, a);
    }
}


void
azure_health(answer_t *a)
{
    int  well;

    well = (a->status == 200);
    buf_free(&a->body);
    azure_write(json_object_new_string(well ? "healthy" : "unhealthy"), a);
    a->status = well ? 200 : 500;
    a->retry_after = 0;
}
