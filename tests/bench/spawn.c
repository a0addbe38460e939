
/*
 * Runs a command again and again, and prints how long each took, from before
 * the fork until it was reaped, in microseconds.
 *
 *   spawn N PROGRAM [ARGUMENT]...
 */

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>


static long
spawn_now(void)
{
    struct timespec  t;

    (void) clock_gettime(CLOCK_MONOTONIC, &t);

    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}


int
main(int argc, char **argv)
{
    int                          i, status;
    long                         began;
    pid_t                        pid;
    posix_spawn_file_actions_t   files;

    if (argc < 3 || posix_spawn_file_actions_init(&files) != 0
        || posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0)
           != 0)
    {
        return 2;
    }

    for (i = atoi(argv[1]); i > 0; i--) {
        began = spawn_now();

        if (posix_spawnp(&pid, argv[2], &files, NULL, argv + 2, environ) != 0
            || waitpid(pid, &status, 0) != pid || status != 0)
        {
            fprintf(stderr, "spawn: %s failed\n", argv[2]);
            return 1;
        }

        printf("%ld\n", spawn_now() - began);
    }

    return 0;
}
