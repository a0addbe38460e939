
/*
 * In retort-front, as its own uid without any capability.  Ubik: tokens for
 * end users, which a client with a key asks for.  The web server verifies
 * them, with what it signs by; nobody remembers them.
 */

#include <string.h>

#include "../accept.h"
#include "../clock.h"
#include "../json_in.h"
#include "native.h"
#include "ubik.h"


#define UBIK_MINUTES      60    /* unless said */
#define UBIK_MINUTES_MAX  1440


typedef struct {
    const char  *user;
    int64_t      minutes;
} ubik_token_t;


static int
ubik_token_key(ubik_token_t *t, const char *key, json_object *v, err_t *e)
{
    const char  *p;

    if (strcmp(key, "external_user_id") == 0) {
        if (!json_object_is_type(v, json_type_string)) {
            return ubik_fault(e, ".external_user_id", "Input should be a "
                              "valid string");
        }

        t->user = json_object_get_string(v);
        for (p = t->user; (unsigned char) *p >= ' ' && *p != '\x7f'; p++) {
            /* void */
        }

        return p != t->user && p - t->user < UBIK_NAME
               && p - t->user == json_object_get_string_len(v)
               ? 0 : ubik_fault(e, ".external_user_id", "String should have 1 "
                                "to 127 bytes, none of control");
    }

    if (strcmp(key, "expires_in_minutes") == 0 && v != NULL) {
        t->minutes = json_object_is_type(v, json_type_int)
                     ? json_object_get_int64(v) : 0;

        return t->minutes >= 1 && t->minutes <= UBIK_MINUTES_MAX
               ? 0 : ubik_fault(e, ".expires_in_minutes", "Input should be a "
                                "valid integer from 1 to 1440");
    }

    return 0;
}


static int
ubik_token_read(ubik_token_t *t, json_object *o, err_t *e)
{
    struct json_object_iterator  it, end;

    it = json_object_iter_begin(o);
    end = json_object_iter_end(o);

    for ( /* void */ ; !json_object_iter_equal(&it, &end);
         json_object_iter_next(&it))
    {
        if (ubik_token_key(t, json_object_iter_peek_name(&it),
                           json_object_iter_peek_value(&it), e)
            == -1)
        {
            return -1;
        }
    }

    return t->user != NULL ? 0 : ubik_fault(e, ".external_user_id",
                                            "Field required");
}


static void
ubik_token_payload(const request_t *req, const ubik_token_t *t, uint64_t now,
    buf_t *to)
{
    const char   *scope;
    json_object  *o;

    scope = request_param(req->params, "RETORT_SCOPE");
    o = json_object_new_object();
    native_add(o, "iss", native_string("retort"));
    native_add(o, "workspace", native_string(req->workspace));
    native_add(o, "profile", native_string(req->profile->name));
    native_add(o, "sub", native_string(t->user));
    native_add(o, "scope", native_string(scope != NULL ? scope : "execute"));
    native_add(o, "iat", native_number(now));
    native_add(o, "exp", native_number(now + (uint64_t) t->minutes * 60));
    native_line(to, o);
}


static void
ubik_token_write(call_t *c, const ubik_token_t *t, err_t *e)
{
    buf_t         payload, token;
    uint64_t      now;
    json_object  *o;

    memset(&payload, 0, sizeof(payload));
    memset(&token, 0, sizeof(token));
    now = clock_wall_ms() / 1000;
    ubik_token_payload(c->req, t, now, &payload);

    if (payload.failed
        || link_jwt(&c->req->link, payload.data, payload.len, &token) == -1)
    {
        (void) err_set(e, 501, "not_implemented", "Tokens are not issued here: "
                       "there is no secret to sign them with");

    } else {
        o = json_object_new_object();
        native_add(o, "token", native_bytes(token.data, token.len));
        native_add(o, "access_token", native_bytes(token.data, token.len));
        native_add(o, "token_type", native_string("bearer"));
        native_add(o, "external_user_id", native_string(t->user));
        native_add(o, "expires_in", json_object_new_int64(t->minutes * 60));
        native_add(o, "expires_at",
                   native_time((now + (uint64_t) t->minutes * 60) * 1000));
        native_write(o, c->a);
        c->a->status = 200;
        (void) buf_puts(&c->a->lines, "Cache-Control: no-store\r\n");
    }

    buf_free(&payload);
    buf_free(&token);
}


void
ubik_token(call_t *c, err_t *e)
{
    ubik_token_t   t;
    json_object   *o;

    if (request_param(c->req->params, "RETORT_END_USER") != NULL) {
        (void) err_set(e, 403, "forbidden", "A token cannot ask for another "
                       "one");
        return;
    }

    if (!accept_is(c->req->type, "application/json")) {
        (void) err_set(e, 415, "unsupported_type",
                       "the body must be application/json");
        return;
    }

    o = json_in(c->body, c->len, e);

    if (o == NULL) {
        (void) ubik_fault(e, "", "JSON decode error");
        return;
    }

    t.user = NULL;
    t.minutes = UBIK_MINUTES;

    if (ubik_token_read(&t, o, e) == 0) {
        ubik_token_write(c, &t, e);
    }

    json_object_put(o);
}
