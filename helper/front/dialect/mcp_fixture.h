
/*
 * Inside of the dialect of MCP: what the conformance suite wants to find.
 */

#ifndef FRONT_MCP_FIXTURE_H
#define FRONT_MCP_FIXTURE_H

#include "mcp.h"


struct mcp_fixture_s {
    const char   *name;
    const char   *input;                /* JSON, as the next */
    const char   *content;              /* of its result, if that is all */
    int           failed;

    call_do_t   (*serve)(mcp_t *m);

    /* one that speaks in between: as call_talk(), "m->step" is its own */
    int         (*talk)(mcp_t *m, buf_t *to, const char *heard);
};


/* its result; takes the content */

json_object *mcp_fixture_said(json_object *content, int failed);

/* mcp_fixture_ask.c: asks by results that want another request */

call_do_t mcp_fixture_ask(mcp_t *m);

/* mcp_fixture_talk.c */

int mcp_talk_progress(mcp_t *m, buf_t *to, const char *heard);
int mcp_talk_logging(mcp_t *m, buf_t *to, const char *heard);
int mcp_talk_sampling(mcp_t *m, buf_t *to, const char *heard);
int mcp_talk_elicitation(mcp_t *m, buf_t *to, const char *heard);
int mcp_talk_defaults(mcp_t *m, buf_t *to, const char *heard);
int mcp_talk_enums(mcp_t *m, buf_t *to, const char *heard);


#endif /* FRONT_MCP_FIXTURE_H */
