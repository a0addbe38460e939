
/*
 * In retort-front, as its own uid without any capability.  What a client can
 * cancel by its own name for it: as many as there are threads at most.
 */

#include <pthread.h>
#include <string.h>

#include "calls.h"
#include "wake.h"


static pthread_mutex_t   calls_mutex = PTHREAD_MUTEX_INITIALIZER;
static calls_one_t      *calls_all;
static calls_ear_t      *calls_ears;


void
calls_enter(calls_one_t *one)
{
    (void) pthread_mutex_lock(&calls_mutex);
    one->next = calls_all;
    calls_all = one;
    (void) pthread_mutex_unlock(&calls_mutex);
}


void
calls_leave(calls_one_t *one)
{
    calls_one_t  **p;

    (void) pthread_mutex_lock(&calls_mutex);

    for (p = &calls_all; *p != NULL; p = &(*p)->next) {
        if (*p == one) {
            *p = one->next;
            break;
        }
    }

    (void) pthread_mutex_unlock(&calls_mutex);
}


unsigned
calls_cancel(const char *key, const char *workspace)
{
    unsigned      n;
    calls_one_t  *one;

    n = 0;

    if (*key == '\0') {
        return 0;
    }

    (void) pthread_mutex_lock(&calls_mutex);

    for (one = calls_all; one != NULL; one = one->next) {
        if (strcmp(one->key, key) == 0
            && strcmp(one->x->workspace, workspace) == 0)
        {
            exec_cancel(one->x);
            n++;
        }
    }

    (void) pthread_mutex_unlock(&calls_mutex);

    return n;
}


void
calls_listen(calls_ear_t *ear)
{
    (void) pthread_mutex_lock(&calls_mutex);
    ear->next = calls_ears;
    calls_ears = ear;
    (void) pthread_mutex_unlock(&calls_mutex);
}


void
calls_deaf(calls_ear_t *ear)
{
    calls_ear_t  **p;

    (void) pthread_mutex_lock(&calls_mutex);

    for (p = &calls_ears; *p != NULL; p = &(*p)->next) {
        if (*p == ear) {
            *p = ear->next;
            break;
        }
    }

    (void) pthread_mutex_unlock(&calls_mutex);
}


int
calls_heard(calls_ear_t *ear)
{
    int  heard;

    (void) pthread_mutex_lock(&calls_mutex);
    heard = ear->text.len != 0;
    (void) pthread_mutex_unlock(&calls_mutex);

    return heard;
}


void
calls_tell(const char *key, const char *workspace, const char *p, size_t n)
{
    calls_ear_t  *ear;

    (void) pthread_mutex_lock(&calls_mutex);

    for (ear = calls_ears; ear != NULL; ear = ear->next) {
        if (ear->text.len == 0 && strcmp(ear->key, key) == 0
            && strcmp(ear->workspace, workspace) == 0)
        {
            (void) buf_add(&ear->text, p, n);
            (void) buf_add(&ear->text, "", 1);
            wake_post(ear->wake);
        }
    }

    (void) pthread_mutex_unlock(&calls_mutex);
}
