
/*
 * Linked into the broker and the map writer of "make asan", which have the
 * sanitizers' runtime in them: it needs some calls more than the programs
 * themselves.  Who builds without it builds the programs as they are.
 */

#include <seccomp.h>
#include <stdint.h>
#include <stdlib.h>


scmp_filter_ctx __real_seccomp_init(uint32_t action);
scmp_filter_ctx __wrap_seccomp_init(uint32_t action);
const char *__asan_default_options(void);


/* nobody looks for leaks by ptrace, and nobody is asked by his environment */

const char *
__asan_default_options(void)
{
    return "detect_leaks=0";
}


scmp_filter_ctx
__wrap_seccomp_init(uint32_t action)
{
    size_t            i;
    scmp_filter_ctx   ctx;
    static const int  calls[] = {
        SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(madvise),
        SCMP_SYS(mprotect), SCMP_SYS(sched_yield), SCMP_SYS(futex),
        SCMP_SYS(sigaltstack), SCMP_SYS(rt_sigaction), SCMP_SYS(readlink),
        SCMP_SYS(exit)
    };

    ctx = __real_seccomp_init(action);

    for (i = 0; ctx != NULL && i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (seccomp_rule_add(ctx, SCMP_ACT_ALLOW, calls[i], 0) != 0) {
            abort();
        }
    }

    return ctx;
}
