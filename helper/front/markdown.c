
/*
 * In retort-front, as its own uid without any capability.  Texts are a
 * sandbox's: made valid UTF-8 here, otherwise left as they are.
 */

#include <string.h>

#include "markdown.h"
#include "utf8.h"


#define MARKDOWN_DONE  "Finished execution."


static const char *const  markdown_labels[] = {
    "stdout",                   /* OUT_STDOUT */
    "stderr",                   /* OUT_STDERR */
    "execute_result",           /* OUT_RESULT */
    "display_data",             /* OUT_DISPLAY */
    "display_data",             /* OUT_IMAGE, if it could not be stored */
    "error"                     /* OUT_ERROR */
};


static size_t
markdown_run(const char *p, size_t n)
{
    size_t  i, run, longest;

    run = 0;
    longest = 0;

    for (i = 0; i < n; i++) {
        run = p[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }

    return longest;
}


static void
markdown_ticks(buf_t *to, size_t n)
{
    while (n-- != 0) {
        (void) buf_puts(to, "`");
    }
}


static void
markdown_block(buf_t *to, const char *label, const buf_t *text,
    markdown_fence_t fence)
{
    size_t  ticks;

    if (text->len == 0) {
        return;
    }

    ticks = 3;

    if (fence == MARKDOWN_FENCE_LONGER) {
        ticks = markdown_run(text->data, text->len) + 1;
        ticks = ticks > 3 ? ticks : 3;
    }

    (void) buf_printf(to, "\n\n%s:\n\n", label);
    markdown_ticks(to, ticks);
    (void) buf_puts(to, "\n");
    utf8_clean(to, text->data, text->len);
    (void) buf_puts(to, "\n");
    markdown_ticks(to, ticks);
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
markdown_error(buf_t *to, const out_item_t *item, markdown_fence_t fence)
{
    buf_t  text;

    memset(&text, 0, sizeof(text));
    markdown_no_ansi(&text, item->text.data, item->text.len);
    markdown_block(to, markdown_labels[OUT_ERROR], &text, fence);
    buf_free(&text);
}


static void
markdown_picture(buf_t *to, const out_item_t *item, const link_t *link,
    markdown_fence_t fence)
{
    char                    url[LINK_URL];
    buf_t                   text;
    const out_artifact_t   *a;

    a = &item->artifacts[0];

    if (a->file[0] != '\0') {
        link_url(link, a, url);
        (void) buf_printf(to, "\n\n![%.*s](%s)",
                          (int) strcspn(a->name, "."), a->name, url);
        return;
    }

    memset(&text, 0, sizeof(text));
    (void) buf_printf(&text, "%s was not stored: %s", a->name, a->why);
    markdown_block(to, markdown_labels[OUT_IMAGE], &text, fence);
    buf_free(&text);
}


/* its name was made harmless where it came in */

static void
markdown_saved(buf_t *to, const out_item_t *item, const link_t *link)
{
    int                     shown;
    char                    url[LINK_URL];
    const out_artifact_t   *a;

    a = &item->artifacts[0];

    if (a->file[0] == '\0') {
        (void) buf_printf(to, "\n\n%s was not stored: %s", a->name, a->why);
        return;
    }

    shown = strncmp(a->mime, "image/", 6) == 0
            && strcmp(a->mime, "image/svg+xml") != 0;
    link_url(link, a, url);
    (void) buf_printf(to, "\n\n%s[%s](%s)", shown ? "!" : "", a->name, url);
}


void
markdown(buf_t *to, const outputs_t *o, const link_t *link,
    markdown_fence_t fence)
{
    size_t             i;
    buf_t              all;
    const out_item_t  *item;

    memset(&all, 0, sizeof(all));

    for (item = o->first; item != NULL; item = item->next) {
        if (item->type == OUT_SAVED) {
            markdown_saved(&all, item, link);
            continue;
        }

        if (item->type == OUT_ERROR) {
            markdown_error(&all, item, fence);

        } else if (item->type != OUT_IMAGE) {
            markdown_block(&all, markdown_labels[item->type], &item->text,
                           fence);
        }

        if (item->nartifacts != 0
            && strncmp(item->artifacts[0].mime, "image/", 6) == 0
            && strncmp(item->artifacts[0].name, "fig-", 4) == 0)
        {
            markdown_picture(&all, item, link, fence);
        }
    }

    for (i = 0; i < all.len && all.data[i] == '\n'; i++) { /* void */ }

    if (i == all.len) {
        (void) buf_puts(to, MARKDOWN_DONE);

    } else {
        (void) buf_add(to, all.data + i, all.len - i);
    }

    to->failed |= all.failed;
    buf_free(&all);
}
