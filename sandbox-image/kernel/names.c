
/*
 * In the template: the names under which a loaded library will be asked for.
 *
 * A library is known by the name that it was loaded by, and by its file.  A
 * sandbox has a root of its own, where the same path is another file: whoever
 * asks there for the path behind a symbolic link (threadpoolctl does, for
 * scikit-learn) would not find the library, or load it twice.  The loader
 * keeps each name by which a library was found; so they are used once here.
 */

#include "retort.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>


#define NAMES_MAX  1024


typedef struct {
    size_t  n;
    char    *path[NAMES_MAX];
} names_t;


static int
names_take(struct dl_phdr_info *info, size_t size, void *data)
{
    char     *path;
    names_t  *names;

    (void) size;
    names = data;

    if (info->dlpi_name[0] != '/' || names->n == NAMES_MAX) {
        return 0;
    }

    path = realpath(info->dlpi_name, NULL);

    if (path != NULL && strcmp(path, info->dlpi_name) != 0) {
        names->path[names->n++] = path;

    } else {
        free(path);
    }

    return 0;
}


void
names_settle(void)
{
    void            *library;
    size_t          i;
    static names_t  names;

    (void) dl_iterate_phdr(names_take, &names);

    for (i = 0; i < names.n; i++) {
        library = dlopen(names.path[i], RTLD_NOLOAD|RTLD_LAZY);

        if (library != NULL) {
            (void) dlclose(library);
        }

        free(names.path[i]);
    }
}
