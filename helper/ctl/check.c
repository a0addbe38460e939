
/*
 * Part of retortctl: what retortd would say of its files, by its own parser.
 */

#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "start/start.h"


#define CHECK_PATH  4096


/* one file: NAME.conf of a directory, as the service would find it */

static int
check_one(start_t *s, const char *file)
{
    char    *path, *slash, name[RETORT_PROFILE_NAME];
    size_t   n;

    path = realpath(file, NULL);

    if (path == NULL) {
        ctl_error("%s: no such file", file);
        return -1;
    }

    slash = strrchr(path, '/');
    n = strlen(slash + 1);

    if (n <= 5 || n - 5 >= sizeof(name) || strcmp(slash + n - 4, ".conf") != 0)
    {
        ctl_error("%s: a profile's file is called NAME.conf", file);
        free(path);
        return -1;
    }

    (void) snprintf(name, sizeof(name), "%.*s", (int) n - 5, slash + 1);
    *slash = '\0';
    s->profiles = path;

    /* "path" is the settings' from now on, as all their texts are */

    return conf_profile(s, slash + 1, name);
}


static void
check_say(const ctl_t *ctl, const start_t *s)
{
    uint32_t      i;
    json_object  *o, *names;

    o = json_object_new_object();
    names = json_object_new_array();
    (void) json_object_object_add(o, "profiles", names);

    for (i = 0; i < s->settings.nprofiles; i++) {
        (void) json_object_array_add(names, json_object_new_string(
                                            s->settings.profile[i].name));

        if (!ctl->json) {
            (void) printf("%s: good\n", s->settings.profile[i].name);
        }
    }

    if (ctl->json) {
        ask_print(o);
    }

    (void) json_object_put(o);
}


int
check_profile(const ctl_t *ctl)
{
    int             rc;
    static start_t  s;          /* large, and the parser's texts stay with it */

    rc = ctl->nargs == 1 ? check_one(&s, ctl->args[0])
                         : conf_read(&s, ctl->conf, NULL);

    if (rc == 0) {
        check_say(ctl, &s);
    }

    return rc == 0 ? CTL_OK : CTL_NO;
}
