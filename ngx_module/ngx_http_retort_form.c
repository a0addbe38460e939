
#include "ngx_http_retort_module.h"


enum {
    LINE_START = 0,              /* nothing, or only indentation */
    LINE_RUN,                    /* fence characters */
    LINE_INFO,                   /* what follows them */
    LINE_TEXT
};

enum {
    SSE_NAME = 0,
    SSE_DATA,
    SSE_OTHER
};


static size_t ngx_http_retort_skip(ngx_http_retort_follow_t *f, u_char *p,
    size_t len);
static ngx_int_t ngx_http_retort_follow_json(ngx_http_request_t *r,
    ngx_http_retort_follow_t *f, ngx_str_t *part, size_t *keep,
    ngx_str_t *before);
static ngx_uint_t ngx_http_retort_json_hold(ngx_http_retort_follow_t *f,
    ngx_uint_t before);
static void ngx_http_retort_markdown(ngx_http_retort_markdown_t *md,
    u_char ch);
static void ngx_http_retort_markdown_run(ngx_http_retort_markdown_t *md,
    u_char ch);
static void ngx_http_retort_markdown_line(ngx_http_retort_markdown_t *md);
static void ngx_http_retort_sse(ngx_http_retort_follow_t *f, u_char ch);
static void ngx_http_retort_sse_line(ngx_http_retort_follow_t *f);
static void ngx_http_retort_ndjson(ngx_http_retort_follow_t *f, u_char ch);
static u_char *ngx_http_retort_close_json(ngx_http_retort_ctx_t *ctx,
    u_char *p);
static u_char *ngx_http_retort_close_markdown(ngx_http_retort_ctx_t *ctx,
    u_char *p);
static u_char *ngx_http_retort_close_sse(ngx_http_retort_ctx_t *ctx,
    u_char *p);
static u_char *ngx_http_retort_close_ndjson(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, u_char *p);


ngx_int_t
ngx_http_retort_follow(ngx_http_request_t *r, ngx_http_retort_follow_t *f,
    ngx_str_t *part, size_t *keep, ngx_str_t *before)
{
    u_char  ch;
    size_t  i;

    ngx_str_null(before);
    f->any = 1;

    if (f->form == RETORT_FORM_JSON) {
        return ngx_http_retort_follow_json(r, f, part, keep, before);
    }

    for (i = 0; i < part->len; i++) {
        i += ngx_http_retort_skip(f, part->data + i, part->len - i);

        if (i == part->len) {
            break;
        }

        ch = part->data[i];

        ngx_http_retort_utf8_feed(&f->utf8, ch);

        switch (f->form) {

        case RETORT_FORM_MARKDOWN:
            ngx_http_retort_markdown(&f->markdown, ch);
            break;

        case RETORT_FORM_SSE:
            ngx_http_retort_sse(f, ch);
            break;

        default: /* RETORT_FORM_NDJSON */
            ngx_http_retort_ndjson(f, ch);
        }
    }

    return NGX_OK;
}


/* how many bytes change nothing but where a character ends: most of a text */

static size_t
ngx_http_retort_skip(ngx_http_retort_follow_t *f, u_char *p, size_t len)
{
    size_t   n;
    u_char  *end;

    switch (f->form) {

    case RETORT_FORM_MARKDOWN:

        if (f->markdown.line != LINE_TEXT) {
            return 0;
        }

        end = memchr(p, '\n', len);
        n = end ? (size_t) (end - p) : len;
        break;

    case RETORT_FORM_SSE:

        if (f->sse.line != SSE_DATA || f->sse.space) {
            return 0;
        }

        /* fall through */

    default:
        n = ngx_http_retort_json_skip(&f->json, p, len);
    }

    ngx_http_retort_utf8_skip(&f->utf8, p, n);

    return n;
}


/*
 * "status" is the last member of the outermost object.  It is put aside
 * until END_REQUEST has come: a client never reads "ok" of a run whose end
 * the worker has not seen.
 */

