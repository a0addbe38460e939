
/*
 * In retort-front, as its own uid without any capability.  A record was written
 * by an earlier front, perhaps of another version, perhaps in its last moment:
 * it is checked like a stranger's.
 */

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "record.h"
#include "text.h"


#define RECORD_MAGIC    0x52465235      /* "RFR5": names the layout, too */


typedef struct {
    uint32_t  magic;
    uint32_t  sum;              /* of all behind it */
    uint64_t  created;
    uint64_t  ttl;
    uint64_t  end;
    uint32_t  marks[JOB_MARKS];
    char      sandbox[JOB_SANDBOX];
    char      execution[REQ_EXECUTION];
    char      workspace[REQ_WORKSPACE];
    char      name[JOB_SESSION];
    char      unused[6];
} record_wire_t;

static_assert(sizeof(record_wire_t) == 472, "record: no padding");
static_assert(sizeof(record_wire_t) <= BRK_RECORD_SIZE, "record fits");


static uint32_t
record_sum(const record_wire_t *w)
{
    size_t          i;
    uint32_t        sum;
    unsigned char   raw[sizeof(record_wire_t)];

    memcpy(raw, w, sizeof(raw));
    sum = 2166136261u;

    for (i = offsetof(record_wire_t, created); i < sizeof(raw); i++) {
        sum = (sum ^ raw[i]) * 16777619u;
    }

    return sum;
}


void
record_write(const record_t *r, uint8_t out[BRK_RECORD_SIZE])
{
    record_wire_t  w;

    memset(&w, 0, sizeof(w));
    w.magic = RECORD_MAGIC;
    w.created = r->created;
    w.ttl = r->ttl;
    w.end = r->end;
    memcpy(w.marks, r->marks, sizeof(w.marks));
    (void) snprintf(w.sandbox, sizeof(w.sandbox), "%s", r->sandbox);
    (void) snprintf(w.execution, sizeof(w.execution), "%s", r->execution);
    (void) snprintf(w.workspace, sizeof(w.workspace), "%s", r->workspace);
    (void) snprintf(w.name, sizeof(w.name), "%s", r->name);
    w.sum = record_sum(&w);

    memset(out, 0, BRK_RECORD_SIZE);
    memcpy(out, &w, sizeof(w));
}


/* an id of that kind, or nothing */

static int
record_id(const char *id, size_t size, const char *kind)
{
    return memchr(id, '\0', size) != NULL
           && (*id == '\0' || text_is_id(id, kind));
}


int
record_read(record_t *r, const uint8_t in[BRK_RECORD_SIZE])
{
    record_wire_t  w;

    memcpy(&w, in, sizeof(w));

    if (w.magic != RECORD_MAGIC || w.sum != record_sum(&w)) {
        return -1;
    }

    if (!record_id(w.sandbox, sizeof(w.sandbox), "sbx")
        || !record_id(w.execution, sizeof(w.execution), "exec")
        || memchr(w.workspace, '\0', sizeof(w.workspace)) == NULL
        || !text_is_name(w.workspace, sizeof(w.workspace) - 1)
        || memchr(w.name, '\0', sizeof(w.name)) == NULL
        || (w.name[0] != '\0' && !job_is_session(w.name))
        || (w.sandbox[0] == '\0' && w.execution[0] == '\0')
        || (w.sandbox[0] != '\0' && w.ttl == 0))
    {
        return -1;
    }

    memcpy(r->sandbox, w.sandbox, sizeof(r->sandbox));
    memcpy(r->execution, w.execution, sizeof(r->execution));
    memcpy(r->workspace, w.workspace, sizeof(r->workspace));
    memcpy(r->name, w.name, sizeof(r->name));
    r->created = w.created;
    r->ttl = w.ttl;
    r->end = w.end;
    memcpy(r->marks, w.marks, sizeof(r->marks));

    return 0;
}
