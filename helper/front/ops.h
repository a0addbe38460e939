
/*
 * The apis for who runs the service: "metrics", "status" and, by the control
 * socket alone, "control".
 */

#ifndef FRONT_OPS_H
#define FRONT_OPS_H

#include <json-c/json.h>

#include "answer.h"
#include "request.h"


/* fill "a", always */

void ops_metrics(const request_t *req, answer_t *a);
void ops_status(const request_t *req, answer_t *a);
void ops_control(const request_t *req, answer_t *a);


/* inside of ops_*.c: profiles with their pools and sessions */

json_object *ops_profiles(void);

/* takes the object; an answer with this HTTP status */

void ops_json(answer_t *a, int status, json_object *o);

/* is the method one of these two?  If not, "a" says so */

int ops_method(const request_t *req, const char *one, const char *other,
    answer_t *a);


#endif /* FRONT_OPS_H */
