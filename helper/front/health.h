
/*
 * The probes: is it alive, and can it make sandboxes of each profile?
 */

#ifndef FRONT_HEALTH_H
#define FRONT_HEALTH_H

#include "answer.h"
#include "request.h"


void health_serve(const request_t *req, answer_t *a);


#endif /* FRONT_HEALTH_H */
