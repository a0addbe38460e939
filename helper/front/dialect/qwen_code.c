
/*
 * In retort-front, as its own uid without any capability.  What a model wrote
 * as parameters becomes code: JSON5, a fenced block, or the text as it is.
 */

#include <string.h>

#include "../json5.h"
#include "qwen.h"


#define QWEN_FENCE   "```"
#define QWEN_THEME   "sns.set_theme("
#define QWEN_FONT    "plt.rcParams[\"font.family\"] = _m6_font_prop.get_name()"


/* Python's names, in the order of json5_kind_t */

static const char *const  qwen_types[] = {
    "", "NoneType", "bool", "int", "float", "str", "list", "dict"
};


static int
qwen_no_text(json5_kind_t kind, err_t *e)
{
    return err_set(e, 200, "tool_error", "AttributeError: '%s' object has no "
                   "attribute 'strip'", qwen_types[kind]);
}


/* the text between a fence's line and the next fence; NULL if there is none */

static const char *
qwen_fenced(const char *p, size_t n, size_t *len)
{
    const char  *end, *stop;

    if (n < 3) {
        return NULL;
    }

    end = p + n;
    p = memmem(p, n, QWEN_FENCE, 3);

    if (p == NULL) {
        return NULL;
    }

    p = memchr(p + 3, '\n', (size_t) (end - p) - 3);

    if (p == NULL || end - ++p < 4) {
        return NULL;
    }

    stop = memmem(p + 1, (size_t) (end - p) - 1, QWEN_FENCE, 3);

    if (stop == NULL) {
        return NULL;
    }

    *len = (size_t) (stop - p);

    return p;
}


static int
qwen_extract(const char *p, size_t n, buf_t *code, err_t *e)
{
    int          rc;
    size_t       len;
    json5_t      v;
    const char  *block;

    block = qwen_fenced(p, n, &len);

    if (block != NULL) {
        (void) buf_add(code, block, len);
        return 0;
    }

    rc = 0;
    json5_read(&v, p, n);

    if (v.code == JSON5_STRING) {
        (void) buf_add(code, v.text.data, v.text.len);

    } else if (v.code != JSON5_NONE) {
        rc = qwen_no_text(v.code, e);

    } else {
        (void) buf_add(code, p, n);
    }

    code->failed |= v.text.failed;
    buf_free(&v.text);

    return rc;
}


int
qwen_code(const char *params, size_t len, buf_t *code, err_t *e)
{
    int      rc;
    json5_t  v;

    rc = 0;
    json5_read(&v, params, len);

    if (v.code == JSON5_STRING) {
        (void) buf_add(code, v.text.data, v.text.len);

    } else if (v.code != JSON5_NONE) {
        rc = qwen_no_text(v.code, e);

    } else if (v.kind == JSON5_STRING) {
        rc = qwen_extract(v.text.data, v.text.len, code, e);

    } else if (v.kind == JSON5_NONE) {
        rc = qwen_extract(params, len, code, e);

    } else {
        /* a number, a list: they are code as well */
        (void) buf_add(code, params, len);
    }

    code->failed |= v.text.failed;
    buf_free(&v.text);

    return rc;
}


void
qwen_wrap(const char *code, size_t len, const char *timer, buf_t *to)
{
    size_t       n;
    const char  *end, *next;

    if (timer != NULL) {
        (void) buf_printf(to, "_M6CountdownTimer.start(%s)\n", timer);
    }

    for (end = code + len; code < end; code = next) {
        next = memchr(code, '\n', (size_t) (end - code));
        next = next != NULL ? next + 1 : end;
        n = (size_t) (next - code);
        (void) buf_add(to, code, n);

        if (n < sizeof(QWEN_THEME) - 1
            || memcmp(code, QWEN_THEME, sizeof(QWEN_THEME) - 1) != 0)
        {
            continue;
        }

        if (code[n - 1] == '\n') {
            (void) buf_puts(to, QWEN_FONT "\n");

        } else {
            (void) buf_puts(to, "\n" QWEN_FONT);
        }
    }

    (void) buf_puts(to, "\n\n");
}
