
/*
 * A front that has been taken over, against the module: a whole answer, its
 * header, its body in each form, and its end or none; and a client's Accept.
 * How it is cut into pieces changes nothing.
 *
 *   api, form, size of pieces, then: 'r' records; 'a' Accept; else a text that
 *   becomes records
 *
 * links: ngx_module/ngx_http_retort_header.c ngx_module/ngx_http_retort_body.c
 * links: ngx_module/ngx_http_retort_form.c ngx_module/ngx_http_retort_record.c
 * links: ngx_module/ngx_http_retort_json.c ngx_module/ngx_http_retort_face.c
 * links: ngx_module/ngx_http_retort_verdict.c
 * links: ngx_module/ngx_http_retort_message.c
 * links: ngx_module/ngx_http_retort_keys.c ngx_module/ngx_http_retort_scope.c
 * links: ngx_module/ngx_http_retort_crypto.c tests/fuzz/lib/nginx_bed.c
 * links: tests/fuzz/lib/nginx_answer.c
 */

#include "ngx_http_retort_module.h"

#include <json-c/json.h>

#include "fuzz.h"


#define ANSWER_MAX   16384      /* of an input */
#define ANSWER_OUT   65536
#define ANSWER_HEAD  512        /* retort_buffer_size */


typedef struct {
    size_t     len;
    size_t     body;            /* of it, what the front sent */
    ngx_int_t  rc;              /* of the header */
    ngx_uint_t cut;             /* the client's connection is */
    ngx_uint_t lost;
    ngx_uint_t form;
    u_char     text[ANSWER_OUT];
} answer_t;


ngx_module_t  ngx_http_retort_module;
ngx_module_t  ngx_http_upstream_module;

static ngx_log_t                      nobody;
static ngx_http_upstream_main_conf_t  main_conf;
static ngx_http_retort_loc_conf_t     loc_conf;
static ngx_http_retort_api_t          api;
static answer_t                       whole, pieces;


/* ---- in the place of nginx and of the module's other files ---- */

static ngx_int_t
answer_status(ngx_http_request_t *r, ngx_table_elt_t *h, ngx_uint_t offset)
{
    r->upstream->headers_in.status = h;

    return NGX_OK;
}


static ngx_int_t
answer_length(ngx_http_request_t *r, ngx_table_elt_t *h, ngx_uint_t offset)
{
    r->upstream->headers_in.content_length = h;
    r->upstream->headers_in.content_length_n = ngx_atoof(h->value.data,
                                                         h->value.len);

    return NGX_OK;
}


void *
ngx_hash_find(ngx_hash_t *hash, ngx_uint_t key, u_char *name, size_t len)
{
    static ngx_http_upstream_header_t  status = { .handler = answer_status };
    static ngx_http_upstream_header_t  length = { .handler = answer_length };

    return len == 6 && ngx_memcmp(name, "status", 6) == 0 ? &status
           : len == 14 && ngx_memcmp(name, "content-length", 14) == 0 ? &length
           : NULL;
}


ngx_http_variable_value_t *
ngx_http_get_variable(ngx_http_request_t *r, ngx_str_t *name, ngx_uint_t key)
{
    static ngx_http_variable_value_t  id = {
        .len = 32, .valid = 1,
        .data = (u_char *) "0123456789abcdef0123456789abcdef"
    };

    return &id;
}


void
ngx_http_retort_release(ngx_http_retort_ctx_t *ctx)
{
    (void) ctx;
}


void
ngx_http_retort_split_path(ngx_http_request_t *r, ngx_str_t *script,
    ngx_str_t *rest)
{
    abort();
}


static ngx_uint_t
answer_is_run(ngx_http_request_t *r)
{
    (void) r;

    return 1;
}


static ssize_t
answer_gone(ngx_connection_t *c, u_char *buf, size_t size)
{
    (void) c;
    (void) buf;
    (void) size;

    return 0;
}


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;
    loc_conf.api = &api;
    api.is_run = answer_is_run;

    return 0;
}


/* ---- one answer ---- */

/* what nginx would send by now */

static void
answer_sent(ngx_http_upstream_t *u, answer_t *a)
{
    size_t       n;
    ngx_chain_t  *cl;

    for (cl = u->out_bufs; cl != NULL; cl = cl->next) {
        n = (size_t) (cl->buf->last - cl->buf->pos);
        FUZZ_CHECK(n != 0 && a->len + n <= ANSWER_OUT);
        ngx_memcpy(a->text + a->len, cl->buf->pos, n);
        a->len += n;
    }

    u->out_bufs = NULL;
}


