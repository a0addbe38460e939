
/*
 * In retort-front, as its own uid without any capability.  A result as the
 * text that Qwen-Agent's interpreter returns, byte for byte: the fence is
 * three backticks whatever is inside (unless the profile says otherwise), and
 * streams keep their escape sequences.
 */

#include <stdio.h>
#include <string.h>

#include "../markdown.h"
#include "../utf8.h"
#include "qwen.h"


#define QWEN_DONE     "Finished execution."
#define QWEN_MARK     "M6_CODE_INTERPRETER_TIMEOUT"
#define QWEN_TIMEOUT  "Timeout: Code execution exceeded the time limit."


typedef struct {
    buf_t     text;
    uint32_t  fence;            /* RETORT_FENCE_... */
} qwen_to_t;


static const char *const  qwen_labels[] = {
    "stdout",                   /* OUT_STDOUT */
    "stderr",                   /* OUT_STDERR */
    "execute_result",           /* OUT_RESULT */
    "display_data",             /* OUT_DISPLAY */
    "display_data",             /* OUT_IMAGE without a PNG */
    "error"                     /* OUT_ERROR */
};


/* valid UTF-8; a NUL is a character like any other here */

static void
qwen_clean(buf_t *to, const char *p, size_t n)
{
    size_t       len;
    const char  *nul;

    for ( ;; ) {
        nul = memchr(p, '\0', n);
        len = nul != NULL ? (size_t) (nul - p) : n;
        utf8_clean(to, p, len);

        if (nul == NULL) {
            return;
        }

        (void) buf_add(to, "", 1);
        p = nul + 1;
        n -= len + 1;
    }
}


static void
qwen_block(qwen_to_t *to, const char *label, const char *p, size_t n)
{
    size_t  ticks;

    if (n == 0) {
        return;
    }

    ticks = to->fence == RETORT_FENCE_LONGER ? markdown_fence(p, n) : 3;

    (void) buf_printf(&to->text, "\n\n%s:\n\n", label);
    markdown_ticks(&to->text, ticks);
    (void) buf_puts(&to->text, "\n");
    qwen_clean(&to->text, p, n);
    (void) buf_puts(&to->text, "\n");
    markdown_ticks(&to->text, ticks);
}


static const out_artifact_t *
qwen_png(const out_item_t *item)
{
    size_t  i;

    for (i = 0; i < item->nartifacts; i++) {
        if (strcmp(item->artifacts[i].mime, "image/png") == 0) {
            return &item->artifacts[i];
        }
    }

    return NULL;
}


static void
qwen_picture(qwen_to_t *to, const out_artifact_t *a, unsigned number,
    const link_t *link)
{
    int   n;
    char  text[256], url[LINK_URL];

    if (a->file[0] != '\0') {
        link_url(link, a, url);
        (void) buf_printf(&to->text, "\n\n![fig-%03u](%s)", number, url);
        return;
    }

    n = snprintf(text, sizeof(text), "fig-%03u was not stored: %s", number,
                 a->why);
    qwen_block(to, "display_data", text, (size_t) n);
}


/* the tool has no budget, so what is beyond ours is no contract of its */

static void
qwen_whole(qwen_to_t *to, const out_artifact_t *a, const link_t *link)
{
    int   n;
    char  text[OUT_NAME + 128], url[LINK_URL];

    if (strcmp(a->mime, "text/plain") != 0) {
        return;
    }

    if (a->file[0] != '\0') {
        link_url(link, a, url);
        (void) buf_printf(&to->text, "\n\n[%s](%s)", a->name, url);
        return;
    }

    n = snprintf(text, sizeof(text), "%s was not stored: %s", a->name, a->why);
    qwen_block(to, "display_data", text, (size_t) n);
}


static void
qwen_error(qwen_to_t *to, const buf_t *text)
{
    buf_t  plain;

    if (text->len != 0
        && memmem(text->data, text->len, QWEN_MARK, sizeof(QWEN_MARK) - 1)
           != NULL)
    {
        qwen_block(to, "error", QWEN_TIMEOUT, sizeof(QWEN_TIMEOUT) - 1);
        return;
    }

    memset(&plain, 0, sizeof(plain));
    markdown_no_ansi(&plain, text->data, text->len);
    qwen_block(to, "error", plain.data, plain.len);
    to->text.failed |= plain.failed;
    buf_free(&plain);
}


static void
qwen_item(qwen_to_t *to, const out_item_t *item, unsigned *figures,
    const link_t *link)
{
    size_t                 i;
    const out_artifact_t  *png;

    /* files that code saves stay in its folder: contracts of the tool */

    if (item->type == OUT_SAVED) {
        return;
    }

    png = qwen_png(item);

    if (item->type == OUT_ERROR) {
        qwen_error(to, &item->text);

    } else if (png == NULL || item->type == OUT_RESULT) {
        qwen_block(to, qwen_labels[item->type], item->text.data,
                   item->text.len);
    }

    if (png != NULL) {
        qwen_picture(to, png, ++*figures, link);
    }

    for (i = 0; i < item->nartifacts; i++) {
        qwen_whole(to, &item->artifacts[i], link);
    }
}


static int
qwen_is_blank(const buf_t *b)
{
    size_t  i;

    for (i = 0; i < b->len; i++) {
        if (strchr(" \t\n\v\f\r", b->data[i]) == NULL || b->data[i] == '\0') {
            return 0;
        }
    }

    return 1;
}


void
qwen_text(buf_t *to, const outputs_t *o, const link_t *link, uint32_t fence)
{
    size_t             i;
    unsigned           figures;
    qwen_to_t          all;
    const out_item_t  *item;

    memset(&all, 0, sizeof(all));
    all.fence = fence;
    figures = 0;

    for (item = o->first; item != NULL; item = item->next) {
        qwen_item(&all, item, &figures, link);
    }

    qwen_whole(&all, &o->whole, link);

    if (qwen_is_blank(&all.text)) {
        (void) buf_puts(to, QWEN_DONE);

    } else {
        for (i = 0; all.text.data[i] == '\n'; i++) { /* void */ }

        (void) buf_add(to, all.text.data + i, all.text.len - i);
    }

    to->failed |= all.text.failed;
    buf_free(&all.text);
}
