
/*
 * In retort-front, as its own uid without any capability.  Requests about the
 * files of a session.
 */

#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "routes.h"


int
routes_files(routes_t *r, err_t *e)
{
    int            rc;
    file_info_t    file;
    files_ask_t    ask;
    file_infos_t   list;

    memset(&file, 0, sizeof(file));
    memset(&list, 0, sizeof(list));
    ask.req = r->req;
    ask.sandbox = r->id;
    ask.name = r->rest;
    ask.body = r->body;
    ask.a = r->a;

    switch (r->route->op) {

    case OP_FILE_GET:
        return files_get(&ask, e);

    case OP_FILE_DELETE:
        r->a->status = 204;
        return files_delete(&ask, e);

    case OP_FILE_PUT:
        rc = files_put(&ask, &file, e);

        if (rc == 0) {
            r->dialect->render_file(&ask, &file, r->a);
            r->a->status = file.replaced ? 200 : 201;
        }

        break;

    case OP_FILE_POST:
        rc = files_post(&ask, &list, e);
        break;

    default:
        rc = files_list(&ask, &list, e);
        break;
    }

    if (rc == 0 && r->route->op != OP_FILE_PUT) {
        r->dialect->render_files(&ask, &list, r->a);
        r->a->status = r->route->op == OP_FILE_POST ? 201 : 200;
    }

    free(file.name);
    files_free(&list);

    return rc;
}
