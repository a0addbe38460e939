
/*
 * SIGINT, from the sandbox's side: whose is it?  Runs in the kernel process,
 * in whichever thread the signal finds.
 *
 * Pid 1's is for the run that it wrote into the page, and for no other; or, if
 * that says KRN_OTHERS, for one that began before that reset was heard.  Any
 * other SIGINT is for the cell that runs; if none does, for a run that waits
 * on the channel already; else it is nobody's.  One that comes between the
 * first packet of a run and its first step is kept until then, so that nothing
 * that is done in between can swallow it.
 *
 * Below a Python handler that a cell sets, this stands again from the end of
 * that cell on.
 */

#include "retort.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "../../helper/init/init.h"


enum { INTERRUPT_IDLE, INTERRUPT_START, INTERRUPT_CELL };


static _Atomic int  interrupt_state;
static _Atomic int  interrupt_early;
static uint32_t     interrupt_run;      /* of the cell */
static uint32_t     interrupt_front = KRN_OTHERS;       /* its reset; none */
static void       (*interrupt_python)(int);


static int
interrupt_is_pid1(const siginfo_t *info)
{
    return init_page != NULL && info->si_code == SI_USER && info->si_pid == 1;
}


/* takes the page's interrupt, if it is for the cell */

static int
interrupt_take(void)
{
    uint32_t  run;

    if (init_page == NULL) {
        return 0;
    }

    run = atomic_load(&init_page->interrupt);

    return (run & KRN_OTHERS ? (run ^ KRN_OTHERS) != interrupt_front
                             : run == interrupt_run)
           && atomic_compare_exchange_strong(&init_page->interrupt, &run, 0);
}


/* no cell runs, and what is there was meant for one that is over */

void
interrupt_reset(uint32_t front)
{
    interrupt_front = front;

    if (init_page != NULL) {
        atomic_store(&init_page->interrupt, 0);
    }
}


int
interrupt_mine(const siginfo_t *info)
{
    if (interrupt_is_pid1(info)) {
        return interrupt_state == INTERRUPT_CELL && interrupt_take();
    }

    interrupt_early = 1;

    if (interrupt_state == INTERRUPT_IDLE && !wire_asked()) {
        interrupt_early = 0;
    }

    return interrupt_state == INTERRUPT_CELL
           && atomic_exchange(&interrupt_early, 0);
}


static void
interrupt_handler(int sig, siginfo_t *info, void *context)
{
    int  saved;

    (void) context;
    saved = errno;

    if (interrupt_mine(info)) {
        interrupt_python(sig);
    }

    errno = saved;
}


static void
interrupt_wrap(void)
{
    struct sigaction  act;

    if (sigaction(SIGINT, NULL, &act) == -1 || (act.sa_flags & SA_SIGINFO)
        || act.sa_handler != interrupt_python)
    {
        return;
    }

    act.sa_sigaction = interrupt_handler;
    act.sa_flags |= SA_SIGINFO;
    (void) sigaction(SIGINT, &act, NULL);
}


void
interrupt_start(void)
{
    struct sigaction  act;

    if (sigaction(SIGINT, NULL, &act) == -1 || act.sa_handler == SIG_DFL
        || act.sa_handler == SIG_IGN)
    {
        _exit(KERN_EXIT_FATAL);
    }

    interrupt_python = act.sa_handler;
    interrupt_wrap();
}


void
interrupt_idle(void)
{
    interrupt_state = INTERRUPT_IDLE;
}


void
interrupt_expect(void)
{
    interrupt_state = INTERRUPT_START;
}


int
interrupt_begin(uint32_t run)
{
    int  early;

    interrupt_run = run;
    interrupt_state = INTERRUPT_CELL;
    early = atomic_exchange(&interrupt_early, 0);

    return interrupt_take() || early;
}


void
interrupt_end(void)
{
    interrupt_wrap();
    interrupt_idle();

    if (!wire_asked()) {
        interrupt_early = 0;
    }

    run_drop_signals();
}


void
interrupt_forked(void)
{
    interrupt_state = INTERRUPT_CELL;
}
