
/*
 * In retort-front, as its own uid without any capability.  Requests about the
 * files of a session.
 */

#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "routes.h"


/* what the request means, in the dialect's own way or by its path */

static int
routes_files_ask(routes_t *r, dialect_file_t *f, files_ask_t *ask, err_t *e)
{
    memset(f, 0, sizeof(dialect_file_t));
    memset(ask, 0, sizeof(files_ask_t));
    f->op = r->route->op;
    ask->req = r->req;
    ask->body = r->body;
    ask->a = r->a;
    ask->sandbox = r->id;
    ask->session = f->session;
    ask->name = r->rest;
    ask->named = r->dialect->file_part;

    if (r->dialect->file == NULL) {
        return 0;
    }

    ask->name = f->name;
    ask->folder = f->folder;

    return r->dialect->file(r->req, r->rest, f, e);
}


/* those whose answer is about one file */

static int
routes_files_one(routes_t *r, const files_ask_t *ask, int put, err_t *e)
{
    int          rc;
    file_info_t  file;

    memset(&file, 0, sizeof(file));
    rc = put ? files_put(ask, &file, e) : files_show(ask, &file, e);

    if (rc == 0) {
        r->a->status = !put || file.replaced ? 200 : 201;
        r->dialect->render_file(ask, &file, r->a);
    }

    free(file.name);

    return rc;
}


int
routes_files(routes_t *r, err_t *e)
{
    int             rc;
    files_ask_t     ask;
    file_infos_t    list;
    dialect_file_t  f;

    if (routes_files_ask(r, &f, &ask, e) == -1) {
        return -1;
    }

    switch (f.op) {

    case OP_FILE_GET:
        return files_get(&ask, e);

    case OP_FILE_DELETE:
        r->a->status = 204;
        return files_delete(&ask, e);

    case OP_FILE_SHOW:
    case OP_FILE_PUT:
        return routes_files_one(r, &ask, f.op == OP_FILE_PUT, e);

    default:
        break;
    }

    memset(&list, 0, sizeof(list));
    rc = f.op == OP_FILE_POST ? files_post(&ask, &list, e)
                              : files_list(&ask, &list, e);

    if (rc == 0) {
        r->a->status = f.op == OP_FILE_POST ? 201 : 200;
        r->dialect->render_files(&ask, &list, r->a);
    }

    files_free(&list);

    return rc;
}
