
/*
 * Part of retortctl: what there is, as tables; and its end.
 */

#include <string.h>

#include "ctl.h"


#define SHOW_PATH  128


/* an id goes into a path: nothing else may */

static int
show_path(char path[SHOW_PATH], const char *prefix, const char *id)
{
    size_t  n;

    n = strlen(id);

    if (n == 0 || n > 64
        || strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_-") != n)
    {
        ctl_error("\"%s\" is no id: see \"retortctl ps\"", id);
        return -1;
    }

    (void) snprintf(path, SHOW_PATH, "%s%s", prefix, id);

    return 0;
}


static void
show_line(json_object *o)
{
    (void) printf("%-52s %-16s %-12s %-6s %-24s %-24s %s\n",
                  ask_text(o, "id"), ask_text(o, "workspace"),
                  ask_text(o, "profile"), ask_text(o, "status"),
                  ask_text(o, "created_at"), ask_text(o, "expires_at"),
                  ask_text(o, "execution_id"));
}


int
show_ps(const ctl_t *ctl)
{
    int           rc;
    size_t        i;
    json_object  *o, *list, *one;

    rc = ask(ctl, "GET", "/ps", &o);

    if (rc != CTL_OK) {
        return rc;
    }

    list = json_object_object_get(o, "sandboxes");

    for (i = json_object_array_length(list); !ctl->all && i > 0; i--) {
        one = json_object_array_get_idx(list, i - 1);

        if (strcmp(ask_text(one, "status"), "ready") == 0) {
            (void) json_object_array_del_idx(list, i - 1, 1);
        }
    }

    if (ctl->json) {
        ask_print(o);

    } else {
        (void) printf("%-52s %-16s %-12s %-6s %-24s %-24s %s\n", "ID",
                      "WORKSPACE", "PROFILE", "STATUS", "CREATED", "EXPIRES",
                      "EXECUTION");

        for (i = 0; i < json_object_array_length(list); i++) {
            show_line(json_object_array_get_idx(list, i));
        }
    }

    (void) json_object_put(o);

    return CTL_OK;
}


static void
show_numbers(const char *what, json_object *o)
{
    struct json_object_iterator  i, end;

    if (!json_object_is_type(o, json_type_object)) {
        return;
    }

    end = json_object_iter_end(o);

    for (i = json_object_iter_begin(o); !json_object_iter_equal(&i, &end);
         json_object_iter_next(&i))
    {
        (void) printf("%s %s: %lld\n", what, json_object_iter_peek_name(&i),
                      ask_number(o, json_object_iter_peek_name(&i)));
    }
}


int
show_one(const ctl_t *ctl)
{
    int           rc;
    char          path[SHOW_PATH];
    size_t        i;
    json_object  *o;

    static const char *const  keys[] = {
        "id", "workspace", "profile", "status", "execution_id", "created_at",
        "expires_at"
    };

    if (show_path(path, "/sandboxes/", ctl->args[0]) == -1) {
        return CTL_USAGE;
    }

    rc = ask(ctl, "GET", path, &o);

    if (rc != CTL_OK) {
        return rc;
    }

    if (ctl->json) {
        ask_print(o);

    } else {
        for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
            (void) printf("%s: %s\n", keys[i], ask_text(o, keys[i]));
        }

        show_numbers("limit", json_object_object_get(o, "limits"));
        show_numbers("uses", json_object_object_get(o, "usage"));
    }

    (void) json_object_put(o);

    return CTL_OK;
}


/* asks, and prints the answer as JSON or this line */

static int
show_said(const ctl_t *ctl, const char *method, const char *path,
    const char *line)
{
    int           rc;
    json_object  *o;

    rc = ask(ctl, method, path, &o);

    if (rc != CTL_OK) {
        return rc;
    }

    if (ctl->json) {
        ask_print(o);

    } else {
        (void) printf("%s\n", line);
    }

    (void) json_object_put(o);

    return CTL_OK;
}


int
show_kill(const ctl_t *ctl)
{
    char  path[SHOW_PATH], line[SHOW_PATH];

    if (show_path(path, "/kill/", ctl->args[0]) == -1) {
        return CTL_USAGE;
    }

    (void) snprintf(line, sizeof(line), "%s was ended", ctl->args[0]);

    return show_said(ctl, "POST", path, line);
}


int
show_drain(const ctl_t *ctl)
{
    if (ctl->off) {
        return show_said(ctl, "DELETE", "/drain", "takes work again");
    }

    return show_said(ctl, "PUT", "/drain", "takes no new runs and sandboxes; "
                     "\"retortctl ps\" shows what is left");
}


int
show_pool(const ctl_t *ctl)
{
    int           rc;
    size_t        i;
    json_object  *o, *list, *one;

    rc = ask(ctl, ctl->kick ? "POST" : "GET", "/pool", &o);

    if (rc != CTL_OK) {
        return rc;
    }

    if (ctl->json) {
        ask_print(o);
        (void) json_object_put(o);
        return CTL_OK;
    }

    (void) printf("%-24s %-5s %5s %6s %8s %5s %5s\n", "PROFILE", "WARM",
                  "READY", "WANTED", "SESSIONS", "BUSY", "MAX");
    list = json_object_object_get(o, "profiles");

    for (i = 0; i < json_object_array_length(list); i++) {
        one = json_object_array_get_idx(list, i);
        (void) printf("%-24s %-5s %5lld %6lld %8lld %5lld %5lld\n",
                      ask_text(one, "profile"),
                      ask_number(one, "warm") ? "yes" : "no",
                      ask_number(one, "ready"), ask_number(one, "wanted"),
                      ask_number(one, "sessions"), ask_number(one, "busy"),
                      ask_number(one, "max"));
    }

    (void) json_object_put(o);

    return CTL_OK;
}