static void
answer_begin(ngx_http_request_t *r, ngx_http_upstream_t *u, ngx_uint_t form)
{
    ngx_http_retort_ctx_t  *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);
    ngx_memzero(ctx, sizeof(*ctx));
    ctx->follow.form = form;
    ctx->recv = answer_gone;
    ctx->delivered = 1;
    ctx->rest = -1;
    u->headers_in.content_length_n = -1;
    u->headers_in.headers.size = sizeof(ngx_table_elt_t);
    u->headers_in.headers.nalloc = 2;
    u->headers_in.headers.pool = r->pool;
    u->headers_in.headers.last = &u->headers_in.headers.part;
    u->headers_in.headers.part.elts = ngx_pnalloc(r->pool,
                                                  2 * sizeof(ngx_table_elt_t));
}


/* the header: 1 once the body has begun, 0 if more is wanted, -1 */

static int
answer_header(ngx_http_request_t *r, answer_t *a)
{
    size_t               n;
    ngx_http_upstream_t  *u;

    u = r->upstream;
    a->rc = ngx_http_retort_process_header(r);

    if (a->rc != NGX_OK) {
        return a->rc == NGX_AGAIN ? 0 : -1;
    }

    /* as nginx does, when its header is out */
    n = (size_t) (u->buffer.last - u->buffer.pos);
    u->header_sent = 1;
    u->buffer.last = u->buffer.pos;
    (void) ngx_http_retort_input_filter_init(r);
    u->read_event_handler = NULL;

    if (n != 0) {
        FUZZ_CHECK(ngx_http_retort_input_filter(r, (ssize_t) n) == NGX_OK);
    }

    return 1;
}


/* pieces of the same bytes, as recv() gives them */

static void
answer_feed(ngx_http_request_t *r, const u_char *p, size_t n, size_t step,
    answer_t *a)
{
    int                  began;
    size_t               len;
    u_char               *copy;
    ngx_http_upstream_t  *u;

    u = r->upstream;
    u->length = -1;

    for (began = 0; n != 0 && began != -1 && u->length != 0 && !u->error;
         p += len, n -= len)
    {
        len = n < step ? n : step;
        copy = fuzz_copy(p, len);
        u->buffer.start = u->buffer.pos = copy;
        u->buffer.end = u->buffer.last = copy + len;

        if (began) {
            u->buffer.last = copy;
            FUZZ_CHECK(ngx_http_retort_input_filter(r, (ssize_t) len)
                       == NGX_OK);
        } else {
            began = answer_header(r, a);
        }

        answer_sent(u, a);
        free(copy);
    }
}


/* the front is gone, if it has not said that this is the end */

static void
answer_end(ngx_http_request_t *r, answer_t *a)
{
    ngx_http_upstream_t    *u;
    ngx_http_retort_ctx_t  *ctx;

    u = r->upstream;
    ctx = ngx_http_get_module_ctx(r, ngx_http_retort_module);
    a->body = a->len;

    if (u->header_sent && u->length != 0 && !u->error) {
        (void) ngx_http_retort_recv(r->connection, NULL, 0);
        answer_sent(u, a);
    }

    if (!u->header_sent) {
        ngx_http_retort_finalize_request(r, NGX_HTTP_BAD_GATEWAY);
        FUZZ_CHECK(ctx->answer != NULL && ctx->answer->status >= 200);
        a->len = ctx->answer->body.len;
        ngx_memcpy(a->text, ctx->answer->body.data, a->len);
    }

    a->cut = u->error;
    a->lost = ctx->lost;
    a->form = ctx->follow.form;
}


static void
answer_run(const u_char *p, size_t n, size_t step, ngx_uint_t form,
    answer_t *a)
{
    void                   *all[1], *of_main[1], *of_loc[1];
    ngx_event_t            event;
    ngx_connection_t       c;
    ngx_http_request_t     r;
    ngx_http_upstream_t    u;
    ngx_http_retort_ctx_t  *ctx;
    ngx_http_upstream_conf_t  conf;

    ngx_memzero(&c, sizeof(c));
    ngx_memzero(&r, sizeof(r));
    ngx_memzero(&u, sizeof(u));
    ngx_memzero(&conf, sizeof(conf));
    ngx_memzero(&event, sizeof(event));
    a->len = 0;
    a->rc = NGX_AGAIN;
    ctx = malloc(sizeof(*ctx));
    all[0] = ctx;
    of_main[0] = &main_conf;
    of_loc[0] = &loc_conf;
    conf.buffer_size = ANSWER_HEAD;
    c.log = &nobody;
    c.data = &r;
    c.read = &event;
    u.conf = &conf;
    u.peer.connection = &c;
    r.pool = ngx_create_pool(1024, &nobody);
    r.connection = &c;
    r.upstream = &u;
    r.ctx = all;
    r.main_conf = of_main;
    r.loc_conf = of_loc;
    answer_begin(&r, &u, form);
    answer_feed(&r, p, n, step, a);
    answer_end(&r, a);
    ngx_destroy_pool(r.pool);
    free(ctx);
}


