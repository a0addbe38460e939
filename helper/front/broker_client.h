
/*
 * The one socket to the broker, shared by all threads.
 */

#ifndef FRONT_BROKER_CLIENT_H
#define FRONT_BROKER_CLIENT_H

#include "protocol/broker.h"


/*
 * Told by the broker unasked, or an answer that nobody waits for; runs in the
 * reader's thread; owns the fds.
 */

typedef void (*brk_event_pt)(const brk_ans_t *ans, const int *fds, int nfd);


/*
 * Says hello and waits for the answer; the living boxes follow as events.
 * Called once, before any thread.  0, or -1 (logged).
 */

int brk_hello(int sock, brk_event_pt event);

/*
 * Reads until BRK_EV_BOXES_END.  0, or -1 (logged).
 */

int brk_boxes(void);

/* the reader's thread; ends the process when the broker is gone */

void *brk_reader(void *unused);

/*
 * Asks and waits.  0 if there is an answer: ans->code says what it is, and if
 * it is good "fds" (NULL, or room for BRK_FDS) hold descriptors that the
 * caller owns.  -1 if there was none within BOUND_BROKER_TIME.
 */

int brk_call(const brk_req_t *req, brk_ans_t *ans, int *fds);

/* sends and does not wait; the answer is dropped */

void brk_post(const brk_req_t *req);

/* the same, but the answer comes as an event */

void brk_post_event(const brk_req_t *req);

/* a request, zero but for these */

void brk_request(brk_req_t *req, brk_op_t op, uint64_t id);


#endif /* FRONT_BROKER_CLIENT_H */
