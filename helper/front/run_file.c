
/*
 * In retort-front, as its own uid without any capability.  What the kernel's
 * side says about files: all of it may be forged, by a tenant about its own
 * run.  Names are checked or made harmless, amounts bounded.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "artifact.h"
#include "bounds.h"
#include "clock.h"
#include "run.h"
#include "shelf.h"
#include "utf8.h"


#define RUN_FILE_ANY  "application/octet-stream"


void
run_change(run_t *r)
{
    size_t          i, n, len;
    uint64_t        size;
    outputs_t      *o;
    const char     *name, *p;
    out_change_t   *c;
    krn_changed_t   changed;

    o = &r->res->out;
    name = krn_in_part(&r->in, 0, &len, &size);
    p = krn_in_part(&r->in, 1, &n, &size);

    if (r->in.head.a == KRN_UNSHOWN) {
        o->unshown++;
        return;
    }

    if (r->in.head.a < KRN_CREATED || r->in.head.a > KRN_DELETED
        || n != sizeof(changed) || size != n || !job_file_name(name, len))
    {
        /* one that cannot be named is one that is not told */
        o->more_changes = 1;
        return;
    }

    memcpy(&changed, p, sizeof(changed));
    c = outputs_change(o, name, len);

    if (c == NULL) {
        return;
    }

    c->change = (krn_change_t) r->in.head.a;
    c->size = changed.size;

    for (i = 0; changed.hashed && i < sizeof(changed.sha); i++) {
        (void) snprintf(c->sha256 + 2 * i, 3, "%02x", changed.sha[i]);
    }
}


/* harmless in a link's text: no brackets, no control, nothing invisible */

static int
run_file_plain(const char *p, size_t n)
{
    unsigned              c;
    const unsigned char  *u;

    u = (const unsigned char *) p;

    if (n == 1) {
        return (*u >= 'a' && *u <= 'z') || (*u >= 'A' && *u <= 'Z')
               || (*u >= '0' && *u <= '9') || strchr(".-_", *p) != NULL;
    }

    if (n == 2) {
        return u[0] != 0xc2;
    }

    /* U+200x to U+206x: joiners, marks of direction, odd blanks; the BOM */
    c = (unsigned) (u[0] << 16 | u[1] << 8 | u[2]);

    return n == 3 && c != 0xefbbbf && (c < 0xe28080 || c > 0xe281af)
           && (c < 0xee8080 || c > 0xefa3bf);
}


/* the last component, made so, at most OUT_NAME - 8 bytes */

static void
run_file_name(char *to, const char *p, size_t n)
{
    size_t       i, len, at;
    const char  *slash;

    slash = memrchr(p, '/', n);

    if (slash != NULL) {
        n -= (size_t) (slash + 1 - p);
        p = slash + 1;
    }

    at = 0;

    for (i = 0; i < n && at + 4 < OUT_NAME - 8; i += len) {
        len = utf8_char(p + i, n - i);

        if (len != 0 && run_file_plain(p + i, len)) {
            memcpy(to + at, p + i, len);
            at += len;

        } else {
            to[at++] = '_';
            len = len != 0 ? len : 1;
        }
    }

    to[at] = '\0';

    if (at == 0) {
        (void) snprintf(to, OUT_NAME, "file");
    }
}


static int
run_file_taken(const outputs_t *o, const char *name)
{
    size_t             i;
    const out_item_t  *item;

    for (item = o->first; item != NULL; item = item->next) {
        for (i = 0; i < item->nartifacts; i++) {
            if (strcmp(item->artifacts[i].name, name) == 0) {
                return 1;
            }
        }
    }

    return 0;
}


/* two files of one run may have the same last component */

static void
run_file_unique(const outputs_t *o, const char *base, unsigned number,
    char name[OUT_NAME])
{
    (void) snprintf(name, OUT_NAME, "%s", base);

    if (run_file_taken(o, name)) {
        (void) snprintf(name, OUT_NAME, "%u-%.*s", number, OUT_NAME - 8, base);
    }
}


static int
run_shelve(run_t *r, out_artifact_t *a, const void *p, size_t n)
{
    err_t         e;
    shelf_info_t  info;

    memset(&info, 0, sizeof(info));
    (void) snprintf(info.name, sizeof(info.name), "%s", a->name);
    shelf_type(info.mime, a->name);
    info.made = 1;
    info.expires = clock_wall_ms() / 1000 + BOUND_SHELF_MADE;
    a->size = n;

    if (shelf_put(r->req->workspace, &info, p, n, &e) == -1) {
        (void) snprintf(a->why, sizeof(a->why), "%.95s", e.text);
        return -1;
    }

    memcpy(a->id, info.id, sizeof(a->id));

    return 0;
}


int
run_keep(run_t *r, out_artifact_t *a, const void *p, size_t n,
    unsigned number)
{
    return r->job->shelve ? run_shelve(r, a, p, n)
                          : artifact_store(a, r->req, p, n, number);
}


void
run_saved(run_t *r)
{
    char             base[OUT_NAME], name[OUT_NAME];
    size_t           n, len;
    uint64_t         size;
    outputs_t       *o;
    const char      *p;
    out_artifact_t  *a;

    o = &r->res->out;
    p = krn_in_part(&r->in, 2, &n, &size);
    run_file_name(base, p, n);
    run_file_unique(o, base, ++o->saved % 1000000, name);
    a = run_form(r->display, artifact_mime(base));

    if (a == NULL) {
        return;
    }

    r->display->type = OUT_SAVED;
    p = krn_in_part(&r->in, 1, &len, &size);
    a->size = size;
    (void) snprintf(a->name, sizeof(a->name), "%s", name);

    if (run_allowed(r, a, len)) {
        if (run_keep(r, a, p, len, 0) == 0) {
            o->stored++;

        } else if (!r->job->shelve && strcmp(a->mime, RUN_FILE_ANY) != 0) {
            /* it is not what its name says: stored as anything */
            (void) snprintf(a->mime, sizeof(a->mime), RUN_FILE_ANY);
            a->why[0] = '\0';
            o->stored += artifact_store(a, r->req, p, len, 0) == 0;
        }
    }

    (void) snprintf(a->name, sizeof(a->name), "%s", name);
}
