
/*
 * The id of a client's JSON-RPC message, for an answer that the worker writes
 * itself, and its method, by which it is a run or none.  Only of a body that is
 * there, whole and in memory; nothing else of it is looked at.
 */

#include "ngx_http_retort_module.h"


typedef struct {
    ngx_http_retort_json_t   js;
    ngx_str_t               *name;       /* that is looked for */
    ngx_uint_t               key;        /* bytes of a key of the outermost */
    ngx_uint_t               same;       /* all of them were those of "name" */
    ngx_uint_t               value;      /* of "name" is what comes */
    ngx_uint_t               foul;
    ngx_uint_t               len;
    u_char                   text[NGX_HTTP_RETORT_MESSAGE_TEXT];
} ngx_http_retort_message_t;


static ngx_int_t ngx_http_retort_message_find(ngx_http_request_t *r,
    ngx_http_retort_message_t *m, ngx_str_t *name);
static void ngx_http_retort_message_feed(ngx_http_retort_message_t *m,
    u_char ch);
static void ngx_http_retort_message_key(ngx_http_retort_message_t *m,
    ngx_uint_t before, u_char ch);


ngx_int_t
ngx_http_retort_message_id(ngx_http_request_t *r, ngx_str_t *id)
{
    ngx_http_retort_message_t  m;

    static ngx_str_t  name = ngx_string("id");

    if (ngx_http_retort_message_find(r, &m, &name) != NGX_OK) {
        return NGX_DECLINED;
    }

    id->len = m.len;
    id->data = ngx_pnalloc(r->pool, m.len);

    if (id->data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(id->data, m.text, m.len);

    return NGX_OK;
}


/* base64, and whatever else no method has in it, may hide one */

ngx_uint_t
ngx_http_retort_is_call(ngx_str_t *method)
{
    u_char  ch;
    size_t  i;

    static ngx_str_t  call = ngx_string("tools/call");

    for (i = 0; i < method->len; i++) {
        ch = method->data[i];

        if ((ch < 'a' || ch > 'z') && (ch < 'A' || ch > 'Z') && ch != '/') {
            return 1;
        }
    }

    return method->len == call.len
           && ngx_memcmp(method->data, call.data, call.len) == 0;
}


/* what is not written plainly may be anything */

ngx_uint_t
ngx_http_retort_message_is_told(ngx_http_request_t *r)
{
    ngx_str_t                  method;
    ngx_http_retort_message_t  m;

    static ngx_str_t  name = ngx_string("method");

    if (ngx_http_retort_message_find(r, &m, &name) != NGX_OK
        || m.len < 3 || m.text[0] != '"')
    {
        return 0;
    }

    method.data = m.text + 1;
    method.len = m.len - 2;

    return !ngx_http_retort_is_call(&method);
}


static ngx_int_t
ngx_http_retort_message_find(ngx_http_request_t *r,
    ngx_http_retort_message_t *m, ngx_str_t *name)
{
    u_char       *p;
    ngx_chain_t  *cl;

    if (r->request_body == NULL || r->request_body_no_buffering) {
        return NGX_DECLINED;
    }

    ngx_memzero(m, sizeof(ngx_http_retort_message_t));
    m->name = name;

    for (cl = r->request_body->bufs; cl; cl = cl->next) {

        if (cl->buf->in_file) {
            return NGX_DECLINED;
        }

        for (p = cl->buf->pos; p < cl->buf->last; p++) {
            ngx_http_retort_message_feed(m, *p);
        }
    }

    return (m->js.state == RETORT_JSON_DONE && !m->foul && m->len)
           ? NGX_OK : NGX_DECLINED;
}


static void
ngx_http_retort_message_feed(ngx_http_retort_message_t *m, u_char ch)
{
    ngx_uint_t  before;

    before = m->js.state;

    ngx_http_retort_json_feed(&m->js, ch);

    if (m->js.depth != 1) {
        /* an id is no list and no object */
        m->value = 0;
        return;
    }

    if (!m->value) {
        ngx_http_retort_message_key(m, before, ch);
        return;
    }

    switch (m->js.state) {

    case RETORT_JSON_STRING:
    case RETORT_JSON_ESCAPE:
    case RETORT_JSON_HEX:
    case RETORT_JSON_NUMBER:
        break;

    case RETORT_JSON_VALUE:
        return;

    default:
        m->value = 0;

        if (before == RETORT_JSON_NUMBER || ch != '"') {
            return;
        }
    }

    if (ch >= 0x80
        || (before == RETORT_JSON_ESCAPE
            && ngx_strlchr((u_char *) "\"\\/bfnrtu",
                           (u_char *) "\"\\/bfnrtu" + 9, ch) == NULL)
        || m->len == sizeof(m->text)) {
        m->foul = 1;
        return;
    }

    m->text[m->len++] = ch;
}


static void
ngx_http_retort_message_key(ngx_http_retort_message_t *m, ngx_uint_t before,
    u_char ch)
{
    if (m->js.state == RETORT_JSON_STRING && m->js.key) {

        if (before == RETORT_JSON_STRING) {
            m->same = m->same && m->key < m->name->len
                      && ch == m->name->data[m->key];
            m->key++;

        } else {
            m->key = 0;
            m->same = (before == RETORT_JSON_FIRST_KEY
                       || before == RETORT_JSON_KEY);
        }

        return;
    }

    if (m->js.state == RETORT_JSON_VALUE && before == RETORT_JSON_COLON
        && m->same && m->key == m->name->len)
    {
        /* one that is there twice is none */
        m->foul |= (m->len != 0);
        m->value = 1;
    }
}
