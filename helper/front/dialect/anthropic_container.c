
/*
 * In retort-front, as its own uid without any capability.  Anthropic's
 * containers: an id is that of a sandbox with another word before it, so that
 * neither needs a table.
 */

#include <stdio.h>
#include <string.h>

#include "../text.h"
#include "anthropic.h"


#define ANTHROPIC_CONTAINER  "container_"
#define ANTHROPIC_SANDBOX    "sbx_"


/* an id that cannot be one of ours leaves the sandbox's name empty */

static int
anthropic_container_id(turn_call_t *c, json_object *v, err_t *e)
{
    char         id[JOB_SANDBOX];
    int          n;
    const char  *text;

    if (v == NULL) {
        return 0;
    }

    if (!json_object_is_type(v, json_type_string)
        || json_object_get_string_len(v) == 0)
    {
        return err_set(e, 400, "bad_value", "container: Input should be an id "
                       "or an object with one");
    }

    text = json_object_get_string(v);
    (void) snprintf(c->handle, sizeof(c->handle), "%.*s", TURN_HANDLE - 1,
                    text);

    if (strncmp(text, ANTHROPIC_CONTAINER, strlen(ANTHROPIC_CONTAINER)) != 0) {
        return 0;
    }

    n = snprintf(id, sizeof(id), ANTHROPIC_SANDBOX "%s",
                 text + strlen(ANTHROPIC_CONTAINER));

    if (n > 0 && (size_t) n < sizeof(id) && text_is_id(id, "sbx")) {
        memcpy(c->turn.sandbox, id, sizeof(id));
    }

    return 0;
}


int
anthropic_container(turn_call_t *c, json_object *v, err_t *e)
{
    json_object  *skills;

    if (!json_object_is_type(v, json_type_object)) {
        return anthropic_container_id(c, v, e);
    }

    if (json_object_object_get_ex(v, "skills", &skills) && skills != NULL
        && (!json_object_is_type(skills, json_type_array)
            || json_object_array_length(skills) != 0))
    {
        return err_set(e, 400, "bad_value", "container.skills: there are no "
                       "skills here");
    }

    return json_object_object_get_ex(v, "id", &v)
           ? anthropic_container_id(c, v, e) : 0;
}


json_object *
anthropic_container_out(const turn_call_t *c)
{
    char          id[TURN_HANDLE];
    json_object  *o;

    if (c->box.sandbox[0] == '\0') {
        return NULL;
    }

    (void) snprintf(id, sizeof(id), ANTHROPIC_CONTAINER "%s",
                    c->box.sandbox + strlen(ANTHROPIC_SANDBOX));
    o = json_object_new_object();
    native_add(o, "id", json_object_new_string(id));
    native_add(o, "expires_at", anthropic_time(c->box.expires * 1000));
    native_add(o, "skills", NULL);

    return o;
}
