
/*
 * Part of retort-broker; what comes in here is the front's and hostile, what
 * goes out is a plan.  Nothing but these functions turns one into the other.
 */

#include <string.h>

#include "policy.h"


static uint64_t
policy_clamp(uint64_t asked, uint64_t normal, uint64_t max)
{
    if (asked == 0) {
        return normal;
    }

    return asked < max ? asked : max;
}


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


#define POLICY_CLAMP(field, type)                                             \
    plan->field = (type) policy_clamp(asked->field, p->box.field,             \
                                      p->box_max.field)

void
policy_limits(const retort_profile_t *p, const retort_box_limits_t *asked,
    retort_box_limits_t *plan)
{
    memset(plan, 0, sizeof(*plan));

    POLICY_CLAMP(memory, uint64_t);
    POLICY_CLAMP(disk, uint64_t);
    POLICY_CLAMP(inodes, uint64_t);
    POLICY_CLAMP(tmp, uint64_t);
    POLICY_CLAMP(fsize, uint64_t);
    POLICY_CLAMP(processes, uint32_t);
    POLICY_CLAMP(cpu, uint32_t);
    POLICY_CLAMP(files, uint32_t);
}
