
/*
 * Links to artifacts: the one place that writes them.
 */

#ifndef FRONT_LINK_H
#define FRONT_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"
#include "output.h"


#define LINK_STATIC  512        /* what links start with, final NUL */
#define LINK_TAG     16         /* hex digits */
#define LINK_KEY     32         /* bytes */
#define LINK_URL     (LINK_STATIC + OUT_FILE + 128)


/* how links of one request are made: the key is a secret */

typedef struct {
    char           base[LINK_STATIC];
    char           tag[LINK_TAG + 1];   /* "": they are not signed */
    unsigned char  key[LINK_KEY];
    uint64_t       life;        /* seconds that they are good; 0: unsigned */
} link_t;


/*
 * From the params of a web server (NULL: absent).  All three or none.  0, or -1
 * and "e", in which nothing of the values is.
 */

int link_parse(link_t *l, const char *tag, const char *key, const char *life,
    err_t *e);

/* the URL of an artifact that is stored */

void link_url(const link_t *l, const out_artifact_t *a, char url[LINK_URL]);

/*
 * What lets into one sandbox, "<workspace>.<signature>", for locations with
 * this profile; 0, or -1 if links are not signed here.
 */

#define LINK_TOKEN  128         /* final NUL */

int link_token(const link_t *l, const char *workspace, const char *profile,
    const char *sandbox, char token[LINK_TOKEN]);

/*
 * A token of RFC 7519 with this payload, by the key of the workspace; 0, or -1
 * if links are not signed here.
 */

int link_jwt(const link_t *l, const char *payload, size_t len, buf_t *to);

/* forgets the key */

void link_wipe(link_t *l);


#endif /* FRONT_LINK_H */
