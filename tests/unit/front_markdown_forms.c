
/*
 * The form of a display that Markdown shows: a picture, a table, a link.
 *
 * links: helper/front/tail.c
 * links: helper/front/markdown.c helper/front/output.c helper/front/buf.c
 * links: helper/front/utf8.c helper/front/link.c helper/front/text.c
 * links: helper/front/err.c helper/front/plain.c helper/front/frame.c
 * links: helper/front/json_in.c
 */

#include "markdown_bed.h"


static out_artifact_t *
md_form(out_item_t *item, const char *name, const char *mime)
{
    out_artifact_t  *a;

    item->artifacts = realloc(item->artifacts, (item->nartifacts + 1)
                                               * sizeof(out_artifact_t));
    a = &item->artifacts[item->nartifacts++];
    memset(a, 0, sizeof(out_artifact_t));
    strncpy(a->name, name, OUT_NAME - 1);
    strncpy(a->file, name, OUT_FILE - 1);
    strncpy(a->mime, mime, OUT_MIME - 1);

    return a;
}


static void
a_page_is_a_link_and_so_is_its_picture(void **state)
{
    outputs_t    o;
    out_item_t  *item;

    (void) state;
    outputs_init(&o, 1000);
    item = outputs_add(&o, OUT_DISPLAY);
    (void) md_form(item, "display-001.html", "text/html");
    item = outputs_add(&o, OUT_IMAGE);
    (void) md_form(item, "fig-001.png", "image/png");
    (void) md_form(item, "display-002.html", "text/html");
    md_is(&o, "[display-001.html](" URL "/display-001.html)\n\n"
          "![fig-001](" URL "/fig-001.png)\n\n"
          "[display-002.html](" URL "/display-002.html)");
}


static void
a_frame_is_a_table_within_its_budget(void **state)
{
    outputs_t    o;
    out_item_t  *item;

    (void) state;
    outputs_init(&o, 1000);
    item = outputs_add(&o, OUT_RESULT);
    (void) buf_puts(&item->text, "   a\n0  1");
    (void) buf_puts(&item->data[OUT_FRAME], "{\"columns\":[\"a|b\",[1,\"x\"]],"
                    "\"index\":[0],\"rows\":[[1.5,\"c\\nd\"]],"
                    "\"shape\":[7,2]}");
    (void) md_form(item, "display-001.html", "text/html");
    md_is(&o, "execute_result:\n\n|  | a\\|b | \\[1,\"x\"\\] |\n"
          "| --- | --- | --- |\n| 0 | 1.5 | c\xe2\x90\xa4" "d |\n\n"
          "6 more rows, 0 more columns.");
}


static void
what_claims_to_be_a_frame_and_is_none_is_text(void **state)
{
    outputs_t    o;
    out_item_t  *item;

    (void) state;
    outputs_init(&o, 1000);
    item = outputs_add(&o, OUT_RESULT);
    (void) buf_puts(&item->text, "x");
    (void) buf_puts(&item->data[OUT_FRAME], "{\"columns\":1,\"rows\":[]}");
    md_is(&o, "execute_result:\n\n```\nx\n```");
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(a_page_is_a_link_and_so_is_its_picture),
        cmocka_unit_test(a_frame_is_a_table_within_its_budget),
        cmocka_unit_test(what_claims_to_be_a_frame_and_is_none_is_text)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
