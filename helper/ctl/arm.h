
/*
 * Part of retortctl: templates of Azure's Resource Manager.
 */

#ifndef RETORT_CTL_ARM_H
#define RETORT_CTL_ARM_H

#include "ctl.h"


typedef struct {
    const char   *file;
    json_object  *template;     /* the file; the next three are parts of it */
    json_object  *parameters;   /* NULL: none */
    json_object  *variables;
    json_object  *pool;         /* the resource that is a session pool */
    json_object  *values;       /* the file of values, or NULL */
    json_object  *kept;         /* what expressions have given */
} arm_t;


/* "values" is a file of parameters, or NULL; 0, or -1 and that is told */

int arm_read(arm_t *a, const char *file, const char *values);
void arm_free(arm_t *a);

/*
 * What is at "path" ("scaleConfiguration.readySessionInstances") below "o";
 * names count in any case, an expression is what it says.  NULL: nothing; or
 * an expression that is not understood, which is told, and -1 in "*bad",
 * unless that is NULL.
 */

json_object *arm_at(arm_t *a, json_object *o, const char *path, int *bad);


#endif /* RETORT_CTL_ARM_H */
