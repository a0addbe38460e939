
/*
 * Nothing happens in a sandbox before the broker has had its ids mapped and
 * opened its groups for it.
 */

#ifndef RETORT_GO_H
#define RETORT_GO_H


/*
 * Waits for INIT_GO, which is checked: an end of file is none, and ends this
 * process.  Then enters the groups whose files came with it; none stays open.
 * 0, or the errno of one that did not let it in.
 */

int go_wait(int sock);


#endif /* RETORT_GO_H */
