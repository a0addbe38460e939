
/*
 * Part of retort-broker; what comes in here is the front's and hostile, what
 * goes out is a plan.  Nothing but these functions turns one into the other.
 */

#include <string.h>

#include "policy.h"


int
policy_profile(const retort_settings_t *s, const char *name)
{
    uint32_t  i;

    if (memchr(name, '\0', RETORT_PROFILE_NAME) == NULL) {
        return -1;
    }

    for (i = 0; i < s->nprofiles; i++) {
        if (strcmp(s->profile[i].name, name) == 0) {
            return (int) i;
        }
    }

    return -1;
}


#define POLICY_CLAMP(field)                                                   \
    plan->field = asked->field == 0 ? p->box.field                            \
                  : asked->field < p->box_max.field ? asked->field            \
                  : p->box_max.field

void
policy_limits(const retort_profile_t *p, const retort_box_limits_t *asked,
    retort_box_limits_t *plan)
{
    memset(plan, 0, sizeof(*plan));

    POLICY_CLAMP(memory);
    POLICY_CLAMP(disk);
    POLICY_CLAMP(inodes);
    POLICY_CLAMP(tmp);
    POLICY_CLAMP(fsize);
    POLICY_CLAMP(processes);
    POLICY_CLAMP(cpu);
    POLICY_CLAMP(files);
}
