
/*
 * A request of any dialect, and what its sandbox says: routes, parsing, the
 * kernel's packets, verdict, store, rendering.  See lib/front_bed.c.
 *
 * links: front helper/lib/fdpass.c tests/fuzz/lib/front_bed.c
 * links: tests/fuzz/lib/quiet.c
 * without: helper/front/broker_client.c helper/front/flog.c
 * wraps: run_cell
 */

#include "fuzz.h"


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;
    fuzz_front_init();

    return 0;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_front(data, size);

    return 0;
}