static ngx_int_t
ngx_http_retort_follow_json(ngx_http_request_t *r,
    ngx_http_retort_follow_t *f, ngx_str_t *part, size_t *keep,
    ngx_str_t *before)
{
    size_t      i, start;
    ngx_uint_t  state, released;

    start = 0;
    released = 0;

    for (i = 0; i < part->len; i++) {
        i += ngx_http_retort_skip(f, part->data + i, part->len - i);

        if (i == part->len) {
            break;
        }

        state = f->json.state;

        ngx_http_retort_utf8_feed(&f->utf8, part->data[i]);
        ngx_http_retort_json_feed(&f->json, part->data[i]);

        if (!f->holding) {
            f->holding = ngx_http_retort_json_hold(f, state);
            start = i;

        } else if (f->json.match == RETORT_JSON_NO_MATCH
                   || f->json.state == RETORT_JSON_BROKEN
                   || (f->json.state == RETORT_JSON_KEY
                       && f->json.depth == 1))
        {
            f->holding = 0;
            released = 1;
        }
    }

    if (f->held && !released) {
        start = 0;
    }

    if (f->holding
        && (released ? 0 : f->held) + part->len - start
           > NGX_HTTP_RETORT_HOLD)
    {
        /* this is no status */
        f->holding = 0;
        f->json.match = RETORT_JSON_NO_MATCH;
        released = 1;
    }

    if (f->held && released) {
        before->data = ngx_pnalloc(r->pool, f->held);
        if (before->data == NULL) {
            return NGX_ERROR;
        }

        ngx_memcpy(before->data, f->hold, f->held);
        before->len = f->held;
        f->held = 0;
    }

    if (!f->holding) {
        return NGX_OK;
    }

    ngx_memcpy(f->hold + f->held, part->data + start, part->len - start);
    f->held += part->len - start;
    *keep = start;

    return NGX_AGAIN;
}


/* a key of the outermost object has just begun */

static ngx_uint_t
ngx_http_retort_json_hold(ngx_http_retort_follow_t *f, ngx_uint_t before)
{
    return f->json.depth == 1
           && f->json.state == RETORT_JSON_STRING
           && (before == RETORT_JSON_KEY || before == RETORT_JSON_FIRST_KEY);
}


static void
ngx_http_retort_markdown(ngx_http_retort_markdown_t *md, u_char ch)
{
    if (ch == '\n') {
        ngx_http_retort_markdown_line(md);
        return;
    }

    if (ch == '\r') {
        return;
    }

    switch (md->line) {

    case LINE_START:

        if (ch == ' ' && md->indent < 3) {
            md->indent++;
            return;
        }

        md->line = LINE_TEXT;

        if (ch == '`' || ch == '~') {
            md->line = LINE_RUN;
            md->run_char = ch;
            md->run = 1;
            md->clean = 1;
            md->tick = 0;
        }

        return;

    case LINE_RUN:
    case LINE_INFO:
        ngx_http_retort_markdown_run(md, ch);
        return;
    }
}


static void
ngx_http_retort_markdown_run(ngx_http_retort_markdown_t *md, u_char ch)
{
    if (md->line == LINE_RUN && ch == md->run_char) {
        md->run++;
        return;
    }

    md->line = LINE_INFO;

    if (ch != ' ' && ch != '\t') {
        md->clean = 0;
    }

    if (ch == '`') {
        md->tick = 1;
    }
}


static void
ngx_http_retort_markdown_line(ngx_http_retort_markdown_t *md)
{
    if (md->line == LINE_RUN || md->line == LINE_INFO) {

        if (md->fence) {

            if (md->run_char == md->fence_char && md->run >= md->fence
                && md->clean)
            {
                md->fence = 0;
            }

        } else if (md->run >= 3 && !(md->run_char == '`' && md->tick)) {
            md->fence = md->run;
            md->fence_char = md->run_char;
        }
    }

    md->line = LINE_START;
    md->indent = 0;
    md->run = 0;
}


static void
ngx_http_retort_sse(ngx_http_retort_follow_t *f, u_char ch)
{
    ngx_http_retort_sse_t  *sse;

    static u_char  data[] = "data";

    sse = &f->sse;

    if (ch == '\n') {
        ngx_http_retort_sse_line(f);
        return;
    }

    if (ch == '\r') {
        return;
    }

    sse->block = 1;

    if (sse->line == SSE_DATA) {

        if (!sse->space || ch != ' ') {
            ngx_http_retort_json_feed(&f->json, ch);
        }

        sse->space = 0;
        return;
    }

    if (sse->line == SSE_OTHER) {
        return;
    }

    if (ch == ':') {
        sse->line = SSE_OTHER;

        if (sse->name == sizeof(data) - 1 && !sse->other) {
            sse->line = SSE_DATA;
            sse->space = 1;
            sse->data = 1;
        }

        return;
    }

    if (sse->name < sizeof(data) - 1 && ch == data[sse->name]) {
        sse->name++;
        return;
    }

    sse->name = sizeof(data) - 1;
    sse->other = 1;
}


static void
ngx_http_retort_sse_line(ngx_http_retort_follow_t *f)
{
    ngx_http_retort_sse_t  *sse;

    sse = &f->sse;

    if (sse->line == SSE_NAME && sse->name == 0) {

        /* an empty line ends the event */

        sse->block = 0;
        sse->data = 0;
        ngx_memzero(&f->json, sizeof(ngx_http_retort_json_t));

    } else if (sse->line == SSE_DATA) {
        ngx_http_retort_json_feed(&f->json, '\n');
    }

    sse->line = SSE_NAME;
    sse->name = 0;
    sse->other = 0;
    sse->space = 0;
}


