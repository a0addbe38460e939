
/*
 * In retort-front, as its own uid without any capability.  The web server
 * verifies what is signed here; the rules are in ngx_module/README.md.  The
 * key signs for one workspace only, and is never logged.
 */

#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "bounds.h"
#include "link.h"
#include "text.h"


#define LINK_SIGNATURE  16      /* bytes */
#define LINK_HEX        "0123456789abcdef"


static int
link_is_hex(const char *s, size_t digits)
{
    return strspn(s, LINK_HEX) == digits && s[digits] == '\0';
}


static int
link_digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}


int
link_parse(link_t *l, const char *tag, const char *key, const char *life,
    err_t *e)
{
    size_t  i;

    if (tag == NULL && key == NULL && life == NULL) {
        return 0;
    }

    if (tag == NULL || key == NULL || life == NULL
        || !link_is_hex(tag, LINK_TAG) || !link_is_hex(key, 2 * LINK_KEY))
    {
        return err_set(e, 500, "bad_param", "RETORT_LINK_TAG and _KEY are not "
                       "%d and %d hex digits", LINK_TAG, 2 * LINK_KEY);
    }

    if (text_number(life, &l->life) == -1 || l->life == 0
        || l->life > BOUND_LINK_LIFE)
    {
        return err_set(e, 500, "bad_param", "RETORT_LINK_EXPIRES is not a "
                       "number from 1 to %d", BOUND_LINK_LIFE);
    }

    memcpy(l->tag, tag, LINK_TAG + 1);

    for (i = 0; i < LINK_KEY; i++) {
        l->key[i] = (unsigned char) (link_digit(key[2 * i]) << 4
                                     | link_digit(key[2 * i + 1]));
    }

    return 0;
}


static void
link_sign(const link_t *l, const char *text, size_t len,
    char hex[2 * LINK_SIGNATURE + 1])
{
    size_t         i;
    unsigned       n;
    unsigned char  mac[EVP_MAX_MD_SIZE];

    if (HMAC(EVP_sha256(), l->key, sizeof(l->key),
             (const unsigned char *) text, len, mac, &n) == NULL)
    {
        /* a link that is refused */
        memset(mac, 0, sizeof(mac));
    }

    for (i = 0; i < LINK_SIGNATURE; i++) {
        hex[2 * i] = LINK_HEX[mac[i] >> 4];
        hex[2 * i + 1] = LINK_HEX[mac[i] & 0xf];
    }

    hex[2 * i] = '\0';
}


void
link_url(const link_t *l, const out_artifact_t *a, char url[LINK_URL])
{
    int       n;
    char      text[OUT_FILE + 64], hex[2 * LINK_SIGNATURE + 1];
    uint64_t  life;

    if (l->tag[0] == '\0') {
        (void) snprintf(url, LINK_URL, "%s/%s", l->base, a->file);
        return;
    }

    /* who reads a result later may have other settings: not a longer file */
    life = l->life < a->kept ? l->life : a->kept;

    n = snprintf(text, sizeof(text), "%s?e=%" PRIu64 "&w=%s", a->file,
                 a->issued + life, l->tag);
    link_sign(l, text, (size_t) n, hex);
    (void) snprintf(url, LINK_URL, "%s/%s&s=%s", l->base, text, hex);
}


int
link_token(const link_t *l, const char *workspace, const char *profile,
    const char *sandbox, char token[LINK_TOKEN])
{
    int   n;
    char  text[256], hex[2 * LINK_SIGNATURE + 1];

    if (l->tag[0] == '\0') {
        return -1;
    }

    n = snprintf(text, sizeof(text), "retort-sandbox %s %s", profile, sandbox);

    if (n < 0 || (size_t) n >= sizeof(text)) {
        return -1;
    }

    link_sign(l, text, (size_t) n, hex);
    n = snprintf(token, LINK_TOKEN, "%s.%s", workspace, hex);

    return n > 0 && n < LINK_TOKEN ? 0 : -1;
}


/* without padding */

static void
link_base64url(const unsigned char *p, size_t n, buf_t *to)
{
    size_t         i;
    unsigned char  four[5];

    for (i = 0; i < n; i += 3) {
        (void) EVP_EncodeBlock(four, p + i, n - i < 3 ? (int) (n - i) : 3);
        four[0] = four[0] == '+' ? '-' : four[0] == '/' ? '_' : four[0];
        four[1] = four[1] == '+' ? '-' : four[1] == '/' ? '_' : four[1];
        four[2] = four[2] == '+' ? '-' : four[2] == '/' ? '_' : four[2];
        four[3] = four[3] == '+' ? '-' : four[3] == '/' ? '_' : four[3];
        (void) buf_add(to, (char *) four, strcspn((char *) four, "="));
    }
}


int
link_jwt(const link_t *l, const char *payload, size_t len, buf_t *to)
{
    int            n;
    char           head[64];
    unsigned       size;
    unsigned char  mac[EVP_MAX_MD_SIZE];

    if (l->tag[0] == '\0') {
        return -1;
    }

    n = snprintf(head, sizeof(head),
                 "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"%s\"}", l->tag);
    link_base64url((unsigned char *) head, (size_t) n, to);
    (void) buf_puts(to, ".");
    link_base64url((const unsigned char *) payload, len, to);

    if (to->failed
        || HMAC(EVP_sha256(), l->key, sizeof(l->key),
                (unsigned char *) to->data, to->len, mac, &size) == NULL)
    {
        return -1;
    }

    (void) buf_puts(to, ".");
    link_base64url(mac, size, to);

    return to->failed ? -1 : 0;
}


void
link_wipe(link_t *l)
{
    OPENSSL_cleanse(l->key, sizeof(l->key));
    l->tag[0] = '\0';
}
