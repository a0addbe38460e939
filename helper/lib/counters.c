
/*
 * Linked into broker and front.  What is read here comes from the kernel.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters.h"


void
counters_read(const int *fd, brk_stat_t *stat)
{
    int                       i;
    char                      text[1024];
    ssize_t                   n;
    uint64_t                  value[BRK_COUNTERS];
    const char                *p;
    static const char *const  key[BRK_COUNTERS] = {
        "usage_usec ", "system_usec ", NULL, NULL, "oom_kill ", NULL
    };

    for (i = 0; i < BRK_COUNTERS; i++) {
        n = pread(fd[i], text, sizeof(text) - 1, 0);

        if (n == -1) {
            return;
        }

        text[n] = '\0';
        p = (key[i] != NULL) ? strstr(text, key[i]) : NULL;
        value[i] = strtoull(p != NULL ? p + strlen(key[i]) : text, NULL, 10);

        if (i <= BRK_CPU_SYSTEM && p == NULL) {
            value[i] /= 1000;   /* v1: nsec, and no key */
        }
    }

    stat->cpu_us = value[BRK_CPU];
    stat->cpu_system_us = value[BRK_CPU_SYSTEM];
    stat->memory_now = value[BRK_MEMORY];
    stat->memory_peak = value[BRK_PEAK];
    stat->oom_kills = (uint32_t) value[BRK_OOM];
    stat->processes = (uint32_t) value[BRK_PROCESSES];
}
