
/*
 * Outputs as Markdown, in the form of Qwen-Agent's interpreter.
 *
 * links: helper/front/tail.c
 * links: helper/front/markdown.c helper/front/output.c helper/front/buf.c
 * links: helper/front/utf8.c helper/front/link.c helper/front/text.c
 * links: helper/front/err.c helper/front/plain.c helper/front/frame.c
 * links: helper/front/json_in.c
 */

#include "markdown_bed.h"


static void
md_say(outputs_t *o, out_type_t type, const char *text, uint64_t at)
{
    outputs_stream(o, type, text, strlen(text), strlen(text), at);
}


static void
md_picture(outputs_t *o, const char *name, const char *file, const char *why)
{
    out_item_t  *item;

    item = outputs_add(o, OUT_IMAGE);
    item->artifacts = calloc(1, sizeof(out_artifact_t));
    item->nartifacts = 1;
    strncpy(item->artifacts->name, name, OUT_NAME - 1);
    strncpy(item->artifacts->file, file, OUT_FILE - 1);
    strncpy(item->artifacts->why, why, 90);
    strncpy(item->artifacts->mime, "image/png", OUT_MIME - 1);
}


static void
a_print_is_a_block_with_a_blank_line_before_its_end(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 1000);
    md_say(&o, OUT_STDOUT, "4\n", 0);
    md_is(&o, "stdout:\n\n```\n4\n\n```");
}


static void
a_result_has_no_blank_line(void **state)
{
    outputs_t    o;
    out_item_t  *item;

    (void) state;
    outputs_init(&o, 1000);
    item = outputs_add(&o, OUT_RESULT);
    outputs_text(&o, &item->text, "4", 1, 1);
    md_is(&o, "execute_result:\n\n```\n4\n```");
}


static void
nothing_is_finished_execution(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 1000);
    md_is(&o, "Finished execution.");
}


static void
output_and_error_are_two_blocks(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 1000);
    md_say(&o, OUT_STDOUT, "a\n", 0);
    outputs_error(&o, "ZeroDivisionError",
                  "ZeroDivisionError: division by zero\n");
    md_is(&o, "stdout:\n\n```\na\n\n```\n\nerror:\n\n"
          "```\nZeroDivisionError: division by zero\n\n```");
}


static void
figures_are_links(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 1000);
    md_picture(&o, "fig-001.png", "a.png", "");
    md_picture(&o, "fig-002.png", "b.png", "");
    md_is(&o, "![fig-001](" URL "/a.png)\n\n![fig-002](" URL "/b.png)");
}


static void
a_picture_that_was_not_stored_says_why(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 1000);
    md_picture(&o, "fig-001.png", "", "the artifact store is full");
    md_is(&o, "display_data:\n\n```\nfig-001.png was "
          "not stored: the artifact store is full\n```");
}


static void
output_and_errors_lose_their_colours(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 1000);
    md_say(&o, OUT_STDOUT, "\x1b[31mred\x1b[0m", 0);
    outputs_error(&o, "E", "\x1b[0;31mE\x1b[0m: \xc2\x9b" "1mx\n");
    md_is(&o, "stdout:\n\n```\nred\n```"
          "\n\nerror:\n\n```\nE: x\n\n```");
}


static void
the_native_fence_is_longer_than_any_run_inside(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 1000);
    md_say(&o, OUT_STDOUT, "```` x ```", 0);
    md_is(&o, "stdout:\n\n`````\n```` x ```\n`````");
}


static void
output_within_a_fifth_of_a_second_is_one_block(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 1000);
    md_say(&o, OUT_STDOUT, "a\n", 1000000);
    md_say(&o, OUT_STDOUT, "b\n", 1200000);
    md_say(&o, OUT_STDOUT, "c\n", 1400001);
    md_is(&o, "stdout:\n\n```\na\nb\n\n```\n\n"
          "stdout:\n\n```\nc\n\n```");
}


static void
bytes_that_are_no_text_become_replacement_characters(void **state)
{
    outputs_t  o;

    (void) state;
    outputs_init(&o, 1000);
    outputs_stream(&o, OUT_STDERR, "a\0\xff\xed\xa0\x80z", 7, 7, 0);
    md_is(&o, "stderr:\n\n```\na\xe2\x90\x80\xef\xbf\xbd"
          "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\n```");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(a_print_is_a_block_with_a_blank_line_before_its_end),
        cmocka_unit_test(a_result_has_no_blank_line),
        cmocka_unit_test(nothing_is_finished_execution),
        cmocka_unit_test(output_and_error_are_two_blocks),
        cmocka_unit_test(figures_are_links),
        cmocka_unit_test(a_picture_that_was_not_stored_says_why),
        cmocka_unit_test(output_and_errors_lose_their_colours),
        cmocka_unit_test(the_native_fence_is_longer_than_any_run_inside),
        cmocka_unit_test(output_within_a_fifth_of_a_second_is_one_block),
        cmocka_unit_test(bytes_that_are_no_text_become_replacement_characters)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