static void
ngx_http_retort_ndjson(ngx_http_retort_follow_t *f, u_char ch)
{
    if (ch == '\n') {
        ngx_memzero(&f->json, sizeof(ngx_http_retort_json_t));
        f->line = 0;
        return;
    }

    if (ch != ' ' && ch != '\t' && ch != '\r') {
        f->line = 1;
    }

    ngx_http_retort_json_feed(&f->json, ch);
}


ngx_int_t
ngx_http_retort_close_form(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, ngx_str_t *text)
{
    u_char                    *p;
    ngx_http_retort_follow_t  *f;

    f = &ctx->follow;

    if (f->form == RETORT_FORM_NONE
        || (f->form == RETORT_FORM_JSON && !f->holding
            && f->json.state == RETORT_JSON_BROKEN))
    {
        return NGX_DECLINED;
    }

    p = ngx_pnalloc(r->pool, NGX_HTTP_RETORT_JSON_CLOSE + f->markdown.fence
                             + NGX_HTTP_RETORT_LOST_TEXT
                             + ctx->execution.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    text->data = p;

    if (!f->holding) {
        p = ngx_http_retort_utf8_close(&f->utf8, p);
    }

    switch (f->form) {

    case RETORT_FORM_JSON:
        p = ngx_http_retort_close_json(ctx, p);
        break;

    case RETORT_FORM_MARKDOWN:
        p = ngx_http_retort_close_markdown(ctx, p);
        break;

    case RETORT_FORM_SSE:
        p = ngx_http_retort_close_sse(ctx, p);
        break;

    default: /* RETORT_FORM_NDJSON */
        p = ngx_http_retort_close_ndjson(r, ctx, p);
    }

    text->len = p - text->data;

    return NGX_OK;
}


static u_char *
ngx_http_retort_close_json(ngx_http_retort_ctx_t *ctx, u_char *p)
{
    static ngx_str_t  status = ngx_string("\"status\":\"lost\"");

    if (ctx->follow.json.depth == 0
        && ctx->follow.json.state == RETORT_JSON_VALUE)
    {
        /* there is no body yet */
        return ngx_http_retort_lost_text(p, RETORT_FORM_JSON,
                                         &ctx->execution);
    }

    if (ctx->follow.holding) {
        /* what was put aside stays there */
        p = ngx_cpymem(p, status.data, status.len);
        *p++ = '}';

        return p;
    }

    return ngx_http_retort_json_close(&ctx->follow.json, p, &status);
}


static u_char *
ngx_http_retort_close_markdown(ngx_http_retort_ctx_t *ctx, u_char *p)
{
    ngx_http_retort_markdown_t  *md;

    md = &ctx->follow.markdown;

    if (md->line != LINE_START || md->indent) {
        *p++ = '\n';
        ngx_http_retort_markdown_line(md);
    }

    if (md->fence) {
        ngx_memset(p, md->fence_char, md->fence);
        p += md->fence;
        *p++ = '\n';
    }

    if (ctx->follow.any) {
        *p++ = '\n';
    }

    return ngx_http_retort_lost_text(p, RETORT_FORM_MARKDOWN,
                                     &ctx->execution);
}


/*
 * A half event must not reach the client as broken data: its JSON is ended;
 * a half field name becomes one that nobody knows.
 */

static u_char *
ngx_http_retort_close_sse(ngx_http_retort_ctx_t *ctx, u_char *p)
{
    ngx_http_retort_sse_t     *sse;
    ngx_http_retort_follow_t  *f;

    f = &ctx->follow;
    sse = &f->sse;

    if (sse->line == SSE_NAME && sse->name) {
        *p++ = '-';
        *p++ = '\n';

    } else if (sse->line == SSE_OTHER) {
        *p++ = '\n';
    }

    if (sse->data) {

        if (f->json.state != RETORT_JSON_DONE
            && f->json.state != RETORT_JSON_BROKEN)
        {
            if (sse->line != SSE_DATA) {
                p = ngx_cpymem(p, "data: ", sizeof("data: ") - 1);
            }

            p = ngx_http_retort_json_close(&f->json, p, NULL);
            *p++ = '\n';

        } else if (sse->line == SSE_DATA) {
            *p++ = '\n';
        }
    }

    if (sse->block) {
        *p++ = '\n';
    }

    return ngx_http_retort_lost_text(p, RETORT_FORM_SSE, &ctx->execution);
}


static u_char *
ngx_http_retort_close_ndjson(ngx_http_request_t *r,
    ngx_http_retort_ctx_t *ctx, u_char *p)
{
    ngx_http_retort_follow_t  *f;

    f = &ctx->follow;

    if (f->line) {

        if (f->json.state != RETORT_JSON_DONE
            && f->json.state != RETORT_JSON_BROKEN)
        {
            p = ngx_http_retort_json_close(&f->json, p, NULL);
        }

        *p++ = '\n';
    }

    return ngx_http_retort_lost_line(r, p, &ctx->execution);
}
