
/*
 * Log lines: one write, bounded, and nothing that forges another line.
 *
 * links: helper/lib/log.c
 */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "log.h"


static int   log_pipe[2];
static int   log_stderr;
static char  log_text[65536];


/* what was written since the last call; the length, 0 if nothing */

static size_t
log_take(void)
{
    ssize_t  n;

    n = read(log_pipe[0], log_text, sizeof(log_text) - 1);
    if (n < 0) {
        n = 0;
    }

    log_text[n] = '\0';

    return (size_t) n;
}


static int
log_setup(void **state)
{
    (void) state;

    if (pipe2(log_pipe, O_CLOEXEC | O_NONBLOCK) == -1) {
        return -1;
    }

    log_stderr = dup(STDERR_FILENO);

    return dup2(log_pipe[1], STDERR_FILENO) == -1 ? -1 : 0;
}


static int
log_teardown(void **state)
{
    (void) state;

    (void) dup2(log_stderr, STDERR_FILENO);
    (void) close(log_stderr);
    (void) close(log_pipe[0]);
    (void) close(log_pipe[1]);

    return 0;
}


static void
a_line_names_program_pid_and_level(void **state)
{
    char  want[128];

    (void) state;

    rlog_init("retort-test");
    rlog(RLOG_WARN, "slot %d of %s", 7, "default");

    (void) snprintf(want, sizeof(want),
                    "retort-test[%ld] warn: slot 7 of default\n",
                    (long) getpid());

    (void) log_take();
    assert_string_equal(log_text, want);
}


static void
an_error_line_ends_in_its_number_and_text(void **state)
{
    (void) state;

    rlog_errno(RLOG_ERROR, ENOSPC, "mkdir \"%s\"", "x");

    (void) log_take();
    assert_non_null(strstr(log_text,
                    " error: mkdir \"x\" (28: No space left on device)\n"));
}


static void
an_unknown_errno_is_still_shown(void **state)
{
    (void) state;

    rlog_errno(RLOG_ERROR, 99999, "call");

    (void) log_take();
    assert_non_null(strstr(log_text, "call (99999: unknown error)\n"));
}


static void
no_byte_of_a_peer_forges_a_line_or_drives_a_terminal(void **state)
{
    size_t  i, n;

    (void) state;

    rlog(RLOG_INFO, "%s", "a\nretort[1] error: b\r\x1b[2J\x7f\xc3\xa9\t\\x");

    n = log_take();
    assert_non_null(strstr(log_text, "info: a\\x0aretort[1] error: b\\x0d"
                           "\\x1b[2J\\x7f\\xc3\\xa9\\x09\\\\x\n"));

    for (i = 0; i < n - 1; i++) {
        assert_in_range((unsigned char) log_text[i], 0x20, 0x7e);
    }
}


static void
a_line_of_any_length_is_cut_to_the_limit_and_says_so(void **state)
{
    size_t       i, n;
    static char  big[5000];
    const char   fill[] = { 'x', '\n', '\\' };

    (void) state;

    for (i = 0; i < sizeof(fill); i++) {
        memset(big, fill[i], sizeof(big) - 1);
        rlog(RLOG_INFO, "%s", big);

        n = log_take();
        assert_in_range(n, RLOG_LINE - 4, RLOG_LINE);
        assert_string_equal(log_text + n - 4, "...\n");
    }
}


static void
every_length_up_to_the_limit_gives_exactly_one_line(void **state)
{
    size_t       i, n;
    static char  text[RLOG_LINE + 8];

    (void) state;

    for (i = 0; i < sizeof(text) - 1; i++) {
        memset(text, 'x', i);
        text[i] = '\0';
        rlog_errno(RLOG_INFO, EPERM, "%s", text);

        n = log_take();
        assert_in_range(n, 1, RLOG_LINE);
        assert_ptr_equal(strchr(log_text, '\n'), log_text + n - 1);
    }
}


static void
errno_survives_even_a_lost_line(void **state)
{
    int  fd;

    (void) state;

    fd = dup(STDERR_FILENO);
    assert_int_not_equal(fd, -1);
    (void) close(STDERR_FILENO);

    errno = EXDEV;
    rlog(RLOG_ERROR, "nobody reads this");
    rlog_errno(RLOG_ERROR, EIO, "nor this");
    assert_int_equal(errno, EXDEV);

    assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
    (void) close(fd);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(a_line_names_program_pid_and_level),
        cmocka_unit_test(an_error_line_ends_in_its_number_and_text),
        cmocka_unit_test(an_unknown_errno_is_still_shown),
        cmocka_unit_test(no_byte_of_a_peer_forges_a_line_or_drives_a_terminal),
        cmocka_unit_test(a_line_of_any_length_is_cut_to_the_limit_and_says_so),
        cmocka_unit_test(every_length_up_to_the_limit_gives_exactly_one_line),
        cmocka_unit_test(errno_survives_even_a_lost_line),
    };

    return cmocka_run_group_tests(tests, log_setup, log_teardown);
}
