
/*
 * The sealed memfd that retortd wrote.
 */

#ifndef FRONT_SETTINGS_H
#define FRONT_SETTINGS_H

#include <stddef.h>

#include "protocol/profile.h"


/*
 * Reads and checks; NULL (logged) if it is not what profile.h says or could
 * still change.  The result lives as long as the process.
 */

const retort_settings_t *settings_load(int fd);

/* NULL if there is no such profile */

const retort_profile_t *settings_profile(const retort_settings_t *s,
    const char *name);


/* what the profile's image is made of, "*len" bytes; of settings_load() */

const char *settings_manifest(const retort_profile_t *p, size_t *len);


#endif /* FRONT_SETTINGS_H */
