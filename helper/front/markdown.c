
/*
 * In retort-front, as its own uid without any capability.  Texts are a
 * sandbox's: what a reader could take for ours, or cannot see, does not get
 * out.
 */

#include <stdint.h>
#include <string.h>

#include "frame.h"
#include "markdown.h"
#include "plain.h"


#define MARKDOWN_DONE  "Finished execution."


static const char *const  markdown_labels[] = {
    "stdout",                   /* OUT_STDOUT */
    "stderr",                   /* OUT_STDERR */
    "execute_result",           /* OUT_RESULT */
    "display_data",             /* OUT_DISPLAY */
    "display_data",             /* OUT_IMAGE, if it could not be stored */
    "error",                    /* OUT_ERROR */
    "file"                      /* OUT_SAVED, the same */
};


size_t
markdown_fence(const char *p, size_t n)
{
    size_t  i, run, longest;

    run = 0;
    longest = 2;

    for (i = 0; i < n; i++) {
        run = p[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }

    return longest + 1;
}


void
markdown_ticks(buf_t *to, size_t n)
{
    while (n-- != 0) {
        (void) buf_puts(to, "`");
    }
}


/* "text" has been made plain */

static void
markdown_block(buf_t *to, const char *label, const buf_t *text)
{
    size_t  ticks;

    if (text->len == 0) {
        return;
    }

    ticks = markdown_fence(text->data, text->len);

    (void) buf_printf(to, "\n\n%s:\n\n", label);
    markdown_ticks(to, ticks);
    (void) buf_puts(to, "\n");
    (void) buf_add(to, text->data, text->len);
    (void) buf_puts(to, "\n");
    markdown_ticks(to, ticks);
    to->failed |= text->failed;
}


/* how many bytes at "p" are one escape sequence, 0 if none */

static size_t
markdown_escape(const unsigned char *p, size_t n)
{
    size_t  i;

    if (n >= 2 && p[0] == 0x1b && p[1] >= '@' && p[1] <= '_') {
        i = 2;

    } else if (n >= 2 && p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f) {
        /* a C1 control character in UTF-8 */
        i = 2;

    } else {
        return 0;
    }

    while (i < n && p[i] >= '0' && p[i] <= '?') {
        i++;
    }

    while (i < n && p[i] >= ' ' && p[i] <= '/') {
        i++;
    }

    return i < n && p[i] >= '@' && p[i] <= '~' ? i + 1 : 0;
}


void
markdown_no_ansi(buf_t *to, const char *p, size_t n)
{
    size_t  i, len, from;

    from = 0;

    for (i = 0; i < n; /* void */ ) {
        len = markdown_escape((const unsigned char *) p + i, n - i);

        if (len == 0) {
            i++;
            continue;
        }

        (void) buf_add(to, p + from, i - from);
        i += len;
        from = i;
    }

    (void) buf_add(to, p + from, n - from);
}


static void
markdown_text(buf_t *to, const out_item_t *item)
{
    buf_t  text;

    memset(&text, 0, sizeof(text));
    (void) plain(&text, item->text.data, item->text.len, 0);
    markdown_block(to, markdown_labels[item->type], &text);
    buf_free(&text);
}


static int
markdown_goes_on(const out_item_t *item)
{
    out_type_t  type;

    type = item->type;

    for (item = item->next; item != NULL; item = item->next) {
        if (item->type == type) {
            return 1;
        }
    }

    return 0;
}


/* what one block of a stream leaves unended is the next one's */

static void
markdown_stream(buf_t *to, const out_item_t *item, buf_t *rest)
{
    size_t  used;
    buf_t   text;

    memset(&text, 0, sizeof(text));
    (void) buf_add(rest, item->text.data, item->text.len);
    used = plain(&text, rest->data, rest->len, markdown_goes_on(item));

    if (used != 0) {
        rest->len -= used;
        memmove(rest->data, rest->data + used, rest->len);
    }

    markdown_block(to, markdown_labels[item->type], &text);
    to->failed |= rest->failed;
    buf_free(&text);
}


static void
markdown_link(buf_t *to, const out_artifact_t *a, const link_t *link,
    const char *mark)
{
    size_t  n;
    char    url[LINK_URL];

    n = strlen(a->name);

    /* a figure's name is its number */
    n = *mark != '\0' && strncmp(a->name, "fig-", 4) == 0
        ? strcspn(a->name, ".") : n;

    (void) buf_printf(to, "\n\n%s[", mark);
    plain_words(to, a->name, n, OUT_NAME);

    link_url(link, a, url);
    (void) buf_printf(to, "](%s)", url);
}


/* why there is no link */

static void
markdown_lost(buf_t *to, const out_artifact_t *a, const char *label)
{
    buf_t  text;

    memset(&text, 0, sizeof(text));
    (void) plain(&text, a->name, strlen(a->name), 0);
    (void) buf_printf(&text, " was not stored: %s", a->why);
    markdown_block(to, label, &text);
    buf_free(&text);
}


static int
markdown_is_picture(const out_artifact_t *a)
{
    return strncmp(a->mime, "image/", 6) == 0
           && strcmp(a->mime, "image/svg+xml") != 0;
}


/* a page is worth a link beside its picture, other documents instead of one */

static void
markdown_forms(buf_t *to, const out_item_t *item, const link_t *link)
{
    int                     seen;
    size_t                  i;
    const out_artifact_t   *a;

    seen = item->nartifacts != 0 && markdown_is_picture(&item->artifacts[0]);

    if (seen && item->artifacts[0].file[0] != '\0') {
        markdown_link(to, &item->artifacts[0], link, "!");

    } else if (seen) {
        markdown_lost(to, &item->artifacts[0], markdown_labels[OUT_IMAGE]);
    }

    for (i = 0; i < item->nartifacts; i++) {
        a = &item->artifacts[i];

        if (a->file[0] == '\0' || markdown_is_picture(a)) {
            continue;
        }

        if (strcmp(a->mime, "text/html") == 0
            || strcmp(a->mime, "text/plain") == 0
            || (!seen && (strcmp(a->mime, "image/svg+xml") == 0
                          || strcmp(a->mime, "application/pdf") == 0)))
        {
            markdown_link(to, a, link, "");
        }
    }
}


/* a table stands for the text and the page of the same frame */

static void
markdown_display(buf_t *to, const out_item_t *item, const link_t *link)
{
    buf_t  table;

    memset(&table, 0, sizeof(table));

    if (frame_table(&table, &item->data[OUT_FRAME]) == 0) {
        (void) buf_printf(to, "\n\n%s:\n\n", markdown_labels[item->type]);
        (void) buf_add(to, table.data, table.len);
        to->failed |= table.failed;

    } else {
        if (item->type != OUT_IMAGE) {
            markdown_text(to, item);
        }

        markdown_forms(to, item, link);
    }

    buf_free(&table);
}


static void
markdown_saved(buf_t *to, const out_item_t *item, const link_t *link)
{
    const out_artifact_t  *a;

    a = &item->artifacts[0];

    if (a->file[0] != '\0') {
        markdown_link(to, a, link, markdown_is_picture(a) ? "!" : "");
        return;
    }

    markdown_lost(to, a, markdown_labels[OUT_SAVED]);
}


static void
markdown_items(buf_t *to, const outputs_t *o, const link_t *link)
{
    buf_t              rest[2];
    const out_item_t  *item;

    memset(rest, 0, sizeof(rest));

    for (item = o->first; item != NULL; item = item->next) {

        switch (item->type) {

        case OUT_STDOUT:
        case OUT_STDERR:
            markdown_stream(to, item, &rest[item->type == OUT_STDERR]);
            break;

        case OUT_ERROR:
            markdown_text(to, item);
            markdown_forms(to, item, link);
            break;

        case OUT_SAVED:
            markdown_saved(to, item, link);
            break;

        default:
            markdown_display(to, item, link);
        }
    }

    if (o->whole.file[0] != '\0') {
        markdown_link(to, &o->whole, link, "");

    } else if (o->whole.why[0] != '\0') {
        markdown_lost(to, &o->whole, markdown_labels[OUT_SAVED]);
    }

    buf_free(&rest[0]);
    buf_free(&rest[1]);
}


void
markdown(buf_t *to, const outputs_t *o, const link_t *link)
{
    size_t  i;
    buf_t   all;

    memset(&all, 0, sizeof(all));
    markdown_items(&all, o, link);

    for (i = 0; i < all.len && all.data[i] == '\n'; i++) { /* void */ }

    if (i == all.len) {
        (void) buf_puts(to, MARKDOWN_DONE);

    } else {
        (void) buf_add(to, all.data + i, all.len - i);
    }

    to->failed |= all.failed;
    buf_free(&all);
}
