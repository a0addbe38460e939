
/*
 * In retort-front, as its own uid without any capability.  An execution that
 * waits for what only its client knows.
 */

#include <poll.h>
#include <stdlib.h>

#include "clock.h"
#include "exec.h"
#include "wake.h"


exec_input_t *
exec_ask(exec_t *x, uint64_t until)
{
    exec_input_t   *input;
    uint64_t        now;
    struct pollfd   p;

    p.fd = wake_fd();
    p.events = POLLIN;

    (void) pthread_mutex_lock(&x->lock);
    x->asks = 1;
    exec_tell(x);

    for (now = clock_mono_us(); x->input == NULL && now < until
         && wake_cancelled() == WAKE_GO_ON; now = clock_mono_us())
    {
        (void) pthread_mutex_unlock(&x->lock);
        p.revents = 0;

        if (poll(&p, 1, (int) ((until - now) / 1000) + 1) > 0) {
            wake_clear(p.fd);
        }

        (void) pthread_mutex_lock(&x->lock);
    }

    input = x->input;
    x->input = NULL;
    x->asks = 0;
    (void) pthread_mutex_unlock(&x->lock);

    return input;
}


int
exec_answer(exec_t *x, exec_input_t *input)
{
    int  rc;

    (void) pthread_mutex_lock(&x->lock);
    rc = x->asks && x->input == NULL && x->wake != -1 ? 0 : -1;

    if (rc == 0) {
        x->input = input;
        wake_post(x->wake);
    }

    (void) pthread_mutex_unlock(&x->lock);

    return rc;
}


void
exec_input_free(exec_input_t *input)
{
    if (input != NULL) {
        free(input->text);
        job_file_clear(&input->file);
        free(input);
    }
}
