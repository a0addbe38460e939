
/*
 * May this be done, and within which limits?  Pure functions.
 */

#ifndef RETORT_POLICY_H
#define RETORT_POLICY_H

#include "../protocol/profile.h"


/*
 * The profile of that name, or -1.  The name comes from the front and need
 * not end.
 */

int policy_profile(const retort_settings_t *s, const char *name);


/*
 * Limits for a new box: 0 asks for the default, and what is above the ceiling
 * becomes the ceiling.
 */

void policy_limits(const retort_profile_t *p, const retort_box_limits_t *asked,
    retort_box_limits_t *plan);


#endif /* RETORT_POLICY_H */
