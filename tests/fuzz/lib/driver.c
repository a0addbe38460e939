
/*
 * main() for a fuzz target where there is no libFuzzer: runs every seed, then
 * changes of them, always the same ones in the same order, until the time is
 * over.
 *
 *   NAME SECONDS FOLDER|FILE ...
 *
 * An input that ends the program stays in the folder that RETORT_FUZZ_CRASH
 * names, or the working folder, as crash-NAME.
 */

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#include <sanitizer/common_interface_defs.h>


#define DRIVER_SIZE   65536
#define DRIVER_SEEDS  4096
#define DRIVER_HANG   30        /* seconds for one input */


typedef struct {
    uint8_t  *data;
    size_t    size;
} seed_t;


static seed_t    seeds[DRIVER_SEEDS];
static size_t    nseeds;
static uint64_t  state = 88172645463325252ull;
static uint8_t   input[DRIVER_SIZE];
static size_t    ninput;
static char      crash[512];


static void
driver_died(void)
{
    FILE  *f;

    f = fopen(crash, "wb");

    if (f != NULL) {
        (void) fwrite(input, 1, ninput, f);
        (void) fclose(f);
        (void) fprintf(stderr, "the input is in %s\n", crash);
    }
}


static void
driver_hung(int sig)
{
    (void) sig;
    (void) fprintf(stderr, "one input takes longer than %d s\n", DRIVER_HANG);
    driver_died();
    _exit(1);
}


static uint64_t
driver_random(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;

    return state % n;
}


static void
driver_file(const char *path)
{
    FILE    *f;
    seed_t  *s;

    f = fopen(path, "rb");

    if (f == NULL || nseeds == DRIVER_SEEDS) {
        perror(path);
        exit(2);
    }

    s = &seeds[nseeds++];
    s->data = malloc(DRIVER_SIZE);
    s->size = s->data != NULL ? fread(s->data, 1, DRIVER_SIZE, f) : 0;
    (void) fclose(f);
}


static void
driver_add(const char *path)
{
    int              i, n;
    char             file[1024];
    struct stat      st;
    struct dirent  **names;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        driver_file(path);
        return;
    }

    names = NULL;
    n = scandir(path, &names, NULL, alphasort);

    for (i = 0; i < n; i++) {
        if (names[i]->d_name[0] != '.') {
            (void) snprintf(file, sizeof(file), "%s/%s", path,
                            names[i]->d_name);
            driver_file(file);
        }

        free(names[i]);
    }

    free(names);
}


static void
driver_move(size_t from, size_t to, size_t len)
{
    if (to + len > DRIVER_SIZE) {
        len = DRIVER_SIZE - to;
    }

    memmove(input + to, input + from, len);
}


/* one change of the input */

static void
driver_change(void)
{
    size_t         at, n;
    const seed_t  *other;

    static const uint8_t  edges[] = {
        0, 1, 0x7f, 0x80, 0xff, '\n', '\r', '"', '\\', '`', '{', '[', '%', '0'
    };

    at = driver_random(ninput + 1);
    n = 1 + driver_random(ninput - at < 16 ? ninput - at + 1 : 16);

    switch (driver_random(6)) {
    case 0:
        if (at < ninput) {
            input[at] ^= (uint8_t) (1u << driver_random(8));
        }
        break;

    case 1:
        if (at < ninput) {
            input[at] = edges[driver_random(sizeof(edges))];
        }
        break;

    case 2:
        if (at + n <= ninput) {
            driver_move(at + n, at, ninput - at - n);
            ninput -= n;
        }
        break;

    case 3:
        if (ninput + n <= DRIVER_SIZE) {
            driver_move(at, at + n, ninput - at);
            memset(input + at, edges[driver_random(sizeof(edges))], n);
            ninput += n;
        }
        break;

    case 4:
        other = &seeds[driver_random(nseeds)];
        n = other->size != 0 ? driver_random(other->size) : 0;
        n = other->size - n < DRIVER_SIZE - at ? n : other->size;
        memcpy(input + at, other->data + n, other->size - n);
        ninput = at + other->size - n;
        break;

    default:
        if (at + 4 <= ninput) {
            n = driver_random(2) ? UINT32_MAX : driver_random(UINT32_MAX);
            memcpy(input + at, &n, 4);
        }
    }
}


static void
driver_run(void)
{
    uint8_t  *copy;

    copy = fuzz_copy(input, ninput);
    (void) alarm(DRIVER_HANG);
    (void) LLVMFuzzerTestOneInput(copy, ninput);
    free(copy);
}


static void
driver_seed(const seed_t *s)
{
    memcpy(input, s->data, s->size);
    ninput = s->size;
}


int
main(int argc, char **argv)
{
    int     i;
    size_t  runs, changes;
    time_t  end;

    (void) snprintf(crash, sizeof(crash), "%s/crash-%s",
                    getenv("RETORT_FUZZ_CRASH") != NULL
                    ? getenv("RETORT_FUZZ_CRASH") : ".",
                    strrchr(argv[0], '/') != NULL ? strrchr(argv[0], '/') + 1
                                                  : argv[0]);
    (void) signal(SIGALRM, driver_hung);
    __sanitizer_set_death_callback(driver_died);
    (void) LLVMFuzzerInitialize(&argc, &argv);

    for (i = 2; i < argc; i++) {
        driver_add(argv[i]);
    }

    if (argc < 3 || nseeds == 0) {
        (void) fprintf(stderr, "usage: %s SECONDS FOLDER|FILE ...\n", argv[0]);
        return 2;
    }

    for (runs = 0; runs < nseeds; runs++) {
        driver_seed(&seeds[runs]);
        driver_run();
    }

    end = time(NULL) + atoi(argv[1]);

    while (time(NULL) < end) {
        driver_seed(&seeds[driver_random(nseeds)]);

        for (changes = 1 + driver_random(8); changes != 0; changes--) {
            driver_change();
        }

        driver_run();
        runs++;
    }

    (void) printf("%zu inputs, %zu of them seeds\n", runs, nseeds);

    return 0;
}