static enum json_tokener_error
answer_parsed(const u_char *p, size_t n)
{
    json_object              *o;
    json_tokener             *tok;
    enum json_tokener_error  err;

    tok = json_tokener_new_ex(NGX_HTTP_RETORT_JSON_DEPTH + 8);
    json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
    o = json_tokener_parse_ex(tok, (const char *) p, (int) n);
    err = json_tokener_get_error(tok);
    (void) json_object_put(o);
    json_tokener_free(tok);

    return err;
}


/* JSON that was cut is whole in the end; json-c wants a NUL to be sure */

static void
answer_whole(answer_t *a)
{
    size_t  i;

    if (!a->lost || a->cut || a->rc != NGX_OK || a->len == ANSWER_OUT
        || a->form != RETORT_FORM_JSON)
    {
        return;
    }

    for (i = 0; i < a->body; i++) {
        if (a->text[i] >= 0x80) {
            return;
        }
    }

    if (answer_parsed(a->text, a->body) == json_tokener_continue) {
        a->text[a->len] = '\0';
        FUZZ_CHECK(answer_parsed(a->text, a->len + 1) == json_tokener_success);
    }
}


static void
answer_both(const u_char *p, size_t n, size_t step, ngx_uint_t form)
{
    answer_run(p, n, n, form, &whole);
    answer_run(p, n, step, form, &pieces);
    FUZZ_CHECK(whole.len == pieces.len && whole.rc == pieces.rc);
    FUZZ_CHECK(whole.cut == pieces.cut && whole.lost == pieces.lost);
    FUZZ_CHECK(ngx_memcmp(whole.text, pieces.text, whole.len) == 0);
}


/* one record for each piece of a text, and an end if the text has a NUL */

static size_t
answer_records(const u_char *p, size_t n, u_char *out)
{
    u_char  *q;
    size_t  len, end;

    static const u_char  last[16] = { 1, 3, 0, 1, 0, 8 };

    q = out;
    end = n != 0 && p[n - 1] == '\0';
    n -= end;

    while (n != 0) {
        len = 1 + (*p * 7) % 600;
        len = len < n ? len : n;
        *q++ = 1;
        *q++ = 6;
        *q++ = 0;
        *q++ = 1;
        *q++ = (u_char) (len >> 8);
        *q++ = (u_char) len;
        *q++ = 0;
        *q++ = 0;
        q = ngx_cpymem(q, p, len);
        p += len;
        n -= len;
    }

    return (size_t) ((end ? ngx_cpymem(q, last, 16) : q) - out);
}


static void
answer_accept(const u_char *data, size_t size)
{
    ngx_uint_t          form;
    ngx_table_elt_t     h;
    ngx_http_request_t  r;

    ngx_memzero(&r, sizeof(r));
    ngx_memzero(&h, sizeof(h));
    ngx_str_set(&h.key, "Accept");
    h.lowcase_key = (u_char *) "accept";
    h.value.data = fuzz_copy(data, size);
    h.value.len = size;
    r.headers_in.headers.part.elts = &h;
    r.headers_in.headers.part.nelts = 1;
    form = ngx_http_retort_accepted_form(&r);
    FUZZ_CHECK(form >= RETORT_FORM_JSON && form <= RETORT_FORM_NDJSON);
    free(h.value.data);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t      step;
    uint8_t     which;
    ngx_uint_t  form;

    static u_char  records[ANSWER_MAX * 9 + 16];

    static const ngx_http_retort_face_pt  faces[] = {
        ngx_http_retort_face_native, ngx_http_retort_face_rpc,
        ngx_http_retort_face_prisme, ngx_http_retort_face_azure,
        ngx_http_retort_face_anthropic, ngx_http_retort_face_e2b,
        ngx_http_retort_face_ubik
    };

    which = fuzz_byte(&data, &size);
    api.face = faces[which % 7];
    api.rpc = which % 7 == 1 || which % 7 == 2;
    whole.lost = 0;
    form = fuzz_byte(&data, &size) % 5;
    step = 1 + fuzz_byte(&data, &size);
    which = fuzz_byte(&data, &size);
    size = size < ANSWER_MAX ? size : ANSWER_MAX;

    if (which == 'a') {
        answer_accept(data, size);

    } else if (which == 'r') {
        answer_both(data, size, step, form);

    } else {
        size = answer_records(data, size, records);
        answer_both(records, size, step, form);
    }

    answer_whole(&whole);

    return 0;
}
