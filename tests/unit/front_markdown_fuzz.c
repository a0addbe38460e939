
/*
 * Whatever a run writes, a parser of CommonMark finds it in its block.
 *
 * links: helper/front/tail.c
 * links: helper/front/markdown.c helper/front/output.c helper/front/buf.c
 * links: helper/front/utf8.c helper/front/link.c helper/front/text.c
 * links: helper/front/err.c helper/front/plain.c helper/front/frame.c
 * links: helper/front/json_in.c
 * libs: -lcmark
 */

#include <cmark.h>

#include "markdown_fuzz.h"


#define FUZZ_ROUNDS  5000


/* a text of ours, or words that were made harmless: nothing else */

static void
fuzz_node(cmark_node *n, unsigned *links)
{
    const char  *s;

    s = cmark_node_get_literal(n);

    switch (cmark_node_get_type(n)) {

    case CMARK_NODE_DOCUMENT:
    case CMARK_NODE_PARAGRAPH:
    case CMARK_NODE_SOFTBREAK:
        break;

    case CMARK_NODE_LINK:
    case CMARK_NODE_IMAGE:
        assert_string_equal(cmark_node_get_url(n), FUZZ_URL "file");
        (*links)++;
        break;

    case CMARK_NODE_CODE_BLOCK:
        assert_string_equal(cmark_node_get_fence_info(n), "");
        assert_null(strpbrk(s, "\x1b\r\b\a\x7f"));
        assert_null(strstr(s, "\xe2\x80\xae"));
        break;

    case CMARK_NODE_TEXT:
        n = cmark_node_parent(n);

        if (strstr(s, FUZZ_USER) != NULL) {
            assert_int_not_equal(cmark_node_get_type(n),
                                 CMARK_NODE_PARAGRAPH);
        }

        break;

    default:
        fail_msg("%s", cmark_node_get_type_string(n));
    }
}


static void
fuzz_round(void)
{
    buf_t               md;
    link_t              link;
    unsigned            n, links;
    outputs_t           o;
    cmark_iter         *iter;
    cmark_node         *doc;
    cmark_event_type    ev;

    fuzz_links = 0;
    links = 0;
    memset(&md, 0, sizeof(md));
    memset(&link, 0, sizeof(link));
    (void) snprintf(link.base, sizeof(link.base), "https://h/s");
    outputs_init(&o, 100000);

    for (n = fuzz_random(6); n != 0; n--) {
        fuzz_item(&o);
    }

    markdown(&md, &o, &link);
    doc = cmark_parse_document(md.data, md.len, CMARK_OPT_DEFAULT);
    iter = cmark_iter_new(doc);

    while ((ev = cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
        if (ev == CMARK_EVENT_ENTER) {
            fuzz_node(cmark_iter_get_node(iter), &links);
        }
    }

    assert_int_equal(links, fuzz_links);

    cmark_iter_free(iter);
    cmark_node_free(doc);
    buf_free(&md);
    outputs_free(&o);
}


static void
nothing_of_a_run_leaves_its_block(void **state)
{
    unsigned  i;

    (void) state;

    for (i = 0; i < FUZZ_ROUNDS; i++) {
        fuzz_seed = i;
        fuzz_round();
    }

    assert_true(fuzz_tables > FUZZ_ROUNDS / 10);
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(nothing_of_a_run_leaves_its_block)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);

    return cmocka_run_group_tests(tests, NULL, NULL);
}
