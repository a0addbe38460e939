
/*
 * In retort-front, as its own uid without any capability.  Ids come from
 * clients; who forges one learns nothing but "it is gone".
 */

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "box_id.h"
#include "request.h"
#include "secret.h"
#include "text.h"


#define BOX_ID_STEM  20         /* hex digits: 80 bits */
#define BOX_ID_MARK  12


static const char  *box_id_node;


void
box_id_init(const char *node)
{
    box_id_node = node;
}


static int
box_id_write(char id[JOB_SANDBOX], const char *workspace, const char *stem)
{
    int   n;
    char  mark[BOX_ID_MARK + 1];

    if (secret_hex(mark, BOX_ID_MARK, "sandbox %s %s %.*s", box_id_node,
                   workspace, BOX_ID_STEM, stem)
        == -1)
    {
        return -1;
    }

    memset(id, 0, JOB_SANDBOX);
    n = snprintf(id, JOB_SANDBOX, "sbx_%s_%.*s%s", box_id_node, BOX_ID_STEM,
                 stem, mark);

    return n > 0 && n < JOB_SANDBOX ? 0 : -1;
}


int
box_id_make(char id[JOB_SANDBOX], const char *workspace)
{
    char  hex[33];

    return text_random(hex) == 0 ? box_id_write(id, workspace, hex) : -1;
}


/* a digest, so that any name fits; "name" is a run's, or NULL */

static int
box_id_digest(char *hex, size_t digits, const char *workspace,
    const char *session, const char *name)
{
    int            n;
    char           text[REQ_WORKSPACE + 2 * JOB_SESSION];
    size_t         i;
    unsigned       len;
    unsigned char  sha[EVP_MAX_MD_SIZE];

    n = snprintf(text, sizeof(text), "%s\n%s%s%s", workspace, session,
                 name != NULL ? "\n" : "", name != NULL ? name : "");

    if (n < 0 || (size_t) n >= sizeof(text)
        || EVP_Digest(text, (size_t) n, sha, &len, EVP_sha256(), NULL) != 1)
    {
        return -1;
    }

    for (i = 0; i < digits / 2; i++) {
        (void) snprintf(hex + 2 * i, 3, "%02x", sha[i]);
    }

    return 0;
}


int
box_id_session(char id[JOB_SANDBOX], const char *workspace,
    const char *session)
{
    char  hex[BOX_ID_STEM + 1];

    return box_id_digest(hex, BOX_ID_STEM, workspace, session, NULL) == 0
           ? box_id_write(id, workspace, hex) : -1;
}


int
box_id_run(char id[REQ_EXECUTION], const char *workspace, const char *session,
    const char *name)
{
    int   n;
    char  hex[33];

    if (box_id_digest(hex, 32, workspace, session, name) == -1) {
        return -1;
    }

    n = snprintf(id, REQ_EXECUTION, "exec_%s_%s", box_id_node, hex);

    return n > 0 && n < REQ_EXECUTION ? 0 : -1;
}


/* the last of its five parts is the mark */

static int
box_id_mark(char *mark, const char *workspace, const char *stem)
{
    return secret_hex(mark, BOX_ID_MARK, "environment %s %s %.*s", box_id_node,
                      workspace, BOX_ID_ENVIRONMENT - BOX_ID_MARK - 1, stem);
}


int
box_id_environment(char id[BOX_ID_ENVIRONMENT], const char *workspace)
{
    char  hex[33];

    if (text_random(hex) == -1) {
        return -1;
    }

    (void) snprintf(id, BOX_ID_ENVIRONMENT, "%.8s-%.4s-4%.3s-8%.3s-", hex,
                    hex + 8, hex + 12, hex + 15);

    return box_id_mark(id + strlen(id), workspace, id);
}


int
box_id_environment_ours(const char *id, const char *workspace)
{
    char    mark[BOX_ID_MARK + 1];
    size_t  n;

    n = strlen(id);

    return n == BOX_ID_ENVIRONMENT - 1
           && box_id_mark(mark, workspace, id) == 0
           && strcmp(id + n - BOX_ID_MARK, mark) == 0;
}


int
box_id_ours(const char *id, const char *workspace)
{
    char  good[JOB_SANDBOX];

    if (!text_is_id(id, "sbx")) {
        return 0;
    }

    return box_id_write(good, workspace, strrchr(id, '_') + 1) == 0
           && strcmp(good, id) == 0;
}
