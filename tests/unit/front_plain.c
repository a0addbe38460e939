
/*
 * A text as a terminal would show it, and nothing in it that hides.
 *
 * links: helper/front/plain.c helper/front/buf.c helper/front/utf8.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "front/plain.h"


static void
shows(const char *text, const char *want)
{
    buf_t  b;

    memset(&b, 0, sizeof(b));
    assert_int_equal(plain(&b, text, strlen(text), 0), strlen(text));
    (void) buf_add(&b, "", 1);
    assert_string_equal(b.data, want);
    buf_free(&b);
}


static void
says(const char *text, size_t max, const char *want)
{
    buf_t  b;

    memset(&b, 0, sizeof(b));
    plain_words(&b, text, strlen(text), max);
    (void) buf_add(&b, "", 1);
    assert_string_equal(b.data, want);
    buf_free(&b);
}


static void
a_progress_bar_is_its_last_state(void **state)
{
    (void) state;
    shows(" 10%|#   |\r 50%|##  |\r100%|####|\nok\n", "100%|####|\nok\n");
    shows("abcdef\rxy", "xycdef");
    shows("abcdef\r\x1b[Kxy", "xy");
    shows("abcdef\x1b[2K\rxy", "xy");
    shows("a\r\nb\r\n", "a\nb\n");
    shows("ab\b\bx\b\b\b\by", "yb");
    shows("50 %\b\b\b\b75 %", "75 %");
}


static void
sequences_are_gone(void **state)
{
    (void) state;
    shows("\x1b[1;31mred\x1b[0m", "red");
    shows("\xc2\x9b" "31mred", "red");
    shows("\x1b]0;title\a-\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "-link");
    shows("\x1bP1q#\x1b\\x\x1b(B\x1b" "7y\x1b[?25l", "xy");
}


static void
what_is_no_sequence_hides_nothing(void **state)
{
    (void) state;
    shows("\x1b]0;never ends\nnext", "\xe2\x90\x9b]0;never ends\nnext");
    shows("a\x1b", "a\xe2\x90\x9b");
    shows("\x1b[1;2", "\xe2\x90\x9b[1;2");
    shows("\x1b]x\x1b[1my", "\xe2\x90\x9b]xy");
}


static void
a_sequence_in_two_pieces_is_left_to_the_second(void **state)
{
    size_t       i, used;
    buf_t        b;
    const char  *text = "a\x1b[31mb\x1b]0;t\x1b\\c\xe2\x82\xac\x1b(Bd";

    (void) state;

    for (i = 0; i <= strlen(text); i++) {
        memset(&b, 0, sizeof(b));
        used = plain(&b, text, i, 1);
        assert_true(used <= i);
        (void) plain(&b, text + used, strlen(text) - used, 0);
        (void) buf_add(&b, "", 1);
        assert_string_equal(b.data, "abc\xe2\x82\xac" "d");
        buf_free(&b);
    }
}


static void
controls_and_marks_of_direction_are_seen(void **state)
{
    (void) state;
    shows("\x01\a\x7f\f", "\xe2\x90\x81\xe2\x90\x87\xe2\x90\xa1\xe2\x90\x8c");
    shows("a\xe2\x80\xae" "b\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f",
          "a<U+202E>b<U+2066><U+061C><U+200F>");
    shows("\xe2\x80\xa8\xc2\x85\xf3\xa0\x81\x81", "<U+2028><U+0085><U+E0041>");
    shows("\xff\xc0\x80\tz", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\tz");
}


static void
words_are_one_line_without_signs(void **state)
{
    (void) state;
    says("a|b\n*c*", 80, "a\\|b\xe2\x90\xa4\\*c\\*");
    says("<b>&amp; `x` [y](z)\\", 80,
         "\\<b\\>\\&amp; \\`x\\` \\[y\\](z)\\\\");
    says("http://x www.y", 80, "http\\://x www\\.y");
    says("1.5 -2e-5", 80, "1.5 -2e-5");
    says("abcdef", 3, "abc\xe2\x80\xa6");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(a_progress_bar_is_its_last_state),
        cmocka_unit_test(sequences_are_gone),
        cmocka_unit_test(what_is_no_sequence_hides_nothing),
        cmocka_unit_test(a_sequence_in_two_pieces_is_left_to_the_second),
        cmocka_unit_test(controls_and_marks_of_direction_are_seen),
        cmocka_unit_test(words_are_one_line_without_signs)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
