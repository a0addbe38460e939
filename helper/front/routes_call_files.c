
/*
 * In retort-front, as its own uid without any capability.  Messages about
 * files: of a sandbox that is there, or of the store.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "box_id.h"
#include "files.h"
#include "metrics.h"
#include "routes.h"


static int
routes_call_artifact(routes_t *r, call_files_t *f, err_t *e)
{
    int         rc;
    char        name[] = "file";
    size_t      n;
    job_file_t  file;

    memset(&file, 0, sizeof(file));
    file.id = f->name;
    file.name = name;
    n = 1;
    rc = files_load(r->req, r->body->client, &file, &n, 0, e);

    if (rc == 0) {
        rc = buf_add(&f->bytes, file.data, file.len);
    }

    free(file.data);

    return rc;
}


/* a session without a sandbox gets none by being asked */

static int
routes_call_none(routes_t *r, call_files_t *f)
{
    err_t       e;
    box_view_t  view;

    if (f->session[0] == '\0'
        || (box_id_session(f->sandbox, r->req->workspace, f->session) == 0
            && box_look(f->sandbox, r->req->workspace, &view, &e) == 0))
    {
        return 0;
    }

    f->sandbox[0] = '\0';

    return 1;
}


static int
routes_call_file(routes_t *r, call_files_t *f, err_t *e)
{
    files_ask_t  ask;

    if (f->what == CALL_FILES_ARTIFACT) {
        return routes_call_artifact(r, f, e);
    }

    if (routes_call_none(r, f)) {
        return f->what == CALL_FILES_LIST
               ? 0 : err_set(e, 404, "sandbox_not_found", "this session has "
                             "no sandbox");
    }

    memset(&ask, 0, sizeof(ask));
    ask.req = r->req;
    ask.sandbox = f->sandbox;
    ask.session = "";
    ask.folder = f->name;
    ask.name = f->name;
    ask.below = f->recursive;
    ask.body = r->body;
    ask.a = r->a;

    return f->what == CALL_FILES_LIST
           ? files_list(&ask, &f->list, e)
           : files_read(&ask, BOUND_PICTURES, &f->bytes, e);
}


void
routes_call_files(routes_t *r, call_t *c)
{
    err_t  e;

    memset(&e, 0, sizeof(e));

    if (routes_call_file(r, &c->files, &e) == 0) {
        r->dialect->call_filed(c);

    } else {
        metrics_refused(e.code);
        r->dialect->call_fail(c, &e);
    }

    files_free(&c->files.list);
    buf_free(&c->files.bytes);
}
