
/*
 * What the front counts about its own work: atomic counters, no lock where
 * requests pass.  They begin at zero with each front.
 */

#ifndef FRONT_METRICS_H
#define FRONT_METRICS_H

#include "prom.h"
#include "request.h"
#include "result.h"


#define METRICS_WORKSPACES  128     /* told apart; all others are one */
#define METRICS_CODES       64      /* of refusals */
#define METRICS_OTHER       "(other)"   /* can be no workspace's name */
#define METRICS_STATUS      600     /* HTTP */


typedef enum {
    METRICS_QUEUE,
    METRICS_CREATE,
    METRICS_FIRST_BYTE,
    METRICS_RUN,
    METRICS_RENDER,
    METRICS_PHASES
} metrics_phase_t;


/* before threads, and before the process is locked; 0 or -1 */

int metrics_init(const retort_settings_t *s, uint64_t threads);

/*
 * A run that has its verdict, with its phases but two: METRICS_CREATE, which
 * only some have, and METRICS_RENDER, which comes after it.
 */

void metrics_run(const request_t *req, const result_t *res);
void metrics_took(metrics_phase_t phase, uint64_t us);

/* an answer was sent; a request was refused with this code of ours */

void metrics_answer(int status);
void metrics_refused(const char *code);


/* ---- what was counted ---- */

typedef struct {
    uint64_t  artifacts;
    uint64_t  artifact_bytes;
    uint64_t  artifacts_refused;
    uint64_t  cpu_us;               /* of all runs */
    uint64_t  verdict[VERDICT_MAX];
    uint64_t  threads;
    uint64_t  started;              /* wall msec */
    uint64_t  memory;               /* bytes of the front, resident */
} metrics_sum_t;

typedef void (*metrics_each_t)(void *data, const char *workspace,
    const char *profile, verdict_t verdict, uint64_t n);

void metrics_sum(metrics_sum_t *sum);
const retort_settings_t *metrics_about(void);
void metrics_phase(metrics_phase_t phase, prom_histogram_t *h);
const char *metrics_phase_name(metrics_phase_t phase);

/* runs by workspace, profile and verdict, those that there were */

void metrics_runs(metrics_each_t each, void *data);

/* answers with this HTTP status */

uint64_t metrics_answers(int status);

/* the refusal at place "i", NULL behind the last */

const char *metrics_refusal(unsigned i, uint64_t *n);


#endif /* FRONT_METRICS_H */
