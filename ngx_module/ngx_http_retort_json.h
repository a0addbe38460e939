
/*
 * Followers: they read a body while it streams by and know at every byte
 * what it would take to end it well.  They keep no copy of it.  Nothing
 * here allocates or fails; a body that is not what it should be makes a
 * follower "broken", after which it promises nothing.
 */

#ifndef _NGX_HTTP_RETORT_JSON_H_INCLUDED_
#define _NGX_HTTP_RETORT_JSON_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define NGX_HTTP_RETORT_JSON_DEPTH  512

/* a bound on what ngx_http_retort_json_close() writes */
#define NGX_HTTP_RETORT_JSON_CLOSE  (NGX_HTTP_RETORT_JSON_DEPTH + 64)


typedef enum {
    RETORT_JSON_VALUE = 0,       /* a value must come */
    RETORT_JSON_FIRST_VALUE,     /* after '[': a value or ']' */
    RETORT_JSON_FIRST_KEY,       /* after '{': a key or '}' */
    RETORT_JSON_KEY,             /* after ',' in an object */
    RETORT_JSON_COLON,
    RETORT_JSON_AFTER,           /* a value ended inside a container */
    RETORT_JSON_STRING,
    RETORT_JSON_ESCAPE,          /* after '\' */
    RETORT_JSON_HEX,             /* after '\u' */
    RETORT_JSON_LITERAL,
    RETORT_JSON_NUMBER,
    RETORT_JSON_DONE,            /* the outermost value ended */
    RETORT_JSON_BROKEN
} ngx_http_retort_json_state_e;


typedef struct {
    u_char       need;           /* continuation bytes still to come */
    u_char       low;            /* the least that the next one may be */
} ngx_http_retort_utf8_t;


typedef struct {
    ngx_uint_t   state;
    ngx_uint_t   depth;
    ngx_uint_t   sub;            /* of a number; digits of \u; of a literal */
    ngx_uint_t   code;           /* value of the digits of \u */
    const char  *literal;

    unsigned     key:1;          /* the string is a key */
    unsigned     high:1;         /* a high surrogate waits for the low one */

    u_char       match;          /* bytes of "status" that this key equals */

    u_char       object[NGX_HTTP_RETORT_JSON_DEPTH / 8];
} ngx_http_retort_json_t;

#define RETORT_JSON_NO_MATCH  255


void ngx_http_retort_utf8_feed(ngx_http_retort_utf8_t *u, u_char ch);

/* the same of many; most of them are not looked at */
void ngx_http_retort_utf8_skip(ngx_http_retort_utf8_t *u, u_char *p,
    size_t len);

/* at most 3 bytes; returns the new end */
u_char *ngx_http_retort_utf8_close(ngx_http_retort_utf8_t *u, u_char *p);


/* a zeroed ngx_http_retort_json_t is ready for a document */
void ngx_http_retort_json_feed(ngx_http_retort_json_t *js, u_char ch);

/* how many bytes are the inside of a string and nothing else: these are fed */
size_t ngx_http_retort_json_skip(ngx_http_retort_json_t *js, u_char *p,
    size_t len);

/*
 * Writes what makes the document whole, for a text that is complete UTF-8 so
 * far; "add" (without comma) becomes the last member of the outermost object.
 * Needs NGX_HTTP_RETORT_JSON_CLOSE + add->len bytes; returns the new end.
 */
u_char *ngx_http_retort_json_close(ngx_http_retort_json_t *js, u_char *p,
    ngx_str_t *add);


#endif /* _NGX_HTTP_RETORT_JSON_H_INCLUDED_ */
