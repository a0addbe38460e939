
/*
 * What the web server counts: the module's zones of admission, as it tells
 * them in the params of the apis "metrics" and "status".
 */

#ifndef FRONT_ZONES_H
#define FRONT_ZONES_H

#include <stddef.h>
#include <stdint.h>


#define ZONES_MAX   16
#define ZONES_NAME  32


/* the order of the numbers in the param */

typedef enum {
    ZONE_RUNNING,
    ZONE_WAITING,
    ZONE_MAX_RUNNING,           /* 0: no limit */
    ZONE_MAX_WAITING,
    ZONE_ADMITTED,
    ZONE_QUEUED,                /* of them, after a wait */
    ZONE_LIMITED,               /* 429: the workspace's own limits */
    ZONE_REFUSED,               /* 503: no room for anybody */
    ZONE_LOST,                  /* runs whose front died */
    ZONE_NUMBERS
} zone_number_t;

typedef struct {
    char      name[ZONES_NAME];
    uint64_t  number[ZONE_NUMBERS];
} zone_t;


/* how many there are; a param that is not as it has to be is left out */

size_t zones_parse(char **params, zone_t zones[ZONES_MAX]);


#endif /* FRONT_ZONES_H */
