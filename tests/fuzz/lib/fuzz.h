
/*
 * A fuzz target is a file of tests/fuzz that defines the two functions of
 * libFuzzer.  Lines " * links: FILE.c …" in its first comment name what it is
 * linked with, "front" being all of the front but main.c, " * without: FILE.c"
 * takes some away again, " * wraps: NAME" puts __wrap_NAME() in a function's
 * place.
 *
 * Linked with lib/driver.c it runs its seeds and changes them for a while;
 * linked with libFuzzer it does what that does.
 */

#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>


int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


/* the next byte of an input, 0 behind its end */

static inline uint8_t
fuzz_byte(const uint8_t **p, size_t *n)
{
    if (*n == 0) {
        return 0;
    }

    (*n)--;

    return *(*p)++;
}


/* a copy that ends where the input ends, so that reading on is noticed */

void *fuzz_copy(const void *p, size_t n);

/* ends the program: a promise of the parser is broken */

void fuzz_broken(const char *what) __attribute__((noreturn));

#define FUZZ_CHECK(x)  do { if (!(x)) { fuzz_broken(#x); } } while (0)


/* front_bed.c: one request, then what its sandbox says */

void fuzz_front_init(void);
void fuzz_front(const uint8_t *data, size_t size);


#endif /* FUZZ_H */
